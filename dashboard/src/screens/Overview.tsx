import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ask, askPage, client, type Schema } from '../api/client'
import { PATHS } from '../paths'
import { barred } from '../policy'
import { Allowed, useAccount } from '../ui/Allowed'
import { Status } from '../ui/Badge'
import { Lines } from '../ui/DataList'
import { domainsQuery } from '../ui/Domains'
import { Empty } from '../ui/Empty'
import { ErrorNote } from '../ui/ErrorNote'
import { Icon, type IconName } from '../ui/Icon'
import { LinkButton } from '../ui/links'
import { Page, Section } from '../ui/Page'
import { Time } from '../ui/Time'
import { useSteps } from './Start'

type Message = Schema['Message']

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
      <Guide />
      <Attention />
      <Lately />
    </Page>
  )
}

function Guide() {
  const done = useSteps()
  const left = done.filter((each) => each === false).length
  if (left === 0) return null
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
  const suspensions = useQuery({
    queryKey: ['suspensions', 'attention'],
    queryFn: () => askPage(client.GET('/abuse/suspensions', { params: { query: { limit: 100 } } })),
    enabled: !barred(account, 'suspension.list'),
  })
  const health = useQuery({ queryKey: ['health'], queryFn: () => ask(client.GET('/health')), retry: false })
  const failing = domains.data?.rows.filter((row) => row.dns.status === 'failing' || row.dns.status === 'attention') ?? []
  const count = (page: { rows: readonly unknown[]; next: string | null } | undefined) => (page ? `${page.rows.length}${page.next ? '+' : ''}` : '…')
  const error = bounced.error ?? failed.error ?? deferred.error ?? domains.error
  return (
    <div className="tiles">
      <ErrorNote error={error} />
      <Tile icon="warn" count={count(bounced.data)} isBad={Boolean(bounced.data?.rows.length)} hint="since yesterday" link={<Link to={PATHS.messages} search={{ status: 'bounced' }}>Bounced</Link>} />
      <Tile icon="cross" count={count(failed.data)} isBad={Boolean(failed.data?.rows.length)} hint="since yesterday" link={<Link to={PATHS.messages} search={{ status: 'failed' }}>Failed</Link>} />
      <Tile icon="clock" count={count(deferred.data)} isBad={false} hint="tried again by itself" link={<Link to={PATHS.messages} search={{ status: 'deferred' }}>Waiting</Link>} />
      {suspensions.data && (
        <Tile icon="pause" count={count(suspensions.data)} isBad={suspensions.data.rows.length > 0} hint="may not send" link={<Link to={PATHS.suspensions}>Suspended</Link>} />
      )}
      <Tile icon="globe" count={domains.data ? String(failing.length) : '…'} isBad={failing.length > 0} hint={failing.length === 1 ? 'domain needs a look' : 'domains need a look'} link={<Link to={PATHS.domains}>DNS</Link>} />
      <Tile icon="pulse" link="Server" count={health.data?.status ?? (health.error ? 'down' : '…')} isBad={Boolean(health.error) || (health.data !== undefined && health.data.status !== 'ok')} hint={health.data?.checks.filter((check) => check.status !== 'ok').map((check) => check.component).join(', ') || 'all parts answer'} />
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
