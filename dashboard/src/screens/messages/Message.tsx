import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { fetchData, fetchPage, fetchText, client, type Schema } from '../../api/client'
import { ApiError } from '../../api/errors'
import { PATHS } from '../../paths'
import { useDenialReason } from '../../access/Allowed'
import { Badge, StatusBadge, toneOf } from '../../ui/Badge'
import { formatBytes, pluralize } from '../../units'
import { CopyButton, CopyableCode } from '../../ui/Copy'
import { LoadingLines } from '../../ui/DataList'
import { TemplateName } from '../templates/TemplateName'
import { KeyName } from '../api-keys/KeyName'
import { DomainName } from '../domains/DomainSelect'
import { DetailPage } from '../../ui/DetailPage'
import { DetailTabs } from '../../ui/DetailTabs'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon } from '../../ui/Icon'
import { BounceExplanation } from './BounceExplanation'
import { Facts, Section } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { MessageActions } from './MessageActions'
import { Body, Headers } from './MessageContent'
import { SpamResult } from './SpamResult'

type MessageRecord = Schema['MessageResponse']

const route = getRouteApi('/app/messages/$id')
const PENDING: readonly string[] = ['scheduled', 'submitting', 'queued', 'deferred', 'partial']

export function Message() {
  const { id } = route.useParams()
  const [openedId, setOpenedId] = useState<string | null>(null)
  const opening = { isOpened: openedId === id, onOpen: () => setOpenedId(id) }
  const query = useQuery({
    queryKey: ['messages', 'one', id],
    queryFn: () => fetchData(client.GET('/messages/{id}', { params: { path: { id } } })),
    // Refreshed until the delivery status is final.
    refetchInterval: ({ state }) => (state.data && PENDING.includes(state.data.status) ? 2_000 : false),
  })
  return (
    <DetailPage
      kind="Message"
      list={{ to: PATHS.messages, label: 'Messages' }}
      query={query}
      title={(data) => data.subject || '(no subject)'}
      lead={(data) => (
        <>
          <StatusBadge status={data.status} /> <Occasion message={data} />
        </>
      )}
      actions={(data) => <MessageActions message={data} />}
    >
      {(data) => (
        <>
          <Section title="Message">
            <Facts rows={facts(data)} />
          </Section>
          <Recipients message={data} />
          <SpamResult message={data} />
          <DetailTabs
            tabs={[
              { value: 'timeline', label: 'Timeline', content: <Timeline message={data} /> },
              {
                value: 'content',
                label: 'Content',
                content: (
                  <Readable message={data} {...opening}>
                    <Parsed message={data} view="body" />
                  </Readable>
                ),
              },
              {
                value: 'headers',
                label: 'Headers',
                content: (
                  <Readable message={data} {...opening}>
                    <Parsed message={data} view="headers" />
                  </Readable>
                ),
              },
              {
                value: 'raw',
                label: 'Raw',
                content: (
                  <Readable message={data} {...opening}>
                    <Raw message={data} />
                  </Readable>
                ),
              },
            ]}
          />
        </>
      )}
    </DetailPage>
  )
}

/** What happened to the message, and when. */
function Occasion({ message }: { message: MessageRecord }) {
  if (message.status === 'scheduled')
    return (
      <>
        for <Time at={message.scheduled_at} form="exact" />
      </>
    )
  return (
    <>
      {message.direction === 'inbound' ? 'received' : message.scheduled_at ? 'created' : 'sent'}{' '}
      <Time at={message.created_at} form="exact" />
    </>
  )
}

