import { Button, Modal } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { ask, client, type Schema } from '../api/client'
import { number } from '../locale'
import { useAddress } from '../search'
import { Allowed, useAccount } from '../ui/Allowed'
import { Badge } from '../ui/Badge'
import { Confirm } from '../ui/Confirm'
import { type Column, DataList } from '../ui/DataList'
import { DomainName } from '../ui/Domains'
import { Empty } from '../ui/Empty'
import { useChange } from '../ui/form'
import { Icon } from '../ui/Icon'
import { KeyForm } from '../ui/KeyForm'
import { Page } from '../ui/Page'
import { Snippet } from '../ui/Request'
import { Secret } from '../ui/Secret'
import { HOLDS_SECRET } from '../ui/SecretModal'
import { Time } from '../ui/Time'

type Key = Schema['ApiKeyRecord']

const route = getRouteApi('/inside/api-keys')

export function Keys() {
  const { new: isNew } = route.useSearch()
  const [, change] = useAddress()
  const [revoked, setRevoked] = useState<Key | null>(null)
  const account = useAccount()
  const make = (
    <Allowed to="api_key.write">
      <Button leftSection={<Icon name="plus" size={16} />} onClick={() => change({ new: 'yes' })}>
        New key
      </Button>
    </Allowed>
  )
  const columns: readonly Column<Key>[] = [
    {
      head: 'Name',
      wide: true,
      cell: (row) => (
        <span>
          <span className="strong">{row.name}</span> <code>{row.key_prefix}…</code>
        </span>
      ),
    },
    { head: 'Reaches', cell: (row) => <Reach of={row} /> },
    { head: 'Per minute', align: 'right', cell: (row) => (row.rate_limit ? number(row.rate_limit) : 'no limit') },
    { head: 'Last used', cell: (row) => <Time at={row.last_used_at} form="ago" /> },
    { head: 'Expires', cell: (row) => <Time at={row.expires_at} /> },
    ...(account.role === 'super_admin' ? [{ head: 'Whose', cell: (row: Key) => (row.admin_id === account.id ? 'yours' : 'another administrator’s') }] : []),
    {
      head: '',
      align: 'right',
      cell: (row) => (
        <Allowed to="api_key.write">
          <Button variant="subtle" color="red" size="compact-sm" aria-label={`Revoke ${row.name}`} onClick={() => setRevoked(row)}>
            Revoke
          </Button>
        </Allowed>
      ),
    },
  ]
  return (
    <Page title="API keys" lead="What your programs show in place of a login. A key has your rights, or fewer." actions={make}>
      <DataList
        label="API keys"
        of={['api-keys', 'list']}
        load={async () => ({ rows: await ask(client.GET('/api-keys')), next: null })}
        columns={columns}
        rowKey={(row) => row.id}
        empty={
          <Empty icon="key" title="No key yet" action={make}>
            Make one for each program, narrowed to the domains that it sends for: what leaks can be revoked alone. The key is shown once.
          </Empty>
        }
      />
      <NewKey opened={isNew !== undefined} onClose={() => change({ new: undefined })} />
      <Revoke of={revoked} onClose={() => setRevoked(null)} />
    </Page>
  )
}

function Reach({ of }: { of: Key }) {
  if (!of.is_scoped) return <Badge tone="info">all that its owner does</Badge>
  if (of.scoped_domain_ids.length === 0) return <Badge tone="warn">nothing: its domains are gone</Badge>
  const [first, ...others] = of.scoped_domain_ids
  return (
    <span>
      <DomainName id={first ?? null} />
      {others.length > 0 && <span className="soft"> and {others.length} more</span>}
    </span>
  )
}

/** The form, then what it made: shown until it is closed. */
function NewKey({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [made, setMade] = useState<Schema['ApiKeyCreateResponse'] | null>(null)
  return (
    <Modal opened={opened} onClose={onClose} onExitTransitionEnd={() => setMade(null)} title="New API key" size="lg" closeOnClickOutside={false} {...(made && HOLDS_SECRET)}>
      {opened && (made ? <MadeKey made={made} onClose={onClose} /> : <KeyForm onDone={setMade} onCancel={onClose} />)}
    </Modal>
  )
}

function MadeKey({ made, onClose }: { made: Schema['ApiKeyCreateResponse']; onClose: () => void }) {
  return (
    <div className="stack" data-holds-secret>
      <div className="note note-good" role="status">
        <Icon name="check" />
        <div>
          <p className="note-title">{made.api_key.name} is made.</p>
          <p>Copy the key now: it is stored as a hash, and nobody can show it again.</p>
        </div>
      </div>
      {made.key && <Secret label="API key" value={made.key} />}
      <Snippet call={{ method: 'GET', path: '/domains', query: { limit: 5 } }} />
      <div className="right">
        <Button onClick={onClose}>I have kept it</Button>
      </div>
    </div>
  )
}

function Revoke({ of, onClose }: { of: Key | null; onClose: () => void }) {
  const revoke = useChange({
    change: (key: Key) => ask(client.DELETE('/api-keys/{id}', { params: { path: { id: key.id } } })),
    refreshes: ['api-keys'],
    told: (answer) => answer.message,
    then: onClose,
  })
  return (
    <Confirm
      opened={of !== null}
      onClose={onClose}
      title={`Revoke ${of?.name ?? ''}`}
      action="Revoke"
      name={of?.name ?? ''}
      busy={revoke.isPending}
      error={revoke.error}
      onConfirm={() => of && revoke.mutate(of)}
    >
      Programs that show it are refused at once, and so are keys that were made with it. This can’t be undone.
    </Confirm>
  )
}
