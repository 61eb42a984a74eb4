import { expect, test } from 'vitest'
import { formatExample, nestValues, parseExample, toVariables } from './values'

test('an example that is typed again is the same', () => {
  for (const example of ['Alice', 'A "quote"', '12', 'true', 12, true, [1, { a: 'b' }], { a: null }, null])
    expect(parseExample(formatExample(example))).toEqual(example)
})

test('dotted names become objects', () => {
  expect(nestValues({ name: 'Ann', 'order.id': 1, 'order.lines': [2], 'a.b.c': 3 })).toEqual({
    name: 'Ann',
    order: { id: 1, lines: [2] },
    a: { b: { c: 3 } },
  })
})

test('rows without a name are left out', () => {
  expect(
    toVariables([
      { name: ' ', required: true, example: '' },
      { name: 'a ', required: false, example: '1' },
    ]),
  ).toEqual([{ name: 'a', required: false, example: 1 }])
})
