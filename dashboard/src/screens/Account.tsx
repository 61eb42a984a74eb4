import { Button, Group, Modal, PasswordInput, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, lazy, Suspense, useState } from 'react'
import { ask, client, type Schema } from '../api/client'
import { fieldFaults } from '../api/errors'
import { queryClient } from '../api/queries'
import { PATHS } from '../paths'
import { ROLE_NAMES } from '../policy'
import { Allowed, useAccount } from '../ui/Allowed'
import { Badge } from '../ui/Badge'
import { Confirm } from '../ui/Confirm'
import { Copy } from '../ui/Copy'
import { Lines } from '../ui/DataList'
import { ErrorNote } from '../ui/ErrorNote'
import { useChange, useFields } from '../ui/form'
import { Icon } from '../ui/Icon'
import { Facts, Page, Section } from '../ui/Page'
import { Secret } from '../ui/Secret'
import { Time } from '../ui/Time'

const Qr = lazy(() => import('../ui/Qr').then(({ Qr }) => ({ default: Qr })))

export function Account() {
  const account = useAccount()
  return (
    <Page title="Your account" lead={account.email}>
      {account.second_factor_required && (
        <div className="note note-warn">
          <Icon name="shield" />
          <div>
            <p className="note-title">Your role needs a second factor</p>
            <p>Until you have enrolled one below, nothing else is open to you.</p>
          </div>
        </div>
      )}
      <Section title="Account">
        <Facts
          rows={[
            ['Role', ROLE_NAMES[account.role]],
            ['Identity provider', account.oidc_provider ?? 'none'],
            ['Last login', <Time at={account.last_login_at} form="ago" />],
            ['Made', <Time at={account.created_at} />],
          ]}
        />
      </Section>
      <Authenticator account={account} />
      <Password />
      <Sessions />
    </Page>
  )
}

function Authenticator({ account }: { account: Schema['Account'] }) {
  const [asked, setAsked] = useState<'enrol' | 'renew' | 'disable' | null>(null)
  const [codes, setCodes] = useState<readonly string[] | null>(null)
  const close = () => setAsked(null)
  return (
    <Section
      title="Authenticator"
      lead="An app on your phone that shows a new code every 30 seconds, asked for after the password."
      actions={account.totp_enabled ? <Badge tone="good">in use</Badge> : <Badge tone="warn">not set up</Badge>}
    >
      {codes && <RecoveryCodes codes={codes} onDone={() => setCodes(null)} />}
      <Group>
        {account.totp_enabled ? (
          <>
            <Allowed to="factor.change">
              <Button variant="default" onClick={() => setAsked('renew')}>
                New recovery codes
              </Button>
            </Allowed>
            <Allowed to="factor.change">
              <Button variant="light" color="red" onClick={() => setAsked('disable')}>
                Turn off
              </Button>
            </Allowed>
          </>
        ) : (
          <Button leftSection={<Icon name="phone" size={16} />} onClick={() => setAsked('enrol')}>
            Set up an authenticator
          </Button>
        )}
      </Group>
      <Modal opened={asked === 'enrol'} onClose={close} title="Set up an authenticator">
        {asked === 'enrol' && (
          <Enrol
            onDone={(made) => {
              setCodes(made)
              close()
            }}
          />
        )}
      </Modal>
      <Modal opened={asked === 'renew'} onClose={close} title="New recovery codes">
        {asked === 'renew' && (
          <Renew
            onDone={(made) => {
              setCodes(made)
              close()
            }}
          />
        )}
      </Modal>
      <Modal opened={asked === 'disable'} onClose={close} title="Turn the authenticator off">
        {asked === 'disable' && <Disable onDone={close} />}
      </Modal>
    </Section>
  )
}

function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) {
  return (
    <div className="note note-good" role="status">
      <Icon name="key" />
      <div>
        <p className="note-title">Your recovery codes</p>
        <p>Each lets you in once when the phone is lost. They are shown this once: keep them where you keep passwords.</p>
        <ul className="codes" aria-label="Recovery codes">
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
        <Group>
          <Copy text={codes.join('\n')} what="recovery codes" size="md" />
          <Button size="xs" onClick={onDone}>
            I have kept them
          </Button>
        </Group>
      </div>
    </div>
  )
}

