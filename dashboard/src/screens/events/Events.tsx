import { Button } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { Schema } from '../../api/client'
import { EVENT_KINDS } from './kinds'
import { type EventStream, useEventStream } from './stream'
import { PATHS } from '../../paths'
import { useSearchParams } from '../../search'
import { useDenialReason } from '../../access/Allowed'
import { Badge, type Tone } from '../../ui/Badge'
import { EmptyState } from '../../ui/Empty'
import { ErrorBar } from '../../ui/ErrorBar'
import { EventKind } from './EventKind'
import { DomainFilter } from '../domains/DomainFilter'
import { ChoiceFilter, Filters } from '../../ui/Filters'
import { Icon } from '../../ui/Icon'
import { Json } from '../../ui/Json'
import { Page } from '../../ui/Page'
import { Time } from '../../ui/Time'

const route = getRouteApi('/app/events')

/** Events as they happen. */
export function Events() {
  const { kind, domain, paused } = route.useSearch()
  const [, change] = useSearchParams()
  const denialReason = useDenialReason('event.list')
  const [stream, clear] = useEventStream(
    { ...(kind && { kind }), ...(domain && { domain_id: domain }) },
    paused !== undefined || denialReason !== null,
  )
  return (
    <Page
      title="Events"
      lead="Events as they happen, the same that webhooks receive. Applications can follow this stream through the API."
      actions={
        <>
          <Button variant="default" onClick={clear}>
            Clear
          </Button>
          <Button
            leftSection={<Icon name={paused ? 'pulse' : 'pause'} size={16} />}
            onClick={() => change({ paused: paused ? undefined : 'yes' })}
          >
            {paused ? 'Resume' : 'Pause'}
          </Button>
        </>
      }
    >
      <Filters names={['kind', 'domain']}>
        <ChoiceFilter name="kind" label="Event" data={EVENT_KINDS} />
        <DomainFilter />
        <StreamStatus status={stream.status} />
      </Filters>
      {stream.status === 'lost' && <ErrorBar error={stream.error} />}
      {stream.events.length === 0 ? (
        <div className="card">
          <EmptyState
            icon="pulse"
            title={paused ? 'Paused' : 'No events yet'}
            action={
              <Button component={Link} to={PATHS.send} variant="default" leftSection={<Icon name="send" size={16} />}>
                Send a message
              </Button>
            }
          >
            {paused ? 'Select Resume to see new events.' : 'New events appear here immediately.'}
          </EmptyState>
        </div>
      ) : (
        <ol className="card events" aria-label="Events" aria-live="off">
          {stream.events.map((event) => (
            <EventRow key={event.id} event={event} />
          ))}
        </ol>
      )}
    </Page>
  )
}

const STREAM_STATUS: Readonly<Record<EventStream['status'], readonly [Tone, string]>> = {
  connecting: ['info', 'connecting'],
  open: ['good', 'live'],
  paused: ['warn', 'paused'],
  lost: ['bad', 'reconnecting'],
}

function StreamStatus({ status }: Pick<EventStream, 'status'>) {
  const [tone, label] = STREAM_STATUS[status]
  return (
    <span className="link-state" role="status">
      <Badge tone={tone}>{label}</Badge>
    </span>
  )
}

function EventRow({ event }: { event: Schema['EventResponse'] }) {
  return (
    <li>
      <details>
        <summary>
          <Time at={event.created_at} form="exact" />
          <EventKind kind={event.kind} />
          <span className="break">{summarize(event.data)}</span>
        </summary>
        <div className="stack">
          {event.message_id && (
            <p>
              <Link to={PATHS.message} params={{ id: event.message_id }}>
                View message
              </Link>
            </p>
          )}
          <Json value={event} what="event" />
        </div>
      </details>
    </li>
  )
}

/** Sender, recipients and subject of an event, as far as it has them. */
function summarize(data: Readonly<Record<string, unknown>>): string {
  const textOf = (value: unknown): string => {
    if (typeof value === 'string') return value
    if (Array.isArray(value)) return value.map(textOf).filter(Boolean).join(', ')
    return typeof value === 'object' && value !== null && 'email' in value ? String(value.email) : ''
  }
  const [from, to, subject] = [textOf(data['from']), textOf(data['to']), textOf(data['subject'])]
  return [from && to ? `${from} → ${to}` : from || to || textOf(data['address']) || textOf(data['url']), subject && `“${subject}”`]
    .filter(Boolean)
    .join(' ')
}
