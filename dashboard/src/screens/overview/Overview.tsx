import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { fetchData, fetchPage, client, type Schema } from '../../api/client'
import { ApiError } from '../../api/errors'
import { versionQuery } from '../../api/queries'
import { PATHS } from '../../paths'
import { denialReason } from '../../access/policy'
import { useAccount } from '../../access/account'
import { StatusBadge } from '../../ui/Badge'
import { LoadingLines } from '../../ui/DataList'
import { domainsQuery } from '../domains/DomainSelect'
import { EmptyState } from '../../ui/Empty'
import { ErrorBar } from '../../ui/ErrorBar'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon, type IconName } from '../../ui/Icon'
import { LinkButton } from '../../ui/links'
import { Page, Section } from '../../ui/Page'
import { useReady } from '../../ui/useReady'
import { Time } from '../../ui/Time'
import { formatNumber } from '../../locale'
import { OWN_ZONE, toLocal } from '../../timeZone'
import { SendButton } from '../messages/SendButton'
import { sentQuery, useSteps } from './FirstSteps'
import { componentsQuery } from '../health/queries'

type Message = Schema['MessageResponse']

/** Recent messages and current problems. */
export function Overview() {
  return (
    <Page title="Overview" lead="Recent messages and current problems." actions={<SendButton />}>
      <Content />
    </Page>
  )
}

/** Rendered when it is known which notes appear at the top, so that nothing moves later. */
function Content() {
  const sent = useQuery(sentQuery())
  const health = useHealth()
  const alerts = useOpenAlerts()
  const isReady = useReady(!sent.isPending && !health.isPending && !alerts.isLoading)
  if (!isReady) return <LoadingLines count={8} />
  return (
    <>
      {/* Only before the first message was sent. */}
      {sent.data === false && <RemainingSteps />}
      <UnhealthyServices />
      <OpenAlerts />
      <Attention />
      <RecentMessages />
    </>
  )
}

function RemainingSteps() {
  const { areComplete, isOptional } = useSteps()
  const remaining = areComplete.filter((each, index) => each === false && !isOptional(index)).length
  return (
    <div className="note">
      <Icon name="flag" />
      <div>
        <p className="note-title">{remaining === 1 ? 'One step' : `${remaining} steps`} to the first delivered message</p>
        <p>
          <Link to={PATHS.start}>View first steps</Link>
        </p>
      </div>
    </div>
  )
}

/** 24 hours before the last full minute, so that the query key is stable for a while. */
function oneDayAgo(): string {
  return new Date(Math.floor(Date.now() / 60_000) * 60_000 - 86_400_000).toISOString()
}

const REFRESH = { refetchInterval: 30_000, retry: false } as const

/** How many messages are in each status, of those created since a time, or of all. */
function totalsQuery(since?: string) {
  return queryOptions({
    queryKey: ['messages', 'totals', since ?? 'all'],
    queryFn: () => fetchData(client.GET('/messages/totals', { params: { query: since ? { since } : {} } })),
    placeholderData: keepPreviousData,
    ...REFRESH,
  })
}

function formatTotal(counted: Schema['MessageTotalsResponse'] | undefined, status: Message['status']): string {
  if (!counted) return '…'
  const total = counted.totals[status] ?? 0
  return `${formatNumber(total)}${total >= counted.most ? '+' : ''}`
}

function useHealth() {
  const health = useQuery({ queryKey: ['health'], queryFn: () => fetchData(client.GET('/health')), ...REFRESH })
  // A server that is down responds with an error that has the report in its details.
  const report = health.error instanceof ApiError ? (health.error.details as Partial<Schema['HealthResponse']>) : health.data
  const status = report?.status ?? (health.error ? 'down' : null)
  return { isPending: health.isPending, status, unhealthy: report?.checks?.filter((check) => check.status !== 'ok') ?? [] }
}

