import { expect, test } from 'vitest'
import { ApiError } from '../../api/errors'
import type { DnsRecord } from '../dns/records'
import { allowedChanges, type DkimKey, findReplaced, nextRotation, resolversOf, toRecord } from './keys'

const NAME = 'mail2026._domainkey.example.test'

function key(change: Partial<DkimKey>): DkimKey {
  return {
    id: crypto.randomUUID(),
    selector: 'mail2026',
    algorithm: 'rsa2048',
    stage: 'active',
    automatic: false,
    dns: { name: NAME, type: 'TXT', value: 'v=DKIM1; k=rsa; p=AA==', target: null, status: 'missing', checked_at: '2026-01-02T00:00:00Z' },
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    activated_at: '2026-01-01T00:00:00Z',
    retiring_at: null,
    retired_at: null,
    safe_to_remove_from_dns: false,
    fingerprint_sha256: '00',
    warnings: [],
    ...change,
  }
}

test('a new key replaces the active keys of its kind only', () => {
  const [rsa, ed, old] = [key({ algorithm: 'rsa4096' }), key({ algorithm: 'ed25519' }), key({ stage: 'retiring' })]
  const next = key({ stage: 'pending' })
  expect(findReplaced([rsa, ed, old, next], next)).toEqual([rsa])
})

test('the last active key is not retired, and a key in use is not deleted', () => {
  const [active, pending, retired] = [key({}), key({ stage: 'pending' }), key({ stage: 'retired' })]
  expect(allowedChanges([active, pending], active)).toEqual({ activate: false, retire: true, isLastActive: true, delete: false })
  expect(allowedChanges([active, active], active).isLastActive).toBe(false)
  expect(allowedChanges([active, pending], pending)).toMatchObject({ activate: true, delete: true })
  expect(allowedChanges([retired], retired)).toMatchObject({ activate: false, delete: true })
})

test('the record of a key has the later of two results', () => {
  const checked = (checked_at: string | null, status: DnsRecord['status']): DnsRecord => ({
    ...toRecord(key({}), []),
    status,
    checked_at,
    found: ['found'],
    problem: 'problem',
  })
  expect(toRecord(key({}), [checked('2026-01-03T00:00:00Z', 'mismatch')])).toMatchObject({ status: 'mismatch', problem: 'problem' })
  expect(toRecord(key({}), [checked('2026-01-01T00:00:00Z', 'ok')])).toMatchObject({ status: 'missing', problem: null })
  expect(toRecord(key({}), [checked(null, 'not_checked')])).toMatchObject({ status: 'missing', required: true })
  expect(toRecord(key({}), [{ ...checked('2026-01-03T00:00:00Z', 'ok'), name: 'other' }])).toMatchObject({ status: 'missing' })
})

test('only a refusal for that reason says which name servers do not see a record', () => {
  const resolvers = [{ server: '192.0.2.1:53', status: 'missing', problem: 'There is no TXT record.', found: [] }]
  const refusal = (details: Record<string, unknown>) => new ApiError({ code: 'CONFLICT', message: '', details })
  expect(resolversOf(refusal({ reason: 'not_published', resolvers }))).toEqual(resolvers)
  expect(resolversOf(refusal({ reason: 'retired' }))).toBeNull()
  expect(resolversOf(null)).toBeNull()
})

test('the oldest active key is rotated first', () => {
  const keys = [key({}), key({ activated_at: '2025-12-31T00:00:00Z' }), key({ stage: 'retired', activated_at: '2025-01-01T00:00:00Z' })]
  expect(nextRotation(keys, 10)).toBe('2026-01-10T00:00:00.000Z')
  expect(nextRotation(keys, 0)).toBeNull()
  expect(nextRotation([], 10)).toBeNull()
})