function facts(message: MessageRecord): (readonly [string, React.ReactNode])[] {
  const { auth } = message
  const checks = [auth.spf && `SPF ${auth.spf}`, auth.dkim && `DKIM ${auth.dkim}`, auth.dmarc && `DMARC ${auth.dmarc}`].filter(Boolean)
  return [
    ['From', message.from || '(empty sender)'],
    ['To', message.to.join(', ') || '(no recipients)'],
    ...(message.cc.length ? [['Cc', message.cc.join(', ')] as const] : []),
    ['Size', formatBytes(message.size)],
    ...(message.scheduled_at ? [['Scheduled for', <Time at={message.scheduled_at} form="exact" />] as const] : []),
    ['Source', { api: 'API', smtp: 'SMTP', system: 'Forwarded', mailkeep: 'Mailkeep itself' }[message.source]],
    ...(message.api_key_id ? [['API key', <KeyName id={message.api_key_id} />] as const] : []),
    ...(message.template ? [['Template', <TemplateName {...message.template} />] as const] : []),
    ['Domain', message.domain_id && <DomainName id={message.domain_id} />],
    ['Message-ID', message.message_id ? <CopyableCode value={message.message_id} what="Message-ID" /> : 'none'],
    ...(message.queue_id ? [['Queue ID', <CopyableCode value={message.queue_id} what="queue ID" />] as const] : []),
    ['ID', <CopyableCode value={message.id} what="ID" />],
    ...(message.tags.length
      ? [
          [
            'Tags',
            <span className="row">
              {message.tags.map((tag) => (
                <Badge key={tag}>{tag}</Badge>
              ))}
            </span>,
          ] as const,
        ]
      : []),
    ...Object.entries(message.metadata).map(([name, value]) => [`Metadata: ${name}`, String(value)] as const),
    ...(checks.length ? [['Authentication', checks.join(' · ')] as const] : []),
  ]
}

function Recipients({ message }: { message: MessageRecord }) {
  if (message.recipients.length === 0) return null
  return (
    <Section title="Recipients">
      <ul className="lines">
        {message.recipients.map((recipient) => (
          <li key={recipient.address}>
            <div className="between">
              <span className="strong break">{recipient.address}</span>
              <StatusBadge status={recipient.status} />
            </div>
            <BounceExplanation recipient={recipient} />
            <RemoteReply
              smtp_code={recipient.smtp_code}
              enhanced_code={recipient.enhanced_code}
              diagnostic={recipient.diagnostic}
              remote_host={recipient.remote_host}
            />
            {recipient.next_attempt_at && recipient.next_attempt_at !== message.scheduled_at && (
              <p className="muted small">
                Next attempt <Time at={recipient.next_attempt_at} form="exact" />, after {pluralize(recipient.attempts, 'attempt')}
              </p>
            )}
          </li>
        ))}
      </ul>
    </Section>
  )
}

type Reply = Pick<Schema['TimelineDetail'], 'smtp_code' | 'enhanced_code' | 'diagnostic' | 'remote_host'>

/** The reply of the remote server. */
function RemoteReply({ smtp_code, enhanced_code, diagnostic, remote_host }: Reply) {
  const codes = [smtp_code, enhanced_code].filter(Boolean).join(' ')
  if (!codes && !diagnostic && !remote_host) return null
  return (
    <blockquote className="words">
      <span className="mono">
        {codes} {diagnostic}
      </span>
      {remote_host && <span className="muted small"> — {remote_host}</span>}
    </blockquote>
  )
}

/** The kinds of timeline entries that are not delivery statuses. */
const KIND_TEXTS: Readonly<Partial<Record<Schema['TimelineEntryResponse']['kind'], string>>> = {
  submitted: 'submitted to the mail server',
  accepted: 'accepted by the mail server',
  lost: 'did not reach the mail server',
  suppressed: 'not sent: the address is suppressed',
  complained: 'reported as spam',
}

function kindText({ kind, detail }: Schema['TimelineEntryResponse']): string {
  // The first time of a scheduled message is not in its timeline.
  if (kind === 'scheduled' && detail.next_attempt_at) return 'rescheduled'
  return KIND_TEXTS[kind] ?? kind
}

function Timeline({ message }: { message: MessageRecord }) {
  const { data, error } = useQuery({
    queryKey: ['messages', 'timeline', message.id, message.status, message.recipients],
    queryFn: () =>
      fetchPage(client.GET('/messages/{id}/events', { params: { path: { id: message.id }, query: { limit: 200, order: 'asc' } } })),
    placeholderData: (before) => before,
  })
  if (error) return <ErrorNote error={error} />
  if (!data) return <LoadingLines />
  return (
    <>
      <ol className="timeline">
        {data.rows.map((entry, index) => (
          <li key={index} data-tone={toneOf(entry.kind)}>
            <div className="between">
              <span>
                <span className="strong">{kindText(entry)}</span>
                {entry.recipient && <span className="muted break"> · {entry.recipient}</span>}
                {!!entry.detail.attempt && <span className="muted"> · attempt {entry.detail.attempt}</span>}
              </span>
              <span className="muted small">
                <Time at={entry.at} form="exact" />
              </span>
            </div>
            <RemoteReply {...entry.detail} />
            {entry.detail.next_attempt_at && (
              <p className="muted small">
                {entry.kind === 'scheduled' ? 'For' : 'Next attempt'} <Time at={entry.detail.next_attempt_at} form="exact" />
              </p>
            )}
          </li>
        ))}
      </ol>
      {data.next && <p className="muted">Only the first 200 entries are shown.</p>}
    </>
  )
}

