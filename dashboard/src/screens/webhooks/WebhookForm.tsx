import { Button, Checkbox, Group, Switch, TextInput } from '@mantine/core'
import { fetchData, client, type Schema } from '../../api/client'
import { type EventKindName, EVENT_KINDS } from '../events/kinds'
import { DomainSelect } from '../domains/DomainSelect'
import { ConflictDialog, useVersion } from '../../ui/ConflictDialog'
import { Form } from '../../ui/Form'
import { useApiMutation, useForm } from '../../ui/useForm'
import { RequestButton } from '../../ui/RequestSnippet'

type Webhook = Schema['WebhookRecord']
type Subscription = EventKindName | '*'

interface Props {
  webhook?: Webhook
  onCreated?: (created: Schema['WebhookWithSecret']) => void
  onCancel?: () => void
}

const LABELS = { url: 'URL', events: 'Events', active: 'Active' }

/** Creates or edits a webhook. */
export function WebhookForm({ webhook, onCreated, onCancel }: Props) {
  const version = useVersion(webhook && `/webhooks/${webhook.id}`)
  const save = useApiMutation({
    request: async (values: ReturnType<typeof initial>) => {
      if (webhook) {
        await fetchData(
          client.PATCH('/webhooks/{id}', { params: { path: { id: webhook.id }, header: version.header }, body: patchBody(values) }),
        )
        return null
      }
      return fetchData(client.POST('/webhooks', { body: createBody(values) }))
    },
    invalidates: ['webhooks'],
    message: webhook ? 'Webhook saved.' : '',
    onSuccess: (created) => {
      form.markSaved()
      version.refresh()
      if (created) onCreated?.(created)
    },
  })
  const form = useForm(initial(webhook), save.error)
  return (
    <Form
      onSubmit={() => save.mutate(form.values)}
      error={save.error}
      isDirty={form.isDirty}
      formFields={form.names}
      actions={
        <>
          <RequestButton
            call={
              webhook
                ? { method: 'PATCH', path: `/webhooks/${webhook.id}`, body: patchBody(form.values) }
                : { method: 'POST', path: '/webhooks', body: createBody(form.values) }
            }
          />
          <Group>
            {onCancel && (
              <Button variant="default" onClick={onCancel}>
                Cancel
              </Button>
            )}
            <Button type="submit" loading={save.isPending}>
              {webhook ? 'Save' : 'Create webhook'}
            </Button>
          </Group>
        </>
      }
    >
      <TextInput
        label="URL"
        type="url"
        placeholder="https://shop.example/hooks/mail"
        description={
          <>
            HTTPS, reachable from this server. For an application on your own machine, run <code>mailkeep listen --forward URL</code>.
          </>
        }
        data-autofocus
        autoComplete="off"
        spellCheck={false}
        {...form.textField('url')}
      />
      <Checkbox.Group
        label="Events"
        value={form.values.events}
        onChange={(events) => form.set('events', events as Subscription[])}
        error={form.errorOf('events')}
      >
        <div className="kinds">
          <Checkbox value="*" label="All mail events" description="including kinds that are added later" />
          {EVENT_KINDS.map(({ value, description }) => (
            <Checkbox key={value} value={value} label={value} description={description} />
          ))}
        </div>
      </Checkbox.Group>
      {!webhook && (
        <DomainSelect
          label="Domain"
          placeholder="All domains"
          description="Only events of this domain are sent. The webhook is deleted with the domain. Can't be changed later."
          clearable
          {...form.field('domain_id')}
        />
      )}
      {webhook && (
        <Switch
          label="Active"
          description="Nothing is delivered while inactive. Missed events can be replayed."
          {...form.checkbox('active')}
        />
      )}
      {webhook && (
        <ConflictDialog
          error={save.error}
          form={form}
          version={version}
          labels={LABELS}
          load={async () => initial(await fetchData(client.GET('/webhooks/{id}', { params: { path: { id: webhook.id } } })))}
          onClose={save.reset}
          onSave={save.mutate}
        />
      )}
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

function createBody(values: ReturnType<typeof initial>): Schema['WebhookCreate'] {
  return { url: values.url.trim(), events: values.events, ...(values.domain_id && { domain_id: values.domain_id }) }
}

function patchBody(values: ReturnType<typeof initial>): Schema['WebhookChange'] {
  return { url: values.url.trim(), events: values.events, active: values.active }
}
