import { Button, Modal } from '@mantine/core'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { fetchData, fetchPage, client, type Schema } from '../../api/client'
import { formatNumber } from '../../locale'
import { PATHS } from '../../paths'
import { useSearchParams } from '../../search'
import { Allowed, useDenialReason } from '../../access/Allowed'
import { Badge } from '../../ui/Badge'
import { formatBytes } from '../../units'
import { type Column, DataList } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { NoMatches } from '../../ui/NoMatches'
import { ErrorNote } from '../../ui/ErrorNote'
import { DomainFilter } from '../domains/DomainFilter'
import { ChoiceFilter, Filters, TextFilter } from '../../ui/Filters'
import { useApiMutation } from '../../ui/useForm'
import { type CreatedInvitation, InvitationDialog } from '../invitation/InvitationLink'
import { MailboxForm } from './MailboxForm'
import { NewButton } from '../../ui/NewButton'
import { ListActions } from '../bulk/ListActions'
import { SelectionBar } from '../bulk/SelectionBar'
import { selectColumn, useSelection } from '../../ui/selection'
import { Page } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { Usage } from './Usage'

type Mailbox = Schema['MailboxRecord']

const route = getRouteApi('/app/mailboxes')
const FILTERS = ['q', 'domain', 'active', 'trashed'] as const

const COLUMNS: readonly Column<Mailbox>[] = [
  {
    header: 'Address',
    sort: 'address',
    wide: true,
    cell: (row) => (
      <span>
        <Link className="row-link" to={PATHS.mailbox} params={{ id: row.id }}>
          {row.address}
        </Link>
        {row.name && <span className="muted"> · {row.name}</span>}
      </span>
    ),
  },
  { header: 'State', cell: (row) => <MailboxState mailbox={row} /> },
  { header: 'Storage', cell: (row) => <Usage mailbox={row} /> },
  { header: 'Messages', align: 'right', cell: (row) => formatNumber(row.message_count) },
  { header: 'Last sign-in', cell: (row) => <Time at={row.last_login.at} form="ago" /> },
]

/** Columns of deleted mailboxes. They have no links, because another mailbox may use the address now. */
const TRASHED: readonly Column<Mailbox>[] = [
  { header: 'Address', sort: 'address', wide: true, cell: (row) => <span className="strong">{row.address}</span> },
  { header: 'Storage', cell: (row) => formatBytes(row.used_bytes) },
  { header: 'Messages', align: 'right', cell: (row) => formatNumber(row.message_count) },
  { header: 'Deleted', cell: (row) => <Time at={row.deleted_at} form="ago" /> },
  { header: '', align: 'right', cell: (row) => <Restore mailbox={row} /> },
]

function Restore({ mailbox }: { mailbox: Mailbox }) {
  const restore = useApiMutation({
    request: () => fetchData(client.POST('/mailboxes/{id}/restore', { params: { path: { id: mailbox.id } } })),
    invalidates: ['mailboxes', 'domains', 'routing'],
    message: `Restored ${mailbox.address}.`,
  })
  return (
    <>
      <Allowed action="mailbox.write">
        <Button
          size="xs"
          variant="default"
          loading={restore.isPending}
          aria-label={`Restore ${mailbox.address}`}
          onClick={() => restore.mutate(undefined)}
        >
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
  if (mailbox.suspended)
    return (
      <>
        <Badge tone="bad">sending suspended</Badge> {!mailbox.active && <Badge tone="warn">inactive</Badge>}
      </>
    )
  return mailbox.active ? <Badge tone="good">active</Badge> : <Badge tone="warn">inactive</Badge>
}

export function Mailboxes() {
  const { q, domain, active, trashed, new: isNew } = route.useSearch()
  const [, change] = useSearchParams()
  const navigate = useNavigate()
  const isReadOnly = useDenialReason('mailbox.write')
  const createButton = <NewButton action="mailbox.write" label="New mailbox" />
  const filter = {
    ...(q && { q }),
    ...(domain && { domain_id: domain }),
    ...(active && { active: active === 'yes' }),
    ...(trashed && { trashed: true }),
  }
  const selection = useSelection()
  const [invited, setInvited] = useState<(CreatedInvitation & { id: string }) | null>(null)
  const open = (id: string) => void navigate({ to: PATHS.mailbox, params: { id } })
  const columns =
    trashed || isReadOnly
      ? COLUMNS
      : [
          selectColumn<Mailbox>(
            selection,
            (row) => row.id,
            (row) => row.address,
          ),
          ...COLUMNS,
        ]
  return (
    <Page
      title="Mailboxes"
      lead="Mailboxes receive and store mail. Their owners sign in with a password."
      actions={
        <>
          <ListActions resource="mailbox" {...(domain && { domain })} />
          {createButton}
        </>
      }
    >
      <Filters names={FILTERS}>
        <TextFilter name="q" label="Search by address or name" main />
        <DomainFilter />
        <ChoiceFilter
          name="active"
          label="State"
          data={[
            { value: 'yes', label: 'Active' },
            { value: 'no', label: 'Inactive' },
          ]}
        />
        <ChoiceFilter name="trashed" label="Trash" data={[{ value: 'yes', label: 'In trash' }]} />
      </Filters>
      <DataList
        label="Mailboxes"
        queryKey={['mailboxes', 'list', filter]}
        load={(page) => fetchPage(client.GET('/mailboxes', { params: { query: { ...filter, ...page, sort: page.sort as 'address' } } }))}
        columns={trashed ? TRASHED : columns}
        rowKey={(row) => row.id}
        {...(!trashed &&
          !isReadOnly && {
            toolbar: (rows: readonly Mailbox[]) => (
              <SelectionBar resource="mailbox" rows={rows} selection={selection} nameOf={(row) => row.address} />
            ),
          })}
        empty={
          trashed ? (
            <EmptyState icon="trash" title="Trash is empty">
              Deleted mailboxes are kept with their mail for 30 days.
            </EmptyState>
          ) : Object.keys(filter).length > 0 ? (
            <NoMatches what="mailboxes" filters={FILTERS} />
          ) : (
            <EmptyState icon="inbox" title="No mailboxes yet" action={createButton}>
              A mailbox stores mail for its address and lets its owner send.
            </EmptyState>
          )
        }
      />
      <Modal opened={isNew !== undefined && !isReadOnly} onClose={() => change({ new: undefined })} title="New mailbox" size="lg">
        <MailboxForm
          {...(domain && { domainId: domain })}
          onDone={({ id, address }, invitation) => {
            if (!invitation) return open(id)
            change({ new: undefined })
            setInvited({ id, address, invitation })
          }}
          onCancel={() => change({ new: undefined })}
        />
      </Modal>
      <InvitationDialog
        created={invited}
        onClose={() => {
          if (invited) open(invited.id)
          setInvited(null)
        }}
      />
    </Page>
  )
}
