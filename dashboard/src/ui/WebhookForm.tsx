import { Button, Checkbox, Group, Switch, TextInput } from '@mantine/core'
import { ask, client, type Schema } from '../api/client'
import { type Kind, KINDS } from '../api/kinds'
import { DomainSelect } from './Domains'
import { Form } from './Form'
import { useChange, useFields } from './form'
import { RequestButton } from './Request'

type Webhook = Schema['WebhookRecord']
type Subscription = Kind | '*'

interface Props {
  webhook?: Webhook
  onMade?: (made: Schema['WebhookWithSecret']) => void
  onChanged?: () => void
  onCancel: () => void
}

/** A webhook to make, or to change. */
export function WebhookForm({ webhook, onMade, onChanged, onCancel }: Props) {
  const save = useChange({
    change: async (values: ReturnType<typeof initial>) => {
      if (webhook) {
        await ask(client.PATCH('/webhooks/{id}', { params: { path: { id: webhook.id } }, body: changesOf(values) }))
        return null
      }
      return ask(client.POST('/webhooks', { body: bodyOf(values) }))
    },
    refreshes: ['webhooks'],
    told: webhook ? 'The webhook is changed.' : '',
    then: (made) => (made ? onMade?.(made) : onChanged?.()),
  })
  const form = useFields(initial(webhook), save.error)
  return (
    <Form
      onSubmit={() => save.mutate(form.values)}
      error={save.error}
      besides={form.names}
      actions={
        <>
          <RequestButton
            call={webhook ? { method: 'PATCH', path: `/webhooks/${webhook.id}`, body: changesOf(form.values) } : { method: 'POST', path: '/webhooks', body: bodyOf(form.values) }}
          />
          <Group>
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              {webhook ? 'Save' : 'Make webhook'}
            </Button>
          </Group>
        </>
      }
    >
      <TextInput label="Address" type="url" placeholder="https://shop.example/hooks/mail" description={
          <>
            https, and reachable from this server. For a program on your own machine run <code>mailkeep listen --forward URL</code>.
          </>
        } data-autofocus autoComplete="off" spellCheck={false} {...form.text('url')} />
      <Checkbox.Group label="Is told of" value={form.values.events} onChange={(events) => form.set('events', events as Subscription[])} error={form.faultOf('events')}>
        <div className="kinds">
          <Checkbox value="*" label="All mail" description="also of kinds that come later" />
          {KINDS.map(({ value, meaning }) => (
            <Checkbox key={value} value={value} label={value} description={meaning} />
          ))}
        </div>
      </Checkbox.Group>
      {!webhook && <DomainSelect label="Only of this domain" placeholder="All domains" description="It goes with its domain, and can’t be changed later." clearable {...form.value('domain_id')} />}
      {webhook && <Switch label="Active" description="While it is not, nothing is delivered; what happened meanwhile can be replayed." {...form.checked('active')} />}
    </Form>
  )
}

function initial(webhook: Webhook | undefined) {
  return {
    url: webhook?.url ?? '',
    events: (webhook?.events ?? ['*']) as Subscription[],
    domain_id: webhook?.domain_id ?? null,
    active: webhook?.active ?? true,
  }
}

function bodyOf(values: ReturnType<typeof initial>): Schema['WebhookCreate'] {
  return { url: values.url.trim(), events: values.events, ...(values.domain_id && { domain_id: values.domain_id }) }
}

function changesOf(values: ReturnType<typeof initial>): Schema['WebhookChange'] {
  return { url: values.url.trim(), events: values.events, active: values.active }
}
