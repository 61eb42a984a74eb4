import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate, useRouter } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { fetchData, client } from '../../api/client'
import { type Pending, type SignInAnswer, useCredentials } from '../../api/credentials'
import { hasPasskeys, signInWithPasskey } from '../../api/passkeys'
import { clearCaches, providersQuery } from '../../api/queries'
import { PATHS } from '../../paths'
import { describeSignInError } from './errors'
import { ErrorBar } from '../../ui/ErrorBar'
import { Icon } from '../../ui/Icon'
import { SignInPage, Warning } from '../../layout/SignInPage'
import { SecondFactorStep } from './SecondFactor'

const route = getRouteApi('/login')

/** Signs in with a passkey, an identity provider, or a password and a second factor. */
export function Login() {
  const { error, reason } = route.useSearch()
  const [pending, setPending] = useState(pendingFromProvider)
  const openDashboard = useOpenDashboard()
  function proceed(answer: SignInAnswer) {
    if ('requires_totp' in answer) setPending(answer)
    else openDashboard()
  }
  return (
    <SignInPage
      title="Sign in"
      heading={pending ? 'Two-factor authentication' : 'Sign in to Mailkeep'}
      footer={<a href="/docs">API documentation</a>}
      needsCookie
    >
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

function PasswordStep({ onDone }: { onDone: (answer: SignInAnswer) => void }) {
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

function OtherMethods({ onDone }: { onDone: (answer: SignInAnswer) => void }) {
  const { next } = route.useSearch()
  const providers = useQuery(providersQuery())
  const credentials = useCredentials()
  const byPasskey = useMutation({ mutationFn: () => signInWithPasskey(credentials), onSuccess: onDone })
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
