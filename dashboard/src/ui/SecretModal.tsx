import { Button, Modal } from '@mantine/core'
import type { ReactNode } from 'react'

interface Props {
  opened: boolean
  onDone: () => void
  title: string
  /** The button's text: that what is shown is kept, or where to go on. */
  action: string
  children: ReactNode
}

/** What keeps a dialog open until its own button closes it: Escape and a click outside would lose what it shows. */
export const HOLDS_SECRET = { closeOnEscape: false, closeOnClickOutside: false, withCloseButton: false } as const

/** A dialog with something that is shown only once; nothing but its button closes it. */
export function SecretModal({ opened, onDone, title, action, children }: Props) {
  return (
    <Modal opened={opened} onClose={onDone} title={title} size="lg" {...HOLDS_SECRET}>
      <div className="stack" data-holds-secret>
        {children}
        <div className="right">
          <Button onClick={onDone}>{action}</Button>
        </div>
      </div>
    </Modal>
  )
}
