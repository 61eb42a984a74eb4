import { Button, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { getRouteApi, Link } from '@tanstack/react-router'
import { askPage, client, type Schema } from '../api/client'
import { PATHS } from '../paths'
import { useAddress } from '../search'
import { Allowed } from '../ui/Allowed'
import { Status } from '../ui/Badge'
import { bytes } from '../ui/bytes'
import { type Column, DataList } from '../ui/DataList'
import { Empty } from '../ui/Empty'
import { ChoiceFilter, DomainFilter, Filters, TextFilter } from '../ui/Filters'
import { Icon } from '../ui/Icon'
import { LinkButton } from '../ui/links'
import { Page } from '../ui/Page'
import { Time } from '../ui/Time'

type Message = Schema['Message']

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
  const [isMore, more] = useDisclosure(MORE.some((name) => search[name]))
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
    ...(since && { since: new Date(since).toISOString() }),
    ...(until && { until: new Date(until).toISOString() }),
  }
  return (
    <Page title="Messages" lead="Everything that was sent and received, and what became of it." actions={<Compose />}>
      <Filters names={FILTERS}>
        <TextFilter name="q" label="Words of sender, recipient or subject" main />
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
        <Button variant="default" onClick={more.toggle} aria-expanded={isMore} aria-controls="more-filters">
          {isMore ? 'Fewer filters' : 'More filters'}
        </Button>
        {isMore && (
          <div id="more-filters" className="filters-more">
            <TextFilter name="from" label="From" />
            <TextFilter name="to" label="To" />
            <TextFilter name="subject" label="Subject" />
            <TextFilter name="tag" label="Tag" />
            <TextFilter name="message_id" label="Message-ID" />
            <TextFilter name="queue_id" label="Queue id" />
            <TimeFilter name="since" label="Since" />
            <TimeFilter name="until" label="Until" />
          </div>
        )}
      </Filters>
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
              Words match whole or from their beginning; the other filters match parts. Clear them to see everything.
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

function TimeFilter({ name, label }: { name: string; label: string }) {
  const [address, change] = useAddress()
  return (
    <TextInput className="filter" type="datetime-local" label={label} value={address[name] ?? ''} onChange={(event) => change({ [name]: event.currentTarget.value || undefined })} />
  )
}
