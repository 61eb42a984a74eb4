import { describe, expect, it } from 'vitest'
import type { Backup, Operation, Policy } from './queries'
import { describeOperation, describeResult, listSizes, listWarnings, toMessageId } from './texts'

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
  operation: null,
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
    expect(describeOperation(operation)).toBe('Backup: mail 33 %')
    expect(describeOperation({ ...operation, state: 'waiting' })).toBe('Backup: waiting to begin')
    expect(describeOperation({ ...operation, cancel_requested: true })).toBe('Backup: being cancelled')
  })
})

it('finds a message without the brackets of its Message-ID', () => {
  for (const text of ['a@b.test', '<a@b.test>', ' <a@b.test> ']) expect(toMessageId(text)).toBe('<a@b.test>')
})

describe('the result of an operation', () => {
  const operation = {
    id: '1', kind: 'backup.restore', state: 'succeeded', dry_run: true, progress: { done: 0, total: 0, failed: 0 }, results: [],
    created_at: '', finished_at: '', phase: '', error: null,
    result: { folder: null, mailboxes: { existing: 1, returned: 0, skipped: 1 }, messages: { restored: 1, present: 2, newer: 3 }, bytes: 2048,
      details: [{ address: 'a@b.test', problem: 'a@b.test belongs to another mailbox now.' }, { address: 'c@b.test', problem: null }] },
  } as const // prettier-ignore
  it('of a restore has counts, and why mailboxes were left out', () => {
    const result = describeResult(operation as unknown as Operation)
    expect(result?.title).toBe('Would restore 1 message (2.0 KB) into the folders they were in.')
    expect(result?.lines).toEqual([
      '2 messages there already',
      '3 newer messages not touched',
      '1 mailbox skipped',
      'a@b.test: a@b.test belongs to another mailbox now.',
    ])
    expect(result?.isProblem).toBe(true)
  })
  it('of a failed one has the reason', () => {
    const failed = { ...operation, state: 'failed', error: 'The disk is full.', result: null } as unknown as Operation
    expect(describeResult(failed)?.title).toBe('It has failed: The disk is full.')
    expect(describeResult({ ...failed, state: 'running' })).toBeUndefined()
  })
})

describe('sizes per day', () => {
  const backup = (created_at: string, size_bytes: number | null, added_bytes: number) =>
    ({ created_at, size_bytes, added_bytes }) as unknown as Backup
  it('have the newest of each day, and the sum of what was added', () => {
    const backups = [backup('2026-03-02T12:00:00.000Z', 12, 2), backup('2026-03-02T11:00:00.000Z', null, 0), backup('2026-03-02T10:00:00.000Z', 11, 1), backup('2026-03-01T10:00:00.000Z', 10, 10)] // prettier-ignore
    const sizes = listSizes(backups, '2026-03-03')
    expect(sizes).toEqual({
      days: ['2026-03-01', '2026-03-02'],
      contains: [10, 12],
      added: [10, 3],
      since: '2026-02-18',
      until: '2026-03-03',
    })
  })
})
