import { SegmentedControl } from '@mantine/core'
import { client, fetchPage, type Schema } from '../api/client'
import { useSearchParams } from '../search'
import { Badge } from '../ui/Badge'
import { type Column, DataList } from '../ui/DataList'
import { EmptyState } from '../ui/Empty'
import { Page } from '../ui/Page'
import { Time } from '../ui/Time'

type Message = Schema['OwnMessage']
type Kind = 'rejected' | 'junk'

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

/** Mail of the last days that is not in the inbox, with the reasons. */
export default function Mail() {
  const [params, change] = useSearchParams()
  const kind: Kind = params['show'] === 'junk' ? 'junk' : 'rejected'
  return (
    <Page title="Rejected and junk" lead="Mail of the last 7 days that did not reach your inbox, and why.">
      <div>
        <SegmentedControl
          aria-label="Show"
          value={kind}
          onChange={(value) => change({ show: value === 'junk' ? 'junk' : undefined })}
          data={[
            { value: 'rejected', label: 'Rejected' },
            { value: 'junk', label: 'Junk' },
          ]}
        />
      </div>
      <DataList
        key={kind}
        label={kind === 'junk' ? 'Junk' : 'Rejected mail'}
        queryKey={['messages', 'own', kind]}
        load={(page) => fetchPage(client.GET('/me/messages', { params: { query: { ...page, sort: 'created_at', result: kind } } }))}
        columns={COLUMNS}
        rowKey={(row) => row.id}
        empty={EMPTY[kind]}
      />
    </Page>
  )
}

const EMPTY = {
  rejected: (
    <EmptyState icon="inbox" title="No rejected mail">
      Mail that the server refused is listed here. Its senders got an error.
    </EmptyState>
  ),
  junk: (
    <EmptyState icon="inbox" title="No junk">
      Mail that was filed in the folder Junk is listed here.
    </EmptyState>
  ),
}

/** How Postfix begins its reasons. */
const PREFIX = /^<[^>]*>: [\w ]+ rejected: /

function Outcome({ message }: { message: Message }) {
  const score = message.spam_score === null ? '' : `Spam score ${message.spam_score.toFixed(1)}`
  return (
    <span className="reason break">
      {message.result === 'rejected' ? <Badge tone="bad">rejected</Badge> : <Badge tone="warn">in Junk</Badge>}{' '}
      {message.reason?.replace(PREFIX, '') ?? score}
    </span>
  )
}
