import { expect, test } from 'vitest'
import { countChanges, isShortened, parseDiff } from './diff'
import { wouldChange } from './PlanDetails'
import type { Plan } from './queries'
import { listSensibleActions } from './texts'

const DIFF = `--- a/rspamd/x.conf
+++ b/rspamd/x.conf
@@ -1,3 +1,3 @@
 same
--- a comment of SQL
+++ added
+
 `

test('the lines of a diff have kinds; the names of the files are left out', () => {
  const lines = parseDiff(DIFF)
  expect(lines.map((line) => line.kind)).toEqual(['place', 'same', 'removed', 'added', 'added', 'same'])
  expect(countChanges(lines)).toEqual({ added: 2, removed: 1 })
  expect(parseDiff('')).toEqual([])
})

test('a diff of the greatest length is shortened', () => {
  expect([isShortened('x'.repeat(64 << 10)), isShortened(DIFF)]).toEqual([true, false])
})

test('only what the state allows is offered', () => {
  const actions = ['start', 'stop', 'restart', 'reload'] as const
  expect(listSensibleActions({ actions: [...actions], state: 'running' })).toEqual(['stop', 'restart', 'reload'])
  expect(listSensibleActions({ actions: [...actions], state: 'stopped' })).toEqual(['start', 'restart'])
  expect(listSensibleActions({ actions: ['restart'], state: 'starting' })).toEqual(['restart'])
})

test('edits by hand alone are no change', () => {
  const plan = { settings: [], actions: [], files: [{ change: 'drifted' }] } as unknown as Plan
  expect(wouldChange(plan)).toBe(false)
  expect(wouldChange({ ...plan, settings: ['http.cors'] })).toBe(true)
  expect(wouldChange({ ...plan, files: [...plan.files, { change: 'update' }] as Plan['files'] })).toBe(true)
})
