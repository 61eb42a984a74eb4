import { Anchor, Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate, useRouter } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useState } from 'react'
import { ask, client, type Schema } from '../api/client'
import { ApiError } from '../api/errors'
import { hasPasskeys, logInByPasskey } from '../api/passkeys'
import { clearAll } from '../api/queries'
import { PATHS } from '../paths'
import { ErrorBar } from '../ui/ErrorBar'
import { Icon, Logo } from '../ui/Icon'
import { SchemeSwitch } from '../ui/Layout'

const route = getRouteApi('/login')

type Opened = Schema['LoginResponse'] | Schema['SecondFactorResponse']
type Pending = Pick<Schema['SecondFactorResponse'], 'totp_session' | 'methods'>

/** The way in: a passkey, a provider, or the password and then the second factor where the account has one. */
export function Login() {
  const { error, reason } = route.useSearch()
  const [pending, setPending] = useState(ofProvider)
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
        {!window.isSecureContext && (
          <Warning>
            This page came over plain http from another machine. Browsers drop the session’s cookie here: open it by https, or on the machine itself.
          </Warning>
        )}
        {error && !pending && <Warning>{refused(error, reason)}</Warning>}
        {pending ? <SecondStep pending={pending} onDone={go} onBack={() => setPending(null)} /> : <FirstStep onDone={go} />}
        <div className="between small">
          <a href="/docs">API documentation</a>
          <SchemeSwitch />
        </div>
      </div>
    </main>
  )
}

/** A login by a provider that waits for its second factor: the callback puts it behind the `#`. */
function ofProvider(): Pending | null {
  const given = new URLSearchParams(window.location.hash.slice(1))
  const totp_session = given.get('totp_session')
  if (!totp_session) return null
  const methods = (given.get('methods') ?? 'totp').split(',') as Pending['methods']
  const next = given.get('next')
  window.history.replaceState(window.history.state, '', next ? `${PATHS.login}?next=${encodeURIComponent(next)}` : PATHS.login)
  return { totp_session, methods }
}

function refused(code: string, reason: string | undefined): string {
  return (reason && REASONS[reason]) || CODES[code] || `The login did not work (${[code, reason].filter(Boolean).join(', ')}).`
}

const REASONS: Readonly<Record<string, string>> = {
  access_denied: 'The identity provider refused the sign-in, or you cancelled it there.',
  already_linked: 'Your account is linked to another identity. Disconnect that one first.',
  network: 'Sign-in is not allowed from this network.',
  not_linked: 'Sign in another way first, then link this identity to your account.',
  no_account: 'No account of this server belongs to that identity. An administrator can make one.',
  login_again: 'To link an identity, log in anew first: your session is older than 15 minutes.',
}

const CODES: Readonly<Record<string, string>> = {
  FORBIDDEN: 'That identity may not log in here.',
  CONFLICT: 'That identity belongs to another account, or yours has one already.',
  SESSION_INVALID: 'The login took too long, or was begun in another window. Begin again.',
  UNAVAILABLE: 'The identity provider does not answer at the moment.',
  INVALID_CREDENTIALS: 'The identity provider did not confirm who you are.',
  RATE_LIMIT_EXCEEDED: 'Too many logins at once. Wait a moment, then try again.',
}

function Warning({ children }: { children: ReactNode }) {
  return (
    <div className="note note-warn" role="alert">
      <Icon name="warn" />
      <div>
        <p>{children}</p>
      </div>
    </div>
  )
}

/** Where the person wanted to go; only within this dashboard. */
function useEnter(): () => void {
  const router = useRouter()
  const navigate = useNavigate()
  return () => {
    clearAll()
    const next = new URLSearchParams(window.location.search).get('next')
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
    <>
      <form onSubmit={submit} className="stack" noValidate>
        <TextInput label="Email" type="email" name="email" autoComplete="username" autoFocus value={email} onChange={(event) => setEmail(event.currentTarget.value)} />
        <PasswordInput label="Password" name="password" autoComplete="current-password" value={password} onChange={(event) => setPassword(event.currentTarget.value)} />
        <ErrorBar error={login.error} />
        <Button type="submit" size="md" fullWidth loading={login.isPending}>
          Log in
        </Button>
      </form>
      <OtherWays onDone={onDone} />
    </>
  )
}

