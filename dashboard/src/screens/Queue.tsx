import { Checkbox, Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { askPage, client, type Schema } from '../api/client'
import { PATHS } from '../paths'
import { instant, useAddress } from '../search'
import { Badge, type Tone } from '../ui/Badge'
import { bytes, plural } from '../ui/bytes'
import { Copy } from '../ui/Copy'
import { type Column, DataList, Lines } from '../ui/DataList'
import { Empty } from '../ui/Empty'
import { ErrorNote } from '../ui/ErrorNote'
import { ChoiceFilter, Filters, MoreFilters, TextFilter, TimeFilter } from '../ui/Filters'
import { LinkButton } from '../ui/links'
import { Facts, Page } from '../ui/Page'
import { Time } from '../ui/Time'
import { Actions, type Filter } from './queue/Actions'

type Queued = Schema['QueuedMessage']

const route = getRouteApi('/inside/queue')
const FILTERS = ['recipient', 'state', 'sender', 'domain', 'queue_id', 'since', 'until'] as const
const MORE = ['domain', 'queue_id', 'since', 'until'] as const
const STATES: readonly { value: Queued['state']; label: string }[] = [
  { value: 'deferred', label: 'deferred: tried again' },
  { value: 'hold', label: 'on hold' },
  { value: 'active', label: 'active: being sent' },
  { value: 'incoming', label: 'incoming' },
]

/** What waits in the mail server, why, and what can be done about it. */
export function Queue() {
  const { recipient, state, sender, domain, queue_id, since, until } = route.useSearch()
  const filter: Filter = {
    ...(recipient && { recipient }),
    ...(state && { state: state as Queued['state'] }),
    ...(sender && { sender }),
    ...(domain && { domain }),
    ...(queue_id && { queue_id }),
    ...(instant(since) && { since: instant(since) }),
    ...(instant(until) && { until: instant(until) }),
  }
  return (
    <Page title="Queue" lead="What waits in the mail server to be delivered, and what the other side said the last time.">
      <Filters names={FILTERS}>
        <TextFilter name="recipient" label="Recipient" main />
        <ChoiceFilter name="state" label="State" data={STATES} />
        <TextFilter name="sender" label="Sender" />
        <MoreFilters names={MORE}>
          <TextFilter name="domain" label="Domain of a recipient" />
          <TextFilter name="queue_id" label="Queue id" />
          <TimeFilter name="since" label="Arrived since" />
          <TimeFilter name="until" label="Arrived until" />
        </MoreFilters>
      </Filters>
      {/* What is marked is forgotten with the filter that showed it. */}
      <Waiting key={JSON.stringify(filter)} filter={filter} />
      <Shown />
    </Page>
  )
}

function Waiting({ filter }: { filter: Filter }) {
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set())
  const mark = (ids: readonly string[], isMarked: boolean) =>
    setMarked((before) => {
      const next = new Set(before)
      for (const id of ids) if (isMarked) next.add(id)
        else next.delete(id)
      return next
    })
  return (
    <DataList
      label="Queue"
      of={['queue', 'list', filter]}
      load={(page) => askPage(client.GET('/queue', { params: { query: { ...filter, ...page, sort: 'arrived_at' } } }))}
      columns={columns(marked, mark)}
      rowKey={(row) => row.queue_id}
      every={10_000}
      above={(rows) => <Actions rows={rows} marked={marked} filter={filter} onMark={mark} onDone={() => setMarked(new Set())} />}
      empty={
        Object.keys(filter).length > 0 ? (
          <Empty icon="search" title="Nothing in the queue is like that">
            Recipient and sender match parts of addresses, the domain a whole one. Clear the filters to see everything.
          </Empty>
        ) : (
          <Empty icon="queue" title="The queue is empty">
            All that was sent has left. What another server puts off waits here with its words, and is tried again by itself.
          </Empty>
        )
      }
    />
  )
}

function columns(marked: ReadonlySet<string>, onMark: (ids: readonly string[], isMarked: boolean) => void): readonly Column<Queued>[] {
  return [
    {
      head: 'Mark',
      quiet: true,
      cell: (row) => <Checkbox aria-label={`Mark ${row.queue_id}`} checked={marked.has(row.queue_id)} onChange={(event) => onMark([row.queue_id], event.currentTarget.checked)} />,
    },
    { head: 'State', cell: (row) => <State of={row} /> },
    { head: 'Message', cell: (row) => <Parties of={row} /> },
    { head: 'Last word', wide: true, cell: (row) => <LastWord of={row} /> },
    { head: 'Arrived', sort: 'arrived_at', cell: (row) => <Time at={row.arrived_at} form="ago" /> },
    { head: 'Next try', cell: (row) => (row.next_attempt_at ? <Time at={row.next_attempt_at} form="ago" /> : <span className="soft">–</span>) },
  ]
}

const TONES: Readonly<Record<Queued['state'], Tone>> = { deferred: 'warn', hold: 'bad', active: 'info', incoming: 'info' }

function State({ of }: { of: Queued }) {
  return <Badge tone={TONES[of.state]}>{of.state === 'hold' ? 'on hold' : of.state}</Badge>
}

/** To whom, and from whom. */
function Parties({ of }: { of: Queued }) {
  const [first, ...others] = of.recipients
  return (
    <span className="two-lines">
      <Link className="row-link party" from={PATHS.queue} to="." search={(before) => ({ ...before, shown: of.queue_id })} state={(before) => before} replace resetScroll={false} title={of.recipients.map((each) => each.address).join(', ')}>
        {first?.address ?? of.queue_id}
        {others.length > 0 && <span className="soft"> +{others.length}</span>}
      </Link>
      <span className="party soft small" title={of.sender}>
        from {of.sender || '(nobody)'}
      </span>
    </span>
  )
}

function LastWord({ of }: { of: Queued }) {
  const reason = of.recipients.find((each) => each.reason)?.reason
  return reason ? <span className="last-word" title={reason}>{reason}</span> : <span className="soft">none yet</span>
}

/** One message with all its recipients; which, stands in the address. */
function Shown() {
  const { shown } = route.useSearch()
  const [, change] = useAddress()
  return (
    <Modal opened={shown !== undefined} onClose={() => change({ shown: undefined })} title="Message in the queue" size="lg">
      {shown !== undefined && <Details queueId={shown} />}
    </Modal>
  )
}

function Details({ queueId }: { queueId: string }) {
  const { data, error } = useQuery({
    queryKey: ['queue', 'one', queueId],
    queryFn: () => askPage(client.GET('/queue', { params: { query: { queue_id: queueId } } })),
  })
  if (error) return <ErrorNote error={error} />
  if (!data) return <Lines />
  const [message] = data.rows
  if (!message) return <p>It has left the queue meanwhile. What became of it stands under Messages.</p>
  return (
    <div className="stack">
      <Facts
        rows={[
          ['State', <State of={message} />],
          ['From', message.sender || '(nobody)'],
          ['Queue id', <span className="copyable"><code>{message.queue_id}</code><Copy text={message.queue_id} what="queue id" /></span>],
          ['Size', bytes(message.size)],
          ['Arrived', <Time at={message.arrived_at} form="exact" />],
          ['Next try', message.next_attempt_at ? <Time at={message.next_attempt_at} form="exact" /> : '–'],
        ]}
      />
      <section className="stack" aria-label="Recipients">
        <h3>{plural(message.recipients.length, 'recipient')} to be delivered to</h3>
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
          Its history
        </LinkButton>
      </div>
    </div>
  )
}
