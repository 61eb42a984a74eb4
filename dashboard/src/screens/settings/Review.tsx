import { Button, Modal, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Form } from '../../ui/Form'
import { pluralize } from '../../units'
import { ChangeTable } from './ChangeTable'
import { RecentSignIn, useRecentSignIn } from '../../ui/RecentSignIn'
import type { ReviewedChange } from './values'

interface Props {
  /** null: the dialog is closed. */
  changes: readonly ReviewedChange[] | null
  error: unknown
  isPending: boolean
  onClose: () => void
  onSave: (fields: { comment: string; current_password?: string }) => void
}

/** Shows what a save changes, and asks for a comment. */
export function Review(props: Props) {
  return (
    <Modal opened={props.changes !== null} onClose={props.onClose} title="Review changes" size="xl">
      {props.changes && <ReviewForm {...props} changes={props.changes} />}
    </Modal>
  )
}

function ReviewForm({ changes, error, isPending, onClose, onSave }: Props & { changes: readonly ReviewedChange[] }) {
  const [comment, setComment] = useState('')
  const signIn = useRecentSignIn(error)
  const waiting = changes.filter((change) => change.effect !== 'none').length
  if (changes.length === 0)
    return (
      <div className="stack">
        <p>The stored settings already have these values.</p>
        <div className="form-actions">
          <Button onClick={onClose}>Close</Button>
        </div>
      </div>
    )
  return (
    <Form
      onSubmit={() => signIn.isReady && onSave({ comment: comment.trim(), ...signIn.body })}
      error={signIn.otherError}
      actions={
        <>
          <Button variant="default" onClick={onClose}>
            Keep editing
          </Button>
          <Button type="submit" loading={isPending} disabled={!signIn.isReady}>
            Save {pluralize(changes.length, 'change')}
          </Button>
        </>
      }
    >
      {signIn.isNeeded ? (
        <RecentSignIn {...signIn.promptProps} consequence="Sign in again: your changes are kept, except for secrets that you entered." />
      ) : (
        <>
          <ChangeTable changes={changes} label="Changes" />
          {waiting > 0 && (
            <p className="muted small">
              {waiting === changes.length ? 'These changes apply' : `${pluralize(waiting, 'change')} will apply`} when Mailkeep is started
              again.
            </p>
          )}
          {changes.some((change) => change.after.startsWith('default')) && (
            <p className="muted small">A default applies unless mailkeep.toml or the environment sets another value.</p>
          )}
          <TextInput
            label="Comment"
            description="Shown in the history, for example the reason"
            value={comment}
            onChange={(event) => setComment(event.currentTarget.value)}
            maxLength={500}
            autoComplete="off"
            data-autofocus
          />
        </>
      )}
    </Form>
  )
}
