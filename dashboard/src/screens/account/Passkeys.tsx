import { Button, Group, Modal, PasswordInput, TextInput } from '@mantine/core'
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schema } from '../../api/client'
import { type Credentials, useCredentials } from '../../api/credentials'
import { ApiError } from '../../api/errors'
import { hasPasskeys, registerPasskey } from '../../api/passkeys'
import { Allowed } from '../../access/Allowed'
import { Badge } from '../../ui/Badge'
import { ErrorNote } from '../../ui/ErrorNote'
import { Form } from '../../ui/Form'
import { useApiMutation } from '../../ui/useForm'
import { Icon } from '../../ui/Icon'
import { Section } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { notify } from '../../ui/notify'
import { RecoveryCodes, RenewCodesForm } from './RecoveryCodes'

type Passkey = Schema['PasskeyRecord']
type Dialog = { action: 'add' | 'renew' } | { action: 'rename' | 'delete'; passkey: Passkey } | null

export function passkeysQuery(credentials: Credentials) {
  return queryOptions({ queryKey: ['passkeys'], queryFn: credentials.listPasskeys })
}

export function Passkeys({ account }: { account: { totp_enabled: boolean } }) {
  const { data, error } = useQuery(passkeysQuery(useCredentials()))
  const [dialog, setDialog] = useState<Dialog>(null)
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  const close = () => setDialog(null)
  const showCodes = (created: readonly string[] | null) => {
    setCodes(created)
    close()
  }
  return (
    <Section
      title="Passkeys"
      lead="Sign in with a fingerprint, a face or a security key instead of a password. Passkeys resist phishing."
      actions={
        <Allowed
          action="factor.enrol"
          disabledReason={hasPasskeys() ? null : 'This browser has no passkeys, or the page was not opened over HTTPS or localhost.'}
        >
          <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setDialog({ action: 'add' })}>
            Add a passkey
          </Button>
        </Allowed>
      }
    >
      <ErrorNote error={error} />
      {data?.length === 0 && <p className="muted">No passkeys yet.</p>}
      {data && data.length > 0 && (
        <ul className="lines">
          {data.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} onAction={(action) => setDialog({ action, passkey })} />
          ))}
        </ul>
      )}
      {!account.totp_enabled && data && data.length > 0 && (
        <div>
          <Button variant="default" onClick={() => setDialog({ action: 'renew' })}>
            New recovery codes
          </Button>
        </div>
      )}
      <Modal opened={dialog !== null} onClose={close} title={dialog ? TITLES[dialog.action] : ''}>
        {dialog?.action === 'add' && <AddForm onDone={(created) => showCodes(created.recovery_codes)} />}
        {dialog?.action === 'renew' && <RenewCodes onDone={showCodes} />}
        {dialog?.action === 'rename' && <RenameForm passkey={dialog.passkey} onDone={close} />}
        {dialog?.action === 'delete' && <DeleteForm passkey={dialog.passkey} onDone={close} />}
      </Modal>
      <RecoveryCodes codes={codes} onDone={() => setCodes(null)} />
    </Section>
  )
}

const TITLES = { add: 'Add a passkey', renew: 'New recovery codes', rename: 'Rename passkey', delete: 'Delete passkey' } as const

function PasskeyRow({ passkey, onAction }: { passkey: Passkey; onAction: (action: 'rename' | 'delete') => void }) {
  return (
    <li>
      <div className="between">
        <span className="break">
          <span className="strong">{passkey.name}</span> {passkey.backed_up && <Badge tone="info">synced</Badge>}
        </span>
        <Group gap="xs">
          <Button size="xs" variant="default" aria-label={`Rename ${passkey.name}`} onClick={() => onAction('rename')}>
            Rename
          </Button>
          <Button size="xs" variant="light" color="red" aria-label={`Delete ${passkey.name}`} onClick={() => onAction('delete')}>
            Delete
          </Button>
        </Group>
      </div>
      <p className="muted small">
        Created <Time at={passkey.created_at} form="ago" />, last used <Time at={passkey.last_used_at} form="ago" />
      </p>
    </li>
  )
}

