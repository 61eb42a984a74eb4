import { Alert, Anchor, Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi, useNavigate, useRouter } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { ask, client, type Schema } from '../api/client'
import { ApiError } from '../api/errors'
import { queryClient } from '../api/queries'
import { PATHS } from '../paths'
import { ErrorNote } from '../ui/ErrorNote'
import { SchemeSwitch } from '../ui/Layout'
import { Icon, Logo } from '../ui/Icon'

const route = getRouteApi('/login')

type Opened = Schema['SessionOpened'] | Schema['SecondFactorNeeded']

/** The way in: password, then the second factor where the account has one. */
export function Login() {
  const { error: refused } = route.useSearch()
  const [pending, setPending] = useState<Schema['SecondFactorNeeded'] | null>(null)
  const enter = useEnter()
  function go(answer: Opened) {
    if ('requires_totp' in answer) setPending(answer)
    else enter()
  }
  return (
    <main className="door">
      <title>Log in · Mailkeep</title>
      <div className="card door-card">
        <header className="door-head">
          <Logo size={40} />
          <h1>{pending ? 'One more step' : 'Log in to Mailkeep'}</h1>
        </header>
        {isInsecure() && (
          <div className="note note-warn" role="note">
            <Icon name="warn" />
            <div>
              <p>
                This page came over plain http from another machine. Browsers drop the session's cookie here: open it by https, or on the machine itself.
              </p>
            </div>
          </div>
        )}
        {refused && !pending && (
          <Alert color="red" variant="light" title="The login did not work">
            {REFUSED[refused] ?? `The provider's login ended with ${refused}.`}
          </Alert>
        )}
        {pending ? <SecondStep pending={pending} onDone={go} onBack={() => setPending(null)} /> : <FirstStep onDone={go} />}
        <div className="between small">
          <a href="/docs">API documentation</a>
          <SchemeSwitch />
        </div>
      </div>
    </main>
  )
}

const REFUSED: Readonly<Record<string, string>> = {
  FORBIDDEN: 'No account of this server belongs to that identity. An administrator can make one.',
  SESSION_INVALID: 'The login took too long, or was begun in another window. Begin again.',
  UNAVAILABLE: 'The identity provider does not answer at the moment.',
  INVALID_CREDENTIALS: 'The identity provider did not confirm who you are.',
}

/** Browsers keep a Secure cookie on https and on this machine only. */
function isInsecure(): boolean {
  return !window.isSecureContext
}

/** Where the person wanted to go; only within this dashboard. */
function useEnter(): () => void {
  const { next } = route.useSearch()
  const router = useRouter()
  const navigate = useNavigate()
  return () => {
    queryClient.clear()
    if (next && /^\/(?![/\\])/.test(next)) router.history.push(next)
    else void navigate({ to: PATHS.overview })
  }
}

function FirstStep({ onDone }: { onDone: (answer: Opened) => void }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const login = useMutation({
    mutationFn: () => ask(client.POST('/auth/login', { body: { email: email.trim(), password } })),
    onSuccess: onDone,
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    login.mutate()
  }
  return (
    <form onSubmit={submit} className="stack" noValidate>
      <TextInput label="Email" type="email" name="email" autoComplete="username webauthn" autoFocus required withAsterisk={false} value={email} onChange={(event) => setEmail(event.currentTarget.value)} />
      <PasswordInput label="Password" name="password" autoComplete="current-password" required withAsterisk={false} value={password} onChange={(event) => setPassword(event.currentTarget.value)} />
      <ErrorNote error={login.error} />
      <Button type="submit" size="md" fullWidth loading={login.isPending}>
        Log in
      </Button>
    </form>
  )
}

function SecondStep(props: { pending: Schema['SecondFactorNeeded']; onDone: (answer: Opened) => void; onBack: () => void }) {
  const { totp_session } = props.pending
  const [isRecovery, setRecovery] = useState(false)
  const [code, setCode] = useState('')
  const login = useMutation({
    mutationFn: () =>
      ask(
        client.POST('/auth/login', {
          body: isRecovery ? { totp_session, recovery_code: code.trim() } : { totp_session, totp_code: code.replace(/\s/g, '') },
        }),
      ),
    onSuccess: props.onDone,
  })
  const isOver = login.error instanceof ApiError && login.error.code === 'SESSION_INVALID'
  function submit(event: FormEvent) {
    event.preventDefault()
    login.mutate()
  }
  return (
    <form onSubmit={submit} className="stack" noValidate>
      <p className="soft">
        {isRecovery ? 'Enter one of the recovery codes that you kept. Each works once.' : 'Enter the six digits that your authenticator shows.'}
      </p>
      <TextInput
        key={String(isRecovery)}
        label={isRecovery ? 'Recovery code' : 'Code'}
        autoFocus
        autoComplete={isRecovery ? 'off' : 'one-time-code'}
        inputMode={isRecovery ? 'text' : 'numeric'}
        spellCheck={false}
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
      />
      <ErrorNote error={login.error} />
      {isOver ? (
        <Button onClick={props.onBack} size="md" fullWidth>
          Begin again
        </Button>
      ) : (
        <Button type="submit" size="md" fullWidth loading={login.isPending}>
          Log in
        </Button>
      )}
      <div className="between small">
        <Anchor
          component="button"
          type="button"
          onClick={() => {
            setRecovery(!isRecovery)
            setCode('')
            login.reset()
          }}
        >
          {isRecovery ? 'Use the authenticator' : 'Use a recovery code'}
        </Anchor>
        <Anchor component="button" type="button" onClick={props.onBack}>
          Back
        </Anchor>
      </div>
    </form>
  )
}
