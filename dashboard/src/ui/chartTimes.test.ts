import { expect, test } from 'vitest'
import { formatTimes, pickTicks } from './chartTimes'

const BERLIN = 'Europe/Berlin'
const hours = (first: string, count: number) =>
  Array.from({ length: count }, (_, index) => new Date(Date.parse(first) + index * 3_600_000).toISOString())

test('an hour that a change of the clocks repeats has two names, and one that it skips none', () => {
  const autumn = formatTimes(hours('2026-10-24T23:00:00Z', 4), 'hour', BERLIN)
  expect(new Set(autumn).size).toBe(4)
  expect(autumn.filter((each) => each.includes('GMT+')).map((each) => each.replace(/.*(GMT.*)/, '$1'))).toEqual(['GMT+2', 'GMT+1'])
  const spring = formatTimes(hours('2026-03-29T00:00:00Z', 2), 'hour', BERLIN)
  expect(spring.map((each) => /(\d\d):00/.exec(each)?.[1])).toEqual(['01', '03'])
})

test('days of 23 and 25 hours have one label each', () => {
  const days = ['2026-10-23T22:00:00Z', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z', '2026-10-26T23:00:00Z']
  expect(formatTimes(days, 'day', BERLIN).map((each) => /\b2\d\b/.exec(each)?.[0])).toEqual(['24', '25', '26', '27'])
})

test('labels at the axis are of days and hours that are there, the last among them', () => {
  const times = hours('2026-10-24T23:00:00Z', 24)
  expect(pickTicks(times, 'hour', 5).map((each) => times.indexOf(each))).toEqual([5, 11, 17, 23])
  expect(pickTicks(times, 'hour', 24)).toEqual(times)
  expect(pickTicks(times.slice(0, 7), 'day', 4)).toHaveLength(4)
  expect(pickTicks([], 'day', 4)).toEqual([])
})
