import { describe, expect, it } from 'vitest'
import type { Policy } from './queries'
import { describeOperation, listWarnings } from './texts'

const POLICY: Policy = {
  schedule: 'daily',
  start_time: '02:30',
  retention: { hourly: 24, daily: 7, weekly: 5, monthly: 12 },
  repository: 's3:https://s3.example/mail',
  verify_every: 'weekly',
  append_only: false,
  wal_archive: true,
  last_backup_at: '2026-03-01T02:30:00.000Z',
  last_verified_at: '2026-03-01T04:00:00.000Z',
  next_backup_at: '2026-03-02T02:30:00.000Z',
  next_verification_at: null,
  recovery_key: { created_at: '2026-03-01T02:30:00.000Z', verified_at: '2026-03-01T02:30:00.000Z' },
  point_in_time: { from: '2026-03-01T02:30:00.000Z', to: '2026-03-01T12:00:00.000Z', spool_bytes: 16777216, problem: null },
}

describe('warnings about backups', () => {
  it('are none if all is as it should be', () => {
    expect(listWarnings(POLICY, true)).toEqual([])
  })
  it('say what is missing', () => {
    const policy: Policy = { ...POLICY, schedule: 'off', repository: '', last_verified_at: null, recovery_key: null }
    expect(listWarnings(policy, true)).toHaveLength(4)
    expect(listWarnings(policy, false)).toHaveLength(2)
    expect(listWarnings({ ...POLICY, recovery_key: { created_at: '', verified_at: null } }, true)[0]).toContain('never tested')
  })
})

describe('an operation', () => {
  const operation = {
    id: '1', kind: 'create', state: 'running', backup_id: '2', phase: 'mail', done: 1, total: 3, cancel_requested: false,
    created_at: '', started_at: null, finished_at: null, error: null,
  } as const // prettier-ignore
  it('shows its progress', () => {
    expect(describeOperation(operation)).toBe('Being made: mail 33 %')
    expect(describeOperation({ ...operation, state: 'waiting' })).toBe('Waiting to begin')
    expect(describeOperation({ ...operation, cancel_requested: true })).toBe('Being cancelled')
  })
})
