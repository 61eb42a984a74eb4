import { Button, Modal, Text, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Form } from './Form'
import { RecentSignIn, useRecentSignIn } from './RecentSignIn'
import { useApiMutation } from './useForm'

interface Props {
  opened: boolean
  onClose: () => void
  title: string
  /** What will happen, and what can't be undone. */
  children: ReactNode
  /** The label of the button. */
  action: string
  /** The label of the button that closes the dialog, if not Cancel. */
  close?: string
  /** A name to type where data is lost for good; null reserves the space for it. */
  name?: string | null
  isPending?: boolean
  isDisabled?: boolean
  error?: unknown
  onConfirm: () => void
  /** The width of the dialog, if not the usual one. */
  size?: string
}

/** Asks for confirmation of an action that is hard or impossible to undo. */
export function Confirm(props: Props) {
  return (
    <Modal opened={props.opened} onClose={props.onClose} title={props.title} {...(props.size && { size: props.size })}>
      {props.opened && <ConfirmForm {...props} />}
    </Modal>
  )
}

function ConfirmForm({ name, action, close, isPending, isDisabled, error, children, onClose, onConfirm }: Props) {
  const [text, setText] = useState('')
  const needsName = typeof name === 'string' && !isDisabled
  const isConfirmed = !isDisabled && (!name || text.trim() === name)
  return (
    <Form
      onSubmit={() => isConfirmed && onConfirm()}
      error={error}
      actions={
        <>
          <Button variant="default" onClick={onClose}>
            {close ?? 'Cancel'}
          </Button>
          <Button type="submit" color="red" disabled={!isConfirmed} loading={isPending ?? false}>
            {action}
          </Button>
        </>
      }
    >
      <Text component="div">{children}</Text>
      {name !== undefined && (
        <TextInput
          className={needsName ? undefined : 'invisible'}
          disabled={!needsName}
          label={
            <>
              Enter <code>{name}</code> to confirm
            </>
          }
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
      )}
    </Form>
  )
}

interface DeleteProps<Answer> extends Pick<Props, 'opened' | 'onClose' | 'title' | 'children' | 'name'> {
  action?: string
  /** `confirmation` is for the body of a request that may need a recent sign-in. */
  request: (confirmation: { current_password?: string }) => Promise<Answer>
  invalidates: readonly string[]
  /** The query key of the deleted object. */
  removes?: readonly unknown[]
  message?: string | ((answer: Answer) => string)
  onDeleted?: () => void
}

/** Confirms and sends a request that deletes or revokes something. */
export function ConfirmDelete<Answer>(props: DeleteProps<Answer>) {
  const { request, invalidates, removes, message, onDeleted, children, ...dialog } = props
  const remove = useApiMutation({
    request: () => request(signIn.body),
    invalidates,
    ...(removes && { removes }),
    ...(message && { message }),
    onSuccess: onDeleted ?? props.onClose,
  })
  const signIn = useRecentSignIn(remove.error)
  const queries = useQueryClient()
  function close() {
    // Somebody else may have done it meanwhile: the page then shows what is so now.
    if (remove.error) for (const name of invalidates) void queries.invalidateQueries({ queryKey: [name] })
    remove.reset()
    signIn.promptProps.setPassword('')
    props.onClose()
  }
  return (
    <Confirm
      action="Delete"
      {...dialog}
      onClose={close}
      isPending={remove.isPending}
      error={signIn.isNeeded ? signIn.otherError : remove.error}
      onConfirm={() => signIn.isReady && remove.mutate(undefined)}
    >
      {children}
      {signIn.isNeeded && <RecentSignIn {...signIn.promptProps} consequence="Sign in again, then confirm again." />}
    </Confirm>
  )
}
