import { Modal, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Schema } from '../../api/client'
import { Form, FormButtons } from '../../ui/Form'
import { RecentSignIn, useRecentSignIn } from '../../ui/RecentSignIn'
import { SECRET_MODAL_PROPS } from '../../ui/SecretModal'
import { useApiMutation, useForm } from '../../ui/useForm'
import { InvitationLink } from './InvitationLink'

interface Props {
  /** The email or the address of the account; null: the dialog is closed. */
  address: string | null
  onClose: () => void
  request: (body: { invite_to?: string; current_password?: string }) => Promise<Schema['InvitationRecord']>
}

export const INVITE_TO = {
  label: 'Mail the link to',
  description: 'Blank: the link is shown here once, to pass on.',
} as const

/** Creates a new invitation link for an account, then shows it. */
export function InviteDialog({ address, onClose, request }: Props) {
  const [invitation, setInvitation] = useState<Schema['InvitationRecord'] | null>(null)
  return (
    <Modal
      opened={address !== null}
      onClose={onClose}
      onExitTransitionEnd={() => setInvitation(null)}
      title={`Invite ${address ?? ''}`}
      size="lg"
      {...(invitation && SECRET_MODAL_PROPS)}
    >
      {address !== null &&
        (invitation ? (
          <InvitationLink created={{ address, invitation }} onDone={onClose} />
        ) : (
          <InviteForm request={request} onDone={setInvitation} onCancel={onClose} />
        ))}
    </Modal>
  )
}

function InviteForm(props: Pick<Props, 'request'> & { onDone: (created: Schema['InvitationRecord']) => void; onCancel: () => void }) {
  const invite = useApiMutation({
    request: ({ invite_to }: { invite_to: string }) =>
      props.request({ ...(invite_to.trim() && { invite_to: invite_to.trim() }), ...signIn.body }),
    invalidates: [],
    onSuccess: (created) => {
      form.markSaved()
      props.onDone(created)
    },
  })
  const signIn = useRecentSignIn(invite.error)
  const form = useForm({ invite_to: '' }, invite.error)
  return (
    <Form
      onSubmit={() => signIn.isReady && invite.mutate(form.values)}
      error={signIn.isNeeded ? signIn.otherError : invite.error}
      isDirty={form.isDirty}
      formFields={form.names}
      actions={<FormButtons submit="Create link" isPending={invite.isPending} onCancel={props.onCancel} />}
    >
      <p>
        With the link the owner sets a new password, once and within 72 hours. A link from before ends. The present password, if there is
        one, works until the link is used.
      </p>
      <TextInput {...INVITE_TO} type="email" autoComplete="off" spellCheck={false} data-autofocus {...form.textField('invite_to')} />
      {signIn.isNeeded && <RecentSignIn {...signIn.promptProps} consequence="Sign in again, then create the link again." />}
    </Form>
  )
}
