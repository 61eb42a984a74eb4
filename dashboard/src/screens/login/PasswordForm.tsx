import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { SignInAnswer } from '../../api/credentials'
import { ErrorBar } from '../../ui/ErrorBar'

interface Props {
  /** The label and name of the field for the account. */
  label: string
  name: string
  request: (account: string, password: string) => Promise<SignInAnswer>
  onDone: (answer: SignInAnswer) => void
}

/** Signs in with a password. */
export function PasswordForm({ label, name, request, onDone }: Props) {
  const [account, setAccount] = useState('')
  const [password, setPassword] = useState('')
  const login = useMutation({ mutationFn: () => request(account.trim(), password), onSuccess: onDone })
  function submit(event: FormEvent) {
    event.preventDefault()
    login.mutate()
  }
  return (
    <form onSubmit={submit} className="stack" noValidate>
      <TextInput
        label={label}
        type="email"
        name={name}
        autoComplete="username"
        autoFocus
        value={account}
        onChange={(event) => setAccount(event.currentTarget.value)}
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
  )
}
