import { Button, Group, NumberInput, Select, TextInput } from '@mantine/core'
import { fetchData, client, type Schema } from '../../api/client'
import { DomainMultiSelect } from '../domains/DomainMultiSelect'
import { Form } from '../../ui/Form'
import { useApiMutation, useForm } from '../../ui/useForm'
import { RequestButton } from '../../ui/RequestSnippet'
import { Tags } from '../../ui/Tags'
import { fromLocal, OWN_ZONE } from '../../timeZone'

const EXACT = 'exact'

const FIELDS = {
  name: '',
  scoped_domain_ids: [] as string[],
  permissions: 'full',
  expires_in_days: '0',
  /** A local time in the browser's zone. */
  expires_at: '',
  rate_limit: '' as number | string,
  allowed_networks: [] as string[],
}

/** Creates an API key. */
export function ApiKeyForm({ onDone, onCancel }: { onDone: (created: Schema['ApiKeyCreateResponse']) => void; onCancel?: () => void }) {
  const create = useApiMutation({
    request: (values: typeof FIELDS) => fetchData(client.POST('/api-keys', { body: createBody(values) })),
    invalidates: ['api-keys'],
    onSuccess: (created) => {
      form.markSaved()
      onDone(created)
    },
  })
  const form = useForm(FIELDS, create.error)
  return (
    <Form
      onSubmit={() => create.mutate(form.values)}
      error={create.error}
      isDirty={form.isDirty}
      formFields={form.names}
      actions={
        <>
          <RequestButton call={{ method: 'POST', path: '/api-keys', body: createBody(form.values) }} />
          <Group>
            {onCancel && (
              <Button variant="default" onClick={onCancel}>
                Cancel
              </Button>
            )}
            <Button type="submit" loading={create.isPending}>
              Create key
            </Button>
          </Group>
        </>
      }
    >
      <TextInput
        label="Name"
        description="The application that uses the key"
        placeholder="shop"
        data-autofocus
        autoComplete="off"
        {...form.textField('name')}
      />
      <DomainMultiSelect
        label="Domains"
        description="Blank: all your domains, present and future"
        placeholder={form.values.scoped_domain_ids.length ? '' : 'All domains'}
        {...form.field('scoped_domain_ids')}
      />
      <div className="pair">
        <Select
          label="Permissions"
          description="Never more than yours"
          allowDeselect={false}
          data={[
            { value: 'full', label: 'All of yours' },
            { value: 'sending', label: 'Send, and see its own messages' },
            { value: 'read', label: 'See everything, change nothing' },
          ]}
          {...form.field('permissions')}
        />
        <NumberInput
          label="Requests per minute"
          placeholder="60"
          min={0}
          allowDecimal={false}
          description="0 = unlimited; blank = 60"
          {...form.field('rate_limit')}
        />
      </div>
      <div className="pair">
        <Select
          label="Expires"
          description="A leaked key is then useless"
          allowDeselect={false}
          data={[
            { value: '0', label: 'Never' },
            { value: '7', label: 'In 7 days' },
            { value: '30', label: 'In 30 days' },
            { value: '90', label: 'In 90 days' },
            { value: '365', label: 'In 1 year' },
            { value: EXACT, label: 'At an exact time' },
          ]}
          {...form.field('expires_in_days')}
        />
        <TextInput
          type="datetime-local"
          label="Expires at"
          description={`Time zone ${OWN_ZONE}`}
          disabled={form.values.expires_in_days !== EXACT}
          {...form.textField('expires_at')}
        />
      </div>
      <Tags
        label="Allowed networks"
        description="For example 192.0.2.0/24. Blank: any network. Press Enter after each."
        {...form.field('allowed_networks')}
      />
    </Form>
  )
}

function createBody(values: typeof FIELDS): Schema['ApiKeyCreate'] {
  return {
    name: values.name.trim(),
    scoped_domain_ids: values.scoped_domain_ids,
    permissions: values.permissions as Schema['ApiKeyRecord']['permissions'],
    ...(values.expires_in_days === EXACT
      ? { expires_at: fromLocal(values.expires_at, OWN_ZONE) ?? '' }
      : { expires_in_days: Number(values.expires_in_days) }),
    allowed_networks: values.allowed_networks,
    ...(values.rate_limit !== '' && { rate_limit: Number(values.rate_limit) }),
  }
}
