import { Badge, type Tone } from '../../ui/Badge'
import type { EventKindName } from './kinds'

const TONES: Readonly<Record<EventKindName, Tone>> = {
  'mail.sent': 'info',
  'mail.delivered': 'good',
  'mail.received': 'good',
  'mail.received.full': 'good',
  'mail.bounced': 'bad',
  'mail.failed': 'bad',
  'mail.suppressed': 'warn',
  'mail.complained': 'bad',
  'mail.spam': 'warn',
  'mailbox.quota': 'warn',
  'domain.dns_failed': 'bad',
  'domain.dns_recovered': 'good',
  'domain.dkim_due': 'warn',
  'system.suspension': 'warn',
  'system.incident': 'warn',
  'system.alert': 'warn',
  'system.drift': 'warn',
  'system.backup_failed': 'bad',
  'system.backup_unverified': 'bad',
  'system.backup_late': 'bad',
  'system.webhook_disabled': 'warn',
}

/** The kind of an event. */
export function EventKind({ kind }: { kind: string }) {
  return <Badge tone={TONES[kind as EventKindName] ?? 'warn'}>{kind}</Badge>
}
