import { Anchor, Button, PasswordInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { client, fetchData } from '../../api/client'
import { accountQuery } from '../../api/queries'
import { useSignOut } from '../../ui/useSignOut'
import { ErrorBar } from '../../ui/ErrorBar'
import { NewPassword } from '../../ui/NewPassword'
import { SignInPage } from '../../layout/SignInPage'
import { useApiMutation, useForm } from '../../ui/useForm'
import { useOpenDashboard } from '../login/Login'

/** For an account that must change its password: nothing else is allowed before. */
export function ChangePassword() {
  const account = useQuery(accountQuery()).data
  const openDashboard = useOpenDashboard()
  const signOut = useSignOut()
  const save = useApiMutation({
    request: (body: { current_password: string; new_password: string }) => fetchData(client.POST('/auth/password', { body })),
    invalidates: [],
    message: 'Password changed.',
    onSuccess: openDashboard,
  })
  const form = useForm({ current_password: '', new_password: '' }, save.error)
  const fault = form.errorOf('new_password') ?? form.errorOf('password')
  function submit(event: FormEvent) {
    event.preventDefault()
    save.mutate(form.values)
  }
  return (
    <SignInPage
      title="Change your password"
      heading="Change your password"
      footer={
        <Anchor component="button" type="button" onClick={() => signOut.mutate(undefined)}>
          Sign out
        </Anchor>
      }
    >
      <p>An administrator asks you to choose a password of your own before you continue.</p>
      <form onSubmit={submit} className="form" noValidate>
        <div className="form-fields">
          <input
            className="visually-hidden"
            type="text"
            autoComplete="username"
            readOnly
            tabIndex={-1}
            aria-hidden
            value={account?.email ?? ''}
          />
          <PasswordInput label="Current password" autoComplete="current-password" autoFocus {...form.textField('current_password')} />
          <NewPassword
            label="New password"
            description="At least 8 characters, not a common password"
            {...form.textField('new_password')}
            error={fault}
            aria-invalid={Boolean(fault)}
          />
        </div>
        <ErrorBar error={save.error} besides={[...form.names, 'password']} />
        <Button type="submit" size="md" fullWidth loading={save.isPending}>
          Change password
        </Button>
      </form>
    </SignInPage>
  )
}
