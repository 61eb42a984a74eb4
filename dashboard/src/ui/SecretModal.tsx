import { Button, Modal } from '@mantine/core'
import type { ReactNode } from 'react'

interface Props {
  opened: boolean
  onDone: () => void
  title: string
  /** The label of the button that closes the dialog. */
  action: string
  children: ReactNode
}

/** Props of a dialog that only its own button closes, because Escape or an outside click would lose the secret. */
export const SECRET_MODAL_PROPS = { closeOnEscape: false, closeOnClickOutside: false, withCloseButton: false } as const

/** A dialog with a secret that is shown once; only its button closes it. */
export function SecretModal({ opened, onDone, title, action, children }: Props) {
  return (
    <Modal opened={opened} onClose={onDone} title={title} size="lg" {...SECRET_MODAL_PROPS}>
      <div className="stack" data-holds-secret>
        {children}
        <div className="right">
          <Button onClick={onDone}>{action}</Button>
        </div>
      </div>
    </Modal>
  )
}