/** The services of the server that are not healthy. */
function UnhealthyServices() {
  const account = useAccount()
  const health = useHealth()
  const isSuper = !denialReason(account, 'health.read')
  const details = useQuery({ ...componentsQuery(), enabled: isSuper })
  const explained = details.data?.components.filter((each) => each.status === 'degraded' || each.status === 'down') ?? []
  const unexplained = health.unhealthy.filter((check) => !explained.some((each) => each.component === check.component))
  const unhealthy = [...explained, ...unexplained.map((check) => ({ ...check, advice: null }))]
  if (unhealthy.length === 0) return null
  return (
    <div className="note note-bad" role="alert">
      <Icon name="warn" />
      <div>
        <p className="note-title">{unhealthy.length === 1 ? '1 service is unhealthy' : `${unhealthy.length} services are unhealthy`}</p>
        <ul>
          {unhealthy.map((check) => (
            <li key={check.component}>
              <span className="strong">{check.component}</span> <StatusBadge status={check.status} /> {check.advice}
            </li>
          ))}
        </ul>
        {isSuper && (
          <p>
            <Link to={PATHS.health}>View health</Link>
          </p>
        )}
        <p>
          Run <code>mailkeep status</code> and <code>mailkeep doctor</code> on the server, and read its log.
        </p>
      </div>
    </div>
  )
}

function useOpenAlerts() {
  const account = useAccount()
  return useQuery({
    queryKey: ['alerts', 'attention'],
    queryFn: () => fetchPage(client.GET('/abuse/alerts', { params: { query: { state: 'open', limit: 100 } } })),
    enabled: !denialReason(account, 'alert.list'),
    ...REFRESH,
  })
}

/** How many alerts about abuse nobody has acknowledged. */
function OpenAlerts() {
  const { data } = useOpenAlerts()
  if (!data?.rows.length) return null
  const isCritical = data.rows.some((row) => row.severity === 'critical')
  const count = `${data.rows.length}${data.next ? '+' : ''}`
  return (
    <div className={isCritical ? 'note note-bad' : 'note'}>
      <Icon name="warn" />
      <div>
        <p className="note-title">{count === '1' ? '1 open alert about abuse' : `${count} open alerts about abuse`}</p>
        <p>
          <Link to={PATHS.alerts} search={{ state: 'open' }}>
            View alerts
          </Link>
        </p>
      </div>
    </div>
  )
}

