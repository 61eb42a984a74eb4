import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ask, askPage, client, type Schema } from '../api/client'
import { ApiError } from '../api/errors'
import { version } from '../api/queries'
import { PATHS } from '../paths'
import { barred } from '../policy'
import { Allowed, useAccount } from '../ui/Allowed'
import { Status } from '../ui/Badge'
import { Lines } from '../ui/DataList'
import { domainsQuery } from '../ui/Domains'
import { Empty } from '../ui/Empty'
import { ErrorBar } from '../ui/ErrorBar'
import { ErrorNote } from '../ui/ErrorNote'
import { Icon, type IconName } from '../ui/Icon'
import { LinkButton } from '../ui/links'
import { Page, Section } from '../ui/Page'
import { useReady } from '../ui/ready'
import { Time } from '../ui/Time'
import { sentQuery, useSteps } from './Start'

type Message = Schema['MessageResponse']

/** What happened lately, and what needs somebody. */
export function Overview() {
  return (
    <Page
      title="Overview"
      lead="What happened lately, and what needs attention."
      actions={
        <Allowed to="send">
          <LinkButton to={PATHS.send} leftSection={<Icon name="send" size={16} />}>
            Send
          </LinkButton>
        </Allowed>
      }
    >
      <Content />
    </Page>
  )
}

/** All at once, when it is known which notes stand above the rest: what came later would move it. */
function Content() {
  const sent = useQuery(sentQuery())
  const health = useHealth()
  const isReady = useReady(!sent.isPending && !health.isPending)
  if (!isReady) return <Lines count={8} />
  return (
    <>
      {/* Who has mail that flows needs no way to it, and is not asked about it. */}
      {sent.data === false && <StepsLeft />}
      <Parts />
      <Attention />
      <Lately />
    </>
  )
}

function StepsLeft() {
  const left = useSteps().filter((each) => each === false).length
  return (
    <div className="note">
      <Icon name="flag" />
      <div>
        <p className="note-title">{left === 1 ? 'One step' : `${left} steps`} to the first delivered message</p>
        <p>
          <Link to={PATHS.start}>Show the first steps</Link>
        </p>
      </div>
    </div>
  )
}

/** The day before, counted from the last full hour: a key of the cache that stands still for a while. */
function yesterday(): string {
  return new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - 86_400_000).toISOString()
}

const ANEW = { refetchInterval: 30_000, retry: false } as const

function useHealth() {
  const asked = useQuery({ queryKey: ['health'], queryFn: () => ask(client.GET('/health')), ...ANEW })
  // One that is down refuses, and says the same in the details.
  const told = asked.error instanceof ApiError ? (asked.error.details as Partial<Schema['HealthResponse']>) : asked.data
  const status = told?.status ?? (asked.error ? 'down' : null)
  return { isPending: asked.isPending, status, ailing: told?.checks?.filter((check) => check.status !== 'ok') ?? [] }
}

/** Parts of the server that are not well, by name. */
function Parts() {
  const account = useAccount()
  const health = useHealth()
  const details = useQuery({
    queryKey: ['health', 'details'],
    queryFn: () => ask(client.GET('/health/details')),
    enabled: !barred(account, 'health.read'),
    ...ANEW,
  })
  const explained = details.data?.components.filter((each) => each.status === 'degraded' || each.status === 'down') ?? []
  const unexplained = health.ailing.filter((check) => !explained.some((each) => each.component === check.component))
  const ailing = [...explained, ...unexplained.map((check) => ({ ...check, advice: null }))]
  if (ailing.length === 0) return null
  return (
    <div className="note note-bad" role="alert">
      <Icon name="warn" />
      <div>
        <p className="note-title">{ailing.length === 1 ? 'A part of the server is not well' : `${ailing.length} parts of the server are not well`}</p>
        <ul>
          {ailing.map((check) => (
            <li key={check.component}>
              <span className="strong">{check.component}</span> <Status of={check.status} /> {check.advice}
            </li>
          ))}
        </ul>
        <p>What the parts say themselves stands in the log of the instance; <code>mailkeep status</code> and <code>mailkeep doctor</code> look closer.</p>
      </div>
    </div>
  )
}

