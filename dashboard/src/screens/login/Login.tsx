import { Anchor, Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate, useRouter } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useState } from 'react'
import { fetchData, client, type Schema } from '../../api/client'
import { ApiError } from '../../api/errors'
import { hasPasskeys, signInWithPasskey } from '../../api/passkeys'
import { clearCaches, providersQuery } from '../../api/queries'
import { PATHS } from '../../paths'
import { describeSignInError } from './errors'
import { ErrorBar } from '../../ui/ErrorBar'
import { Icon } from '../../ui/Icon'
import { SignInPage } from '../../layout/SignInPage'

const route = getRouteApi('/login')

type SignInResult = Schema['LoginResponse'] | Schema['SecondFactorResponse']
type Pending = Pick<Schema['SecondFactorResponse'], 'totp_session' | 'methods'>

/** Signs in with a passkey, an identity provider, or a password and a second factor. */
export function Login() {
  const { error, reason } = route.useSearch()
  const [pending, setPending] = useState(pendingFromProvider)
  const openDashboard = useOpenDashboard()
  function proceed(answer: SignInResult) {
    if ('requires_totp' in answer) setPending(answer)
    else openDashboard()
  }
  return (
    <SignInPage
      title="Sign in"
      heading={pending ? 'Two-factor authentication' : 'Sign in to Mailkeep'}
      footer={<a href="/docs">API documentation</a>}
    >
      {!window.isSecureContext && (
        <Warning>
          This page was loaded over plain HTTP, so the browser rejects the session cookie. Use HTTPS, or open the dashboard at localhost on
          the server.
        </Warning>
      )}
      {error && !pending && <Warning>{describeSignInError(error, reason)}</Warning>}
      {pending ? (
        <SecondFactorStep pending={pending} onDone={proceed} onBack={() => setPending(null)} />
      ) : (
        <PasswordStep onDone={proceed} />
      )}
    </SignInPage>
  )
}

/** A provider sign-in that needs a second factor. The callback passes it in the URL fragment. */
function pendingFromProvider(): Pending | null {
  const params = new URLSearchParams(window.location.hash.slice(1))
  const totp_session = params.get('totp_session')
  if (!totp_session) return null
  const methods = (params.get('methods') ?? 'totp').split(',') as Pending['methods']
  const next = params.get('next')
  window.history.replaceState(window.history.state, '', next ? `${PATHS.login}?next=${encodeURIComponent(next)}` : PATHS.login)
  return { totp_session, methods }
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

/** Opens the `next` path, if it belongs to the dashboard. */
export function useOpenDashboard(): () => void {
  const router = useRouter()
  const navigate = useNavigate()
  return () => {
    clearCaches()
    const next = new URLSearchParams(window.location.search).get('next')
    if (next && /^\/(?![/\\])/.test(next)) router.history.push(next)
    else void navigate({ to: PATHS.overview })
  }
}

function PasswordStep({ onDone }: { onDone: (answer: SignInResult) => void }) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const login = useMutation({
    mutationFn: () => fetchData(client.POST('/auth/login', { body: { email: email.trim(), password } })),
    onSuccess: onDone,
  })
  function submit(event: FormEvent) {
    event.preventDefault()
    login.mutate()
  }
  return (
    <>
      <form onSubmit={submit} className="stack" noValidate>
        <TextInput
          label="Email"
          type="email"
          name="email"
          autoComplete="username"
          autoFocus
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <PasswordInput
          label="Password"
          name="password"
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <ErrorBar error={login.error} />
        <Button type="submit" size="md" fullWidth loading={login.isPending}>
          Sign in
        </Button>
      </form>
      <OtherMethods onDone={onDone} />
    </>
  )
}

function OtherMethods({ onDone }: { onDone: (answer: SignInResult) => void }) {
  const { next } = route.useSearch()
  const providers = useQuery(providersQuery())
  const byPasskey = useMutation({ mutationFn: () => signInWithPasskey(), onSuccess: onDone })
  if (!hasPasskeys() && !providers.data?.length) return null
  const suffix = next ? `?next=${encodeURIComponent(next)}` : ''
  return (
    <div className="stack">
      <div className="or">or</div>
      <ErrorBar error={byPasskey.error} />
      {hasPasskeys() && (
        <Button
          variant="default"
          fullWidth
          leftSection={<Icon name="key" size={16} />}
          loading={byPasskey.isPending}
          onClick={() => byPasskey.mutate()}
        >
          Sign in with a passkey
        </Button>
      )}
      {providers.data?.map((provider) => (
        <Button
          key={provider.id}
          component="a"
          href={provider.login_path + suffix}
          variant="default"
          fullWidth
          leftSection={<Icon name="person" size={16} />}
        >
          Continue with {provider.name}
        </Button>
      ))}
    </div>
  )
}

function SecondFactorStep(props: { pending: Pending; onDone: (answer: SignInResult) => void; onBack: () => void }) {
  const { totp_session, methods } = props.pending
  const [isRecovery, setRecovery] = useState(!methods.includes('totp') && !methods.includes('passkey'))
  const byPasskey = useMutation({ mutationFn: () => signInWithPasskey(totp_session), onSuccess: props.onDone })
  const byCode = useMutation({
    mutationFn: (code: string) =>
      fetchData(
        client.POST('/auth/login', {
          body: isRecovery ? { totp_session, recovery_code: code.trim() } : { totp_session, totp_code: code.replace(/\s/g, '') },
        }),
      ),
    onSuccess: props.onDone,
  })
  const error = byCode.error ?? byPasskey.error
  const isExpired = error instanceof ApiError && error.code === 'SESSION_INVALID'
  const switchMethod = (toRecovery: boolean) => {
    setRecovery(toRecovery)
    byCode.reset()
  }
  return (
    <div className="stack">
      <ErrorBar error={error} />
      {isExpired ? (
        <Button onClick={props.onBack} size="md" fullWidth>
          Start again
        </Button>
      ) : (
        <>
          {methods.includes('passkey') && hasPasskeys() && !isRecovery && (
            <Button
              variant={methods.includes('totp') ? 'default' : 'filled'}
              size="md"
              fullWidth
              leftSection={<Icon name="key" size={16} />}
              loading={byPasskey.isPending}
              onClick={() => byPasskey.mutate()}
            >
              Sign in with a passkey
            </Button>
          )}
          {(isRecovery || methods.includes('totp')) && (
            <CodeForm key={String(isRecovery)} isRecovery={isRecovery} isBusy={byCode.isPending} onCode={byCode.mutate} />
          )}
        </>
      )}
      <div className="between small">
        {methods.includes('recovery_code') && (
          <Anchor component="button" type="button" onClick={() => switchMethod(!isRecovery)}>
            {isRecovery ? 'Use another method' : 'Use a recovery code'}
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
        description={isRecovery ? 'One of your saved recovery codes. Each works once.' : 'The 6-digit code from your authenticator app.'}
        autoFocus
        autoComplete={isRecovery ? 'off' : 'one-time-code'}
        inputMode={isRecovery ? 'text' : 'numeric'}
        spellCheck={false}
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
      />
      <Button type="submit" size="md" fullWidth loading={isBusy}>
        Sign in
      </Button>
    </form>
  )
}
