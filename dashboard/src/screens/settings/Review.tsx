import { Button, Modal, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Schema } from '../../api/client'
import { Form } from '../../ui/Form'
import { Icon } from '../../ui/Icon'
import { pluralize } from '../../units'
import { PlanDetails, wouldChange } from '../services/PlanDetails'
import { ChangeTable } from './ChangeTable'
import { RecentSignIn, useRecentSignIn } from '../../ui/RecentSignIn'
import type { ReviewedChange } from './values'

interface Props {
  /** null: the dialog is closed. */
  changes: readonly ReviewedChange[] | null
  /** null: unknown, for the reasons in `warnings`. */
  plan: Schema['PlanResponse'] | null
  warnings: readonly string[]
  error: unknown
  isPending: boolean
  onClose: () => void
  onSave: (fields: { comment: string; current_password?: string }) => void
}

/** Shows what a save changes and what an apply of it does, and asks for a comment. */
export function Review(props: Props) {
  return (
    <Modal opened={props.changes !== null} onClose={props.onClose} title="Review changes" size="xl">
      {props.changes && <ReviewForm {...props} changes={props.changes} />}
    </Modal>
  )
}

function ReviewForm({ changes, plan, warnings, error, isPending, onClose, onSave }: Props & { changes: readonly ReviewedChange[] }) {
  const [comment, setComment] = useState('')
  const signIn = useRecentSignIn(error)
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
          <PlanOfChange plan={plan} warnings={warnings} />
        </>
      )}
    </Form>
  )
}

/** What happens to files and services; nothing if all changes apply at once. */
function PlanOfChange({ plan, warnings }: Pick<Props, 'plan' | 'warnings'>) {
  return (
    <>
      {warnings.map((warning) => (
        <div className="note note-warn" key={warning}>
          <Icon name="warn" />
          <div>{warning}</div>
        </div>
      ))}
      {plan && wouldChange(plan) && (
        <section className="stack">
          <h2>Plan</h2>
          <p className="muted small">
            {plan.actions.some((each) => each.service === 'mailkeep')
              ? 'Saving stores the changes. What needs a restart applies when Mailkeep is started again.'
              : 'Saving stores the changes. Then you can apply them; until an apply or the next start of Mailkeep, the services work as before.'}
          </p>
          <PlanDetails plan={plan} />
        </section>
      )}
    </>
  )
}
