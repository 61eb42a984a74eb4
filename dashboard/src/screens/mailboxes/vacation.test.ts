import { expect, test } from 'vitest'
import { describeState, initialValues, putBody, type Vacation } from './vacationValues'

const NONE: Vacation = { active: false, subject: null, text: null, html: null, start_at: null, end_at: null, days: null }

test('times that were not edited keep their seconds, others are of the zone', () => {
  const saved = { ...NONE, active: true, text: 'Away', start_at: '2026-08-01T16:00:30.500Z', end_at: '2026-08-15T06:00:00.000Z', days: 3 }
  const values = initialValues(saved, 'Europe/Berlin')
  expect(values.start).toBe('2026-08-01T18:00')
  expect(putBody(values, saved, 'Europe/Berlin')).toEqual({
    active: true,
    text: 'Away',
    start_at: saved.start_at,
    end_at: saved.end_at,
    days: 3,
  })
  expect(putBody({ ...values, start: '2026-08-01T19:00', end: '' }, saved, 'Europe/Berlin')).toEqual({
    active: true,
    text: 'Away',
    start_at: '2026-08-01T17:00:00.000Z',
    days: 3,
  })
})

test('a mailbox without a vacation has empty values', () => {
  const body = putBody({ ...initialValues(NONE, 'UTC'), subject: ' Away ', text: 'Hello', html: '<p>', active: true }, NONE, 'UTC')
  expect(body).toEqual({ active: true, subject: 'Away', text: 'Hello', html: '<p>', days: 7 })
})

test('the state depends on the time', () => {
  const now = Date.parse('2026-08-10T00:00:00Z')
  const vacation = { ...NONE, active: true, start_at: '2026-08-01T00:00:00Z', end_at: '2026-08-15T00:00:00Z' }
  expect(describeState(vacation, 'Asia/Kathmandu', now)).toMatch(/^On until .*2026.*05:45.*\(Asia\/Kathmandu\)$/)
  expect(describeState({ ...vacation, end_at: null }, 'Asia/Kathmandu', now)).toBe('On')
  expect(describeState({ ...vacation, start_at: '2026-08-11T00:00:00Z' }, 'Asia/Kathmandu', now)).toMatch(/^Starts /)
  expect(describeState({ ...vacation, end_at: '2026-08-10T00:00:00Z' }, 'Asia/Kathmandu', now)).toMatch(/^Ended /)
  expect(describeState({ ...vacation, active: false }, 'Asia/Kathmandu', now)).toBe('Off')
})
