import { expect, test } from 'vitest'
import openapi from '../../../../docs/reference/openapi.json'
import { describeDecision, describeResult, describeRow, describeStep } from './explanation'

// The API document lists the values in prose: “a, b (a remark), c”.
const namesIn = (list: string) => list.replace(/\s*\([^)]*\)/g, '').split(/,\s+/)

test('every decision and step of the API has a text', () => {
  const { RouteExplanationRecord, RouteStepRecord } = openapi.components.schemas
  const decisions = namesIn(RouteExplanationRecord.properties.decision.description)
  expect(decisions).toContain('no_administrator')
  for (const decision of decisions) expect(describeDecision(decision)).toMatch(/^is (delivered$|accepted as |rejected: |deferred: )/)
  const steps = namesIn(/bounce, domain_alias[^;]*/.exec(RouteStepRecord.description)?.[0] ?? '')
  expect(steps).toContain('postmaster')
  for (const step of steps) expect(describeStep(step)).toMatch(/^[A-Z]/)
})

test('results and records are readable', () => {
  expect(describeResult('stripped')).toBe('tag removed')
  expect(describeResult('no_match')).toBe('no match')
  expect(describeRow({ id: 'x1', destinations: ['a@b.test', 'c@d.test'] })).toBe('ID x1 · destinations a@b.test, c@d.test')
})
