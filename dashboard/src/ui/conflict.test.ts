import { expect, test } from 'vitest'
import { findDifferences, formatValue } from './conflict'

test('only fields that differ from the current object are differences', () => {
  const original = { name: 'a', active: true, to: ['x'], quota: 1 }
  const mine = { name: 'b', active: true, to: ['x'], quota: 2 }
  const current = { name: 'c', active: true, to: ['x', 'y'], quota: 2 }
  expect(findDifferences(['name', 'active', 'to', 'quota'], { original, mine, current })).toEqual([
    { name: 'name', mine: 'b', current: 'c', isEdited: true },
    { name: 'to', mine: ['x'], current: ['x', 'y'], isEdited: false },
  ])
})

test('values are shown in words', () => {
  expect([true, false, ['a', 'b'], [], '', null, 5].map(formatValue)).toEqual(['Yes', 'No', 'a, b', 'None', 'Blank', 'Blank', '5'])
})
