import { Button, Checkbox } from '@mantine/core'
import { Allowed } from '../../access/Allowed'
import type { Schema } from '../../api/client'
import type { MailboxRequests } from '../../api/mailboxRequests'
import { Addresses } from '../../ui/Addresses'
import { ConflictDialog, useVersion } from '../../ui/ConflictDialog'
import { Form } from '../../ui/Form'
import { useApiMutation, useForm } from '../../ui/useForm'
import { forwardValues } from './mailboxValues'

type Mailbox = Pick<Schema['MailboxRecord'], 'address' | 'forward'>
type Values = ReturnType<typeof forwardValues>

export const FORWARD_LABELS = { forward_to: 'Forward to', keep_copy: 'Keep a copy in this mailbox' }

/** Edits the forward of a mailbox. */
export function ForwardForm({ mailbox, requests }: { mailbox: Mailbox; requests: MailboxRequests }) {
  const version = useVersion(requests.forward.path)
  const save = useApiMutation({
    request: ({ forward_to, keep_copy }: Values) => requests.forward.save({ destinations: forward_to, keep_copy }, version.header),
    invalidates: ['mailboxes', 'routing', 'me', 'forward'],
    message: `Saved the forward of ${mailbox.address}.`,
    onSuccess: () => {
      form.markSaved()
      version.refresh()
    },
  })
  const form = useForm(forwardValues(mailbox), save.error)
  return (
    <Form
      onSubmit={() => save.mutate(form.values)}
      error={save.error}
      isDirty={form.isDirty}
      formFields={[...form.names, 'forward', 'forward.destinations', 'destinations']}
      actions={
        <Allowed action="mailbox.write">
          <Button type="submit" loading={save.isPending}>
            Save forward
          </Button>
        </Allowed>
      }
    >
      <ForwardFields form={form} />
      <ConflictDialog
        error={save.error}
        form={form}
        version={version}
        labels={FORWARD_LABELS}
        load={async () => forwardValues({ forward: await requests.forward.load() })}
        onClose={save.reset}
        onSave={save.mutate}
      />
    </Form>
  )
}

/** The fields of a forward, in a form that has them. */
export function ForwardFields({ form }: { form: Pick<ReturnType<typeof useForm<Values>>, 'values' | 'field' | 'checkbox' | 'errorOf'> }) {
  return (
    <>
      <Addresses
        label={FORWARD_LABELS.forward_to}
        description="Press Enter after each address"
        placeholder="alice@elsewhere.example"
        {...form.field('forward_to')}
        error={form.errorOf('forward.destinations') ?? form.errorOf('destinations') ?? form.errorOf('forward')}
      />
      <Checkbox
        label={FORWARD_LABELS.keep_copy}
        description="Filters and vacation replies need the copy"
        {...form.checkbox('keep_copy')}
        disabled={form.values.forward_to.length === 0}
      />
    </>
  )
}
