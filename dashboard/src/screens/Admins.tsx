import { Button, Group, Modal } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ask, client, type Schema } from '../api/client'
import { PATHS } from '../paths'
import { ROLE_NAMES } from '../policy'
import { useAddress } from '../search'
import { AdminForm } from '../ui/AdminForm'
import { Allowed, useAccount } from '../ui/Allowed'
import { Badge } from '../ui/Badge'
import { Confirm } from '../ui/Confirm'
import { type Column, DataList } from '../ui/DataList'
import { DomainName } from '../ui/Domains'
import { Empty } from '../ui/Empty'
import { useChange } from '../ui/form'
import { Icon } from '../ui/Icon'
import { Page } from '../ui/Page'
import { Time } from '../ui/Time'

type Admin = Schema['AdminRecord']

const route = getRouteApi('/inside/admins')

export function Admins() {
  const { new: isNew } = route.useSearch()
  const [, change] = useAddress()
  const [edited, setEdited] = useState<Admin | null>(null)
  const [deleted, setDeleted] = useState<Admin | null>(null)
  const account = useAccount()
  const columns: readonly Column<Admin>[] = [
    {
      head: 'Email',
      wide: true,
      cell: (row) => (
        <span>
          <span className="strong">{row.email}</span>
          {row.id === account.id && <span className="soft"> (you)</span>}
        </span>
      ),
    },
    { head: 'Role', cell: (row) => ROLE_NAMES[row.role] },
    { head: 'Domains', cell: (row) => <Assigned to={row} /> },
    { head: 'Second factor', cell: (row) => <Factor of={row} /> },
    { head: 'Last login', cell: (row) => <Time at={row.last_login_at} form="ago" /> },
    {
      head: '',
      align: 'right',
      cell: (row) => (
        <Group gap={4} wrap="nowrap" justify="flex-end">
          <Allowed to="admin.write">
            <Button variant="subtle" size="compact-sm" aria-label={`Change ${row.email}`} onClick={() => setEdited(row)}>
              Change
            </Button>
          </Allowed>
          <Allowed to="admin.write" unless={row.id === account.id ? 'Another administrator has to do this.' : null}>
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
      lead="Who may do what. A domain administrator has the domains that are assigned, an administrator all of them, a super administrator the server as well."
      actions={
        <Allowed to="admin.write">
          <Button leftSection={<Icon name="plus" size={16} />} onClick={() => change({ new: 'yes' })}>
            New administrator
          </Button>
        </Allowed>
      }
    >
      <DataList
        label="Administrators"
        of={['admins', 'list']}
        load={async () => ({ rows: await ask(client.GET('/admins')), next: null })}
        columns={columns}
        rowKey={(row) => row.id}
        empty={
          <Empty icon="people" title="Nobody">
            You see yourself, and those who share a domain with you.
          </Empty>
        }
      />
      <Modal opened={isNew !== undefined} onClose={() => change({ new: undefined })} title="New administrator" size="lg">
        {isNew !== undefined && <AdminForm onDone={() => change({ new: undefined })} />}
      </Modal>
      <Modal opened={edited !== null} onClose={() => setEdited(null)} title={`Change ${edited?.email ?? ''}`} size="lg">
        {edited && <AdminForm admin={edited} onDone={() => setEdited(null)} />}
      </Modal>
      <Delete of={deleted} onClose={() => setDeleted(null)} />
    </Page>
  )
}

function Assigned({ to }: { to: Admin }) {
  if (to.role !== 'domain_admin') return <>all</>
  const [first, ...others] = to.domain_ids
  if (!first) return <Badge tone="warn">none yet</Badge>
  return (
    <span>
      <Link to={PATHS.domain} params={{ id: first }}>
        <DomainName id={first} />
      </Link>
      {others.length > 0 && <span className="soft"> and {others.length} more</span>}
    </span>
  )
}

function Factor({ of }: { of: Admin }) {
  const factors = [of.totp_enabled && 'authenticator', of.passkeys > 0 && (of.passkeys === 1 ? 'passkey' : `${of.passkeys} passkeys`)].filter(Boolean)
  return factors.length ? <Badge tone="good">{factors.join(', ')}</Badge> : <Badge tone="warn">none</Badge>
}

function Delete({ of, onClose }: { of: Admin | null; onClose: () => void }) {
  const remove = useChange({
    change: (admin: Admin) => ask(client.DELETE('/admins/{id}', { params: { path: { id: admin.id } } })),
    refreshes: ['admins', 'api-keys'],
    told: (answer) => answer.message,
    then: onClose,
  })
  return (
    <Confirm
      opened={of !== null}
      onClose={onClose}
      title={`Delete ${of?.email ?? ''}`}
      action="Delete"
      name={of?.email ?? ''}
      busy={remove.isPending}
      error={remove.error}
      onConfirm={() => of && remove.mutate(of)}
    >
      Sessions end at once, and the API keys of the account are revoked: programs that use them stop. What it did stays in the audit log. This can’t be undone.
    </Confirm>
  )
}
