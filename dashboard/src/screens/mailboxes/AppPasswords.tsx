import { Button, Checkbox, Fieldset, Group, Modal, Select, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Schema } from '../../api/client'
import type { MailboxRequests } from '../../api/mailboxRequests'
import { Allowed } from '../../access/Allowed'
import { ConfirmDelete } from '../../ui/Confirm'
import { type Column, DataList } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { Form, FormButtons } from '../../ui/Form'
import { Icon } from '../../ui/Icon'
import { Section } from '../../ui/Page'
import { RecentSignIn, useRecentSignIn } from '../../ui/RecentSignIn'
import { Secret } from '../../ui/Secret'
import { SECRET_MODAL_PROPS } from '../../ui/SecretModal'
import { Time } from '../../ui/Time'
import { useApiMutation, useForm } from '../../ui/useForm'
import { PROTOCOLS } from './mailboxValues'

type Mailbox = Pick<Schema['MailboxRecord'], 'address' | 'protocols' | 'require_app_passwords' | 'inherited' | 'second_factor'>
type AppPassword = Schema['AppPasswordRecord']
type Created = Schema['AppPasswordWithSecret']
type Protocol = keyof typeof PROTOCOLS

const DAY_MS = 86_400_000

interface Props {
  mailbox: Mailbox
  requests: MailboxRequests
}

/** The app passwords of a mailbox. */
export function AppPasswords({ mailbox, requests, title = 'App passwords' }: Props & { title?: string }) {
  const [isCreating, setCreating] = useState(false)
  const [deleted, setDeleted] = useState<AppPassword | null>(null)
  const createButton = (
    <Allowed action="mailbox.write" disabledReason={allowedProtocols(mailbox).length ? null : 'The mailbox allows no protocol.'}>
      <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
        New app password
      </Button>
    </Allowed>
  )
  const columns: readonly Column<AppPassword>[] = [
    { header: 'Name', wide: true, cell: (row) => <span className="strong">{row.name}</span> },
    { header: 'Protocols', cell: (row) => formatProtocols(row.protocols) },
    { header: 'Created', cell: (row) => <Time at={row.created_at} /> },
    {
      header: 'Last used',
      cell: (row) => (
        <span>
          <Time at={row.last_used_at} form="ago" /> {row.last_used_ip && <span className="muted">from {row.last_used_ip}</span>}
        </span>
      ),
    },
    { header: 'Expires', cell: (row) => <Time at={row.expires_at} form="ago" /> },
    {
      header: '',
      align: 'right',
      cell: (row) => (
        <Allowed action="mailbox.write">
          <Button variant="subtle" color="red" size="compact-sm" aria-label={`Delete ${row.name}`} onClick={() => setDeleted(row)}>
            Delete
          </Button>
        </Allowed>
      ),
    },
  ]
  return (
    <Section
      bare
      title={title}
      lead={`A separate password for each mail client, which can be deleted alone. ${describeRequirement(mailbox)}`}
      actions={createButton}
    >
      <DataList
        label="App passwords"
        queryKey={['app-passwords', requests.id]}
        load={async () => ({
          rows: await requests.appPasswords.list(),
          next: null,
        })}
        columns={columns}
        rowKey={(row) => row.id}
        empty={
          <EmptyState icon="key" title="No app passwords yet">
            Create one for each phone, computer or program that uses this mailbox.
          </EmptyState>
        }
      />
      <NewAppPassword mailbox={mailbox} requests={requests} opened={isCreating} onClose={() => setCreating(false)} />
      <DeleteAppPassword requests={requests} appPassword={deleted} onClose={() => setDeleted(null)} />
    </Section>
  )
}

function describeRequirement({ require_app_passwords: own, inherited, second_factor }: Mailbox): string {
  if (second_factor) return 'Mail clients need one, because signing in needs a second factor.'
  return (own ?? inherited.require_app_passwords.value)
    ? "Mail clients need one: the mailbox's own password is not accepted."
    : "Mail clients may also use the mailbox's own password."
}

function allowedProtocols({ protocols }: Mailbox): Protocol[] {
  return (Object.keys(PROTOCOLS) as Protocol[]).filter((name) => protocols[name])
}

function formatProtocols(names: readonly string[]): string {
  return (Object.keys(PROTOCOLS) as Protocol[])
    .filter((name) => names.includes(name))
    .map((name) => PROTOCOLS[name].replace(' (sending)', ''))
    .join(', ')
}

