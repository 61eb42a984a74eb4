import type { Schema } from './client'

export type Kind = Exclude<Schema['WebhookCreate']['events'][number], '*'>

const MEANINGS: Readonly<Record<Kind, string>> = {
  'mail.sent': 'accepted to be sent',
  'mail.delivered': 'the remote server took it',
  'mail.bounced': 'the remote server refused it, for good or for now',
  'mail.failed': 'it was given up',
  'mail.received': 'reached a mailbox',
  'mail.received.full': 'the same, with content',
  'mail.spam': 'was taken for spam',
  'system.suspension': 'an address may send no more',
  'system.alert': 'something needs attention',
  'system.webhook_disabled': 'a webhook failed for too long',
}

/** The kinds of events, and what each means. */
export const KINDS = Object.entries(MEANINGS).map(([value, meaning]) => ({ value: value as Kind, label: value, meaning }))
