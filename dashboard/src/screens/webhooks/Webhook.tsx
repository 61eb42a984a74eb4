import { Button, Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { fetchData, client, type Schema } from '../../api/client'
import { PATHS } from '../../paths'
import { Allowed, useDenialReason } from '../../access/Allowed'
import { DetailTabs } from '../../ui/DetailTabs'
import { ConfirmDelete } from '../../ui/Confirm'
import { CopyableCode } from '../../ui/Copy'
import { DetailPage, EditButton } from '../../ui/DetailPage'
import { Deliveries } from './Deliveries'
import { DomainName } from '../domains/DomainSelect'
import { ErrorBar } from '../../ui/ErrorBar'
import { useApiMutation } from '../../ui/useForm'
import { Icon } from '../../ui/Icon'
import { Facts, Section } from '../../ui/Page'
import { SECRET_MODAL_PROPS } from '../../ui/SecretModal'
import { Time } from '../../ui/Time'
import { WebhookForm } from './WebhookForm'
import { WebhookSecret, WebhookState } from './Webhooks'

type WebhookRecord = Schema['WebhookRecord']

const route = getRouteApi('/app/webhooks/$id')

export function Webhook() {
  const { id } = route.useParams()
  const query = useQuery({
    queryKey: ['webhooks', 'one secret', id],
    queryFn: () => fetchData(client.GET('/webhooks/{id}', { params: { path: { id } } })),
  })
  const canEdit = useDenialReason('webhook.write') === null
  return (
    <DetailPage
      kind="Webhook"
      list={{ to: PATHS.webhooks, label: 'Webhooks' }}
      query={query}
      title={(data) => data.url}
      lead={(data) => <WebhookState webhook={data} />}
      actions={() => <EditButton action="webhook.write" />}
    >
      {(data) => (
        <>
          {data.failing_since && <FailureNote webhook={data} />}
          <DetailTabs
            tabs={[
              { value: 'overview', label: 'Overview', content: <Overview webhook={data} /> },
              ...(canEdit ? [{ value: 'settings', label: 'Settings', content: <Settings webhook={data} /> }] : []),
            ]}
          />
        </>
      )}
    </DetailPage>
  )
}

function Overview({ webhook: data }: { webhook: WebhookRecord }) {
  return (
    <>
      <Section title="Webhook">
        <Facts
          rows={[
            ['Events', data.events.includes('*') ? 'all mail events' : data.events.join(', ')],
            ['Domain', data.domain_id ? <DomainName id={data.domain_id} /> : 'all domains'],
            ['Created', <Time at={data.created_at} />],
            [
              'Signing secrets',
              data.rotating_until ? (
                <>
                  2, the previous one until <Time at={data.rotating_until} />
                </>
              ) : (
                '1'
              ),
            ],
            ['ID', <CopyableCode value={data.id} what="ID" />],
          ]}
        />
      </Section>
      <TestDelivery webhook={data} />
      <Deliveries webhook={data} />
    </>
  )
}

function Settings({ webhook }: { webhook: WebhookRecord }) {
  return (
    <>
      <Section title="Settings">
        <WebhookForm webhook={webhook} />
      </Section>
      <DangerZone webhook={webhook} />
    </>
  )
}

function FailureNote({ webhook }: { webhook: WebhookRecord }) {
  return (
    <div className="note note-warn">
      <Icon name="warn" />
      <div>
        <p className="note-title">
          All deliveries have failed since <Time at={webhook.failing_since} />
        </p>
        <p>
          {webhook.disabled_at
            ? 'Mailkeep disabled the webhook after repeated failures. Fix your application, activate the webhook, then replay the missed events.'
            : 'See the responses of the deliveries below.'}
        </p>
      </div>
    </div>
  )
}

/** Sends a test event and shows the response. */
function TestDelivery({ webhook }: { webhook: WebhookRecord }) {
  const test = useApiMutation({
    request: () => fetchData(client.POST('/webhooks/{id}/test', { params: { path: { id: webhook.id } } })),
    invalidates: ['webhooks'],
  })
  const { data } = test
  return (
    <Section
      title="Test"
      lead="Sends one signed event of type system.test."
      actions={
        <Allowed action="webhook.write">
          <Button
            variant="default"
            leftSection={<Icon name="send" size={16} />}
            loading={test.isPending}
            onClick={() => test.mutate(undefined)}
          >
            Send test event
          </Button>
        </Allowed>
      }
    >
      <ErrorBar error={test.error} />
      {!data && (
        <div className="note test-result">
          <Icon name="info" />
          <div>
            <p>The response of your application is shown here.</p>
          </div>
        </div>
      )}
      {data && (
        <div className={`note test-result ${data.delivered ? 'note-good' : 'note-bad'}`} role="status" tabIndex={0}>
          <Icon name={data.delivered ? 'check' : 'warn'} />
          <div>
            <p className="note-title">
              {data.delivered ? 'Delivered' : 'Delivery failed'}
              {data.status !== null && `: HTTP ${data.status}`}
              {data.duration_ms !== null && ` in ${data.duration_ms} ms`}
            </p>
            {data.error && <p>{data.error}</p>}
            {data.response_excerpt && <pre className="wrap">{data.response_excerpt}</pre>}
          </div>
        </div>
      )}
    </Section>
  )
}

function DangerZone({ webhook }: { webhook: WebhookRecord }) {
  const [isDeleting, setDeleting] = useState(false)
  const [created, setCreated] = useState<Schema['WebhookWithSecret'] | null>(null)
  const navigate = useNavigate()
  const rotate = useApiMutation({
    request: () => fetchData(client.POST('/webhooks/{id}/rotate-secret', { params: { path: { id: webhook.id } } })),
    invalidates: ['webhooks'],
    onSuccess: setCreated,
  })
  return (
    <Section title="Danger zone">
      <div className="between">
        <p className="muted">Create a new signing secret. The current one stays valid for 24 hours.</p>
        <Allowed action="webhook.write">
          <Button variant="default" loading={rotate.isPending} onClick={() => rotate.mutate(undefined)}>
            Rotate secret
          </Button>
        </Allowed>
      </div>
      <ErrorBar error={rotate.error} />
      <div className="between">
        <p className="muted">Delete this webhook and its pending deliveries.</p>
        <Allowed action="webhook.write">
          <Button variant="light" color="red" onClick={() => setDeleting(true)}>
            Delete webhook
          </Button>
        </Allowed>
      </div>
      <Modal opened={created !== null} onClose={() => setCreated(null)} title="Rotate secret" size="lg" {...SECRET_MODAL_PROPS}>
        {created && <WebhookSecret created={created} action="I've saved it" onDone={() => setCreated(null)} />}
      </Modal>
      <ConfirmDelete
        opened={isDeleting}
        onClose={() => setDeleting(false)}
        title="Delete webhook"
        action="Delete webhook"
        name={webhook.url}
        request={() => fetchData(client.DELETE('/webhooks/{id}', { params: { path: { id: webhook.id } } }))}
        invalidates={[]}
        message={(answer) => answer.message}
        onDeleted={() => void navigate({ to: PATHS.webhooks })}
      >
        Your application receives no more events, and pending deliveries are dropped. This can't be undone.
      </ConfirmDelete>
    </Section>
  )
}
