import { getRouteApi, Link } from '@tanstack/react-router'
import { fetchPage, client, type Schema } from '../../api/client'
import { PATHS } from '../../paths'
import { SiblingTabs } from '../../layout/Navigation'
import { toUtc } from '../../search'
import { StatusBadge } from '../../ui/Badge'
import { formatBytes } from '../../units'
import { type Column, DataList } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { NoMatches } from '../../ui/NoMatches'
import { KeyFilter } from '../api-keys/KeyName'
import { DomainFilter } from '../domains/DomainFilter'
import { HeldBanner } from '../queue/HeldBanner'
import { ChoiceFilter, Filters, MoreFilters, TextFilter, TimeFilter } from '../../ui/Filters'
import { Page } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { BOUNCE_CLASSES, type BounceClass, PROVIDER_CHOICES } from './bounceClasses'
import { ExactMatches } from './ExactMatches'
import { SendButton } from './SendButton'

type Message = Schema['MessageResponse']

const route = getRouteApi('/app/messages')

const STATUSES: Readonly<Record<Message['status'], string>> = {
  scheduled: 'waiting for its time',
  cancelled: 'cancelled before it was sent',
  queued: 'accepted, waiting for its first delivery attempt',
  deferred: 'waiting for another delivery attempt',
  delivered: "accepted by the recipients' servers",
  relayed: 'accepted by a smarthost, which reports no outcome',
  bounced: "rejected by the recipient's server",
  failed: 'no server accepted it in time',
  suppressed: 'not sent: the recipient is suppressed',
  partial: 'the statuses of the recipients differ',
  received: 'delivered to a mailbox',
  rejected: 'incoming mail that was refused',
  submitting: 'being handed to the mail server',
  unknown: 'the outcome is not known, because a connection or log was lost',
  lost: 'did not reach the mail server',
}
const FILTERS = [
  'q',
  'direction',
  'status',
  'domain',
  'from',
  'to',
  'subject',
  'message_id',
  'queue_id',
  'tag',
  'key',
  'provider',
  'class',
  'since',
  'until',
] as const
const MORE = ['from', 'to', 'subject', 'tag', 'key', 'provider', 'class', 'message_id', 'queue_id', 'since', 'until'] as const

const COLUMNS: readonly Column<Message>[] = [
  { header: 'Status', cell: (row) => <StatusBadge status={row.status} /> },
  {
    header: 'Subject',
    wide: true,
    cell: (row) => (
      <Link className="row-link" to={PATHS.message} params={{ id: row.id }} title={row.subject}>
        {row.subject || '(no subject)'}
      </Link>
    ),
  },
  { header: 'From', cell: (row) => <Addresses addresses={[row.from || '(empty sender)']} /> },
  { header: 'To', cell: (row) => <Addresses addresses={row.recipients.length ? row.recipients.map((each) => each.address) : row.to} /> },
  { header: 'Size', align: 'right', cell: (row) => formatBytes(row.size) },
  { header: 'Time', cell: (row) => <Time at={row.status === 'scheduled' ? row.scheduled_at : row.created_at} form="ago" /> },
]

const CLASS_CHOICES = Object.entries(BOUNCE_CLASSES).map(([value, description]) => ({ value, label: value, description }))

function Addresses({ addresses }: { addresses: readonly string[] }) {
  return (
    <span className="party" title={addresses.join(', ')}>
      {addresses[0]}
      {addresses.length > 1 && <span className="muted"> +{addresses.length - 1}</span>}
    </span>
  )
}

export function Messages() {
  const search = route.useSearch()
  const { q, direction, status, domain, from, to, subject, message_id, queue_id, tag, key, provider, since, until } = search
  const bounceClass = search.class
  const filter = {
    ...(q && { q }),
    ...(direction && { direction: direction as Message['direction'] }),
    ...(status && { status: status as Message['status'] }),
    ...(domain && { domain_id: domain }),
    ...(from && { from }),
    ...(to && { to }),
    ...(subject && { subject }),
    ...(message_id && { message_id: message_id.replace(/^<|>$/g, '') }),
    ...(queue_id && { queue_id }),
    ...(tag && { tag }),
    ...(key && { api_key_id: key }),
    ...(provider && { provider }),
    ...(bounceClass && { bounce_class: bounceClass as BounceClass }),
    ...(toUtc(since) && { since: toUtc(since) }),
    ...(toUtc(until) && { until: toUtc(until) }),
  }
  return (
    <Page title="Messages" lead="Sent and received messages with their delivery status." actions={<SendButton />}>
      <SiblingTabs screen="messages" label="Messages" />
      <HeldBanner />
      <Filters names={FILTERS}>
        <TextFilter name="q" label="Search by sender, recipient, subject, ID or tag" hint="Search messages" main />
        <ChoiceFilter
          name="status"
          label="Status"
          data={Object.entries(STATUSES).map(([value, description]) => ({ value, label: value, description }))}
        />
        <ChoiceFilter
          name="direction"
          label="Direction"
          data={[
            { value: 'outbound', label: 'Sent' },
            { value: 'inbound', label: 'Received' },
          ]}
        />
        <DomainFilter />
        <MoreFilters names={MORE}>
          <TextFilter name="from" label="From" />
          <TextFilter name="to" label="To" />
          <TextFilter name="subject" label="Subject" />
          <TextFilter name="tag" label="Tag" />
          <KeyFilter />
          <ChoiceFilter name="provider" label="Provider" data={PROVIDER_CHOICES} />
          <ChoiceFilter name="class" label="Bounce class" data={CLASS_CHOICES} />
          <TextFilter name="message_id" label="Message-ID" />
          <TextFilter name="queue_id" label="Queue ID" />
          <TimeFilter name="since" label="After" />
          <TimeFilter name="until" label="Before" />
        </MoreFilters>
      </Filters>
      <ExactMatches text={q ?? ''} />
      <DataList
        label="Messages"
        queryKey={['messages', 'list', filter]}
        load={({ cursor, limit }) =>
          fetchPage(client.GET('/messages', { params: { query: { ...filter, limit, ...(cursor && { cursor }) } } }))
        }
        columns={COLUMNS}
        rowKey={(row) => row.id}
        refetchEvery={5_000}
        empty={
          Object.keys(filter).length > 0 ? (
            <NoMatches what="messages" filters={FILTERS}>
              Words match parts of the sender, recipients and subject. IDs and tags must be complete. With a provider or bounce class, the
              status is that of the delivery attempt: delivered, deferred, bounced or failed.
            </NoMatches>
          ) : (
            <EmptyState icon="mail" title="No messages yet" action={<SendButton />}>
              Sent and received messages appear here with their delivery status.
            </EmptyState>
          )
        }
      />
    </Page>
  )
}
