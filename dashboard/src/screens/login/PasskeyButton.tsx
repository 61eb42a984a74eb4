import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type SignInAnswer, useCredentials } from '../../api/credentials'
import { signInWithPasskey } from '../../api/passkeys'
import { ErrorBar } from '../../ui/ErrorBar'
import { Icon } from '../../ui/Icon'

/** Signs in with a passkey. */
export function PasskeyButton({ onDone }: { onDone: (answer: SignInAnswer) => void }) {
  const credentials = useCredentials()
  const login = useMutation({ mutationFn: () => signInWithPasskey(credentials), onSuccess: onDone })
  return (
    <>
      <ErrorBar error={login.error} />
      <Button
        variant="default"
        fullWidth
        leftSection={<Icon name="key" size={16} />}
        loading={login.isPending}
        onClick={() => login.mutate()}
      >
        Sign in with a passkey
      </Button>
    </>
  )
}
