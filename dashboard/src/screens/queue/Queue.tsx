import { Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { fetchPage, client, type Schema } from '../../api/client'
import { PATHS } from '../../paths'
import { SiblingTabs } from '../../layout/Navigation'
import { toUtc, useSearchParams } from '../../search'
import { Badge, type Tone } from '../../ui/Badge'
import { formatBytes, pluralize } from '../../units'
import { CopyableCode } from '../../ui/Copy'
import { type Column, DataList, LoadingLines } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { NoMatches } from '../../ui/NoMatches'
import { ErrorNote } from '../../ui/ErrorNote'
import { ChoiceFilter, Filters, MoreFilters, TextFilter, TimeFilter } from '../../ui/Filters'
import { LinkButton } from '../../ui/links'
import { Facts, Page } from '../../ui/Page'
import { selectColumn, useSelection } from '../../ui/selection'
import { Time } from '../../ui/Time'
import { HeldBanner } from './HeldBanner'
import { QueueActions, type QueueFilter } from './QueueActions'

type QueuedMessage = Schema['QueuedMessage']

const route = getRouteApi('/app/queue')
const FILTERS = ['recipient', 'state', 'sender', 'domain', 'queue_id', 'since', 'until'] as const
const MORE = ['domain', 'queue_id', 'since', 'until'] as const
const STATES: readonly { value: QueuedMessage['state']; label: string; description: string }[] = [
  { value: 'deferred', label: 'Deferred', description: 'waiting for another delivery attempt' },
  { value: 'hold', label: 'On hold', description: 'no delivery attempts until released' },
  { value: 'active', label: 'Active', description: 'being delivered now' },
  { value: 'incoming', label: 'Incoming', description: 'accepted, waiting for the first delivery attempt' },
]

/** The queue of the mail server. */
export function Queue() {
  const { recipient, state, sender, domain, queue_id, since, until } = route.useSearch()
  const filter: QueueFilter = {
    ...(recipient && { recipient }),
    ...(state && { state: state as QueuedMessage['state'] }),
    ...(sender && { sender }),
    ...(domain && { domain }),
    ...(queue_id && { queue_id }),
    ...(toUtc(since) && { since: toUtc(since) }),
    ...(toUtc(until) && { until: toUtc(until) }),
  }
  return (
    <Page title="Queue" lead="Messages waiting for delivery, with the last response of the remote server.">
      <SiblingTabs screen="messages" label="Messages" />
      <HeldBanner />
      <Filters names={FILTERS}>
        <TextFilter name="recipient" label="Recipient" main />
        <ChoiceFilter name="state" label="State" data={STATES} />
        <TextFilter name="sender" label="Sender" />
        <MoreFilters names={MORE}>
          <TextFilter name="domain" label="Recipient domain" />
          <TextFilter name="queue_id" label="Queue ID" />
          <TimeFilter name="since" label="Arrived after" />
          <TimeFilter name="until" label="Arrived before" />
        </MoreFilters>
      </Filters>
      {/* The key resets the selection when the filter changes. */}
      <QueueList key={JSON.stringify(filter)} filter={filter} />
      <MessageModal />
    </Page>
  )
}

function QueueList({ filter }: { filter: QueueFilter }) {
  const selection = useSelection()
  return (
    <DataList
      label="Queue"
      queryKey={['queue', 'list', filter]}
      load={(page) => fetchPage(client.GET('/queue', { params: { query: { ...filter, ...page, sort: 'arrived_at' } } }))}
      columns={[selectColumn<QueuedMessage>(selection, queueIdOf, queueIdOf), ...COLUMNS]}
      rowKey={queueIdOf}
      refetchEvery={10_000}
      toolbar={(rows) => (
        <QueueActions rows={rows} selected={selection.selected} filter={filter} onSelect={selection.select} onDone={selection.clear} />
      )}
      empty={
        Object.keys(filter).length > 0 ? (
          <NoMatches what="messages" filters={FILTERS}>
            Recipient and sender match parts of addresses; the domain must be complete.
          </NoMatches>
        ) : (
          <EmptyState icon="queue" title="The queue is empty">
            Messages that a remote server defers wait here and are retried automatically.
          </EmptyState>
        )
      }
    />
  )
}

const queueIdOf = (row: QueuedMessage) => row.queue_id
const COLUMNS: readonly Column<QueuedMessage>[] = [
  { header: 'State', cell: (row) => <State message={row} /> },
  { header: 'Message', cell: (row) => <Envelope message={row} /> },
  { header: 'Last response', wide: true, cell: (row) => <LastResponse message={row} /> },
  { header: 'Arrived', sort: 'arrived_at', cell: (row) => <Time at={row.arrived_at} form="ago" /> },
  {
    header: 'Next attempt',
    cell: (row) => (row.next_attempt_at ? <Time at={row.next_attempt_at} form="ago" /> : <span className="muted">–</span>),
  },
]

const TONES: Readonly<Record<QueuedMessage['state'], Tone>> = { deferred: 'warn', hold: 'bad', active: 'info', incoming: 'info' }

function State({ message }: { message: QueuedMessage }) {
  return <Badge tone={TONES[message.state]}>{message.state === 'hold' ? 'on hold' : message.state}</Badge>
}

/** The recipients and the sender. */
function Envelope({ message }: { message: QueuedMessage }) {
  const [first, ...others] = message.recipients
  return (
    <span className="two-lines">
      <Link
        className="row-link party"
        from={PATHS.queue}
        to="."
        search={(before) => ({ ...before, shown: message.queue_id })}
        replace
        resetScroll={false}
        title={message.recipients.map((each) => each.address).join(', ')}
      >
        {first?.address ?? message.queue_id}
        {others.length > 0 && <span className="muted"> +{others.length}</span>}
      </Link>
      <span className="party muted small" title={message.sender}>
        from {message.sender || '(empty sender)'}
      </span>
    </span>
  )
}

function LastResponse({ message }: { message: QueuedMessage }) {
  const reason = message.recipients.find((each) => each.reason)?.reason
  return reason ? (
    <span className="last-response" title={reason}>
      {reason}
    </span>
  ) : (
    <span className="muted">none</span>
  )
}

/** The message of the query parameter `shown`, with all its recipients. */
function MessageModal() {
  const { shown } = route.useSearch()
  const [, change] = useSearchParams()
  return (
    <Modal opened={shown !== undefined} onClose={() => change({ shown: undefined })} title="Queued message" size="lg">
      {shown !== undefined && <Details queueId={shown} />}
    </Modal>
  )
}

function Details({ queueId }: { queueId: string }) {
  const { data, error } = useQuery({
    queryKey: ['queue', 'one', queueId],
    queryFn: () => fetchPage(client.GET('/queue', { params: { query: { queue_id: queueId } } })),
  })
  if (error) return <ErrorNote error={error} />
  if (!data) return <LoadingLines />
  const [message] = data.rows
  if (!message) return <p>This message has left the queue. See its delivery status under Messages.</p>
  return (
    <div className="stack">
      <Facts
        rows={[
          ['State', <State message={message} />],
          ['From', message.sender || '(empty sender)'],
          ['Queue ID', <CopyableCode value={message.queue_id} what="queue ID" />],
          ['Size', formatBytes(message.size)],
          ['Arrived', <Time at={message.arrived_at} form="exact" />],
          ['Next attempt', message.next_attempt_at ? <Time at={message.next_attempt_at} form="exact" /> : '–'],
        ]}
      />
      <section className="stack" aria-label="Recipients">
        <h3>{pluralize(message.recipients.length, 'recipient')} remaining</h3>
        <ul className="lines">
          {message.recipients.map((each) => (
            <li key={each.address}>
              <span className="strong break">{each.address}</span>
              {each.reason && (
                <blockquote className="words">
                  <span className="mono">{each.reason}</span>
                </blockquote>
              )}
            </li>
          ))}
        </ul>
      </section>
      <div className="right">
        <LinkButton to={PATHS.messages} search={{ queue_id: message.queue_id }} variant="default">
          View in Messages
        </LinkButton>
      </div>
    </div>
  )
}
