import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { fetchData, client } from '../../api/client'
import type { Pending, SignInAnswer } from '../../api/credentials'
import { hasPasskeys } from '../../api/passkeys'
import { clearCaches, providersQuery } from '../../api/queries'
import { SignInPage, Warning } from '../../layout/SignInPage'
import { PATHS } from '../../paths'
import { Icon } from '../../ui/Icon'
import { describeSignInError } from './errors'
import { PasskeyButton } from './PasskeyButton'
import { PasswordForm } from './PasswordForm'
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
        <>
          <PasswordForm
            label="Email"
            name="email"
            request={(email, password) => fetchData(client.POST('/auth/login', { body: { email, password } }))}
            onDone={proceed}
          />
          <OtherMethods onDone={proceed} />
        </>
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

function OtherMethods({ onDone }: { onDone: (answer: SignInAnswer) => void }) {
  const { next } = route.useSearch()
  const providers = useQuery(providersQuery())
  if (!hasPasskeys() && !providers.data?.length) return null
  const suffix = next ? `?next=${encodeURIComponent(next)}` : ''
  return (
    <div className="stack">
      <div className="or">or</div>
      {hasPasskeys() && <PasskeyButton onDone={onDone} />}
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
