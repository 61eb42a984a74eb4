import { useMemo } from 'react'
import { formatNumber } from '../../locale'
import { DayChart, type Series } from '../../ui/DayChart'
import { Facts, Section } from '../../ui/Page'
import { TableHead } from '../../ui/TableHead'
import type { TlsSummary } from './queries'
import { AdviceNotes } from './Reports'

const POLICIES: Readonly<Record<string, string>> = { sts: 'MTA-STS', tlsa: 'DANE', 'no-policy-found': 'No policy found' }

export function TlsReports({ summary }: { summary: TlsSummary }) {
  const { policies, failures, days } = summary
  const series = useMemo<Series[]>(
    () => [
      { label: 'Failed', tone: '--bad', counts: days.map((day) => day.failed) },
      { label: 'Encrypted', tone: '--good', counts: days.map((day) => day.successful) },
    ],
    [days],
  )
  const dates = useMemo(() => days.map((day) => day.date), [days])
  return (
    <Section title="TLS" lead="Whether other servers could deliver to this domain over encrypted connections.">
      <div className="stack">
        <AdviceNotes items={summary.advice} />
        {days.length > 0 && (
          <>
            <Facts
              rows={policies.map((policy) => [
                POLICIES[policy.type] ?? policy.type,
                `${formatNumber(policy.successful)} encrypted, ${formatNumber(policy.failed)} failed`,
              ])}
            />
            <DayChart label="Sessions per day" days={dates} series={series} since={summary.since} until={summary.until} />
            {failures.length > 0 && <Failures failures={failures} />}
          </>
        )}
      </div>
    </Section>
  )
}

function Failures({ failures }: { failures: TlsSummary['failures'] }) {
  return (
    <div className="list-card">
      <table className="list" role="table" aria-label="Failed sessions">
        <TableHead headers={['Result', 'Receiving host', 'Sessions']} />
        <tbody role="rowgroup">
          {failures.map((each) => (
            <tr key={`${each.result_type} ${each.receiving_host}`} role="row">
              <td role="cell" data-label="Result">
                <code className="break">{each.result_type}</code>
              </td>
              <td role="cell" data-label="Receiving host">
                <span className="break">{each.receiving_host ?? '–'}</span>
              </td>
              <td role="cell" data-label="Sessions">
                {formatNumber(each.sessions)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
