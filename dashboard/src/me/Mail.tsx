import { client, fetchPage, type Schema } from '../api/client'
import { Badge } from '../ui/Badge'
import { type Column, DataList } from '../ui/DataList'
import { EmptyState } from '../ui/Empty'
import { Page } from '../ui/Page'
import { Time } from '../ui/Time'

type Message = Schema['OwnMessage']

const COLUMNS: readonly Column<Message>[] = [
  {
    header: 'From',
    wide: true,
    cell: (row) => (
      <span className="break">
        <span className="strong">{row.from || 'empty sender'}</span>
        <br />
        <span className="muted">{row.subject}</span>
      </span>
    ),
  },
  { header: 'What happened', cell: (row) => <Outcome message={row} /> },
  { header: 'When', cell: (row) => <Time at={row.created_at} form="ago" /> },
]

/** Mail of the last days that the server refused, for any reason. */
export default function Mail() {
  return (
    <Page title="Rejected mail" lead="Mail of the last 7 days that was refused, and why: as spam, or because your mailbox is full.">
      <DataList
        label="Rejected mail"
        queryKey={['messages', 'own', 'rejected']}
        load={(page) => fetchPage(client.GET('/me/messages', { params: { query: { ...page, sort: 'created_at', result: 'rejected' } } }))}
        columns={COLUMNS}
        rowKey={(row) => row.id}
        empty={
          <EmptyState icon="inbox" title="No rejected mail">
            Mail that the server refused is listed here. Its senders got an error.
          </EmptyState>
        }
      />
    </Page>
  )
}

/** How Postfix begins its reasons. */
const PREFIX = /^<[^>]*>: [\w ]+ rejected: /

function Outcome({ message }: { message: Message }) {
  return (
    <span className="reason break">
      <Badge tone="bad">rejected</Badge> {message.reason?.replace(PREFIX, '') ?? ''}
    </span>
  )
}
