import { expect, test } from 'vitest'
import { fromLocal, knownZone, listZones, toLocal } from './timeZone'

test('local times of a zone are exact times, also around clock changes', () => {
  for (const [zone, local, utc] of [
    ['Europe/Berlin', '2026-08-01T18:00', '2026-08-01T16:00:00.000Z'],
    ['Europe/Berlin', '2026-12-01T00:00', '2026-11-30T23:00:00.000Z'],
    ['Europe/Berlin', '2026-03-29T03:00', '2026-03-29T01:00:00.000Z'],
    ['America/New_York', '2026-11-01T00:30', '2026-11-01T04:30:00.000Z'],
    ['Asia/Kathmandu', '2026-06-01T12:00', '2026-06-01T06:15:00.000Z'],
    ['UTC', '2026-06-01T12:00', '2026-06-01T12:00:00.000Z'],
  ] as const) {
    expect(fromLocal(local, zone)).toBe(utc)
    expect(toLocal(utc, zone)).toBe(local)
  }
  // Skipped: an hour later. Repeated: one of the two.
  expect(fromLocal('2026-03-29T02:30', 'Europe/Berlin')).toBe('2026-03-29T01:30:00.000Z')
  expect(toLocal(fromLocal('2026-10-25T02:30', 'Europe/Berlin'), 'Europe/Berlin')).toBe('2026-10-25T02:30')
})

test('what is no time or no zone is recognized', () => {
  expect(fromLocal('', 'UTC')).toBeNull()
  expect(fromLocal('soon', 'UTC')).toBeNull()
  expect(toLocal(null, 'UTC')).toBe('')
  expect(knownZone('Europe/Berlin')).toBe('Europe/Berlin')
  expect(knownZone('Mars/Phobos')).toBe('UTC')
  expect(listZones('Mars/Phobos')).toContain('Mars/Phobos')
  expect(listZones('UTC')).toContain('Europe/Berlin')
})
