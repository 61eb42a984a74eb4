import { Button, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { client, fetchData, type Schema } from '../../api/client'
import { ApiError, fieldErrors } from '../../api/errors'
import { PATHS } from '../../paths'
import { ErrorBar } from '../../ui/ErrorBar'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon } from '../../ui/Icon'
import { LinkButton } from '../../ui/links'
import { NewPassword } from '../../ui/NewPassword'
import { SignInPage } from '../../layout/SignInPage'
import { Time } from '../../ui/Time'

type Account = Schema['InvitedAccountRecord']

/**
 * The page of an invitation link, of administrators and of mailboxes. It needs no session. The token is behind `#`, so
 * that it reaches no server but in the requests of this page.
 */
export function Invitation() {
  const [token] = useState(() => window.location.hash.slice(1))
  const [accepted, setAccepted] = useState<Schema['InvitationAcceptance'] | null>(null)
  const account = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => fetchData(client.POST('/invitations/lookup', { body: { token } })),
    enabled: token !== '' && !accepted,
    staleTime: Infinity,
    retry: false,
  })
  function finish(answer: Schema['InvitationAcceptance']) {
    window.history.replaceState(window.history.state, '', PATHS.invitation)
    setAccepted(answer)
  }
  const isEnded = !token || (account.error instanceof ApiError && account.error.code === 'NOT_FOUND')
  return (
    <SignInPage title="Invitation" heading={accepted ? 'Password set' : isEnded ? 'This link has ended' : 'Set your password'}>
      {accepted ? (
        <Accepted answer={accepted} />
      ) : isEnded ? (
        <p>It has been used or replaced, or it has expired. Ask your administrator for a new link.</p>
      ) : account.error ? (
        <ErrorNote error={account.error} />
      ) : account.data ? (
        <PasswordForm token={token} account={account.data} onDone={finish} />
      ) : (
        <p className="muted" aria-label="Loading the invitation">
          Loading…
        </p>
      )}
    </SignInPage>
  )
}

function PasswordForm(props: { token: string; account: Account; onDone: (answer: Schema['InvitationAcceptance']) => void }) {
  const { token, account } = props
  const [password, setPassword] = useState('')
  const accept = useMutation({
    mutationFn: () => fetchData(client.POST('/invitations/{token}', { params: { path: { token } }, body: { password } })),
    onSuccess: props.onDone,
  })
  const fault = fieldErrors(accept.error)['password']
  function submit(event: FormEvent) {
    event.preventDefault()
    accept.mutate()
  }
  return (
    <form onSubmit={submit} className="form" noValidate>
      <div className="form-fields">
        <TextInput
          label={account.type === 'admin' ? 'Email' : 'Mailbox'}
          name="username"
          autoComplete="username"
          readOnly
          value={account.address}
          description={
            <>
              The link ends <Time at={account.expires_at} form="ago" />.
            </>
          }
        />
        <NewPassword
          label="New password"
          name="password"
          description="At least 8 characters, not a common password"
          value={password}
          onChange={(event) => {
            setPassword(event.currentTarget.value)
            accept.reset()
          }}
          error={fault}
          aria-invalid={fault !== undefined}
          autoFocus
        />
      </div>
      <ErrorBar error={accept.error} besides={['password']} />
      <Button type="submit" size="md" fullWidth loading={accept.isPending}>
        Set password
      </Button>
    </form>
  )
}

function Accepted({ answer }: { answer: Schema['InvitationAcceptance'] }) {
  return (
    <>
      <div className="note note-good" role="status">
        <Icon name="check" />
        <div>
          <p>
            {answer.type === 'admin'
              ? `Sign in with ${answer.address} and your new password.`
              : `Use ${answer.address} and your new password in your mail client.`}
          </p>
        </div>
      </div>
      {answer.type === 'admin' ? (
        <LinkButton to={PATHS.login} size="md" fullWidth>
          Sign in
        </LinkButton>
      ) : (
        <p>
          <a href="/me">Sign in to your mailbox</a> to see the servers and ports for your mail client, unless your administrator has turned
          that off.
        </p>
      )}
    </>
  )
}
