import { Button, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ask, askPage, askText, client, type Schema } from '../api/client'
import { ApiError } from '../api/errors'
import { PATHS } from '../paths'
import { useBarred } from '../ui/Allowed'
import { Badge, Status, toneOf } from '../ui/Badge'
import { bytes } from '../ui/bytes'
import { Copy } from '../ui/Copy'
import { Lines } from '../ui/DataList'
import { DomainName } from '../ui/Domains'
import { ErrorNote } from '../ui/ErrorNote'
import { isMissing, Missing } from '../ui/Missing'
import { Icon } from '../ui/Icon'
import { Facts, Page, Section } from '../ui/Page'
import { Time } from '../ui/Time'

type Found = Schema['MessageResponse']

const route = getRouteApi('/inside/messages/$id')
const UNSETTLED: readonly string[] = ['submitting', 'queued', 'deferred', 'partial']

export function Message() {
  const { id } = route.useParams()
  const { data, error } = useQuery({
    queryKey: ['messages', 'one', id],
    queryFn: () => ask(client.GET('/messages/{id}', { params: { path: { id } } })),
    // Its fate comes by itself.
    refetchInterval: ({ state }) => (state.data && UNSETTLED.includes(state.data.status) ? 2_000 : false),
  })
  const back = <Link to={PATHS.messages}>← Messages</Link>
  if (isMissing(error)) return <Missing title="No such message" back={back} error={error} />
  if (!data)
    return (
      <Page title="Message" back={back}>
        {error ? <ErrorNote error={error} /> : <Lines />}
      </Page>
    )
  return (
    <Page
      title={data.subject || '(no subject)'}
      back={back}
      lead={
        <>
          <Status of={data.status} /> {data.direction === 'inbound' ? 'received' : 'sent'} <Time at={data.created_at} form="exact" />
        </>
      }
    >
      <Section title="Message">
        <Facts rows={facts(data)} />
      </Section>
      <Recipients message={data} />
      <Tabs defaultValue="timeline" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="timeline">Timeline</Tabs.Tab>
          <Tabs.Tab value="raw">Raw message</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="timeline" pt="md">
          <Timeline message={data} />
        </Tabs.Panel>
        <Tabs.Panel value="raw" pt="md">
          <Raw message={data} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  )
}

function facts(message: Found): (readonly [string, React.ReactNode])[] {
  const copied = (value: string, what: string) => (
    <span className="copyable">
      <code>{value}</code>
      <Copy text={value} what={what} />
    </span>
  )
  const { spam, auth } = message
  const checks = [auth.spf && `SPF ${auth.spf}`, auth.dkim && `DKIM ${auth.dkim}`, auth.dmarc && `DMARC ${auth.dmarc}`].filter(Boolean)
  return [
    ['From', message.from || '(nobody)'],
    ['To', message.to.join(', ') || '(nobody)'],
    ...(message.cc.length ? [['Copies', message.cc.join(', ')] as const] : []),
    ['Size', bytes(message.size)],
    ['Came by', { api: 'the API', smtp: 'SMTP', system: 'Mailkeep itself' }[message.source]],
    ['Domain', message.domain_id && <DomainName id={message.domain_id} />],
    ['Message-ID', copied(message.message_id, 'Message-ID')],
    ...(message.queue_id ? [['Queue id', copied(message.queue_id, 'queue id')] as const] : []),
    ['Id', copied(message.id, 'id')],
    ...(message.tags.length ? [['Tags', <span className="row">{message.tags.map((tag) => <Badge key={tag}>{tag}</Badge>)}</span>] as const] : []),
    ...Object.entries(message.metadata).map(([name, value]) => [name, String(value)] as const),
    ...(checks.length ? [['Checks of the sender', checks.join(' · ')] as const] : []),
    ...(spam.score === null ? [] : [['Spam', `${spam.score} (${spam.action ?? 'no action'})`] as const]),
  ]
}

