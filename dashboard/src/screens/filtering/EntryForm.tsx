import { Radio, Switch, TextInput } from '@mantine/core'
import type { FilterEntry, FilteringRequests } from '../../api/filteringRequests'
import { Form, FormButtons } from '../../ui/Form'
import { useApiMutation, useForm } from '../../ui/useForm'
import { KINDS, kindOf } from './words'

interface Values {
  list: FilterEntry['list']
  value: string
  comment: string
  enforced: boolean
}

/** Adds an entry. Whether it is an address, a domain or a network follows from the text. */
export function EntryForm({ requests, onDone }: { requests: FilteringRequests; onDone: () => void }) {
  const save = useApiMutation({
    request: ({ list, value, comment, enforced }: Values) =>
      requests.addEntry({
        list,
        kind: kindOf(value),
        value: value.trim(),
        ...(comment.trim() && { comment: comment.trim() }),
        ...(enforced && list === 'deny' && { enforced }),
      }),
    invalidates: ['filtering'],
    message: ({ value, list }: FilterEntry) => `${value} is on the ${list} list. It applies to the next message.`,
    onSuccess: () => {
      form.markSaved()
      onDone()
    },
  })
  const form = useForm<Values>({ list: 'deny', value: '', comment: '', enforced: false }, save.error)
  const { list, value } = form.values
  return (
    <Form
      onSubmit={() => save.mutate(form.values)}
      error={save.error}
      isDirty={form.isDirty}
      formFields={[...form.names, 'kind']}
      actions={<FormButtons submit="Add entry" isPending={save.isPending} onCancel={onDone} />}
    >
      <Radio.Group name="list" label="Mail from this sender" value={list} onChange={(next) => form.set('list', next as Values['list'])}>
        <div className="row">
          <Radio value="deny" label="is refused" />
          <Radio value="allow" label="goes to the inbox" />
        </div>
      </Radio.Group>
      <TextInput
        name="value"
        label={requests.canAllowNetworks ? 'Address, domain or network' : 'Address or domain'}
        description={
          value.trim()
            ? `${KINDS[kindOf(value)]}${kindOf(value) === 'domain' ? ', with its sub-domains' : ''}`
            : 'A domain includes its sub-domains'
        }
        placeholder="news@example.net"
        data-autofocus
        autoComplete="off"
        spellCheck={false}
        {...form.textField('value')}
        error={form.errorOf('value') ?? form.errorOf('kind')}
      />
      <TextInput name="comment" label="Comment" description="Why, for whoever reads the list later" {...form.textField('comment')} />
      {requests.scope !== 'mailbox' && (
        <Switch
          name="enforced"
          label="Enforced"
          description={`${requests.scope === 'server' ? 'Domains and mailboxes' : 'Mailboxes'} can’t allow this sender`}
          disabled={list === 'allow'}
          {...form.checkbox('enforced')}
          checked={form.values.enforced && list === 'deny'}
        />
      )}
    </Form>
  )
}
