import { Button, Modal } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask, client, type Schema } from '../api/client'
import { PATHS } from '../paths'
import { Allowed } from '../ui/Allowed'
import { Confirm } from '../ui/Confirm'
import { Copy } from '../ui/Copy'
import { Lines } from '../ui/DataList'
import { Deliveries } from '../ui/Deliveries'
import { DomainName } from '../ui/Domains'
import { ErrorBar } from '../ui/ErrorBar'
import { ErrorNote } from '../ui/ErrorNote'
import { isMissing, Missing } from '../ui/Missing'
import { useChange } from '../ui/form'
import { Icon } from '../ui/Icon'
import { Facts, Page, Section } from '../ui/Page'
import { HOLDS_SECRET } from '../ui/SecretModal'
import { Time } from '../ui/Time'
import { WebhookForm } from '../ui/WebhookForm'
import { WebhookSecret, WebhookState } from './Webhooks'

type Record_ = Schema['WebhookRecord']

const route = getRouteApi('/inside/webhooks/$id')

export function Webhook() {
  const { id } = route.useParams()
  const { data, error } = useQuery({ queryKey: ['webhooks', 'one', id], queryFn: () => ask(client.GET('/webhooks/{id}', { params: { path: { id } } })) })
  const [isEditing, setEditing] = useState(false)
  const back = <Link to={PATHS.webhooks}>← Webhooks</Link>
  if (isMissing(error)) return <Missing title="No such webhook" back={back} error={error} />
  if (!data)
    return (
      <Page title="Webhook" back={back}>
        {error ? <ErrorNote error={error} /> : <Lines />}
      </Page>
    )
  return (
    <Page
      title={data.url}
      back={back}
      lead={<WebhookState webhook={data} />}
      actions={
        <Allowed to="webhook.write">
          <Button leftSection={<Icon name="edit" size={16} />} onClick={() => setEditing(true)}>
            Change
          </Button>
        </Allowed>
      }
    >
      {data.failing_since && <Failing webhook={data} />}
      <Section title="Webhook">
        <Facts
          rows={[
            ['Is told of', data.events.includes('*') ? 'all mail' : data.events.join(', ')],
            ['Domain', data.domain_id ? <DomainName id={data.domain_id} /> : 'all'],
            ['Made', <Time at={data.created_at} />],
            ['Secret', data.rotating_until ? <>both sign until <Time at={data.rotating_until} /></> : 'one'],
            ['Id', <span className="copyable"><code>{data.id}</code><Copy text={data.id} what="id" /></span>],
          ]}
        />
      </Section>
      <Trial webhook={data} />
      {/* Above the list, which grows by itself and would move it. */}
      <Hazards webhook={data} />
      <Deliveries webhook={data} />
      <Modal opened={isEditing} onClose={() => setEditing(false)} title="Change webhook" size="lg">
        <WebhookForm webhook={data} onChanged={() => setEditing(false)} onCancel={() => setEditing(false)} />
      </Modal>
    </Page>
  )
}

function Failing({ webhook }: { webhook: Record_ }) {
  return (
    <div className="note note-warn">
      <Icon name="warn" />
      <div>
        <p className="note-title">
          No delivery has succeeded since <Time at={webhook.failing_since} />
        </p>
        <p>{webhook.disabled_at ? 'It was made inactive for that. Mend your program, activate the webhook, then replay what it missed.' : 'The answers stand with each delivery below.'}</p>
      </div>
    </div>
  )
}

/** A signed event, posted now: request and answer. */
function Trial({ webhook }: { webhook: Record_ }) {
  const test = useChange({
    change: () => ask(client.POST('/webhooks/{id}/test', { params: { path: { id: webhook.id } } })),
    refreshes: ['webhooks'],
  })
  const { data } = test
  return (
    <Section
      title="Test"
      lead="Posts a signed event of the kind system.test now, once."
      actions={
        <Allowed to="webhook.write">
          <Button variant="default" leftSection={<Icon name="send" size={16} />} loading={test.isPending} onClick={() => test.mutate(undefined)}>
            Send a test
          </Button>
        </Allowed>
      }
    >
      <ErrorBar error={test.error} />
      {!data && (
        <div className="note trial">
          <Icon name="info" />
          <div>
            <p>The answer of your program is shown here.</p>
          </div>
        </div>
      )}
      {data && (
        <div className={`note trial ${data.delivered ? 'note-good' : 'note-bad'}`} role="status" tabIndex={0}>
          <Icon name={data.delivered ? 'check' : 'warn'} />
          <div>
            <p className="note-title">
              {data.delivered ? 'It was taken' : 'It was not taken'}
              {data.status !== null && `: answered ${data.status}`}
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

function Hazards({ webhook }: { webhook: Record_ }) {
  const [isAsked, setAsked] = useState(false)
  const [made, setMade] = useState<Schema['WebhookWithSecret'] | null>(null)
  const navigate = useNavigate()
  const rotate = useChange({
    change: () => ask(client.POST('/webhooks/{id}/rotate-secret', { params: { path: { id: webhook.id } } })),
    refreshes: ['webhooks'],
    then: setMade,
  })
  const remove = useChange({
    change: () => ask(client.DELETE('/webhooks/{id}', { params: { path: { id: webhook.id } } })),
    refreshes: [],
    told: (answer) => answer.message,
    then: () => void navigate({ to: PATHS.webhooks }),
  })
  return (
    <Section title="Danger zone">
      <div className="between">
        <p className="soft">A new secret signs at once; the present one signs too for 24 hours, so that your program can change over.</p>
        <Allowed to="webhook.write">
          <Button variant="default" loading={rotate.isPending} onClick={() => rotate.mutate(undefined)}>
            New secret
          </Button>
        </Allowed>
      </div>
      <ErrorBar error={rotate.error} />
      <div className="between">
        <p className="soft">Deleted, it takes what is on its way to it along.</p>
        <Allowed to="webhook.write">
          <Button variant="light" color="red" onClick={() => setAsked(true)}>
            Delete webhook
          </Button>
        </Allowed>
      </div>
      <Modal opened={made !== null} onClose={() => setMade(null)} title="New secret" size="lg" {...HOLDS_SECRET}>
        {made && <WebhookSecret made={made} action="I have kept it" onDone={() => setMade(null)} />}
      </Modal>
      <Confirm opened={isAsked} onClose={() => setAsked(false)} title="Delete webhook" action="Delete webhook" name={webhook.url} busy={remove.isPending} error={remove.error} onConfirm={() => remove.mutate(undefined)}>
        Your program is told of nothing any more, and what is on its way is dropped. This can’t be undone.
      </Confirm>
    </Section>
  )
}
