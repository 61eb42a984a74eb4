import { useMemo } from 'react'
import { formatNumber } from '../../locale'
import { Badge, type Tone } from '../../ui/Badge'
import { DayChart, type Series } from '../../ui/DayChart'
import { Facts, Section } from '../../ui/Page'
import { TableHead } from '../../ui/TableHead'
import { pluralize } from '../../units'
import type { DmarcSource, DmarcSummary } from './queries'
import { AdviceNotes } from './Reports'

const KINDS: Readonly<Record<DmarcSource['kind'], { label: string; tone: Tone; hint: string }>> = {
  ours: { label: 'yours', tone: 'good', hint: 'Your server, or a relay with your DKIM key' },
  sender: { label: 'your sender', tone: 'good', hint: 'Another system of yours, set up correctly' },
  forwarder: { label: 'forwarder', tone: 'info', hint: 'Forwards your mail' },
  other: { label: 'other sender', tone: 'warn', hint: 'Authenticated for another domain only' },
  unknown: { label: 'not authenticated', tone: 'bad', hint: 'Forged, or a system without SPF and DKIM' },
}

export function DmarcReports({ summary }: { summary: DmarcSummary }) {
  const { totals, sources, reporters, policy } = summary
  return (
    <Section title="DMARC" lead="Who sends mail in this domain's name, and whether it passes SPF or DKIM.">
      <div className="stack">
        <AdviceNotes items={summary.advice} />
        {totals.messages > 0 && (
          <>
            <Facts
              rows={[
                ['Messages', formatNumber(totals.messages)],
                ['Passed (aligned)', `${formatNumber(totals.aligned)} (${formatShare(totals.aligned, totals.messages)})`],
                ['Quarantined or rejected', formatNumber(totals.quarantined + totals.rejected)],
                ['Policy', <PolicyFact policy={policy} />],
                ['Reporters', reporters.slice(0, 5).map(describeReporter).join(', ')],
              ]}
            />
            <Chart summary={summary} />
            <Sources sources={sources} total={totals.sources} />
          </>
        )}
        {totals.unproved_reports > 0 && (
          <p className="muted">
            {pluralize(totals.unproved_reports, 'more report')} could not be traced to the sender and{' '}
            {totals.unproved_reports === 1 ? 'is' : 'are'} not counted.
          </p>
        )}
      </div>
    </Section>
  )
}

function PolicyFact({ policy }: { policy: DmarcSummary['policy'] }) {
  return (
    <>
      published <code>{`p=${policy.published ?? 'none'}`}</code>, safe <code>{`p=${policy.safe}`}</code>
    </>
  )
}

function Chart({ summary: { days, since, until } }: { summary: DmarcSummary }) {
  const series = useMemo<Series[]>(
    () => [
      { label: 'Not authenticated', tone: '--bad', counts: days.map((day) => day.unknown) },
      { label: 'Failed', tone: '--warn', counts: days.map((day) => day.failed) },
      { label: 'Passed', tone: '--good', counts: days.map((day) => day.aligned) },
    ],
    [days],
  )
  const dates = useMemo(() => days.map((day) => day.date), [days])
  return <DayChart label="Messages per day" days={dates} series={series} since={since} until={until} />
}

function Sources({ sources, total }: { sources: readonly DmarcSource[]; total: number }) {
  return (
    <div className="list-card">
      <table className="list" role="table" aria-label="Sources">
        <TableHead headers={['Source', 'Kind', 'Messages', 'SPF', 'DKIM', 'Passed', 'Last seen']} />
        <tbody role="rowgroup">
          {sources.map((source) => (
            <tr key={source.ip} role="row">
              <td role="cell" data-label="Source">
                <span className="stack-small">
                  <code className="break">{source.ip}</code>
                  {source.name && <span className="muted small break">{source.name}</span>}
                </span>
              </td>
              <td role="cell" data-label="Kind">
                <span title={KINDS[source.kind].hint}>
                  <Badge tone={KINDS[source.kind].tone}>{KINDS[source.kind].label}</Badge>
                </span>{' '}
                {source.kind === 'other' && <span className="muted small break">{source.authenticated_for}</span>}
              </td>
              <td role="cell" data-label="Messages">
                {formatNumber(source.messages)}
              </td>
              <td role="cell" data-label="SPF">
                {formatShare(source.spf_aligned, source.messages)}
              </td>
              <td role="cell" data-label="DKIM">
                {formatShare(source.dkim_aligned, source.messages)}
              </td>
              <td role="cell" data-label="Passed">
                {formatShare(source.aligned, source.messages)}
              </td>
              <td role="cell" data-label="Last seen">
                {source.last_seen}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <footer className="list-foot muted">
        {pluralize(total, 'source')}
        {total > sources.length && `, the ${formatNumber(sources.length)} with the most messages are shown`}
      </footer>
    </div>
  )
}

function describeReporter({ organisation, messages }: DmarcSummary['reporters'][number]): string {
  return `${organisation} (${formatNumber(messages)})`
}

function formatShare(part: number, whole: number): string {
  const percent = whole ? (100 * part) / whole : 0
  // Not 100 % while anything failed.
  return `${percent > 99 && percent < 100 ? 99 : Math.round(percent)} %`
}
