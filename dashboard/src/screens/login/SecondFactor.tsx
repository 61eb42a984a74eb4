import { Anchor, Button, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { type Pending, type SignInAnswer, useCredentials } from '../../api/credentials'
import { ApiError } from '../../api/errors'
import { hasPasskeys, signInWithPasskey } from '../../api/passkeys'
import { ErrorBar } from '../../ui/ErrorBar'
import { Icon } from '../../ui/Icon'

/** The second step of a sign-in: a code, a recovery code or a passkey. */
export function SecondFactorStep(props: { pending: Pending; onDone: (answer: SignInAnswer) => void; onBack: () => void }) {
  const credentials = useCredentials()
  const { totp_session, methods } = props.pending
  const [isRecovery, setRecovery] = useState(!methods.includes('totp') && !methods.includes('passkey'))
  const byPasskey = useMutation({ mutationFn: () => signInWithPasskey(credentials, totp_session), onSuccess: props.onDone })
  const byCode = useMutation({
    mutationFn: (code: string) =>
      credentials.signInWithCode(
        isRecovery ? { totp_session, recovery_code: code.trim() } : { totp_session, totp_code: code.replace(/\s/g, '') },
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