/** Whether the server requires the password, because the sign-in is too old. */
function needsPassword(error: unknown): boolean {
  return error instanceof ApiError && (error.details['reason'] === 'login_again' || error.code === 'INVALID_CREDENTIALS')
}

/** Always shown, because only the server knows whether the password is required. */
function PasswordAgain({ password, onChange, isNeeded }: { password: string; onChange: (password: string) => void; isNeeded: boolean }) {
  return (
    <PasswordInput
      label="Current password"
      description="Required if you signed in more than 15 minutes ago"
      error={isNeeded && !password ? 'Required: you signed in more than 15 minutes ago.' : undefined}
      autoComplete="current-password"
      value={password}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

function AddForm({ onDone }: { onDone: (created: Schema['PasskeyRegistrationResponse']) => void }) {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const queries = useQueryClient()
  const credentials = useCredentials()
  const add = useMutation({
    mutationFn: () => registerPasskey(credentials, name.trim() || 'Passkey', password),
    onSuccess: async (created) => {
      notify(`Added ${created.passkey.name}.`)
      onDone(created)
      await Promise.all(['passkeys', 'me', 'sessions'].map((key) => queries.invalidateQueries({ queryKey: [key] })))
    },
  })
  return (
    <Form
      onSubmit={() => add.mutate()}
      error={add.error}
      actions={
        <Button type="submit" loading={add.isPending}>
          Add
        </Button>
      }
    >
      <TextInput
        label="Name"
        description="Helps you recognize it"
        placeholder="My laptop"
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <PasswordAgain password={password} onChange={setPassword} isNeeded={needsPassword(add.error)} />
    </Form>
  )
}

function RenewCodes({ onDone }: { onDone: (codes: readonly string[]) => void }) {
  const [password, setPassword] = useState('')
  const credentials = useCredentials()
  return (
    <RenewCodesForm
      request={() => credentials.renewPasskeyRecoveryCodes(password ? { current_password: password } : {})}
      invalidates={['sessions']}
      warning="Your current recovery codes stop working, and your other sessions end."
      onDone={onDone}
    >
      {(error) => <PasswordAgain password={password} onChange={setPassword} isNeeded={needsPassword(error)} />}
    </RenewCodesForm>
  )
}

function RenameForm({ passkey, onDone }: { passkey: Passkey; onDone: () => void }) {
  const [name, setName] = useState(passkey.name)
  const credentials = useCredentials()
  const rename = useApiMutation({
    request: () => credentials.renamePasskey(passkey.id, name),
    invalidates: ['passkeys'],
    message: 'Passkey renamed.',
    onSuccess: onDone,
  })
  return (
    <Form
      onSubmit={() => rename.mutate(undefined)}
      error={rename.error}
      actions={
        <Button type="submit" loading={rename.isPending}>
          Rename
        </Button>
      }
    >
      <TextInput label="Name" data-autofocus value={name} onChange={(event) => setName(event.currentTarget.value)} />
    </Form>
  )
}

function DeleteForm({ passkey, onDone }: { passkey: Passkey; onDone: () => void }) {
  const [password, setPassword] = useState('')
  const credentials = useCredentials()
  const remove = useApiMutation({
    request: () => credentials.deletePasskey(passkey.id, password ? { current_password: password } : {}),
    invalidates: ['passkeys', 'me', 'sessions'],
    message: (answer) => answer.message,
    onSuccess: onDone,
  })
  return (
    <Form
      onSubmit={() => remove.mutate(undefined)}
      error={remove.error}
      actions={
        <>
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
          <Button type="submit" color="red" loading={remove.isPending}>
            Delete passkey
          </Button>
        </>
      }
    >
      <p>
        <strong className="break">{passkey.name}</strong> can no longer be used to sign in, and your other sessions end.
      </p>
      <PasswordAgain password={password} onChange={setPassword} isNeeded={needsPassword(remove.error)} />
    </Form>
  )
}
