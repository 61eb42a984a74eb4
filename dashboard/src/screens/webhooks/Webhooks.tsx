import { Button, Modal } from '@mantine/core'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { fetchData, client, type Schema } from '../../api/client'
import { PATHS } from '../../paths'
import { useSearchParams } from '../../search'
import { Badge } from '../../ui/Badge'
import { type Column, DataList } from '../../ui/DataList'
import { DomainName } from '../domains/DomainSelect'
import { EmptyState } from '../../ui/Empty'
import { Icon } from '../../ui/Icon'
import { NewButton } from '../../ui/NewButton'
import { Page } from '../../ui/Page'
import { Secret } from '../../ui/Secret'
import { SECRET_MODAL_PROPS } from '../../ui/SecretModal'
import { Time } from '../../ui/Time'
import { WebhookForm } from './WebhookForm'

type Webhook = Schema['WebhookRecord']

const route = getRouteApi('/app/webhooks')

const COLUMNS: readonly Column<Webhook>[] = [
  {
    header: 'URL',
    wide: true,
    cell: (row) => (
      <Link className="row-link" to={PATHS.webhook} params={{ id: row.id }}>
        {row.url}
      </Link>
    ),
  },
  { header: 'State', cell: (row) => <WebhookState webhook={row} /> },
  { header: 'Events', cell: (row) => <EventKinds kinds={row.events} /> },
  { header: 'Domain', cell: (row) => (row.domain_id ? <DomainName id={row.domain_id} /> : 'all domains') },
  { header: 'Created', cell: (row) => <Time at={row.created_at} form="ago" /> },
]

/** The status of a webhook. */
export function WebhookState({ webhook }: { webhook: Webhook }) {
  if (webhook.disabled_at) return <Badge tone="bad">disabled after failures</Badge>
  if (!webhook.active) return <Badge tone="warn">inactive</Badge>
  if (webhook.failing_since) return <Badge tone="warn">failing</Badge>
  return <Badge tone="good">active</Badge>
}

function EventKinds({ kinds }: { kinds: readonly string[] }) {
  if (kinds.includes('*')) return <>all mail events</>
  const [first, ...others] = kinds
  return (
    <span title={kinds.join(', ')}>
      {first}
      {others.length > 0 && <span className="muted"> and {others.length} more</span>}
    </span>
  )
}

export function Webhooks() {
  const { new: isNew } = route.useSearch()
  const [, change] = useSearchParams()
  const createButton = <NewButton action="webhook.write" label="New webhook" />
  return (
    <Page
      title="Webhooks"
      lead="Webhooks send events to your applications as signed HTTP requests and retry until they succeed."
      actions={createButton}
    >
      <DataList
        label="Webhooks"
        queryKey={['webhooks', 'list']}
        load={async () => ({ rows: await fetchData(client.GET('/webhooks')), next: null })}
        columns={COLUMNS}
        rowKey={(row) => row.id}
        empty={
          <EmptyState icon="hook" title="No webhooks yet" action={createButton}>
            A webhook sends deliveries, bounces and received mail to an HTTPS URL of your application.
          </EmptyState>
        }
      />
      <NewWebhook opened={isNew !== undefined} onClose={() => change({ new: undefined })} />
    </Page>
  )
}

function NewWebhook({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [created, setCreated] = useState<Schema['WebhookWithSecret'] | null>(null)
  const navigate = useNavigate()
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={() => setCreated(null)}
      title="New webhook"
      size="lg"
      closeOnClickOutside={false}
      {...(created && SECRET_MODAL_PROPS)}
    >
      {opened && created && (
        <WebhookSecret
          created={created}
          action="I've saved it"
          onDone={() => void navigate({ to: PATHS.webhook, params: { id: created.id } })}
        />
      )}
      {opened && !created && <WebhookForm onCreated={setCreated} onCancel={onClose} />}
    </Modal>
  )
}

/** Shows the signing secret once. */
export function WebhookSecret({ created, action, onDone }: { created: Schema['WebhookWithSecret']; action: string; onDone: () => void }) {
  return (
    <div className="stack" data-holds-secret>
      <div className="note note-good" role="status">
        <Icon name="check" />
        <div>
          <p className="note-title">Save the secret now. It is not shown again.</p>
          <p>
            Your application verifies deliveries with it: with any Standard Webhooks library (<code>webhook-signature</code>), or with the
            simple signature in <code>X-Svc-Signature</code>, the HMAC-SHA256 of the body in hex.
          </p>
        </div>
      </div>
      {created.secret && <Secret label="Signing secret" value={created.secret} />}
      <div className="right">
        <Button onClick={onDone}>{action}</Button>
      </div>
    </div>
  )
}
