import { Button, Modal } from '@mantine/core'
import type { Schema } from '../../api/client'
import { Icon } from '../../ui/Icon'
import { Secret } from '../../ui/Secret'
import { SECRET_MODAL_PROPS } from '../../ui/SecretModal'
import { Time } from '../../ui/Time'

export interface CreatedInvitation {
  /** The email or the address of the account. */
  address: string
  invitation: Schema['InvitationRecord']
}

/** What to do with a new invitation: pass the link on, which is shown once, or wait for the mail. */
export function InvitationLink({ created, onDone }: { created: CreatedInvitation; onDone: () => void }) {
  const { url, sent_to, expires_at } = created.invitation
  return (
    <div className="stack" {...(url && { 'data-holds-secret': true })}>
      <div className="note note-good" role="status">
        <Icon name="check" />
        <div>
          <p className="note-title">{created.address} is invited.</p>
          <p>
            {sent_to
              ? `A link to set the password is on its way to ${sent_to}.`
              : 'Pass the link on in a way that only this person can read: whoever opens it can set the password. It is not shown again.'}
          </p>
          <p>
            It works once, until <Time at={expires_at} />.
          </p>
        </div>
      </div>
      {url && <Secret label="Invitation link" value={url} />}
      {url && new URL(url).host !== location.host && (
        <p className="muted">
          The link leads to {new URL(url).host}. If the person can't reach the server there, set <code>http.public_url</code> in{' '}
          <code>mailkeep.toml</code>, restart, and create a new link.
        </p>
      )}
      <div className="right">
        <Button onClick={onDone}>{url ? "I've saved it" : 'Close'}</Button>
      </div>
    </div>
  )
}

/** `InvitationLink` in a dialog, after a form that created an account. */
export function InvitationDialog({ created, onClose }: { created: CreatedInvitation | null; onClose: () => void }) {
  return (
    <Modal opened={created !== null} onClose={onClose} title="Invitation" size="lg" {...SECRET_MODAL_PROPS}>
      {created && <InvitationLink created={created} onDone={onClose} />}
    </Modal>
  )
}
