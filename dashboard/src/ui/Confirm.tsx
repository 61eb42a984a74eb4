import { Button, Modal, Text, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Form } from './Form'

interface Props {
  opened: boolean
  onClose: () => void
  title: string
  /** What happens, and what can't be undone. */
  children: ReactNode
  /** The word on the button. */
  action: string
  /** To be typed where nothing can be undone; null: not asked for (yet), with its place kept. */
  name?: string | null
  busy?: boolean
  /** It is not to be done (yet), as the text says. */
  idle?: boolean
  error?: unknown
  onConfirm: () => void
}

/** Asks before something is done that is not undone with a click. */
export function Confirm(props: Props) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={props.title}>
      {props.opened && <Question {...props} />}
    </Modal>
  )
}

function Question({ name, action, busy, idle, error, children, onClose, onConfirm }: Props) {
  const [typed, setTyped] = useState('')
  // What went wrong before it was opened is about something else.
  const [former] = useState(error)
  const isAsked = typeof name === 'string' && !idle
  const sure = !idle && (!name || typed.trim() === name)
  return (
    <Form
      onSubmit={() => sure && onConfirm()}
      error={error === former ? null : error}
      actions={
        <>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" color="red" disabled={!sure} loading={busy ?? false}>
            {action}
          </Button>
        </>
      }
    >
      <Text component="div">{children}</Text>
      {name !== undefined && (
        <TextInput
          className={isAsked ? undefined : 'kept'}
          disabled={!isAsked}
          label={
            <>
              Type <code>{name}</code> to confirm
            </>
          }
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
      )}
    </Form>
  )
}
