import { describe, expect, it } from 'vitest'
import { guessMapping, nameOf, targetColumns, toItems } from './columns'

const table = {
  columns: ['E-Mail', 'Full name', 'Enabled', 'Quota', 'Remark'],
  rows: [['a@x.test ', 'Ann', 'yes', '1000', '?'], ['b@x.test', '', 'maybe', '5 GB', ''], ['c@x.test']],
  numbers: [2, 3, 4],
}

describe('the mapping of columns', () => {
  it('is guessed from usual names', () => {
    const targets = targetColumns('mailbox', 'create')
    expect(guessMapping(targets, table.columns)).toEqual({
      address: 0,
      name: 1,
      password: null,
      password_hash: null,
      quota_bytes: 3,
      active: 2,
    })
  })
  it('makes items with values of the right type, and leaves what is wrong to the server', () => {
    const targets = targetColumns('mailbox', 'create')
    expect(toItems(table, targets, guessMapping(targets, table.columns))).toEqual([
      { address: 'a@x.test', name: 'Ann', quota_bytes: 1000, active: true },
      { address: 'b@x.test', quota_bytes: '5 GB', active: 'maybe' },
      { address: 'c@x.test' },
    ])
  })
  it('keeps the empty local part of a catch-all, and requires only names to change or delete', () => {
    const targets = targetColumns('alias', 'delete')
    expect(targets.map(({ name }) => name)).toEqual(['domain', 'source_local_part'])
    const [item] = toItems({ columns: ['domain', 'alias'], rows: [['x.test', '']], numbers: [2] }, targets, {
      domain: 0,
      source_local_part: 1,
    })
    expect(item).toEqual({ domain: 'x.test', source_local_part: '' })
    expect(nameOf('alias', item ?? {})).toBe('@x.test')
    const required = targetColumns('alias', 'update').filter(({ isRequired }) => isRequired)
    expect(required.map(({ name }) => name)).toEqual(['domain', 'source_local_part'])
  })
})
