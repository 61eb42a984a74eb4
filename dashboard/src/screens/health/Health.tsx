import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { formatNumber } from '../../locale'
import { StatusBadge } from '../../ui/Badge'
import { LoadingLines } from '../../ui/DataList'
import { DayChart } from '../../ui/DayChart'
import { ErrorNote } from '../../ui/ErrorNote'
import { Facts, Page, Section } from '../../ui/Page'
import { TableHead } from '../../ui/TableHead'
import { Time } from '../../ui/Time'
import { formatBytes } from '../../units'
import { HealthAlerts } from './HealthAlerts'
import { alertsQuery, componentsQuery } from './queries'
import { type Component, describeDetails, describeForecast, type Disk, forecastDisk, LABELS, sortByStatus, summarize } from './texts'

/** What the server consists of, and whether each part works; what to do where one does not. */
export function Health() {
  return (
    <Page title="Health" lead="Each component of this server, measured at least every minute, and what to do where one is not in order.">
      <Content />
    </Page>
  )
}

function Content() {
  const { data, error } = useQuery(componentsQuery())
  const alerts = useQuery(alertsQuery())
  // Nothing is shown before the alerts are there, so that nothing moves.
  if (!data || alerts.isPending) return error ? <ErrorNote error={error} /> : <LoadingLines count={12} />
  const find = (name: string) => data.components.find((each) => each.component === name)
  const disk = find('disk')
  return (
    <>
      {error && <ErrorNote error={error} />}
      <Components components={data.components} />
      <Section title="Alerts" lead="A problem opens one alert, which ends when it has been in order for an hour." bare>
        {alerts.data ? <HealthAlerts alerts={alerts.data.rows} /> : <ErrorNote error={alerts.error} />}
      </Section>
      <Probe probe={find('probe')} />
      {disk && <DiskSection disk={disk.details as Disk} />}
    </>
  )
}

function Components({ components }: { components: readonly Component[] }) {
  return (
    <div className="card list-card">
      <table className="list components" role="table" aria-label="Components">
        <TableHead headers={['Component', 'Status', 'Since', 'Latency', 'Version', 'What to do']} />
        <tbody role="rowgroup">
          {sortByStatus(components).map((each) => (
            <Row key={each.component} component={each} />
          ))}
        </tbody>
      </table>
      <footer className="list-foot muted">
        <span role="status">{summarize(components)}</span>
      </footer>
    </div>
  )
}

function Row({ component }: { component: Component }) {
  const { component: name, status, since, latency_ms, version, advice } = component
  const details = describeDetails(component.details)
  const unknown = <span className="muted">–</span>
  return (
    <tr role="row">
      <td role="cell" data-label="Component" className="strong">
        {LABELS[name] ?? name}
      </td>
      <td role="cell" data-label="Status">
        <StatusBadge status={status} />
      </td>
      <td role="cell" data-label="Since">
        {since ? <Time at={since} form="ago" /> : unknown}
      </td>
      <td role="cell" data-label="Latency">
        {latency_ms === null ? unknown : `${formatNumber(latency_ms)} ms`}
      </td>
      <td role="cell" data-label="Version">
        {version ?? unknown}
      </td>
      <td role="cell" data-label="What to do" className="wrap">
        <div>
          {advice ?? (details.length === 0 && unknown)}
          {details.length > 0 && (
            <details>
              <summary aria-label={`Details of ${LABELS[name] ?? name}`}>Details</summary>
              <Facts rows={details} />
            </details>
          )}
        </div>
      </td>
    </tr>
  )
}

/** The last message that was sent through port 25, the filter and a mailbox. */
function Probe({ probe }: { probe: Component | undefined }) {
  if (!probe || probe.status === 'disabled') return null
  const { at, stage, problem } = probe.details as { at?: string; stage?: string | null; problem?: string | null }
  return (
    <Section
      title="Last probe message"
      lead="Once a minute: a login, and a message from port 25 through mail server and filter to a mailbox of its own."
    >
      <Facts
        rows={[
          ['Result', <StatusBadge key="result" status={probe.status} />],
          ['Sent', at ? <Time at={at} form="ago" /> : 'not yet'],
          ['In the mailbox after', probe.latency_ms === null ? '–' : `${formatNumber(probe.latency_ms)} ms`],
          ...(stage ? [['Failed at', stage] as const] : []),
          ...(problem ? [['Problem', problem] as const] : []),
        ]}
      />
    </Section>
  )
}

function DiskSection({ disk }: { disk: Disk }) {
  const { days, series } = useMemo(() => forecastDisk(disk), [disk])
  const [since, until] = [days[0], days.at(-1)]
  const free = disk.free_bytes === undefined ? '' : `${formatBytes(disk.free_bytes)} of ${formatBytes(disk.total_bytes ?? 0)} are free. `
  return (
    <Section title="Disk" lead={`${free}${describeForecast(disk)}`}>
      {since && until && days.length > 1 ? (
        <DayChart label="Use of the disk" days={days} series={series} since={since} until={until} unit="bytes" />
      ) : (
        <p className="muted">The chart begins on the second day.</p>
      )}
    </Section>
  )
}
