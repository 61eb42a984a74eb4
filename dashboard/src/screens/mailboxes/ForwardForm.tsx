import { Button, Checkbox } from '@mantine/core'
import { Allowed } from '../../access/Allowed'
import { client, fetchData, type Schema } from '../../api/client'
import { Addresses } from '../../ui/Addresses'
import { ConflictDialog, useVersion } from '../../ui/ConflictDialog'
import { Form } from '../../ui/Form'
import { useApiMutation, useForm } from '../../ui/useForm'
import { forwardValues } from './mailboxValues'

type Mailbox = Schema['MailboxRecord']
type Values = ReturnType<typeof forwardValues>

export const FORWARD_LABELS = { forward_to: 'Forward to', keep_copy: 'Keep a copy in this mailbox' }

/** Edits the forward of a mailbox. */
export function ForwardForm({ mailbox }: { mailbox: Mailbox }) {
  const path = { id: mailbox.id }
  const version = useVersion(`/mailboxes/${mailbox.id}`)
  const save = useApiMutation({
    request: ({ forward_to, keep_copy }: Values) =>
      fetchData(
        client.PATCH('/mailboxes/{id}', {
          params: { path, header: version.header },
          body: { forward: { destinations: forward_to, keep_copy } },
        }),
      ),
    invalidates: ['mailboxes', 'routing'],
    message: (answer) => `Saved the forward of ${answer.address}.`,
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
      formFields={[...form.names, 'forward', 'forward.destinations']}
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
        load={async () => forwardValues(await fetchData(client.GET('/mailboxes/{id}', { params: { path } })))}
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
        error={form.errorOf('forward.destinations') ?? form.errorOf('forward')}
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
