import { Link } from '@tanstack/react-router'
import type { Schema } from '../../api/client'
import { PATHS } from '../../paths'
import { REASONS } from '../suppressions/reasons'
import { BOUNCE_CLASSES, providerName } from './bounceClasses'

/** The ID that the API gives for a test address, whose suppression is not stored. */
const NO_SUPPRESSION = '00000000-0000-0000-0000-000000000000'

/** The classes after which an address may be suppressed: the message can be sent again once that is removed. */
const SUPPRESSING: readonly string[] = ['invalid_recipient', 'mailbox_disabled', 'bad_domain', 'mailbox_full']

/** Why a recipient did not get the message, in plain words. */
export function BounceExplanation({ recipient }: { recipient: Schema['MessageRecipientResponse'] }) {
  if (recipient.suppression)
    return (
      <p>
        Not sent: {REASONS[recipient.suppression.reason as keyof typeof REASONS] ?? 'the address is suppressed'}.{' '}
        {recipient.suppression.id === NO_SUPPRESSION ? (
          'It is a test address of the sandbox.'
        ) : (
          <Link to={PATHS.suppressions} search={{ q: recipient.address }}>
            Show suppression
          </Link>
        )}
      </p>
    )
  if (!recipient.class) return null
  const provider = providerName(recipient.provider)
  return (
    <p>
      {BOUNCE_CLASSES[recipient.class]}
      {recipient.status === 'bounced' && SUPPRESSING.includes(recipient.class) && (
        <>
          {' '}
          <Link to={PATHS.suppressions} search={{ q: recipient.address }}>
            Suppressions of this address
          </Link>
        </>
      )}
      {provider && <span className="muted"> The server belongs to {provider}.</span>}
    </p>
  )
}