function Attention() {
  const account = useAccount()
  const since = yesterday()
  const ofStatus = (status: Message['status']) => ({
    queryKey: ['messages', 'attention', status, since],
    queryFn: () => askPage(client.GET('/messages', { params: { query: { status, since, limit: 100 } } })),
  })
  const bounced = useQuery(ofStatus('bounced'))
  const failed = useQuery(ofStatus('failed'))
  const deferred = useQuery(ofStatus('deferred'))
  const domains = useQuery(domainsQuery())
  const hasSuspensions = !barred(account, 'suspension.list')
  const suspensions = useQuery({
    queryKey: ['suspensions', 'attention'],
    queryFn: () => askPage(client.GET('/abuse/suspensions', { params: { query: { limit: 100 } } })),
    enabled: hasSuspensions,
    ...ANEW,
  })
  const hasWebhooks = !barred(account, 'webhook.list')
  const webhooks = useQuery({ queryKey: ['webhooks', 'list'], queryFn: () => ask(client.GET('/webhooks')), enabled: hasWebhooks, ...ANEW })
  const disabled = webhooks.data?.filter((row) => row.disabled_at) ?? []
  const troubled = webhooks.data?.filter((row) => row.failing_since && !row.disabled_at) ?? []
  const { data: built } = useQuery(version())
  const hasQueue = built?.profile === 'full' && !barred(account, 'queue.list')
  const queue = useQuery({
    queryKey: ['queue', 'attention'],
    queryFn: () => askPage(client.GET('/queue', { params: { query: { state: 'deferred', limit: 100 } } })),
    enabled: hasQueue,
    ...ANEW,
  })
  const health = useHealth()
  const failing = domains.data?.rows.filter((row) => row.dns.status === 'failing' || row.dns.status === 'attention') ?? []
  const checked = domains.data?.rows.filter((row) => row.dns.status !== 'unchecked') ?? []
  const dnsCount = !domains.data ? '…' : checked.length > 0 ? String(failing.length) : '–'
  const dnsHint = () => {
    if (domains.data && domains.data.rows.length === 0) return 'no domains yet'
    if (domains.data && checked.length === 0) return 'DNS records are not checked'
    return failing.length === 1 ? 'domain needs attention' : 'domains need attention'
  }
  const count = (page: { rows: readonly unknown[]; next: string | null } | undefined) => (page ? `${page.rows.length}${page.next ? '+' : ''}` : '…')
  const error = bounced.error ?? failed.error ?? deferred.error ?? domains.error
  return (
    <div className="tiles">
      <ErrorBar error={error} />
      <Tile icon="warn" count={count(bounced.data)} isBad={Boolean(bounced.data?.rows.length)} hint="since yesterday" link={<Link to={PATHS.messages} search={{ status: 'bounced' }}>Bounced</Link>} />
      <Tile icon="cross" count={count(failed.data)} isBad={Boolean(failed.data?.rows.length)} hint="since yesterday" link={<Link to={PATHS.messages} search={{ status: 'failed' }}>Failed</Link>} />
      {!hasQueue && <Tile icon="clock" count={count(deferred.data)} isBad={false} hint="tried again by itself" link={<Link to={PATHS.messages} search={{ status: 'deferred' }}>Waiting</Link>} />}
      {hasQueue && <Tile icon="queue" count={count(queue.data)} isBad={false} hint="put off by others" link={<Link to={PATHS.queue} search={{ state: 'deferred' }}>Queue</Link>} />}
      {hasSuspensions && (
        <Tile icon="pause" count={count(suspensions.data)} isBad={Boolean(suspensions.data?.rows.length)} hint="may not send" link={<Link to={PATHS.suspensions}>Suspended</Link>} />
      )}
      <Tile icon="globe" count={dnsCount} isBad={failing.length > 0} hint={dnsHint()} link={<Link to={PATHS.domains}>DNS</Link>} />
      {hasWebhooks && (
        <Tile
          icon="hook"
          count={webhooks.data ? String(disabled.length + troubled.length) : '…'}
          isBad={disabled.length + troubled.length > 0}
          hint={[disabled.length && `${disabled.length} made inactive`, troubled.length && `${troubled.length} failing`].filter(Boolean).join(', ') || (webhooks.data?.length === 0 ? 'there is none' : 'all are delivered to')}
          link={<Link to={PATHS.webhooks}>Webhooks</Link>}
        />
      )}
      <Tile icon="pulse" link="Server" count={health.status ?? '…'} isBad={health.status !== null && health.status !== 'ok'} hint={health.ailing.map((check) => check.component).join(', ') || (health.status === 'down' ? 'it does not answer' : 'all parts answer')} />
    </div>
  )
}

function Tile(props: { icon: IconName; link: ReactNode; count: string; isBad: boolean; hint: string }) {
  return (
    <div className="card tile" data-bad={props.isBad || undefined}>
      <h2>
        <Icon name={props.icon} size={16} /> {props.link}
      </h2>
      <p className="tile-count">{props.count}</p>
      <p className="soft small">{props.hint}</p>
    </div>
  )
}

function Lately() {
  const { data, error } = useQuery({
    queryKey: ['messages', 'lately'],
    queryFn: () => askPage(client.GET('/messages', { params: { query: { limit: 10 } } })),
    refetchInterval: 5_000,
  })
  return (
    <Section title="Lately" actions={<LinkButton to={PATHS.messages} variant="default" size="xs">All messages</LinkButton>}>
      <ErrorNote error={error} />
      {!data && !error && <Lines count={6} />}
      {data?.rows.length === 0 && (
        <Empty icon="mail" title="Nothing yet">
          As soon as a message is sent or received, it stands here with what became of it.
        </Empty>
      )}
      <ul className="lines">
        {data?.rows.map((message) => (
          <li key={message.id} className="lately">
            <Status of={message.status} />
            <div className="lately-text">
              <Link className="row-link" to={PATHS.message} params={{ id: message.id }}>
                {message.subject || '(no subject)'}
              </Link>
              <span className="soft small break">
                {message.from || '(nobody)'} → {(message.recipients[0]?.address ?? message.to[0]) || '(nobody)'}
                {message.recipients.length > 1 && ` +${message.recipients.length - 1}`}
              </span>
            </div>
            <span className="soft small">
              <Time at={message.created_at} form="ago" />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
