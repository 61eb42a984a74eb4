import { Button, NumberInput, Switch, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useRef, useState } from 'react'
import { Allowed } from '../../access/Allowed'
import type { Schema } from '../../api/client'
import { type MailboxRequests, mailboxRequests } from '../../api/mailboxRequests'
import { versionQuery } from '../../api/queries'
import { knownZone } from '../../timeZone'
import { ConfirmDelete } from '../../ui/Confirm'
import { ConflictDialog, useVersion } from '../../ui/ConflictDialog'
import { LoadingLines } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { ErrorNote } from '../../ui/ErrorNote'
import { Form } from '../../ui/Form'
import { Icon } from '../../ui/Icon'
import { Section } from '../../ui/Page'
import { useApiMutation, useForm } from '../../ui/useForm'
import { ForwardForm } from './ForwardForm'
import { describeState, initialValues, putBody, type Vacation, type Values } from './vacationValues'

type Mailbox = Pick<Schema['MailboxRecord'], 'address' | 'time_zone' | 'forward'>

const LABELS = {
  active: 'Send replies',
  subject: 'Subject',
  text: 'Reply',
  html: 'Reply as HTML',
  start: 'Start',
  end: 'End',
  days: 'Days between replies',
}

/** The vacation replies of a mailbox and its forward. */
export function VacationTab({ mailbox }: { mailbox: Schema['MailboxRecord'] }) {
  const requests = useMemo(() => mailboxRequests(mailbox.id), [mailbox.id])
  return (
    <>
      <VacationSection mailbox={mailbox} requests={requests} />
      <Section title="Forwarding" lead="Other addresses get new mail too. Spam is not forwarded.">
        <ForwardForm mailbox={mailbox} requests={requests} />
      </Section>
    </>
  )
}

interface Props {
  mailbox: Mailbox
  requests: MailboxRequests
}

export function VacationSection({ mailbox, requests, title = 'Vacation' }: Props & { title?: string }) {
  const { data: version } = useQuery(versionQuery())
  const query = useQuery({
    queryKey: ['vacation', requests.id],
    queryFn: requests.vacation.load,
    enabled: version?.profile === 'full',
  })
  if (version && version.profile !== 'full')
    return (
      <EmptyState icon="clock" title="No vacation replies in the embedded profile">
        Replies are sent by Dovecot, which is part of the full profile.
      </EmptyState>
    )
  if (query.error) return <ErrorNote error={query.error} />
  if (!query.data) return <LoadingLines />
  const isUseless = query.data.active && mailbox.forward.destinations.length > 0 && !mailbox.forward.keep_copy
  return (
    <Section
      title={title}
      lead={`${describeState(query.data, knownZone(mailbox.time_zone))}. Each sender gets one reply; spam, lists and automatic mail get none.`}
    >
      {isUseless && (
        <div className="note note-warn">
          <Icon name="warn" />
          <p>This mailbox only forwards its mail. Without a copy in the mailbox it sends no replies.</p>
        </div>
      )}
      <VacationForm key={mailbox.time_zone} mailbox={mailbox} requests={requests} vacation={query.data} />
    </Section>
  )
}

function VacationForm({ mailbox, requests, vacation }: Props & { vacation: Vacation }) {
  const [isDeleting, setDeleting] = useState(false)
  const zone = knownZone(mailbox.time_zone)
  const version = useVersion(requests.vacation.path)
  // As last received: its times have the seconds that the form does not show.
  const stored = useRef(vacation)
  const save = useApiMutation({
    request: (values: Values) => requests.vacation.save(putBody(values, stored.current, zone), version.header),
    invalidates: ['vacation'],
    message: (answer) => [`Saved the vacation of ${mailbox.address}.`, ...answer.warnings].join(' '),
    onSuccess: (answer) => {
      stored.current = answer
      form.reset(initialValues(answer, zone))
      version.refresh()
    },
  })
  const form = useForm(initialValues(vacation, zone), save.error)
  // Of MISSING_FIELDS, which names the fields of the API.
  const textError = form.values.text ? form.errorOf('text') : form.errorOf('text') && 'Enter the reply.'
  async function load(): Promise<Values> {
    stored.current = await requests.vacation.load()
    return initialValues(stored.current, zone)
  }
  return (
    <Form
      onSubmit={() => save.mutate(form.values)}
      error={save.error}
      isDirty={form.isDirty}
      formFields={[...form.names, 'start_at', 'end_at']}
      actions={
        <>
          {vacation.days !== null && (
            <Allowed action="mailbox.write">
              <Button variant="light" color="red" onClick={() => setDeleting(true)}>
                Delete
              </Button>
            </Allowed>
          )}
          <Allowed action="mailbox.write">
            <Button type="submit" loading={save.isPending}>
              Save vacation
            </Button>
          </Allowed>
        </>
      }
    >
      <Switch label={LABELS.active} {...form.checkbox('active')} />
      <TextInput
        label={LABELS.subject}
        description="Blank = “Auto:” and the subject of the message"
        autoComplete="off"
        maxLength={200}
        {...form.textField('subject')}
      />
      <Textarea label={LABELS.text} autosize minRows={4} maxRows={16} maxLength={20_000} {...form.textField('text')} error={textError} />
      {vacation.html !== null && (
        <Textarea
          label={LABELS.html}
          description="Blank = only text"
          autosize
          minRows={4}
          maxRows={16}
          spellCheck={false}
          {...form.textField('html')}
        />
      )}
      <div className="pair">
        <TextInput
          type="datetime-local"
          label={LABELS.start}
          description={`Time zone ${zone}; blank = at once`}
          {...form.textField('start')}
          error={form.errorOf('start_at')}
        />
        <TextInput
          type="datetime-local"
          label={LABELS.end}
          description="Blank = until it is switched off"
          {...form.textField('end')}
          error={form.errorOf('end_at')?.replace('start_at', 'the start')}
        />
      </div>
      <NumberInput
        label={LABELS.days}
        description="A sender gets no second reply in this time"
        min={1}
        max={30}
        allowDecimal={false}
        {...form.field('days')}
      />
      <ConflictDialog
        error={save.error}
        form={form}
        version={version}
        labels={LABELS}
        load={load}
        onClose={save.reset}
        onSave={save.mutate}
      />
      <DeleteVacation
        mailbox={mailbox}
        requests={requests}
        opened={isDeleting}
        onClose={() => setDeleting(false)}
        onDeleted={async () => {
          setDeleting(false)
          form.reset(await load())
          version.refresh()
        }}
      />
    </Form>
  )
}

function DeleteVacation(props: Props & { opened: boolean; onClose: () => void; onDeleted: () => Promise<void> }) {
  const { mailbox, requests } = props
  return (
    <ConfirmDelete
      opened={props.opened}
      onClose={props.onClose}
      title={`Delete the vacation of ${mailbox.address}`}
      request={requests.vacation.remove}
      invalidates={['vacation']}
      message={(answer) => answer.message}
      onDeleted={() => void props.onDeleted()}
    >
      No replies are sent, and the text is deleted permanently. To keep the text, switch the replies off instead.
    </ConfirmDelete>
  )
}
