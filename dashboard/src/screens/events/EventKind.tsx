import { Badge, type Tone } from '../../ui/Badge'

const TONES: Readonly<Record<string, Tone>> = {
  'mail.sent': 'info',
  'mail.delivered': 'good',
  'mail.received': 'good',
  'mail.received.full': 'good',
  'mail.bounced': 'bad',
  'mail.failed': 'bad',
  'mail.spam': 'warn',
}

/** The kind of an event. */
export function EventKind({ kind }: { kind: string }) {
  return <Badge tone={TONES[kind] ?? 'warn'}>{kind}</Badge>
}