function Enrol({ onDone }: { onDone: (codes: readonly string[]) => void }) {
  const [code, setCode] = useState('')
  // A new secret each time: one that was shown and left is worth nothing.
  const setup = useQuery({ queryKey: ['totp-setup'], queryFn: () => ask(client.POST('/auth/totp/setup')), staleTime: Infinity, gcTime: 0, retry: false })
  const verify = useChange({
    change: () => ask(client.POST('/auth/totp/verify', { body: { code: code.replace(/\s/g, '') } })),
    refreshes: ['me'],
    told: 'Your authenticator is in use.',
    then: (answer) => onDone(answer.recovery_codes),
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    verify.mutate(undefined)
  }
  if (setup.error) return <ErrorNote error={setup.error} />
  if (!setup.data) return <Lines />
  const secret = new URL(setup.data.provisioning_uri).searchParams.get('secret') ?? ''
  return (
    <form onSubmit={submit} className="stack">
      <p>Scan this with an authenticator app, then type the code that it shows.</p>
      <Suspense fallback={<Lines />}>
        <Qr text={setup.data.provisioning_uri} label="QR code of the secret for your authenticator" />
      </Suspense>
      <Secret label="Or type this secret into the app" value={secret} />
      <TextInput label="Code" inputMode="numeric" autoComplete="one-time-code" data-autofocus value={code} onChange={(event) => setCode(event.currentTarget.value)} error={fieldFaults(verify.error)['code']} />
      <ErrorNote error={verify.error} besides={['code']} />
      <Group justify="flex-end">
        <Button type="submit" loading={verify.isPending}>
          Confirm
        </Button>
      </Group>
    </form>
  )
}

function Renew({ onDone }: { onDone: (codes: readonly string[]) => void }) {
  const [code, setCode] = useState('')
  const renew = useChange({
    change: () => ask(client.POST('/auth/totp/recovery-codes', { body: { code: code.replace(/\s/g, '') } })),
    refreshes: ['me'],
    then: (answer) => onDone(answer.recovery_codes),
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    renew.mutate(undefined)
  }
  return (
    <form onSubmit={submit} className="stack">
      <p>The codes that you had stop working.</p>
      <TextInput label="Code of your authenticator" inputMode="numeric" autoComplete="one-time-code" data-autofocus value={code} onChange={(event) => setCode(event.currentTarget.value)} />
      <ErrorNote error={renew.error} />
      <Group justify="flex-end">
        <Button type="submit" loading={renew.isPending}>
          Make new ones
        </Button>
      </Group>
    </form>
  )
}

function Disable({ onDone }: { onDone: () => void }) {
  const [code, setCode] = useState('')
  const disable = useChange({
    change: () => {
      const plain = code.replace(/\s/g, '')
      return ask(client.DELETE('/auth/totp', { body: /^[0-9]{6}$/.test(plain) ? { code: plain } : { recovery_code: plain } }))
    },
    refreshes: ['me'],
    told: 'Your authenticator is turned off.',
    then: onDone,
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    disable.mutate(undefined)
  }
  return (
    <form onSubmit={submit} className="stack">
      <p>From then on the password alone lets you in, and your recovery codes are void.</p>
      <TextInput label="Code" description="Of your authenticator, or a recovery code" autoComplete="one-time-code" data-autofocus value={code} onChange={(event) => setCode(event.currentTarget.value)} />
      <ErrorNote error={disable.error} />
      <Group justify="flex-end">
        <Button type="submit" color="red" loading={disable.isPending}>
          Turn off
        </Button>
      </Group>
    </form>
  )
}

function Password() {
  const save = useChange({
    change: ({ current_password, new_password }: { current_password: string; new_password: string }) =>
      ask(client.POST('/auth/password', { body: { current_password, new_password } })),
    refreshes: ['sessions'],
    told: (answer) => (answer.sessions_ended ? `Your password is changed; ${answer.sessions_ended} other sessions were ended.` : 'Your password is changed.'),
    then: () => form.setAll({ current_password: '', new_password: '' }),
  })
  const form = useFields({ current_password: '', new_password: '' }, save.error)
  function submit(event: FormEvent) {
    event.preventDefault()
    save.mutate(form.values)
  }
  return (
    <Section title="Password" lead="Changing it ends your other sessions.">
      <form onSubmit={submit} className="stack" noValidate>
        <div className="pair">
          <PasswordInput label="Present password" autoComplete="current-password" {...form.text('current_password')} />
          <PasswordInput label="New password" description="8 to 256 characters, and not a common one" inputWrapperOrder={['label', 'input', 'description', 'error']} autoComplete="new-password" {...form.text('new_password')} error={form.faultOf('new_password') ?? form.faultOf('password')} />
        </div>
        <ErrorNote error={save.error} besides={[...form.names, 'password']} />
        <Group justify="flex-end">
          <Button type="submit" loading={save.isPending}>
            Change password
          </Button>
        </Group>
      </form>
    </Section>
  )
}

function Sessions() {
  const { data, error } = useQuery({ queryKey: ['sessions'], queryFn: () => ask(client.GET('/auth/sessions')) })
  const navigate = useNavigate()
  const [isAsked, setAsked] = useState(false)
  const leave = () => {
    queryClient.clear()
    void navigate({ to: PATHS.login })
  }
  const end = useChange({
    change: (session: Schema['SessionRecord']) => ask(client.DELETE('/auth/sessions/{id}', { params: { path: { id: session.id } } })),
    refreshes: ['sessions'],
    told: 'The session is ended.',
    then: (_, session) => session.current && leave(),
  })
  const endAll = useChange({ change: () => ask(client.POST('/auth/logout-all')), refreshes: [], then: leave })
  return (
    <Section
      title="Sessions"
      lead="Where you are logged in."
      actions={
        <Button variant="light" color="red" onClick={() => setAsked(true)}>
          End all
        </Button>
      }
    >
      <ErrorNote error={error ?? end.error} />
      {!data && !error && <Lines />}
      <ul className="lines">
        {data?.map((session) => (
          <li key={session.id}>
            <div className="between">
              <span className="break">
                <span className="strong">{session.ip_address ?? 'unknown address'}</span> {session.current && <Badge tone="good">this one</Badge>}
              </span>
              <Button size="xs" variant="default" onClick={() => end.mutate(session)} aria-label={session.current ? 'End this session' : `End the session from ${session.ip_address}`}>
                End
              </Button>
            </div>
            <p className="soft small break">{session.user_agent ?? 'unknown program'}</p>
            <p className="soft small">
              Since <Time at={session.created_at} />, until <Time at={session.expires_at} /> at the latest
            </p>
          </li>
        ))}
      </ul>
      <Confirm opened={isAsked} onClose={() => setAsked(false)} title="End all sessions" action="End all" busy={endAll.isPending} error={endAll.error} onConfirm={() => endAll.mutate(undefined)}>
        You are logged out everywhere, here too.
      </Confirm>
    </Section>
  )
}
