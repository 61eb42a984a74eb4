import { useState } from 'react'
import { client, fetchData } from '../api/client'
import type { Pending, SignInAnswer } from '../api/credentials'
import { hasPasskeys } from '../api/passkeys'
import { clearCaches } from '../api/queries'
import { SignInPage } from '../layout/SignInPage'
import { PasskeyButton } from '../screens/login/PasskeyButton'
import { PasswordForm } from '../screens/login/PasswordForm'
import { SecondFactorStep } from '../screens/login/SecondFactor'
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
        <>
          <PasswordForm
            label="Email address"
            name="address"
            request={(address, password) => fetchData(client.POST('/me/login', { body: { address, password } }))}
            onDone={proceed}
          />
          {hasPasskeys() && (
            <div className="stack">
              <div className="or">or</div>
              <PasskeyButton onDone={proceed} />
            </div>
          )}
        </>
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