function Recipients({ message }: { message: Found }) {
  if (message.recipients.length === 0) return null
  return (
    <Section title="Recipients">
      <ul className="lines">
        {message.recipients.map((recipient) => (
          <li key={recipient.address}>
            <div className="between">
              <span className="strong break">{recipient.address}</span>
              <Status of={recipient.status} />
            </div>
            <Words smtp_code={recipient.smtp_code} enhanced_code={recipient.enhanced_code} diagnostic={recipient.diagnostic} remote_host={recipient.remote_host} />
            {recipient.next_attempt_at && (
              <p className="soft small">
                Next try <Time at={recipient.next_attempt_at} form="exact" />, after {recipient.attempts} so far
              </p>
            )}
          </li>
        ))}
      </ul>
    </Section>
  )
}

type Reply = Pick<Schema['TimelineDetail'], 'smtp_code' | 'enhanced_code' | 'diagnostic' | 'remote_host'>

/** What the other side said, word for word. */
function Words({ smtp_code, enhanced_code, diagnostic, remote_host }: Reply) {
  const codes = [smtp_code, enhanced_code].filter(Boolean).join(' ')
  if (!codes && !diagnostic && !remote_host) return null
  return (
    <blockquote className="words">
      <span className="mono">
        {codes} {diagnostic}
      </span>
      {remote_host && <span className="soft small"> — {remote_host}</span>}
    </blockquote>
  )
}

function Timeline({ message }: { message: Found }) {
  const { data, error } = useQuery({
    queryKey: ['messages', 'timeline', message.id, message.status, message.recipients],
    queryFn: () => askPage(client.GET('/messages/{id}/events', { params: { path: { id: message.id }, query: { limit: 200, order: 'asc' } } })),
    placeholderData: (before) => before,
  })
  if (error) return <ErrorNote error={error} />
  if (!data) return <Lines />
  return (
    <>
      <ol className="timeline">
        {data.rows.map((entry, index) => (
          <li key={index} data-tone={toneOf(entry.kind)}>
            <div className="between">
              <span>
                <span className="strong">{entry.kind}</span>
                {entry.recipient && <span className="soft break"> · {entry.recipient}</span>}
                {entry.detail.attempt !== null && <span className="soft"> · try {entry.detail.attempt}</span>}
              </span>
              <span className="soft small">
                <Time at={entry.at} form="exact" />
              </span>
            </div>
            <Words {...entry.detail} />
            {entry.detail.next_attempt_at && (
              <p className="soft small">
                Tried again <Time at={entry.detail.next_attempt_at} form="exact" />
              </p>
            )}
          </li>
        ))}
      </ol>
      {data.next && <p className="soft">The first 200 of more.</p>}
    </>
  )
}

function Raw({ message }: { message: Found }) {
  const barred = useBarred('message.raw_inbound')
  const isInbound = message.direction === 'inbound'
  const [isAsked, setAsked] = useState(!isInbound)
  const { data, error } = useQuery({
    queryKey: ['messages', 'raw', message.id],
    queryFn: () => askText(client.GET('/messages/{id}/raw', { params: { path: { id: message.id } }, parseAs: 'text' })),
    enabled: isAsked,
    staleTime: Infinity,
    retry: false,
  })
  if (isInbound && barred)
    return (
      <div className="note note-warn">
        <Icon name="shield" />
        <div>
          <p>{barred}</p>
        </div>
      </div>
    )
  if (!isAsked)
    return (
      <div className="note">
        <Icon name="shield" />
        <div>
          <p>What others wrote is private: reading it is recorded in the audit log.</p>
          <div>
            <Button size="xs" onClick={() => setAsked(true)}>
              Read it
            </Button>
          </div>
        </div>
      </div>
    )
  if (error instanceof ApiError && error.details['reason'] === 'expired')
    return <p className="soft">Its content is no longer kept. What happened to it stays in the timeline.</p>
  if (error) return <ErrorNote error={error} />
  if (data === undefined) return <Lines />
  return (
    <div className="stack">
      <div className="row">
        {/* The file is what the server has: as text, whatever is not UTF-8 would be lost. */}
        <Button component="a" href={`/api/v1/messages/${message.id}/raw`} download={`${message.id}.eml`} size="xs" variant="default" leftSection={<Icon name="down_load" size={14} />}>
          Save as .eml
        </Button>
        <Copy text={data} what="raw message" />
      </div>
      <pre tabIndex={0} aria-label="Raw message">
        {data.length > SHOWN ? `${data.slice(0, SHOWN)}\n… ${bytes(data.length - SHOWN)} more in the file` : data}
      </pre>
    </div>
  )
}

const SHOWN = 200_000
