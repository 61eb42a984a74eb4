import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { client, fetchData } from '../api/client'
import { type Pending, type SignInAnswer, useCredentials } from '../api/credentials'
import { hasPasskeys, signInWithPasskey } from '../api/passkeys'
import { clearCaches } from '../api/queries'
import { SecondFactorStep } from '../screens/login/SecondFactor'
import { SignInPage } from '../layout/SignInPage'
import { ErrorBar } from '../ui/ErrorBar'
import { Icon } from '../ui/Icon'
import { OWNER_PATHS } from './paths'
import { openPath } from './router'

/** Signs the owner of a mailbox in: with a passkey, or with the address and the password and a second factor. */
export function SignIn() {
  const [pending, setPending] = useState<Pending | null>(null)
  function proceed(answer: SignInAnswer) {
    if ('requires_totp' in answer) setPending(answer)
    else openMailbox()
  }
  return (
    <SignInPage
      title="Sign in"
      heading={pending ? 'Two-factor authentication' : 'Sign in to your mailbox'}
      footer={<span className="muted">Forgotten? Ask your administrator.</span>}
      needsCookie
    >
      {pending ? (
        <SecondFactorStep pending={pending} onDone={proceed} onBack={() => setPending(null)} />
      ) : (
        <PasswordStep onDone={proceed} />
      )}
    </SignInPage>
  )
}

/** Opens the `next` path, if it belongs to this page. */
function openMailbox(): void {
  clearCaches()
  const next = new URLSearchParams(location.search).get('next') ?? ''
  void openPath(/^\/me(\/|$)/.test(next) ? next : OWNER_PATHS.overview)
}

function PasswordStep({ onDone }: { onDone: (answer: SignInAnswer) => void }) {
  const [address, setAddress] = useState('')
  const [password, setPassword] = useState('')
  const credentials = useCredentials()
  const byPassword = useMutation({
    mutationFn: () => fetchData(client.POST('/me/login', { body: { address: address.trim(), password } })),
    onSuccess: onDone,
  })
  const byPasskey = useMutation({ mutationFn: () => signInWithPasskey(credentials), onSuccess: onDone })
  function submit(event: FormEvent) {
    event.preventDefault()
    byPasskey.reset()
    byPassword.mutate()
  }
  return (
    <>
      <form onSubmit={submit} className="stack" noValidate>
        <TextInput
          label="Email address"
          type="email"
          name="address"
          autoComplete="username"
          autoFocus
          value={address}
          onChange={(event) => setAddress(event.currentTarget.value)}
        />
        <PasswordInput
          label="Password"
          name="password"
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <ErrorBar error={byPasskey.error ?? byPassword.error} />
        <Button type="submit" size="md" fullWidth loading={byPassword.isPending}>
          Sign in
        </Button>
      </form>
      {hasPasskeys() && (
        <>
          <div className="or">or</div>
          <Button
            variant="default"
            fullWidth
            leftSection={<Icon name="key" size={16} />}
            loading={byPasskey.isPending}
            onClick={() => byPasskey.mutate()}
          >
            Sign in with a passkey
          </Button>
        </>
      )}
    </>
  )
}