function OtherWays({ onDone }: { onDone: (answer: Opened) => void }) {
  const { next } = route.useSearch()
  const providers = useQuery({ queryKey: ['providers'], queryFn: () => ask(client.GET('/auth/oidc/providers')), retry: false, staleTime: Infinity })
  const byPasskey = useMutation({ mutationFn: () => logInByPasskey(), onSuccess: onDone })
  if (!hasPasskeys() && !providers.data?.length) return null
  const suffix = next ? `?next=${encodeURIComponent(next)}` : ''
  return (
    <div className="stack">
      <div className="or">or</div>
      <ErrorBar error={byPasskey.error} />
      {hasPasskeys() && (
        <Button variant="default" fullWidth leftSection={<Icon name="key" size={16} />} loading={byPasskey.isPending} onClick={() => byPasskey.mutate()}>
          Sign in with a passkey
        </Button>
      )}
      {providers.data?.map((provider) => (
        <Button key={provider.id} component="a" href={provider.login_path + suffix} variant="default" fullWidth leftSection={<Icon name="person" size={16} />}>
          Continue with {provider.name}
        </Button>
      ))}
    </div>
  )
}

function SecondStep(props: { pending: Pending; onDone: (answer: Opened) => void; onBack: () => void }) {
  const { totp_session, methods } = props.pending
  const [isRecovery, setRecovery] = useState(!methods.includes('totp') && !methods.includes('passkey'))
  const byPasskey = useMutation({ mutationFn: () => logInByPasskey(totp_session), onSuccess: props.onDone })
  const byCode = useMutation({
    mutationFn: (code: string) =>
      ask(client.POST('/auth/login', { body: isRecovery ? { totp_session, recovery_code: code.trim() } : { totp_session, totp_code: code.replace(/\s/g, '') } })),
    onSuccess: props.onDone,
  })
  const error = byCode.error ?? byPasskey.error
  const isOver = error instanceof ApiError && error.code === 'SESSION_INVALID'
  const swap = (to: boolean) => {
    setRecovery(to)
    byCode.reset()
  }
  return (
    <div className="stack">
      <ErrorBar error={error} />
      {isOver ? (
        <Button onClick={props.onBack} size="md" fullWidth>
          Begin again
        </Button>
      ) : (
        <>
          {methods.includes('passkey') && hasPasskeys() && !isRecovery && (
            <Button variant={methods.includes('totp') ? 'default' : 'filled'} size="md" fullWidth leftSection={<Icon name="key" size={16} />} loading={byPasskey.isPending} onClick={() => byPasskey.mutate()}>
              Sign in with a passkey
            </Button>
          )}
          {(isRecovery || methods.includes('totp')) && <CodeForm key={String(isRecovery)} isRecovery={isRecovery} isBusy={byCode.isPending} onCode={byCode.mutate} />}
        </>
      )}
      <div className="between small">
        {methods.includes('recovery_code') && (
          <Anchor component="button" type="button" onClick={() => swap(!isRecovery)}>
            {isRecovery ? 'Use another way' : 'Use a recovery code'}
          </Anchor>
        )}
        <Anchor component="button" type="button" onClick={props.onBack}>
          Back
        </Anchor>
      </div>
    </div>
  )
}

function CodeForm({ isRecovery, isBusy, onCode }: { isRecovery: boolean; isBusy: boolean; onCode: (code: string) => void }) {
  const [code, setCode] = useState('')
  function submit(event: FormEvent) {
    event.preventDefault()
    onCode(code)
  }
  return (
    <form onSubmit={submit} className="stack" noValidate>
      <TextInput
        label={isRecovery ? 'Recovery code' : 'Code'}
        description={isRecovery ? 'One of those that you kept. Each works once.' : 'The six digits that your authenticator shows.'}
        autoFocus
        autoComplete={isRecovery ? 'off' : 'one-time-code'}
        inputMode={isRecovery ? 'text' : 'numeric'}
        spellCheck={false}
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
      />
      <Button type="submit" size="md" fullWidth loading={isBusy}>
        Log in
      </Button>
    </form>
  )
}
