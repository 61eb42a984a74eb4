import type { Schema } from '../../api/client'

export type Reason = Schema['SuppressionRecord']['reason']

/** Why an address is suppressed. */
export const REASONS: Readonly<Record<Reason, string>> = {
  hard_bounce: 'mail to it was returned',
  complaint: 'its owner reported a message as spam',
  unsubscribe: 'its owner unsubscribed',
  manual: 'added by an administrator',
}

export const REASON_NAMES: Readonly<Record<Reason, string>> = {
  hard_bounce: 'Hard bounce',
  complaint: 'Complaint',
  unsubscribe: 'Unsubscribe',
  manual: 'Manual',
}

export const REASON_CHOICES = (Object.keys(REASONS) as Reason[]).map((value) => ({
  value,
  label: REASON_NAMES[value],
  description: REASONS[value],
}))
