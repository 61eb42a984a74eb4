import { Button } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { Schema } from '../api/client'
import { KINDS } from '../api/kinds'
import { type Live as LiveState, useLive } from '../api/stream'
import { PATHS } from '../paths'
import { useAddress } from '../search'
import { useBarred } from '../ui/Allowed'
import { Badge, type Tone } from '../ui/Badge'
import { Empty } from '../ui/Empty'
import { ErrorBar } from '../ui/ErrorBar'
import { EventKind } from '../ui/EventKind'
import { ChoiceFilter, DomainFilter, Filters } from '../ui/Filters'
import { Icon } from '../ui/Icon'
import { Json } from '../ui/Json'
import { Page } from '../ui/Page'
import { Time } from '../ui/Time'

const route = getRouteApi('/inside/events')

/** Events as they happen. */
export function Live() {
  const { kind, domain, paused } = route.useSearch()
  const [, change] = useAddress()
  const barred = useBarred('event.list')
  const [live, clear] = useLive({ ...(kind && { kind }), ...(domain && { domain_id: domain }) }, paused !== undefined || barred !== null)
  return (
    <Page
      title="Live events"
      lead="What webhooks are told and the feed keeps, as it happens. Your programs can follow the same stream."
      actions={
        <>
          <Button variant="default" onClick={clear}>
            Clear
          </Button>
          <Button leftSection={<Icon name={paused ? 'pulse' : 'pause'} size={16} />} onClick={() => change({ paused: paused ? undefined : 'yes' })}>
            {paused ? 'Go on' : 'Pause'}
          </Button>
        </>
      }
    >
      <Filters names={['kind', 'domain']}>
        <ChoiceFilter name="kind" label="All kinds" data={KINDS} />
        <DomainFilter />
        <LinkState of={live} />
      </Filters>
      {live.link === 'lost' && <ErrorBar error={live.error} />}
      {live.events.length === 0 ? (
        <div className="card">
          <Empty
            icon="pulse"
            title={paused ? 'Paused' : 'Waiting for something to happen'}
            action={
              <Button component={Link} to={PATHS.send} variant="default" leftSection={<Icon name="send" size={16} />}>
                Send something
              </Button>
            }
          >
            Each event appears here within a moment of its commit. Leave this open in a window beside your program.
          </Empty>
        </div>
      ) : (
        <ol className="card events" aria-label="Events" aria-live="off">
          {live.events.map((event) => (
            <Line key={event.id} event={event} />
          ))}
        </ol>
      )}
    </Page>
  )
}

const LINKS: Readonly<Record<LiveState['link'], readonly [Tone, string]>> = {
  connecting: ['info', 'connecting'],
  open: ['good', 'live'],
  paused: ['warn', 'paused'],
  lost: ['bad', 'connecting again'],
}

function LinkState({ of }: { of: LiveState }) {
  const [tone, words] = LINKS[of.link]
  return (
    <span className="link-state" role="status">
      <Badge tone={tone}>{words}</Badge>
    </span>
  )
}

function Line({ event }: { event: Schema['EventResponse'] }) {
  return (
    <li>
      <details>
        <summary>
          <Time at={event.created_at} form="exact" />
          <EventKind kind={event.kind} />
          <span className="break">{about(event.data)}</span>
        </summary>
        <div className="stack">
          {event.message_id && (
            <p>
              <Link to={PATHS.message} params={{ id: event.message_id }}>
                The message’s story
              </Link>
            </p>
          )}
          <Json value={event} what="event" />
        </div>
      </details>
    </li>
  )
}

/** From whom to whom, and the subject, as far as it is told. */
function about(data: Readonly<Record<string, unknown>>): string {
  const one = (value: unknown): string => {
    if (typeof value === 'string') return value
    if (Array.isArray(value)) return value.map(one).filter(Boolean).join(', ')
    return typeof value === 'object' && value !== null && 'email' in value ? String(value.email) : ''
  }
  const [from, to, subject] = [one(data['from']), one(data['to']), one(data['subject'])]
  return [from && to ? `${from} → ${to}` : from || to || one(data['address']) || one(data['url']), subject && `“${subject}”`].filter(Boolean).join(' ')
}
