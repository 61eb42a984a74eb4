import { expect, test } from 'vitest'
import { formatNumber, LOCALE } from './locale'
import { formatBytes, formatDuration, pickUnit, pluralize } from './units'

test('numbers use the interface language in the regional variant of the browser', () => {
  expect(LOCALE).toBe('en-GB')
  expect(formatNumber(1234567)).toBe('1,234,567')
})

test('sizes use a factor of 1024 and at most one decimal', () => {
  expect([0, 1023, 1024, 1536, 10 * 1024 ** 2, 5 * 1024 ** 4].map(formatBytes)).toEqual([
    '0 B',
    '1023 B',
    '1.0 KB',
    '1.5 KB',
    '10 MB',
    '5.0 TB',
  ])
})

test('a quota is edited in the largest unit with at most two decimals', () => {
  expect(pickUnit(undefined).name).toBe('GB')
  expect(pickUnit(1.25 * 1024 ** 3)).toEqual({ name: 'GB', size: 1024 ** 3 })
  expect(pickUnit(5 * 1024 ** 2).name).toBe('MB')
  expect(pickUnit(1000).name).toBe('B')
})

test('a count has the singular only for one', () => {
  expect([0, 1, 2].map((count) => pluralize(count, 'mailbox', 'mailboxes'))).toEqual(['0 mailboxes', '1 mailbox', '2 mailboxes'])
})

test('times have the largest unit of which there is one', () => {
  expect([0, 0.34, 42, 90, 3600, 200_000].map(formatDuration)).toEqual(['0 s', '0.3 s', '42 s', '1.5 min', '1 h', '2.3 d'])
})