function Attention() {
  const account = useAccount()
  const since = oneDayAgo()
  const lastDay = useQuery(totalsQuery(since))
  const everything = useQuery(totalsQuery())
  const domains = useQuery(domainsQuery())
  const hasSuspensions = !denialReason(account, 'suspension.list')
  const suspensions = useQuery({
    queryKey: ['suspensions', 'attention'],
    queryFn: () => fetchPage(client.GET('/abuse/suspensions', { params: { query: { limit: 100 } } })),
    enabled: hasSuspensions,
    ...REFRESH,
  })
  const hasWebhooks = !denialReason(account, 'webhook.list')
  const webhooks = useQuery({
    queryKey: ['webhooks', 'list'],
    queryFn: () => fetchData(client.GET('/webhooks')),
    enabled: hasWebhooks,
    ...REFRESH,
  })
  const disabledWebhooks = webhooks.data?.filter((row) => row.disabled_at) ?? []
  const failingWebhooks = webhooks.data?.filter((row) => row.failing_since && !row.disabled_at) ?? []
  const { data: version } = useQuery(versionQuery())
  const hasQueue = version?.profile === 'full' && !denialReason(account, 'queue.list')
  const queue = useQuery({
    queryKey: ['queue', 'attention'],
    queryFn: () => fetchPage(client.GET('/queue', { params: { query: { state: 'deferred', limit: 100 } } })),
    enabled: hasQueue,
    ...REFRESH,
  })
  const health = useHealth()
  const dnsQuery = (dns_status: 'failing' | 'attention') => ({
    queryKey: ['domains', 'dns attention', dns_status],
    queryFn: () => fetchPage(client.GET('/domains', { params: { query: { dns_status, limit: 100 } } })),
    ...REFRESH,
  })
  const failing = useQuery(dnsQuery('failing')).data
  const attention = useQuery(dnsQuery('attention')).data
  const domainsWithProblems = [...(failing?.rows ?? []), ...(attention?.rows ?? [])]
  const checkedDomains = domains.data?.rows.filter((row) => row.dns.status !== 'unchecked') ?? []
  const hasMore = failing?.next || attention?.next
  const dnsCount =
    !domains.data || !failing || !attention ? '…' : checkedDomains.length > 0 ? `${domainsWithProblems.length}${hasMore ? '+' : ''}` : '–'
  const dnsHint = () => {
    if (domains.data && domains.data.rows.length === 0) return 'no domains'
    if (domains.data && checkedDomains.length === 0) return 'DNS records are not checked'
    if (failing?.rows.length) return `${failing.rows.length}${failing.next ? '+' : ''} failing`
    return domainsWithProblems.length === 1 ? 'domain needs attention' : 'domains need attention'
  }
  const count = (page: { rows: readonly unknown[]; next: string | null } | undefined) =>
    page ? `${page.rows.length}${page.next ? '+' : ''}` : '…'
  const error = lastDay.error ?? everything.error ?? domains.error
  return (
    <div className="tiles">
      <ErrorBar error={error} />
      {(
        [
          ['Bounced', 'bounced', 'warn'],
          ['Failed', 'failed', 'cross'],
        ] as const
      ).map(([label, status, icon]) => (
        <Tile
          key={label}
          icon={icon}
          count={formatTotal(lastDay.data, status)}
          isBad={Boolean(lastDay.data?.totals[status])}
          hint="last 24 hours"
          link={
            <Link to={PATHS.messages} search={{ status, since: toLocal(since, OWN_ZONE) }}>
              {label}
            </Link>
          }
        />
      ))}
      {!hasQueue && (
        <Tile
          icon="clock"
          count={formatTotal(everything.data, 'deferred')}
          isBad={false}
          hint="retrying"
          link={
            <Link to={PATHS.messages} search={{ status: 'deferred' }}>
              Deferred
            </Link>
          }
        />
      )}
      {hasQueue && (
        <Tile
          icon="queue"
          count={count(queue.data)}
          isBad={false}
          hint="deferred"
          link={
            <Link to={PATHS.queue} search={{ state: 'deferred' }}>
              Queue
            </Link>
          }
        />
      )}
      {hasSuspensions && (
        <Tile
          icon="pause"
          count={count(suspensions.data)}
          isBad={Boolean(suspensions.data?.rows.length)}
          hint="addresses that can't send"
          link={<Link to={PATHS.suspensions}>Suspensions</Link>}
        />
      )}
      <Tile
        icon="globe"
        count={dnsCount}
        isBad={domainsWithProblems.length > 0}
        hint={dnsHint()}
        link={
          <Link
            to={PATHS.domains}
            search={domainsWithProblems.length ? { dns_status: failing?.rows.length ? 'failing' : 'attention' } : {}}
          >
            DNS
          </Link>
        }
      />
      {hasWebhooks && (
        <Tile
          icon="hook"
          count={webhooks.data ? String(disabledWebhooks.length + failingWebhooks.length) : '…'}
          isBad={disabledWebhooks.length + failingWebhooks.length > 0}
          hint={
            [
              disabledWebhooks.length && `${disabledWebhooks.length} disabled`,
              failingWebhooks.length && `${failingWebhooks.length} failing`,
            ]
              .filter(Boolean)
              .join(', ') || (webhooks.data?.length === 0 ? 'none configured' : 'all healthy')
          }
          link={<Link to={PATHS.webhooks}>Webhooks</Link>}
        />
      )}
      <Tile
        icon="pulse"
        link="Server"
        count={health.status ?? '…'}
        isBad={health.status !== null && health.status !== 'ok'}
        hint={
          health.unhealthy.map((check) => check.component).join(', ') ||
          (health.status === 'down' ? 'not responding' : 'all services running')
        }
      />
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
      <p className="muted small">{props.hint}</p>
    </div>
  )
}

function RecentMessages() {
  const { data, error } = useQuery({
    queryKey: ['messages', 'recent'],
    queryFn: () => fetchPage(client.GET('/messages', { params: { query: { limit: 10 } } })),
    refetchInterval: 5_000,
  })
  return (
    <Section
      title="Recent messages"
      actions={
        <LinkButton to={PATHS.messages} variant="default" size="xs">
          All messages
        </LinkButton>
      }
    >
      <ErrorNote error={error} />
      {!data && !error && <LoadingLines count={6} />}
      {data?.rows.length === 0 && (
        <EmptyState icon="mail" title="No messages yet">
          Sent and received messages appear here.
        </EmptyState>
      )}
      <ul className="lines">
        {data?.rows.map((message) => (
          <li key={message.id} className="recent">
            <StatusBadge status={message.status} />
            <div className="recent-text">
              <Link className="row-link" to={PATHS.message} params={{ id: message.id }}>
                {message.subject || '(no subject)'}
              </Link>
              <span className="muted small break">
                {message.from || '(empty sender)'} → {(message.recipients[0]?.address ?? message.to[0]) || '(no recipients)'}
                {message.recipients.length > 1 && ` +${message.recipients.length - 1}`}
              </span>
            </div>
            <span className="muted small">
              <Time at={message.created_at} form="ago" />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