interface ReadableProps {
  message: MessageRecord
  /** Whether the user asked for the content. */
  isOpened: boolean
  onOpen: () => void
  children: React.ReactNode
}

/** A part of the content of a message. That of received mail is loaded only when the user asks for it. */
function Readable({ message, isOpened, onOpen, children }: ReadableProps) {
  const denialReason = useDenialReason('message.raw_inbound')
  if (message.status === 'cancelled') return <p className="muted">The content was deleted when the message was cancelled.</p>
  if (message.direction === 'outbound') return children
  if (denialReason)
    return (
      <div className="note note-warn">
        <Icon name="shield" />
        <div>
          <p>{denialReason}</p>
        </div>
      </div>
    )
  if (isOpened) return children
  return (
    <div className="note">
      <Icon name="shield" />
      <div>
        <p>Received mail is private. Reading it is recorded in the audit log.</p>
        <div>
          <Button size="xs" onClick={onOpen}>
            Show content
          </Button>
        </div>
      </div>
    </div>
  )
}

/** Text, HTML and attachments, or the header. */
function Parsed({ message, view }: { message: MessageRecord; view: 'body' | 'headers' }) {
  const { data, error } = useQuery({
    // The signatures, and the date of a scheduled message, are added when it is sent.
    queryKey: ['messages', 'content', message.id, message.scheduled_at, message.status === 'scheduled'],
    queryFn: () => fetchData(client.GET('/messages/{id}/content', { params: { path: { id: message.id } } })),
    staleTime: Infinity,
    retry: false,
  })
  if (error) return <ContentError error={error} />
  if (!data) return <LoadingLines />
  if (view === 'body') return <Body content={data} path={`/messages/${message.id}`} />
  return <Headers content={data} />
}

function ContentError({ error }: { error: unknown }) {
  const reason = error instanceof ApiError ? error.details['reason'] : null
  if (reason === 'expired') return <p className="muted">The content has expired. The timeline is still available.</p>
  if (reason === 'not_kept' && error instanceof ApiError) return <p className="muted">{error.message}</p>
  return <ErrorNote error={error} />
}

function Raw({ message }: { message: MessageRecord }) {
  const isScheduled = message.status === 'scheduled'
  const { data, error } = useQuery({
    queryKey: ['messages', 'raw', message.id],
    queryFn: () => fetchText(client.GET('/messages/{id}/raw', { params: { path: { id: message.id } }, parseAs: 'text' })),
    enabled: !isScheduled,
    staleTime: Infinity,
    retry: false,
  })
  if (isScheduled) return <p className="muted">The source exists once the message is sent. Until then its content is stored encrypted.</p>
  if (error) return <ContentError error={error} />
  if (data === undefined) return <LoadingLines />
  return (
    <div className="stack">
      <div className="row">
        {/* The download has the original bytes; as text, bytes that are not UTF-8 would be lost. */}
        <Button
          component="a"
          href={`/api/v1/messages/${message.id}/raw`}
          download={`${message.id}.eml`}
          size="xs"
          variant="default"
          leftSection={<Icon name="down_load" size={14} />}
        >
          Download .eml
        </Button>
        <CopyButton text={data} what="raw message" />
      </div>
      <pre tabIndex={0} aria-label="Raw message">
        {data.length > MAX_SHOWN ? `${data.slice(0, MAX_SHOWN)}\n… ${formatBytes(data.length - MAX_SHOWN)} more in the download` : data}
      </pre>
    </div>
  )
}

const MAX_SHOWN = 200_000
