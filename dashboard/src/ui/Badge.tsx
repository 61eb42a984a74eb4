import type { ReactNode } from 'react'

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'calm'

export function Badge({ tone = 'calm', children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`badge badge-${tone}`}>{children}</span>
}

const TONES: Readonly<Record<string, Tone>> = {
  delivered: 'good',
  received: 'good',
  relayed: 'good',
  accepted: 'good',
  active: 'good',
  ok: 'good',
  bounced: 'bad',
  failed: 'bad',
  lost: 'bad',
  complained: 'bad',
  rejected: 'bad',
  down: 'bad',
  failing: 'bad',
  deferred: 'warn',
  partial: 'warn',
  suppressed: 'warn',
  attention: 'warn',
  degraded: 'warn',
  unknown: 'warn',
  queued: 'info',
  submitting: 'info',
  submitted: 'info',
  scheduled: 'info',
}

export function toneOf(status: string): Tone {
  return TONES[status] ?? 'calm'
}

/** A status of the API. */
export function StatusBadge({ status }: { status: string }) {
  return <Badge tone={toneOf(status)}>{status === 'unchecked' ? 'not checked' : status.replaceAll('_', ' ')}</Badge>
}
