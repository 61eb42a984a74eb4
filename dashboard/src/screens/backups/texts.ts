import type { Tone } from '../../ui/Badge'
import type { Backup, Policy } from './queries'

const VERBS: Readonly<Record<NonNullable<Backup['operation']>['kind'], string>> = {
  create: 'Being made',
  verify: 'Being verified',
  restore: 'Being restored from',
  prune: 'Being deleted',
  key: 'Keys are changed',
}

/** What runs with a backup, with its progress. */
export function describeOperation(operation: NonNullable<Backup['operation']>): string {
  if (operation.cancel_requested) return 'Being cancelled'
  if (operation.state === 'waiting') return 'Waiting to begin'
  const share = operation.total > 0 ? ` ${String(Math.floor((operation.done / operation.total) * 100))} %` : ''
  return `${VERBS[operation.kind]}${operation.phase ? `: ${operation.phase}` : ''}${share}`
}

const TONES: Readonly<Record<Backup['state'], Tone>> = { running: 'info', succeeded: 'good', failed: 'bad', cancelled: 'calm' }

export function toneOf(state: Backup['state']): Tone {
  return TONES[state]
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
