import { Button, PasswordInput } from '@mantine/core'
import { useState } from 'react'
import { useCredentials } from '../api/credentials'
import { ApiError } from '../api/errors'
import { useApiMutation } from './useForm'

/** After 10 minutes for changes of settings, after 15 for those of an own way to sign in. */
const REASONS: readonly unknown[] = ['recent_sign_in_required', 'login_again']

/** Whether the API refused a change because the session is too old for it. */
export function needsRecentSignIn(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'FORBIDDEN' && REASONS.includes(error.details['reason'])
}

/** The password for a change that needs a recent sign-in. `error`: of the change. */
export function useRecentSignIn(error: unknown) {
  const [isNeeded, setNeeded] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const [password, setPassword] = useState('')
  if (!isNeeded && needsRecentSignIn(error)) setNeeded(true)
  const isWrong = error instanceof ApiError && error.code === 'INVALID_CREDENTIALS'
  // An error of something else is shown with what it is about. Without an error, during a request, nothing changes.
  const asks = needsRecentSignIn(error) || (isNeeded && isWrong)
  if (error && isAsking !== asks) setAsking(asks)
  return {
    isNeeded,
    /** Whether the password, not another error, keeps the change from being saved. */
    isAsking,
    isReady: !isNeeded || password !== '',
    /** For the body of the request. */
    body: isNeeded && password ? { current_password: password } : {},
    /** An error that the prompt does not show. */
    otherError: needsRecentSignIn(error) || isWrong ? null : error,
    promptProps: { password, setPassword, error: isWrong ? (error as ApiError).message : null },
  }
}

interface Props {
  password: string
  setPassword: (password: string) => void
  error: string | null
  /** What happens to the input if the user signs in again. */
  consequence: string
}

/** Asks for the password, or to sign in again. */
export function RecentSignIn({ password, setPassword, error, consequence }: Props) {
  const credentials = useCredentials()
  const signOut = useApiMutation({
    request: credentials.signOut,
    invalidates: [],
    onSuccess: () => window.dispatchEvent(new Event('mailkeep:logged-out')),
  })
  return (
    <fieldset className="fieldset">
      <legend>Confirm that it is you</legend>
      <p>This change needs a recent sign-in.</p>
      <PasswordInput
        label="Your password"
        autoComplete="current-password"
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        error={error}
        aria-invalid={error !== null}
        autoFocus
      />
      <div className="between">
        <p className="muted small">No password, or do you sign in with a passkey or a provider? {consequence}</p>
        <Button variant="default" size="xs" loading={signOut.isPending} onClick={() => signOut.mutate(undefined)}>
          Sign in again
        </Button>
      </div>
    </fieldset>
  )
}
