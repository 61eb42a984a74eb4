import { client, fetchPage } from '../../api/client'
import { formatNumber } from '../../locale'
import { Badge } from '../../ui/Badge'
import { type Column, DataList } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { Section } from '../../ui/Page'
import { Time } from '../../ui/Time'
import type { Report } from './queries'

const KINDS: Readonly<Record<Report['kind'], string>> = { dmarc: 'DMARC', tls: 'TLS', arf: 'Complaint' }

/** The reports themselves, also those that do not count. */
export function ReportList({ domainId }: { domainId: string }) {
  return (
    <Section title="Received reports" bare>
      <DataList
        label="Received reports"
        queryKey={['reports', domainId, 'list']}
        load={({ cursor, limit }) =>
          fetchPage(
            client.GET('/domains/{id}/reports', { params: { path: { id: domainId }, query: { limit, ...(cursor && { cursor }) } } }),
          )
        }
        columns={COLUMNS}
        rowKey={(row) => row.id}
        empty={
          <EmptyState icon="inbox" title="No reports yet">
            Large providers send a report once a day if your DNS records ask for it.
          </EmptyState>
        }
      />
    </Section>
  )
}

const COLUMNS: readonly Column<Report>[] = [
  { header: 'Kind', cell: (row) => KINDS[row.kind] },
  { header: 'From', wide: true, cell: (row) => <From report={row} /> },
  { header: 'About', cell: (row) => <Time at={row.begin_at} /> },
  { header: 'Count', align: 'right', cell: (row) => formatNumber(row.messages) },
  {
    header: 'Counted',
    cell: (row) =>
      row.proved ? (
        <Badge tone="good">counted</Badge>
      ) : (
        <span title="The sender did not pass DMARC">
          <Badge tone="warn">not proved</Badge>
        </span>
      ),
  },
  { header: 'Received', cell: (row) => <Time at={row.created_at} form="ago" /> },
]

function From({ report }: { report: Report }) {
  const { abuse } = report
  return (
    <span className="stack-small">
      <span className="break">{report.organisation || report.contact}</span>
      {abuse && (
        <span className="muted small break">
          {abuse.feedback_type}: {abuse.subject || abuse.message_id}
        </span>
      )}
    </span>
  )
}
