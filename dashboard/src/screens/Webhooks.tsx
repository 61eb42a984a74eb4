import { Button, Modal } from '@mantine/core'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask, client, type Schema } from '../api/client'
import { PATHS } from '../paths'
import { useAddress } from '../search'
import { Allowed } from '../ui/Allowed'
import { Badge } from '../ui/Badge'
import { type Column, DataList } from '../ui/DataList'
import { DomainName } from '../ui/Domains'
import { Empty } from '../ui/Empty'
import { Icon } from '../ui/Icon'
import { Page } from '../ui/Page'
import { Secret } from '../ui/Secret'
import { HOLDS_SECRET } from '../ui/SecretModal'
import { Time } from '../ui/Time'
import { WebhookForm } from '../ui/WebhookForm'

type Webhook = Schema['WebhookRecord']

const route = getRouteApi('/inside/webhooks')

const COLUMNS: readonly Column<Webhook>[] = [
  {
    head: 'Address',
    wide: true,
    cell: (row) => (
      <Link className="row-link" to={PATHS.webhook} params={{ id: row.id }}>
        {row.url}
      </Link>
    ),
  },
  { head: 'State', cell: (row) => <WebhookState webhook={row} /> },
  { head: 'Is told of', cell: (row) => <Kinds of={row.events} /> },
  { head: 'Domain', cell: (row) => (row.domain_id ? <DomainName id={row.domain_id} /> : 'all') },
  { head: 'Made', cell: (row) => <Time at={row.created_at} form="ago" /> },
]

/** Whether it is delivered to, and whether that works. */
export function WebhookState({ webhook }: { webhook: Webhook }) {
  if (webhook.disabled_at) return <Badge tone="bad">disabled for failing</Badge>
  if (!webhook.active) return <Badge tone="warn">inactive</Badge>
  if (webhook.failing_since) return <Badge tone="warn">failing</Badge>
  return <Badge tone="good">active</Badge>
}

function Kinds({ of }: { of: readonly string[] }) {
  if (of.includes('*')) return <>all mail</>
  const [first, ...others] = of
  return (
    <span title={of.join(', ')}>
      {first}
      {others.length > 0 && <span className="soft"> and {others.length} more</span>}
    </span>
  )
}

export function Webhooks() {
  const { new: isNew } = route.useSearch()
  const [, change] = useAddress()
  const make = (
    <Allowed to="webhook.write">
      <Button leftSection={<Icon name="plus" size={16} />} onClick={() => change({ new: 'yes' })}>
        New webhook
      </Button>
    </Allowed>
  )
  return (
    <Page title="Webhooks" lead="Your programs are told what happens by a signed POST, tried again until they answer." actions={make}>
      <DataList
        label="Webhooks"
        of={['webhooks', 'list']}
        load={async () => ({ rows: await ask(client.GET('/webhooks')), next: null })}
        columns={COLUMNS}
        rowKey={(row) => row.id}
        empty={
          <Empty icon="hook" title="No webhook yet" action={make}>
            Name an https address of your program, and choose what it is told of: deliveries, bounces, mail that came in. What it does not take is tried again for hours.
          </Empty>
        }
      />
      <NewWebhook opened={isNew !== undefined} onClose={() => change({ new: undefined })} />
    </Page>
  )
}

function NewWebhook({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [made, setMade] = useState<Schema['WebhookWithSecret'] | null>(null)
  const navigate = useNavigate()
  return (
    <Modal opened={opened} onClose={onClose} onExitTransitionEnd={() => setMade(null)} title="New webhook" size="lg" closeOnClickOutside={false} {...(made && HOLDS_SECRET)}>
      {opened && made && <WebhookSecret made={made} action="Show the webhook" onDone={() => void navigate({ to: PATHS.webhook, params: { id: made.id } })} />}
      {opened && !made && <WebhookForm onMade={setMade} onCancel={onClose} />}
    </Modal>
  )
}

/** The secret, this once. */
export function WebhookSecret({ made, action, onDone }: { made: Schema['WebhookWithSecret']; action: string; onDone: () => void }) {
  return (
    <div className="stack" data-holds-secret>
      <div className="note note-good" role="status">
        <Icon name="check" />
        <div>
          <p className="note-title">Keep the secret now: it is not shown again.</p>
          <p>
            Your program checks with it that a delivery is ours: HMAC-SHA256 over the body in <code>X-Svc-Signature</code>, or by any library of Standard Webhooks.
          </p>
        </div>
      </div>
      {made.secret && <Secret label="Signing secret" value={made.secret} />}
      <div className="right">
        <Button onClick={onDone}>{action}</Button>
      </div>
    </div>
  )
}
