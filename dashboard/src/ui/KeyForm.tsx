import { Button, Group, NumberInput, Select, TextInput } from '@mantine/core'
import { ask, client, type Schema } from '../api/client'
import { DomainsSelect } from './DomainsSelect'
import { Form } from './Form'
import { useChange, useFields } from './form'
import { RequestButton } from './Request'
import { Tags } from './Tags'

const FIELDS = { name: '', scoped_domain_ids: [] as string[], expires_in_days: '0', rate_limit: '' as number | string, allowed_networks: [] as string[] }

/** An API key to make. */
export function KeyForm({ onDone, onCancel }: { onDone: (made: Schema['ApiKeyCreateResponse']) => void; onCancel?: () => void }) {
  const make = useChange({
    change: (values: typeof FIELDS) => ask(client.POST('/api-keys', { body: bodyOf(values) })),
    refreshes: ['api-keys'],
    then: onDone,
  })
  const form = useFields(FIELDS, make.error)
  return (
    <Form
      onSubmit={() => make.mutate(form.values)}
      error={make.error}
      besides={form.names}
      actions={
        <>
          <RequestButton call={{ method: 'POST', path: '/api-keys', body: bodyOf(form.values) }} />
          <Group>
            {onCancel && (
              <Button variant="default" onClick={onCancel}>
                Cancel
              </Button>
            )}
            <Button type="submit" loading={make.isPending}>
              Make key
            </Button>
          </Group>
        </>
      }
    >
      <TextInput label="Name" description="Of the program that will show it" placeholder="shop" data-autofocus autoComplete="off" {...form.text('name')} />
      <DomainsSelect
        label="Only for these domains"
        description="None: all that you may touch, now and later"
        placeholder={form.values.scoped_domain_ids.length ? '' : 'All domains'}
        {...form.value('scoped_domain_ids')}
      />
      <div className="pair">
        <Select
          label="Expires"
          allowDeselect={false}
          data={[
            { value: '0', label: 'never' },
            { value: '7', label: 'in a week' },
            { value: '30', label: 'in 30 days' },
            { value: '90', label: 'in 90 days' },
            { value: '365', label: 'in a year' },
          ]}
          {...form.value('expires_in_days')}
        />
        <NumberInput label="Requests per minute" placeholder="as usual" min={0} allowDecimal={false} description="0 is without limit" {...form.value('rate_limit')} />
      </div>
      <Tags label="Only from these networks" description="Such as 192.0.2.0/24; none: from everywhere. Enter adds one." {...form.value('allowed_networks')} />
    </Form>
  )
}

function bodyOf(values: typeof FIELDS): Schema['ApiKeyCreate'] {
  return {
    name: values.name.trim(),
    scoped_domain_ids: values.scoped_domain_ids,
    expires_in_days: Number(values.expires_in_days),
    allowed_networks: values.allowed_networks,
    ...(values.rate_limit !== '' && { rate_limit: Number(values.rate_limit) }),
  }
}
