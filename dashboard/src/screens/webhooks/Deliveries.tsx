import { Button, Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { fetchData, fetchPage, client, type Schema } from '../../api/client'
import { EVENT_KINDS } from '../events/kinds'
import { useSearchParams } from '../../search'
import { Allowed } from '../../access/Allowed'
import { Badge, type Tone } from '../../ui/Badge'
import { type Column, DataList, LoadingLines } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { NoMatches } from '../../ui/NoMatches'
import { ErrorNote } from '../../ui/ErrorNote'
import { EventKind } from '../events/EventKind'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { useApiMutation } from '../../ui/useForm'
import { Icon } from '../../ui/Icon'
import { Json } from '../../ui/Json'
import { Section } from '../../ui/Page'
import { ReplayForm } from './ReplayForm'
import { Time } from '../../ui/Time'

type Delivery = Schema['DeliveryRecord']
type Webhook = Schema['WebhookRecord']

const STATES: Readonly<Record<Delivery['state'], { tone: Tone; label: string; description: string }>> = {
  pending: { tone: 'info', label: 'pending', description: 'waiting for the first attempt' },
  waiting_for_retry: { tone: 'warn', label: 'waiting for retry', description: 'failed, another attempt follows' },
  delivered: { tone: 'good', label: 'delivered', description: 'your application responded with 2xx' },
  abandoned: { tone: 'bad', label: 'abandoned', description: 'all attempts failed; can be replayed' },
}

function State({ state }: { state: Delivery['state'] }) {
  return <Badge tone={STATES[state].tone}>{STATES[state].label}</Badge>
}

/** The deliveries of a webhook with their attempts. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const [params] = useSearchParams()
  const [shown, setShown] = useState<Delivery | null>(null)
  const [isReplaying, setReplaying] = useState(false)
  const filter = {
    ...(params['state'] && { state: params['state'] as Delivery['state'] }),
    ...(params['kind'] && { event: params['kind'] as 'mail.sent' }),
  }
  const inactiveReason = webhook.active ? null : 'Activate the webhook first.'
  const columns: readonly Column<Delivery>[] = [
    {
      header: 'Event',
      cell: (row) => (
        <button type="button" className="row-button" onClick={() => setShown(row)}>
          <EventKind kind={row.event} />
        </button>
      ),
    },
    { header: 'State', cell: (row) => <State state={row.state} /> },
    { header: 'Response', wide: true, cell: (row) => <AttemptResult attempt={row.attempts.at(-1)} /> },
    { header: 'Attempts', align: 'right', cell: (row) => row.attempts.length },
    { header: 'Event time', cell: (row) => <Time at={row.created_at} form="ago" /> },
  ]
  return (
    <Section
      bare
      title="Deliveries"
      actions={
        <Allowed action="webhook.write" disabledReason={inactiveReason}>
          <Button variant="default" leftSection={<Icon name="refresh" size={16} />} onClick={() => setReplaying(true)}>
            Replay events
          </Button>
        </Allowed>
      }
    >
      <Filters names={['state', 'kind']}>
        <ChoiceFilter name="state" label="State" data={Object.entries(STATES).map(([value, state]) => ({ value, ...state }))} />
        <ChoiceFilter name="kind" label="Event" data={EVENT_KINDS} />
      </Filters>
      <DataList
        label="Deliveries"
        queryKey={['webhooks', 'deliveries', webhook.id, filter]}
        load={(page) =>
          fetchPage(
            client.GET('/webhooks/{id}/deliveries', {
              params: { path: { id: webhook.id }, query: { ...filter, ...page, sort: 'created_at' } },
            }),
          )
        }
        columns={columns}
        rowKey={(row) => row.id}
        refetchEvery={4000}
        empty={
          Object.keys(filter).length > 0 ? (
            <NoMatches what="deliveries" filters={['state', 'kind']} />
          ) : (
            <EmptyState icon="hook" title="No deliveries yet">
              Deliveries appear here with their request, response and next attempt.
            </EmptyState>
          )
        }
      />
      <Modal opened={shown !== null} onClose={() => setShown(null)} title="Delivery" size="xl">
        {shown && <DeliveryDetails webhook={webhook} delivery={shown} inactiveReason={inactiveReason} />}
      </Modal>
      <Modal opened={isReplaying} onClose={() => setReplaying(false)} title="Replay events" size="lg">
        {isReplaying && <ReplayForm webhook={webhook} onDone={() => setReplaying(false)} />}
      </Modal>
    </Section>
  )
}

function AttemptResult({ attempt }: { attempt: Schema['WebhookAttemptResponse'] | undefined }) {
  if (!attempt) return <span className="muted">none</span>
  if (attempt.status === null && attempt.error === null) return <span className="muted">in progress</span>
  return (
    <span>
      {attempt.status === null ? attempt.error : `HTTP ${attempt.status}`}
      {attempt.duration_ms !== null && <span className="muted"> in {attempt.duration_ms} ms</span>}
    </span>
  )
}

function DeliveryDetails({ webhook, delivery, inactiveReason }: { webhook: Webhook; delivery: Delivery; inactiveReason: string | null }) {
  const replay = useApiMutation({
    request: () =>
      fetchData(
        client.POST('/webhooks/{id}/deliveries/{delivery_id}/replay', { params: { path: { id: webhook.id, delivery_id: delivery.id } } }),
      ),
    invalidates: ['webhooks'],
    message: 'Queued for delivery.',
  })
  const shown = replay.data ?? delivery
  return (
    <div className="stack">
      <div className="between">
        <div className="row">
          <EventKind kind={shown.event} /> <State state={shown.state} />
          {shown.next_attempt_at && (
            <span className="muted">
              next attempt <Time at={shown.next_attempt_at} form="exact" />
            </span>
          )}
        </div>
        <Allowed action="webhook.write" disabledReason={inactiveReason}>
          <Button
            variant="default"
            leftSection={<Icon name="refresh" size={16} />}
            loading={replay.isPending}
            onClick={() => replay.mutate(undefined)}
          >
            Replay
          </Button>
        </Allowed>
      </div>
      <ErrorNote error={replay.error} />
      <DeliveredRequest webhook={webhook} delivery={shown} />
      <h3>Attempts</h3>
      {shown.attempts.length === 0 && <p className="muted">No attempts yet.</p>}
      <ol className="tries">
        {shown.attempts.map((attempt, index) => (
          <li key={index} className="stack">
            <div className="row">
              <Time at={attempt.at} form="exact" /> <AttemptResult attempt={attempt} />
              {attempt.status !== null && attempt.error && attempt.error !== 'http_status' && (
                <span className="muted">{attempt.error}</span>
              )}
            </div>
            {attempt.response_excerpt && (
              <pre tabIndex={0} aria-label="Response" className="wrap">
                {attempt.response_excerpt}
              </pre>
            )}
          </li>
        ))}
      </ol>
    </div>
  )
}

/** The request of a delivery, rebuilt from the recorded event. */
function DeliveredRequest({ webhook, delivery }: { webhook: Webhook; delivery: Delivery }) {
  const { data, error } = useQuery({
    queryKey: ['events', 'one', delivery.event_id],
    queryFn: () => fetchData(client.GET('/events/{id}', { params: { path: { id: delivery.event_id } } })),
    staleTime: Infinity,
  })
  if (error) return <ErrorNote error={error} />
  if (!data) return <LoadingLines />
  const body = { id: data.message_id ?? data.id, event: data.kind, event_id: data.id, timestamp: data.created_at, data: data.data }
  return (
    <>
      <h3>Request</h3>
      <pre tabIndex={0} aria-label="Request headers" className="wrap">
        {`POST ${webhook.url}\nContent-Type: application/json\nwebhook-id: ${delivery.event_id}\nwebhook-timestamp: …\nwebhook-signature: …\nX-Svc-Signature: …`}
      </pre>
      <Json value={body} what="body" />
      {data.kind === 'mail.received.full' && <p className="muted small">The message content of the request is not shown here.</p>}
    </>
  )
}
