import { Button, Modal, Progress } from '@mantine/core'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { ask, askPage, client, type Schema } from '../api/client'
import { number } from '../locale'
import { PATHS } from '../paths'
import { useAddress } from '../search'
import { Allowed, useBarred } from '../ui/Allowed'
import { Badge } from '../ui/Badge'
import { bytes } from '../ui/bytes'
import { type Column, DataList } from '../ui/DataList'
import { Empty } from '../ui/Empty'
import { ErrorNote } from '../ui/ErrorNote'
import { ChoiceFilter, DomainFilter, Filters, TextFilter } from '../ui/Filters'
import { useChange } from '../ui/form'
import { Icon } from '../ui/Icon'
import { MailboxForm } from '../ui/MailboxForm'
import { Page } from '../ui/Page'
import { Time } from '../ui/Time'

type Mailbox = Schema['MailboxRecord']

const route = getRouteApi('/inside/mailboxes')

const COLUMNS: readonly Column<Mailbox>[] = [
  {
    head: 'Address',
    sort: 'address',
    wide: true,
    cell: (row) => (
      <span>
        <Link className="row-link" to={PATHS.mailbox} params={{ id: row.id }}>
          {row.address}
        </Link>
        {row.name && <span className="soft"> · {row.name}</span>}
      </span>
    ),
  },
  { head: 'State', cell: (row) => <MailboxState mailbox={row} /> },
  { head: 'Stored', cell: (row) => <Usage mailbox={row} /> },
  { head: 'Messages', align: 'right', cell: (row) => number(row.message_count) },
  { head: 'Last login', cell: (row) => <Time at={row.last_login.at} form="ago" /> },
]

/** Of those in the trash: their address may be another's by now, so none leads to a mailbox. */
const TRASHED: readonly Column<Mailbox>[] = [
  { head: 'Address', sort: 'address', wide: true, cell: (row) => <span className="strong">{row.address}</span> },
  { head: 'Stored', cell: (row) => bytes(row.used_bytes) },
  { head: 'Messages', align: 'right', cell: (row) => number(row.message_count) },
  { head: 'Deleted', cell: (row) => <Time at={row.deleted_at} form="ago" /> },
  { head: '', align: 'right', cell: (row) => <Restore mailbox={row} /> },
]

function Restore({ mailbox }: { mailbox: Mailbox }) {
  const restore = useChange({
    change: () => ask(client.POST('/mailboxes/{id}/restore', { params: { path: { id: mailbox.id } } })),
    refreshes: ['mailboxes', 'domains', 'routing'],
    told: `${mailbox.address} is back.`,
  })
  return (
    <>
      <Allowed to="mailbox.write">
        <Button size="xs" variant="default" loading={restore.isPending} aria-label={`Restore ${mailbox.address}`} onClick={() => restore.mutate(undefined)}>
          Restore
        </Button>
      </Allowed>
      <Modal opened={restore.isError} onClose={() => restore.reset()} title={`${mailbox.address} could not be restored`}>
        <ErrorNote error={restore.error} />
      </Modal>
    </>
  )
}

export function MailboxState({ mailbox }: { mailbox: Mailbox }) {
  if (mailbox.suspended) return <Badge tone="bad">sending suspended</Badge>
  return mailbox.active ? <Badge tone="good">active</Badge> : <Badge tone="warn">inactive</Badge>
}

/** What is stored, beside what may be. */
export function Usage({ mailbox }: { mailbox: Mailbox }) {
  const { used_bytes: used, quota_bytes: quota } = mailbox
  const percent = quota ? Math.min(100, (used / quota) * 100) : 0
  return (
    <div className="usage">
      <span>
        {bytes(used)} {quota > 0 && <span className="soft">of {bytes(quota)}</span>}
      </span>
      {quota > 0 && <Progress value={percent} size={5} color={percent > 90 ? 'red' : 'blue'} aria-label={`${Math.round(percent)} % of the quota`} />}
    </div>
  )
}

export function Mailboxes() {
  const { q, domain, active, trashed, new: isNew } = route.useSearch()
  const [, change] = useAddress()
  const navigate = useNavigate()
  const isBarred = useBarred('mailbox.write')
  const make = (
    <Allowed to="mailbox.write">
      <Button leftSection={<Icon name="plus" size={16} />} onClick={() => change({ new: 'yes' })}>
        New mailbox
      </Button>
    </Allowed>
  )
  const filter = {
    ...(q && { q }),
    ...(domain && { domain_id: domain }),
    ...(active && { active: active === 'yes' }),
    ...(trashed && { trashed: true }),
  }
  return (
    <Page title="Mailboxes" lead="Where mail is kept, each with an address and a password of its own." actions={make}>
      <Filters names={['q', 'domain', 'active', 'trashed']}>
        <TextFilter name="q" label="Find by address or name" main />
        <DomainFilter />
        <ChoiceFilter
          name="active"
          label="State"
          data={[
            { value: 'yes', label: 'Active' },
            { value: 'no', label: 'Inactive' },
          ]}
        />
        <ChoiceFilter name="trashed" label="Trash" data={[{ value: 'yes', label: 'In the trash' }]} />
      </Filters>
      <DataList
        label="Mailboxes"
        of={['mailboxes', 'list', filter]}
        load={(page) => askPage(client.GET('/mailboxes', { params: { query: { ...filter, ...page, sort: page.sort as 'address' } } }))}
        columns={trashed ? TRASHED : COLUMNS}
        rowKey={(row) => row.id}
        empty={
          Object.keys(filter).length > 0 ? (
            <Empty icon={trashed ? 'trash' : 'search'} title={trashed ? 'The trash is empty' : 'No mailbox is like that'}>
              {trashed ? 'Deleted mailboxes are kept here with their mail for 30 days.' : 'Clear the filters to see all of them.'}
            </Empty>
          ) : (
            <Empty icon="inbox" title="No mailbox yet" action={make}>
              A mailbox takes mail for its address, and lets its owner send from it. For an address that only leads somewhere else, make an alias.
            </Empty>
          )
        }
      />
      <Modal opened={isNew !== undefined && !isBarred} onClose={() => change({ new: undefined })} title="New mailbox" size="lg">
        <MailboxForm {...(domain && { domainId: domain })} onDone={(made) => void navigate({ to: PATHS.mailbox, params: { id: made.id } })} onCancel={() => change({ new: undefined })} />
      </Modal>
    </Page>
  )
}
