import type { Schema } from '../../api/client'

export type EventKindName = Exclude<Schema['WebhookCreate']['events'][number], '*'>

const DESCRIPTIONS: Readonly<Record<EventKindName, string>> = {
  'mail.sent': 'accepted for sending',
  'mail.delivered': 'accepted by the remote server',
  'mail.bounced': 'rejected by the remote server, or deferred at the first attempt',
  'mail.failed': 'no server accepted it in time; not retried',
  'mail.suppressed': 'not sent to a suppressed recipient',
  'mail.complained': 'a recipient reported it as spam',
  'mail.received': 'delivered to a mailbox',
  'mail.received.full': 'delivered to a mailbox, with the message content',
  'mail.spam': 'classified as spam',
  'mailbox.quota': 'a mailbox has reached 80 or 95 percent of its quota',
  'domain.dns_failed': 'a DNS record that a domain needs is missing or wrong',
  'domain.dns_recovered': 'the DNS records of a domain are right again',
  'domain.dkim_due': 'DNS records of new DKIM keys must be published',
  'system.suspension': 'sending of an address is suspended',
  'system.incident': 'an incident was opened or undone',
  'system.alert': 'a problem needs attention',
  'system.drift': 'a file of the daemons’ configuration was edited by hand',
  'system.backup_failed': 'a backup could not be made',
  'system.backup_unverified': 'a backup is not as it should be, or none was verified in time',
  'system.backup_late': 'no backup was made for two intervals',
  'system.webhook_disabled': 'Mailkeep disabled a webhook after repeated failures',
}

/** The event kinds with their descriptions. */
export const EVENT_KINDS = Object.entries(DESCRIPTIONS).map(([value, description]) => ({
  value: value as EventKindName,
  label: value,
  description,
}))
