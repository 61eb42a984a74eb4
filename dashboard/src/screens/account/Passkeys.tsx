import { Button, Group, Modal, PasswordInput, TextInput } from '@mantine/core'
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ask, client, type Schema } from '../../api/client'
import { ApiError } from '../../api/errors'
import { hasPasskeys, registerPasskey } from '../../api/passkeys'
import { Allowed } from '../../ui/Allowed'
import { Badge } from '../../ui/Badge'
import { ErrorNote } from '../../ui/ErrorNote'
import { Form } from '../../ui/Form'
import { useChange } from '../../ui/form'
import { Icon } from '../../ui/Icon'
import { Section } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { toast } from '../../ui/Toasts'
import { RecoveryCodes } from './RecoveryCodes'

type Passkey = Schema['PasskeyRecord']
type Asked = { what: 'add' | 'renew' } | { what: 'rename' | 'delete'; passkey: Passkey } | null

export function passkeysQuery() {
  return queryOptions({ queryKey: ['passkeys'], queryFn: () => ask(client.GET('/auth/passkeys')) })
}

export function Passkeys({ account }: { account: Schema['OwnAccount'] }) {
  const { data, error } = useQuery(passkeysQuery())
  const [asked, setAsked] = useState<Asked>(null)
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  const close = () => setAsked(null)
  return (
    <Section
      title="Passkeys"
      lead="A finger, a face or a security key in place of the password; nobody can phish it."
      actions={
        <Allowed to="factor.enrol" unless={hasPasskeys() ? null : 'Browsers offer passkeys on https and on this machine only.'}>
          <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAsked({ what: 'add' })}>
            Add a passkey
          </Button>
        </Allowed>
      }
    >
      <ErrorNote error={error} />
      {data?.length === 0 && <p className="soft">None yet.</p>}
      {data && data.length > 0 && (
        <ul className="lines">
          {data.map((passkey) => (
            <Line key={passkey.id} passkey={passkey} onAsk={(what) => setAsked({ what, passkey })} />
          ))}
        </ul>
      )}
      {!account.totp_enabled && data && data.length > 0 && (
        <div>
          <Button variant="default" onClick={() => setAsked({ what: 'renew' })}>
            New recovery codes
          </Button>
        </div>
      )}
      <Modal opened={asked !== null} onClose={close} title={asked ? TITLES[asked.what] : ''}>
        {asked?.what === 'add' && (
          <Add
            onDone={(made) => {
              setCodes(made.recovery_codes)
              close()
            }}
          />
        )}
        {asked?.what === 'renew' && (
          <Renew
            onDone={(made) => {
              setCodes(made)
              close()
            }}
          />
        )}
        {asked?.what === 'rename' && <Rename passkey={asked.passkey} onDone={close} />}
        {asked?.what === 'delete' && <Delete passkey={asked.passkey} onDone={close} />}
      </Modal>
      <RecoveryCodes codes={codes} onDone={() => setCodes(null)} />
    </Section>
  )
}

const TITLES = { add: 'Add a passkey', renew: 'New recovery codes', rename: 'Rename the passkey', delete: 'Delete the passkey' } as const

function Line({ passkey, onAsk }: { passkey: Passkey; onAsk: (what: 'rename' | 'delete') => void }) {
  return (
    <li>
      <div className="between">
        <span className="break">
          <span className="strong">{passkey.name}</span> {passkey.backed_up && <Badge tone="info">synced</Badge>}
        </span>
        <Group gap="xs">
          <Button size="xs" variant="default" aria-label={`Rename ${passkey.name}`} onClick={() => onAsk('rename')}>
            Rename
          </Button>
          <Button size="xs" variant="light" color="red" aria-label={`Delete ${passkey.name}`} onClick={() => onAsk('delete')}>
            Delete
          </Button>
        </Group>
      </div>
      <p className="soft small">
        Made <Time at={passkey.created_at} form="ago" />, last used <Time at={passkey.last_used_at} form="ago" />
      </p>
    </li>
  )
}

/** Whether the server wants the password again: the session is no longer young. */
function isStale(error: unknown): boolean {
  return error instanceof ApiError && (error.details['reason'] === 'login_again' || error.code === 'INVALID_CREDENTIALS')
}

/** Its place is kept from the beginning: whether it is needed only the server's answer tells. */
function Again({ password, onChange, isNeeded }: { password: string; onChange: (password: string) => void; isNeeded: boolean }) {
  return (
    <PasswordInput
      label="Your password"
      description="Needed where your sign-in is more than 15 minutes old"
      error={isNeeded && !password ? 'Needed: your sign-in is more than 15 minutes old.' : undefined}
      autoComplete="current-password"
      value={password}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

function Add({ onDone }: { onDone: (made: Schema['PasskeyRegistrationResponse']) => void }) {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const queries = useQueryClient()
  const add = useMutation({
    mutationFn: () => registerPasskey(name.trim() || 'Passkey', password),
    onSuccess: async (made) => {
      toast(`${made.passkey.name} is registered.`)
      onDone(made)
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
      <TextInput label="Name" description="To tell it from your others" placeholder="My laptop" data-autofocus value={name} onChange={(event) => setName(event.currentTarget.value)} />
      <Again password={password} onChange={setPassword} isNeeded={isStale(add.error)} />
    </Form>
  )
}

function Renew({ onDone }: { onDone: (codes: readonly string[]) => void }) {
  const [password, setPassword] = useState('')
  const renew = useChange({
    change: () => ask(client.POST('/auth/passkeys/recovery-codes', { body: password ? { current_password: password } : {} })),
    refreshes: ['sessions'],
    then: (answer) => onDone(answer.recovery_codes),
  })
  return (
    <Form
      onSubmit={() => renew.mutate(undefined)}
      error={renew.error}
      actions={
        <Button type="submit" loading={renew.isPending}>
          Make new ones
        </Button>
      }
    >
      <p>The codes that you had stop working, and your other sessions end.</p>
      <Again password={password} onChange={setPassword} isNeeded={isStale(renew.error)} />
    </Form>
  )
}

function Rename({ passkey, onDone }: { passkey: Passkey; onDone: () => void }) {
  const [name, setName] = useState(passkey.name)
  const rename = useChange({
    change: () => ask(client.PATCH('/auth/passkeys/{id}', { params: { path: { id: passkey.id } }, body: { name } })),
    refreshes: ['passkeys'],
    told: 'The passkey has another name.',
    then: onDone,
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

function Delete({ passkey, onDone }: { passkey: Passkey; onDone: () => void }) {
  const [password, setPassword] = useState('')
  const remove = useChange({
    change: () =>
      ask(client.DELETE('/auth/passkeys/{id}', { params: { path: { id: passkey.id } }, body: password ? { current_password: password } : {} })),
    refreshes: ['passkeys', 'me', 'sessions'],
    told: (answer) => answer.message,
    then: onDone,
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
        <strong className="break">{passkey.name}</strong> lets you in no more, and your other sessions end.
      </p>
      <Again password={password} onChange={setPassword} isNeeded={isStale(remove.error)} />
    </Form>
  )
}
