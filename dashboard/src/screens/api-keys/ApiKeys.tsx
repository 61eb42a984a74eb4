import { Button, Modal } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { fetchData, client, type Schema } from '../../api/client'
import { formatNumber } from '../../locale'
import { PATHS } from '../../paths'
import { useSearchParams } from '../../search'
import { Allowed } from '../../access/Allowed'
import { useAccount } from '../../access/account'
import { Badge } from '../../ui/Badge'
import { ConfirmDelete } from '../../ui/Confirm'
import { type Column, DataList } from '../../ui/DataList'
import { DomainName } from '../domains/DomainSelect'
import { CopyableCode } from '../../ui/Copy'
import { EmptyState } from '../../ui/Empty'
import { Icon } from '../../ui/Icon'
import { ApiKeyForm } from './ApiKeyForm'
import { NewButton } from '../../ui/NewButton'
import { Facts, Page } from '../../ui/Page'
import { RequestSnippet } from '../../ui/RequestSnippet'
import { Secret } from '../../ui/Secret'
import { SECRET_MODAL_PROPS } from '../../ui/SecretModal'
import { Time } from '../../ui/Time'

type ApiKey = Schema['ApiKeyRecord']

const route = getRouteApi('/app/api-keys')

export function ApiKeys() {
  const { new: isNew } = route.useSearch()
  const [, change] = useSearchParams()
  const [revoked, setRevoked] = useState<ApiKey | null>(null)
  const account = useAccount()
  const createButton = <NewButton action="api_key.write" label="New API key" />
  const columns: readonly Column<ApiKey>[] = [
    {
      header: 'Name',
      wide: true,
      cell: (row) => (
        <span>
          <span className="strong">{row.name}</span> <code>{row.key_prefix}…</code> {row.disabled && <DisabledKey apiKey={row} />}
        </span>
      ),
    },
    { header: 'Scope', cell: (row) => <Scope apiKey={row} /> },
    { header: 'Permissions', cell: (row) => PERMISSIONS[row.permissions] },
    { header: 'Rate limit', align: 'right', cell: (row) => (row.rate_limit ? `${formatNumber(row.rate_limit)} / min` : 'unlimited') },
    { header: 'Last used', cell: (row) => <Time at={row.last_used_at} form="ago" /> },
    { header: 'Expires', cell: (row) => <Time at={row.expires_at} /> },
    ...(account.role === 'super_admin'
      ? [{ header: 'Owner', cell: (row: ApiKey) => (row.admin_id === account.id ? 'you' : 'another administrator') }]
      : []),
    {
      header: '',
      align: 'right',
      cell: (row) => (
        <Allowed action="api_key.write">
          <Button variant="subtle" color="red" size="compact-sm" aria-label={`Revoke ${row.name}`} onClick={() => setRevoked(row)}>
            Revoke
          </Button>
        </Allowed>
      ),
    },
  ]
  return (
    <Page title="API keys" lead="Keys authenticate your applications. A key has at most your permissions." actions={createButton}>
      <DataList
        label="API keys"
        queryKey={['api-keys', 'list']}
        load={async () => ({ rows: await fetchData(client.GET('/api-keys')), next: null })}
        columns={columns}
        rowKey={(row) => row.id}
        empty={
          <EmptyState icon="key" title="No API keys yet" action={createButton}>
            Create one key per application, so that you can revoke a leaked key alone.
          </EmptyState>
        }
      />
      <NewApiKey opened={isNew !== undefined} onClose={() => change({ new: undefined })} />
      <RevokeApiKey apiKey={revoked} onClose={() => setRevoked(null)} />
    </Page>
  )
}

const PERMISSIONS: Readonly<Record<ApiKey['permissions'], string>> = { full: 'all', sending: 'sending', read: 'read only' }

/** Disabled by an incident, which this links to for those who may see it. */
function DisabledKey({ apiKey }: { apiKey: ApiKey }) {
  const badge = <Badge tone="bad">disabled</Badge>
  const { role } = useAccount()
  if (role === 'domain_admin') return badge
  return (
    <Link to={PATHS.incidents} search={{ state: 'open' }} aria-label={`${apiKey.name} is disabled: open incidents`}>
      {badge}
    </Link>
  )
}

function Scope({ apiKey }: { apiKey: ApiKey }) {
  if (!apiKey.is_scoped) return <Badge tone="info">all domains</Badge>
  if (apiKey.scoped_domain_ids.length === 0) return <Badge tone="warn">none: its domains were deleted</Badge>
  const [first, ...others] = apiKey.scoped_domain_ids
  return (
    <span>
      <DomainName id={first ?? null} />
      {others.length > 0 && <span className="muted"> and {others.length} more</span>}
    </span>
  )
}

/** The form, then the created key, until the dialog is closed. */
function NewApiKey({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [created, setCreated] = useState<Schema['ApiKeyCreateResponse'] | null>(null)
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={() => setCreated(null)}
      title="New API key"
      size="lg"
      closeOnClickOutside={false}
      {...(created && SECRET_MODAL_PROPS)}
    >
      {opened && (created ? <CreatedKey created={created} onClose={onClose} /> : <ApiKeyForm onDone={setCreated} onCancel={onClose} />)}
    </Modal>
  )
}

function CreatedKey({ created, onClose }: { created: Schema['ApiKeyCreateResponse']; onClose: () => void }) {
  return (
    <div className="stack" data-holds-secret>
      <div className="note note-good" role="status">
        <Icon name="check" />
        <div>
          <p className="note-title">{created.api_key.name} was created.</p>
          <p>Copy the key now. It is stored as a hash and can't be shown again.</p>
        </div>
      </div>
      {created.key && <Secret label="API key" value={created.key} />}
      {created.smtp && <SmtpSettings smtp={created.smtp} />}
      {/* A key that only sends may not list domains. */}
      <RequestSnippet
        call={
          created.api_key.permissions === 'sending'
            ? { method: 'GET', path: '/auth/me' }
            : { method: 'GET', path: '/domains', query: { limit: 5 } }
        }
      />
      <div className="right">
        <Button onClick={onClose}>I've saved it</Button>
      </div>
    </div>
  )
}

function SmtpSettings({ smtp }: { smtp: NonNullable<Schema['ApiKeyCreateResponse']['smtp']> }) {
  const ports = [smtp.starttls_port && `${smtp.starttls_port} (STARTTLS)`, smtp.tls_port && `${smtp.tls_port} (TLS)`]
    .filter(Boolean)
    .join(' or ')
  return (
    <div>
      <p className="strong">To send by SMTP</p>
      <Facts
        rows={[
          ['Server', <CopyableCode value={smtp.host} what="server" />],
          ['Port', ports],
          ['User name', <CopyableCode value={smtp.user} what="user name" />],
          ['Password', 'the key'],
        ]}
      />
    </div>
  )
}

function RevokeApiKey({ apiKey, onClose }: { apiKey: ApiKey | null; onClose: () => void }) {
  const id = apiKey?.id ?? ''
  return (
    <ConfirmDelete
      opened={apiKey !== null}
      onClose={onClose}
      title={`Revoke ${apiKey?.name ?? ''}`}
      action="Revoke"
      name={apiKey?.name ?? ''}
      request={() => fetchData(client.DELETE('/api-keys/{id}', { params: { path: { id } } }))}
      invalidates={['api-keys']}
      message={(answer) => answer.message}
    >
      Applications that use this key are rejected immediately, and so are keys created with it. Messages that it has scheduled are not sent.
      This can't be undone.
    </ConfirmDelete>
  )
}
