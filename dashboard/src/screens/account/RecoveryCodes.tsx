import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { CopyButton } from '../../ui/Copy'
import { Form } from '../../ui/Form'
import { SecretModal } from '../../ui/SecretModal'
import { useApiMutation } from '../../ui/useForm'

/** Shows new recovery codes once; null: nothing to show. */
export function RecoveryCodes({ codes, onDone }: { codes: readonly string[] | null; onDone: () => void }) {
  return (
    <SecretModal opened={codes !== null} onDone={onDone} title="Recovery codes" action="I've saved them">
      <p>Each code signs you in once if you lose your device. They are shown only once: save them in your password manager.</p>
      <ul className="codes" aria-label="Recovery codes">
        {codes?.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div>
        <CopyButton text={(codes ?? []).join('\n')} what="recovery codes" size="md" />
      </div>
    </SecretModal>
  )
}

interface RenewProps {
  request: () => Promise<{ recovery_codes: readonly string[] }>
  invalidates: readonly string[]
  /** What stops working. */
  warning: string
  onDone: (codes: readonly string[]) => void
  /** The field that proves the identity. */
  children: (error: unknown) => ReactNode
}

/** Replaces the recovery codes. */
export function RenewCodesForm({ request, invalidates, warning, onDone, children }: RenewProps) {
  const renew = useApiMutation({ request, invalidates, onSuccess: (answer) => onDone(answer.recovery_codes) })
  return (
    <Form
      onSubmit={() => renew.mutate(undefined)}
      error={renew.error}
      actions={
        <Button type="submit" loading={renew.isPending}>
          Generate new codes
        </Button>
      }
    >
      <p>{warning}</p>
      {children(renew.error)}
    </Form>
  )
}
