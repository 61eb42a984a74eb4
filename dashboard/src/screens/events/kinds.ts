import type { Schema } from '../../api/client'

export type EventKindName = Exclude<Schema['WebhookCreate']['events'][number], '*'>

const MEANINGS: Readonly<Record<EventKindName, string>> = {
  'mail.sent': 'accepted for sending',
  'mail.delivered': 'accepted by the remote server',
  'mail.bounced': 'rejected or deferred by the remote server',
  'mail.failed': 'delivery failed permanently',
  'mail.received': 'delivered to a mailbox',
  'mail.received.full': 'delivered to a mailbox, with the message content',
  'mail.spam': 'classified as spam',
  'system.suspension': 'sending of an address is suspended',
  'system.alert': 'a problem needs attention',
  'system.webhook_disabled': 'a webhook is disabled after repeated failures',
}

/** The event kinds with their descriptions. */
export const EVENT_KINDS = Object.entries(MEANINGS).map(([value, meaning]) => ({ value: value as EventKindName, label: value, meaning }))
