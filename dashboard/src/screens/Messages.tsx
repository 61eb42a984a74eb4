import { getRouteApi, Link } from '@tanstack/react-router'
import { askPage, client, type Schema } from '../api/client'
import { PATHS } from '../paths'
import { instant } from '../search'
import { Allowed } from '../ui/Allowed'
import { Status } from '../ui/Badge'
import { bytes } from '../ui/bytes'
import { type Column, DataList } from '../ui/DataList'
import { Empty } from '../ui/Empty'
import { ChoiceFilter, DomainFilter, Filters, MoreFilters, TextFilter, TimeFilter } from '../ui/Filters'
import { Icon } from '../ui/Icon'
import { LinkButton } from '../ui/links'
import { Page } from '../ui/Page'
import { Time } from '../ui/Time'
import { Exact } from './messages/Exact'

type Message = Schema['MessageResponse']

const route = getRouteApi('/inside/messages')

const STATUSES: readonly Message['status'][] = [
  'queued', 'deferred', 'delivered', 'relayed', 'bounced', 'failed', 'partial', 'received', 'rejected', 'submitting', 'unknown', 'lost',
]
const FILTERS = ['q', 'direction', 'status', 'domain', 'from', 'to', 'subject', 'message_id', 'queue_id', 'tag', 'since', 'until'] as const
const MORE = ['from', 'to', 'subject', 'tag', 'message_id', 'queue_id', 'since', 'until'] as const

const COLUMNS: readonly Column<Message>[] = [
  { head: 'Status', cell: (row) => <Status of={row.status} /> },
  {
    head: 'Subject',
    wide: true,
    cell: (row) => (
      <Link className="row-link" to={PATHS.message} params={{ id: row.id }} title={row.subject}>
        {row.subject || '(no subject)'}
      </Link>
    ),
  },
  { head: 'From', cell: (row) => <Party addresses={[row.from || '(nobody)']} /> },
  { head: 'To', cell: (row) => <Party addresses={row.recipients.length ? row.recipients.map((each) => each.address) : row.to} /> },
  { head: 'Size', align: 'right', cell: (row) => bytes(row.size) },
  { head: 'When', cell: (row) => <Time at={row.created_at} form="ago" /> },
]

function Party({ addresses }: { addresses: readonly string[] }) {
  return (
    <span className="party" title={addresses.join(', ')}>
      {addresses[0]}
      {addresses.length > 1 && <span className="soft"> +{addresses.length - 1}</span>}
    </span>
  )
}

export function Messages() {
  const search = route.useSearch()
  const { q, direction, status, domain, from, to, subject, message_id, queue_id, tag, since, until } = search
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
    ...(instant(since) && { since: instant(since) }),
    ...(instant(until) && { until: instant(until) }),
  }
  return (
    <Page title="Messages" lead="Everything that was sent and received, and what became of it." actions={<Compose />}>
      <Filters names={FILTERS}>
        <TextFilter name="q" label="Words of sender, recipient or subject, an id, a tag" hint="Words, address, id, tag" main />
        <ChoiceFilter name="status" label="Status" data={STATUSES.map((value) => ({ value, label: value }))} />
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
          <TextFilter name="message_id" label="Message-ID" />
          <TextFilter name="queue_id" label="Queue id" />
          <TimeFilter name="since" label="Since" />
          <TimeFilter name="until" label="Until" />
        </MoreFilters>
      </Filters>
      <Exact text={q ?? ''} />
      <DataList
        label="Messages"
        of={['messages', 'list', filter]}
        load={({ cursor, limit }) => askPage(client.GET('/messages', { params: { query: { ...filter, limit, ...(cursor && { cursor }) } } }))}
        columns={COLUMNS}
        rowKey={(row) => row.id}
        every={5_000}
        empty={
          Object.keys(filter).length > 0 ? (
            <Empty icon="search" title="No message is like that">
              Each word has to be part of the sender, a recipient or the subject; ids and tags have to be whole. Clear the filters to see everything.
            </Empty>
          ) : (
            <Empty icon="mail" title="No message yet" action={<Compose />}>
              Each message that is sent or received stands here, with what the other side said about it.
            </Empty>
          )
        }
      />
    </Page>
  )
}

function Compose() {
  return (
    <Allowed to="send">
      <LinkButton to={PATHS.send} leftSection={<Icon name="send" size={16} />}>
        Send
      </LinkButton>
    </Allowed>
  )
}