/** The form, then the created password, until the dialog is closed. */
function NewAppPassword({ mailbox, requests, opened, onClose }: Props & { opened: boolean; onClose: () => void }) {
  const [created, setCreated] = useState<Created | null>(null)
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      onExitTransitionEnd={() => setCreated(null)}
      title="New app password"
      size="lg"
      closeOnClickOutside={false}
      {...(created && SECRET_MODAL_PROPS)}
    >
      {opened &&
        (created ? (
          <CreatedAppPassword mailbox={mailbox} created={created} onClose={onClose} />
        ) : (
          <AppPasswordForm mailbox={mailbox} requests={requests} onDone={setCreated} onCancel={onClose} />
        ))}
    </Modal>
  )
}

function AppPasswordForm(props: Props & { onDone: (created: Created) => void; onCancel: () => void }) {
  const { mailbox } = props
  const allowed = allowedProtocols(mailbox)
  const create = useApiMutation({
    request: (values: typeof initial) => props.requests.appPasswords.create(createBody(values, allowed), signIn.body),
    invalidates: ['app-passwords'],
    onSuccess: (created) => {
      form.markSaved()
      props.onDone(created)
    },
  })
  const initial = { name: '', days: '0', imap: true, pop3: true, smtp: true, sieve: true }
  const form = useForm(initial, create.error)
  const signIn = useRecentSignIn(create.error)
  return (
    <Form
      onSubmit={() => signIn.isReady && create.mutate(form.values)}
      error={signIn.isNeeded ? signIn.otherError : create.error}
      isDirty={form.isDirty}
      formFields={['name', 'expires_at']}
      actions={<FormButtons submit="Create app password" isPending={create.isPending} onCancel={props.onCancel} />}
    >
      <TextInput
        label="Name"
        description="The mail client or device that uses the password"
        placeholder="Phone"
        data-autofocus
        autoComplete="off"
        {...form.textField('name')}
      />
      <Fieldset legend="Protocols">
        <Group>
          {allowed.map((name) => (
            <Checkbox key={name} label={PROTOCOLS[name]} {...form.checkbox(name)} />
          ))}
        </Group>
      </Fieldset>
      <Select
        label="Expires"
        allowDeselect={false}
        data={[
          { value: '0', label: 'Never' },
          { value: '30', label: 'In 30 days' },
          { value: '90', label: 'In 90 days' },
          { value: '365', label: 'In 1 year' },
        ]}
        {...form.field('days')}
        error={form.errorOf('expires_at')}
      />
      {signIn.isNeeded && <RecentSignIn {...signIn.promptProps} consequence="Sign in again, then create it." />}
    </Form>
  )
}

function createBody(
  values: Record<Protocol, boolean> & { name: string; days: string },
  allowed: readonly Protocol[],
): Schema['AppPasswordCreate'] {
  const days = Number(values.days)
  return {
    name: values.name.trim(),
    protocols: allowed.filter((name) => values[name]),
    ...(days && { expires_at: new Date(Date.now() + days * DAY_MS).toISOString() }),
  }
}

function CreatedAppPassword({ mailbox, created, onClose }: { mailbox: Mailbox; created: Created; onClose: () => void }) {
  return (
    <div className="stack" data-holds-secret>
      <div className="note note-good" role="status">
        <Icon name="check" />
        <div>
          <p className="note-title">{created.name} was created.</p>
          <p>
            Enter it in the mail client now, with the user name <code>{mailbox.address}</code>. It can't be shown again.
          </p>
        </div>
      </div>
      {created.password && <Secret label="App password" value={created.password} />}
      <div className="right">
        <Button onClick={onClose}>I've saved it</Button>
      </div>
    </div>
  )
}

function DeleteAppPassword(props: { requests: MailboxRequests; appPassword: AppPassword | null; onClose: () => void }) {
  const { requests, appPassword } = props
  return (
    <ConfirmDelete
      opened={appPassword !== null}
      onClose={props.onClose}
      title={`Delete ${appPassword?.name ?? ''}`}
      request={(confirmation) => requests.appPasswords.remove(appPassword?.id ?? '', confirmation)}
      invalidates={['app-passwords']}
      message={(answer) => answer.message}
    >
      Mail clients that use this password are rejected from now on, and their open sessions end. Other passwords keep working. This can't be
      undone.
    </ConfirmDelete>
  )
}
