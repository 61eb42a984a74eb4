import type { Tone } from '../../ui/Badge'
import { formatBytes, pluralize } from '../../units'
import type { Backup, Operation, Policy } from './queries'

const NAMES: Readonly<Record<NonNullable<Backup['operation']>['kind'], string>> = {
  create: 'Backup',
  verify: 'Verification',
  restore: 'Restore',
  prune: 'Removal of backups',
  key: 'Change of keys',
}

const DAY_MS = 86_400_000

/** What waits or runs, with its progress. */
export function describeOperation(operation: NonNullable<Backup['operation']>): string {
  const name = NAMES[operation.kind]
  if (operation.cancel_requested) return `${name}: being cancelled`
  if (operation.state === 'waiting') return `${name}: waiting to begin`
  return `${name}: ${describeProgress(operation) || 'running'}`
}

/** What an operation does, and how much of it is done; empty before it has begun. */
export function describeProgress({ phase, ...progress }: { phase: string; done: number; total: number }): string {
  return progress.total > 0 ? `${phase} ${String(Math.floor(shareOf(progress)))} %` : phase
}

/** Percent. */
export function shareOf({ done, total }: { done: number; total: number }): number {
  return total > 0 ? Math.min(100, (done / total) * 100) : 0
}

interface RestoreResult {
  folder?: string | null
  mailboxes?: { existing?: number; returned?: number; skipped?: number }
  messages?: { restored?: number; present?: number; newer?: number }
  bytes?: number
  details?: readonly { address: string; problem: string | null }[]
}

export interface ResultTexts {
  /** One word for the header. */
  word: string
  title: string
  lines: readonly string[]
  isProblem: boolean
}

/** A Message-ID as it is in the header: a log, or somebody who copies it, may leave out its brackets. */
export function toMessageId(text: string): string {
  return `<${text.replace(/^[\s<]+|[\s>]+$/g, '')}>`
}

/** What came of an operation; undefined while it runs. */
export function describeResult(operation: Operation): ResultTexts | undefined {
  if (operation.state === 'running') return undefined
  if (operation.state === 'cancelled') return { word: 'Cancelled', title: 'It was cancelled.', lines: [], isProblem: true }
  if (operation.state !== 'succeeded')
    return { word: 'Failed', title: `It has failed: ${operation.error ?? 'no reason is known'}`, lines: [], isProblem: true }
  if (operation.kind === 'backup.verify') {
    const { ok = true, detail = '' } = (operation.result ?? {}) as { ok?: boolean; detail?: string }
    return ok
      ? { word: 'Done', title: 'The backup is as it should be.', lines: [], isProblem: false }
      : { word: 'Differs', title: 'The backup differs.', lines: [detail], isProblem: true }
  }
  if (operation.kind !== 'backup.restore') return { word: 'Done', title: 'The backup was made.', lines: [], isProblem: false }
  const { folder, messages = {}, mailboxes = {}, bytes = 0, details = [] } = (operation.result ?? {}) as RestoreResult
  const { returned = 0, skipped = 0 } = mailboxes
  const where = folder ? `into the folder “${folder}”` : 'into the folders they were in'
  const verb = operation.dry_run ? 'Would restore' : 'Restored'
  return {
    word: 'Restored',
    title: `${verb} ${pluralize(messages.restored ?? 0, 'message')} (${formatBytes(bytes)}) ${where}.`,
    lines: [
      `${pluralize(messages.present ?? 0, 'message')} there already`,
      `${pluralize(messages.newer ?? 0, 'newer message')} not touched`,
      ...(returned > 0 ? [`${pluralize(returned, 'mailbox', 'mailboxes')} back in the old folders, without a password`] : []),
      ...(skipped > 0 ? [`${pluralize(skipped, 'mailbox', 'mailboxes')} skipped`] : []),
      ...details.flatMap(({ address, problem }) => (problem ? [`${address}: ${problem}`] : [])),
    ],
    isProblem: skipped > 0,
  }
}

const TONES: Readonly<Record<Backup['state'], Tone>> = { running: 'info', succeeded: 'good', failed: 'bad', cancelled: 'calm' }

export function toneOf(state: Backup['state']): Tone {
  return TONES[state]
}

/** Per UTC day with a backup: what the newest of it contains, and what all added. At least two weeks, until the day `until`. */
export function listSizes(backups: readonly Backup[], until: string) {
  const days = new Map<string, { contains: number; added: number }>()
  for (const { created_at, size_bytes, added_bytes } of backups.toSorted((a, b) => a.created_at.localeCompare(b.created_at))) {
    if (size_bytes === null) continue
    const day = created_at.slice(0, 10)
    days.set(day, { contains: size_bytes, added: (days.get(day)?.added ?? 0) + (added_bytes ?? 0) })
  }
  const first = [...days.keys()][0] ?? ''
  const twoWeeksAgo = new Date(Date.parse(until) - 13 * DAY_MS).toISOString().slice(0, 10)
  return {
    days: [...days.keys()],
    contains: [...days.values()].map((day) => day.contains),
    added: [...days.values()].map((day) => day.added),
    since: first && first < twoWeeksAgo ? first : twoWeeksAgo,
    until,
  }
}

/** What an administrator should do about backups, the most important first. */
export function listWarnings(policy: Policy, hasBackup: boolean): readonly string[] {
  const warnings: string[] = []
  if (policy.schedule === 'off') warnings.push('Scheduled backups are off: set a schedule in the policy.')
  if (hasBackup && policy.last_verified_at === null) warnings.push('No backup was ever verified: verify the newest one.')
  if (hasBackup && policy.recovery_key === null)
    warnings.push(
      'There is no recovery key: if this machine is lost, nobody can read the backups. Run `mailkeep backup key create` on the server.',
    )
  else if (policy.recovery_key?.verified_at === null)
    warnings.push('The recovery key was never tested. Run `mailkeep backup key verify` on the server.')
  if (policy.repository === '' || policy.repository.startsWith('/'))
    warnings.push('Backups are stored on this machine, or on a disk of it: set a repository on another one in the policy.')
  if (policy.point_in_time?.problem) warnings.push(policy.point_in_time.problem)
  return warnings
}
