import { Button, Group, Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { fetchData, client, type Schema } from '../../api/client'
import { PATHS } from '../../paths'
import { ROLE_NAMES } from '../../access/policy'
import { useSearchParams } from '../../search'
import { AdminForm } from './AdminForm'
import { Allowed, useDenialReason } from '../../access/Allowed'
import { useAccount } from '../../access/account'
import { type CreatedInvitation, InvitationDialog } from '../invitation/InvitationLink'
import { InviteDialog } from '../invitation/InviteForm'
import { Badge } from '../../ui/Badge'
import { ConfirmDelete } from '../../ui/Confirm'
import { type Column, DataList } from '../../ui/DataList'
import { DomainName } from '../domains/DomainSelect'
import { EmptyState } from '../../ui/Empty'
import { NewButton } from '../../ui/NewButton'
import { Page } from '../../ui/Page'
import { Time } from '../../ui/Time'

type Admin = Schema['AdminRecord']

const route = getRouteApi('/app/admins')

export function Admins() {
  const { new: isNew, edit } = route.useSearch()
  const [, change] = useSearchParams()
  const mayEdit = useDenialReason('admin.write') === null
  const edited = useQuery({
    queryKey: ['admins', 'one', edit],
    queryFn: () => fetchData(client.GET('/admins/{id}', { params: { path: { id: edit ?? '' } } })),
    enabled: edit !== undefined,
  }).data
  const [deleted, setDeleted] = useState<Admin | null>(null)
  const [invitee, setInvitee] = useState<Admin | null>(null)
  const [invited, setInvited] = useState<CreatedInvitation | null>(null)
  const account = useAccount()
  const columns: readonly Column<Admin>[] = [
    {
      header: 'Email',
      wide: true,
      cell: (row) => (
        <span>
          {mayEdit ? (
            <Link className="row-link" from={PATHS.admins} to="." search={(before) => ({ ...before, edit: row.id })} replace>
              {row.email}
            </Link>
          ) : (
            <span className="strong">{row.email}</span>
          )}
          {row.id === account.id && <span className="muted"> (you)</span>} {!row.active && <Badge tone="warn">inactive</Badge>}
        </span>
      ),
    },
    { header: 'Role', cell: (row) => ROLE_NAMES[row.role] },
    { header: 'Domains', cell: (row) => <AssignedDomains admin={row} /> },
    { header: 'Second factor', cell: (row) => <SecondFactor admin={row} /> },
    { header: 'Last sign-in', cell: (row) => <Time at={row.last_login_at} form="ago" /> },
    {
      header: '',
      align: 'right',
      cell: (row) => (
        <Group gap={4} wrap="nowrap" justify="flex-end">
          <Allowed action="admin.write">
            <Button variant="subtle" size="compact-sm" aria-label={`Edit ${row.email}`} onClick={() => change({ edit: row.id })}>
              Edit
            </Button>
          </Allowed>
          <Allowed action="admin.write" disabledReason={row.id === account.id ? 'Change your own password under Account.' : null}>
            <Button variant="subtle" size="compact-sm" aria-label={`Invite ${row.email}`} onClick={() => setInvitee(row)}>
              Invite
            </Button>
          </Allowed>
          <Allowed action="admin.write" disabledReason={row.id === account.id ? "You can't delete your own account." : null}>
            <Button variant="subtle" color="red" size="compact-sm" aria-label={`Delete ${row.email}`} onClick={() => setDeleted(row)}>
              Delete
            </Button>
          </Allowed>
        </Group>
      ),
    },
  ]
  return (
    <Page
      title="Administrators"
      lead="Domain administrators manage their assigned domains, administrators all domains, super administrators also the server."
      actions={<NewButton action="admin.write" label="New administrator" />}
    >
      <DataList
        label="Administrators"
        queryKey={['admins', 'list']}
        load={async () => ({ rows: await fetchData(client.GET('/admins')), next: null })}
        columns={columns}
        rowKey={(row) => row.id}
        empty={
          <EmptyState icon="people" title="No administrators">
            You see your own account and administrators who share a domain with you.
          </EmptyState>
        }
      />
      <Modal opened={isNew !== undefined} onClose={() => change({ new: undefined })} title="New administrator" size="lg">
        {isNew !== undefined && <AdminForm onDone={() => change({ new: undefined })} onInvited={setInvited} />}
      </Modal>
      <Modal
        opened={mayEdit && edited !== undefined}
        onClose={() => change({ edit: undefined })}
        title={`Edit ${edited?.email ?? ''}`}
        size="lg"
      >
        {edited && <AdminForm admin={edited} onDone={() => change({ edit: undefined })} />}
      </Modal>
      <InvitationDialog created={invited} onClose={() => setInvited(null)} />
      <InviteDialog
        address={invitee?.email ?? null}
        onClose={() => setInvitee(null)}
        request={(body) => fetchData(client.POST('/admins/{id}/invite', { params: { path: { id: invitee?.id ?? '' } }, body }))}
      />
      <DeleteAdmin admin={deleted} onClose={() => setDeleted(null)} />
    </Page>
  )
}

function AssignedDomains({ admin }: { admin: Admin }) {
  if (admin.role !== 'domain_admin') return <>all domains</>
  const [first, ...others] = admin.domain_ids
  if (!first) return <Badge tone="warn">none</Badge>
  return (
    <span>
      <Link to={PATHS.domain} params={{ id: first }}>
        <DomainName id={first} />
      </Link>
      {others.length > 0 && <span className="muted"> and {others.length} more</span>}
    </span>
  )
}

function SecondFactor({ admin }: { admin: Admin }) {
  const factors = [
    admin.totp_enabled && 'authenticator',
    admin.passkeys > 0 && (admin.passkeys === 1 ? 'passkey' : `${admin.passkeys} passkeys`),
  ].filter(Boolean)
  return factors.length ? <Badge tone="good">{factors.join(', ')}</Badge> : <Badge tone="warn">none</Badge>
}

function DeleteAdmin({ admin, onClose }: { admin: Admin | null; onClose: () => void }) {
  const id = admin?.id ?? ''
  return (
    <ConfirmDelete
      opened={admin !== null}
      onClose={onClose}
      title={`Delete ${admin?.email ?? ''}`}
      name={admin?.email ?? ''}
      request={(confirmation) => fetchData(client.DELETE('/admins/{id}', { params: { path: { id } }, body: confirmation }))}
      invalidates={['admins', 'api-keys']}
      message={(answer) => answer.message}
    >
      The account's sessions end and its API keys are revoked immediately. Its entries stay in the audit log. This can't be undone.
    </ConfirmDelete>
  )
}
