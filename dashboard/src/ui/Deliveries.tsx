import { Button, Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask, askPage, client, type Schema } from '../api/client'
import { KINDS } from '../api/kinds'
import { useAddress } from '../search'
import { Allowed } from './Allowed'
import { Badge, type Tone } from './Badge'
import { type Column, DataList, Lines } from './DataList'
import { Empty } from './Empty'
import { ErrorNote } from './ErrorNote'
import { EventKind } from './EventKind'
import { ChoiceFilter, Filters } from './Filters'
import { useChange } from './form'
import { Icon } from './Icon'
import { Json } from './Json'
import { Section } from './Page'
import { ReplayForm } from './ReplayForm'
import { Time } from './Time'

type Delivery = Schema['DeliveryRecord']
type Webhook = Schema['WebhookRecord']

const TONES: Readonly<Record<Delivery['state'], readonly [Tone, string]>> = {
  pending: ['info', 'on its way'],
  waiting_for_retry: ['warn', 'tried again soon'],
  delivered: ['good', 'delivered'],
  abandoned: ['bad', 'given up'],
}

const STATES = Object.entries(TONES).map(([value, [, label]]) => ({ value, label }))

function State({ of }: { of: Delivery['state'] }) {
  const [tone, words] = TONES[of]
  return <Badge tone={tone}>{words}</Badge>
}

/** What was delivered to a webhook, with each try, and what can be delivered again. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const [address] = useAddress()
  const [shown, setShown] = useState<Delivery | null>(null)
  const [isReplaying, setReplaying] = useState(false)
  const filter = { ...(address['state'] && { state: address['state'] as Delivery['state'] }), ...(address['kind'] && { event: address['kind'] as 'mail.sent' }) }
  const inactive = webhook.active ? null : 'The webhook is inactive: activate it first.'
  const columns: readonly Column<Delivery>[] = [
    {
      head: 'Event',
      cell: (row) => (
        <button type="button" className="row-button" onClick={() => setShown(row)}>
          <EventKind kind={row.event} />
        </button>
      ),
    },
    { head: 'State', cell: (row) => <State of={row.state} /> },
    { head: 'Answer', wide: true, cell: (row) => <Answer of={row.attempts.at(-1)} /> },
    { head: 'Tries', align: 'right', cell: (row) => row.attempts.length },
    { head: 'Happened', cell: (row) => <Time at={row.created_at} form="ago" /> },
  ]
  return (
    <Section
      bare
      title="Deliveries"
      actions={
        <Allowed to="webhook.write" unless={inactive}>
          <Button variant="default" leftSection={<Icon name="refresh" size={16} />} onClick={() => setReplaying(true)}>
            Replay a span
          </Button>
        </Allowed>
      }
    >
      <Filters names={['state', 'kind']}>
        <ChoiceFilter name="state" label="State" data={STATES} />
        <ChoiceFilter name="kind" label="Event" data={KINDS} />
      </Filters>
      <DataList
        label="Deliveries"
        of={['webhooks', 'deliveries', webhook.id, filter]}
        load={(page) => askPage(client.GET('/webhooks/{id}/deliveries', { params: { path: { id: webhook.id }, query: { ...filter, ...page, sort: 'created_at' } } }))}
        columns={columns}
        rowKey={(row) => row.id}
        every={4000}
        empty={
          <Empty icon="hook" title={Object.keys(filter).length ? 'No delivery is like that' : 'Nothing was delivered yet'}>
            Each event stands here with every try: what was sent, what your program answered, and when it is tried again.
          </Empty>
        }
      />
      <Modal opened={shown !== null} onClose={() => setShown(null)} title="Delivery" size="xl">
        {shown && <Detail webhook={webhook} delivery={shown} inactive={inactive} />}
      </Modal>
      <Modal opened={isReplaying} onClose={() => setReplaying(false)} title="Replay a span" size="lg">
        {isReplaying && <ReplayForm webhook={webhook} onDone={() => setReplaying(false)} />}
      </Modal>
    </Section>
  )
}

function Answer({ of }: { of: Schema['WebhookAttemptResponse'] | undefined }) {
  if (!of) return <span className="soft">none yet</span>
  if (of.status === null && of.error === null) return <span className="soft">under way</span>
  return (
    <span>
      {of.status ?? of.error}
      {of.duration_ms !== null && <span className="soft"> in {of.duration_ms} ms</span>}
    </span>
  )
}

function Detail({ webhook, delivery, inactive }: { webhook: Webhook; delivery: Delivery; inactive: string | null }) {
  const replay = useChange({
    change: () => ask(client.POST('/webhooks/{id}/deliveries/{delivery_id}/replay', { params: { path: { id: webhook.id, delivery_id: delivery.id } } })),
    refreshes: ['webhooks'],
    told: 'It is on its way again.',
  })
  const shown = replay.data ?? delivery
  return (
    <div className="stack">
      <div className="between">
        <div className="row">
          <EventKind kind={shown.event} /> <State of={shown.state} />
          {shown.next_attempt_at && (
            <span className="soft">
              next try <Time at={shown.next_attempt_at} form="exact" />
            </span>
          )}
        </div>
        <Allowed to="webhook.write" unless={inactive}>
          <Button variant="default" leftSection={<Icon name="refresh" size={16} />} loading={replay.isPending} onClick={() => replay.mutate(undefined)}>
            Deliver again
          </Button>
        </Allowed>
      </div>
      <ErrorNote error={replay.error} />
      <Sent webhook={webhook} delivery={shown} />
      <h3>Answers</h3>
      {shown.attempts.length === 0 && <p className="soft">It was not tried yet.</p>}
      <ol className="tries">
        {shown.attempts.map((attempt, index) => (
          <li key={index} className="stack">
            <div className="row">
              <Time at={attempt.at} form="exact" /> <Answer of={attempt} />
              {attempt.status !== null && attempt.error && attempt.error !== 'http_status' && <span className="soft">{attempt.error}</span>}
            </div>
            {attempt.response_excerpt && (
              <pre tabIndex={0} aria-label="Answer" className="wrap">
                {attempt.response_excerpt}
              </pre>
            )}
          </li>
        ))}
      </ol>
    </div>
  )
}

/** What was posted, as the event on record has it. */
function Sent({ webhook, delivery }: { webhook: Webhook; delivery: Delivery }) {
  const { data, error } = useQuery({
    queryKey: ['events', 'one', delivery.event_id],
    queryFn: () => ask(client.GET('/events/{id}', { params: { path: { id: delivery.event_id } } })),
    staleTime: Infinity,
  })
  if (error) return <ErrorNote error={error} />
  if (!data) return <Lines />
  const body = { id: data.message_id ?? data.id, event: data.kind, event_id: data.id, timestamp: data.created_at, data: data.data }
  return (
    <>
      <h3>Request</h3>
      <pre tabIndex={0} aria-label="Request head" className="wrap">
        {`POST ${webhook.url}\nContent-Type: application/json\nwebhook-id: ${delivery.event_id}\nwebhook-timestamp: …\nwebhook-signature: …\nX-Svc-Signature: …`}
      </pre>
      <Json value={body} what="body" />
      {data.kind === 'mail.received.full' && <p className="soft small">The content that goes with it is not shown here.</p>}
    </>
  )
}
