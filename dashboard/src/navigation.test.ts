import { expect, test } from 'vitest'
import { limitOpenGroups, NAVIGATION } from './navigation'
import { PATHS } from './paths'

const groups = NAVIGATION.map((group) => ({ ...group, entries: group.entries.filter((entry) => !entry.tabOf) }))
const visible = (open: readonly string[]) =>
  groups.filter(({ title }) => !title || open.includes(title)).reduce((sum, { entries }) => sum + entries.length, 0)

test('at most nine entries are visible, whichever group was opened last', () => {
  for (const { title } of groups.slice(1)) {
    const open = limitOpenGroups([title, ...['Mail', 'Directory'].filter((each) => each !== title)], groups)
    expect(visible(open)).toBeLessThanOrEqual(9)
    expect(open).toContain(title)
  }
})

test('the least recently opened group closes', () => {
  expect(limitOpenGroups(['Developers', 'Mail', 'Directory'], groups)).toEqual(['Developers', 'Mail'])
})

test('every shortcut key and screen occurs once', () => {
  const entries = NAVIGATION.flatMap((group) => group.entries)
  const keys = entries.flatMap(({ key }) => key ?? [])
  expect(new Set(keys).size).toBe(keys.length)
  expect(new Set(entries.map(({ screen }) => PATHS[screen])).size).toBe(entries.length)
})
