import { expect, test } from 'vitest'
import { formatSearch, parseSearch, stringParams, toUtc } from './search'

test('parameters are plain values, and a plus sign stands for itself', () => {
  expect(parseSearch('?q=a%20b&address=alice+news@example.test')).toEqual({ q: 'a b', address: 'alice+news@example.test' })
  expect(formatSearch({ q: 'a b', address: 'alice+news@example.test', cursor: undefined, sort: '' })).toBe(
    '?q=a%20b&address=alice%2Bnews%40example.test',
  )
  expect(formatSearch({})).toBe('')
})

test('unknown, empty and non-string parameters are dropped', () => {
  expect(stringParams('q', 'sort')({ q: 'x', sort: '', other: 'y', cursor: 3 })).toEqual({ q: 'x' })
})

test('a local time becomes UTC; anything else is dropped', () => {
  expect(toUtc('2026-11-23T12:00Z')).toBe('2026-11-23T12:00:00.000Z')
  expect(toUtc('yesterday')).toBeUndefined()
  expect(toUtc(undefined)).toBeUndefined()
})
