import { expect, test } from 'vitest'
import openapi from '../../../../docs/reference/openapi.json'
import type { FilterSettings } from '../../api/filteringRequests'
import { parseCsv } from '../bulk/csv'
import { describeOutcome, initialValues, describeConsequence, patchBody, thresholdOf, toEntries } from './values'
import { describeLessons, describeReason, describeSource, describeTraining, kindOf } from './words'

test('two thresholds make three ranges of scores', () => {
  expect(describeOutcome(6, 15)).toEqual({ inbox: 'below 6', junk: '6 to below 15', refused: 'from 15' })
  expect(describeOutcome(6, 'off')).toEqual({ inbox: 'below 6', junk: 'from 6', refused: 'never' })
  expect(describeOutcome('off', 15)).toEqual({ inbox: 'below 15', junk: 'never', refused: 'from 15' })
  expect(describeOutcome('off', 'off')).toEqual({ inbox: 'always', junk: 'never', refused: 'never' })
  // What is refused can't be filed in Junk.
  expect(describeOutcome(6, 5)).toEqual({ inbox: 'below 5', junk: 'never', refused: 'from 5' })
  expect(describeOutcome(undefined, 5).inbox).toBe('not known')
})

const settings = {
  junk_score: null,
  reject_score: 12,
  digest: null,
  learn: true,
  effective: {
    junk_score: { value: 6, scope: 'server' },
    reject_score: { value: 12, scope: 'domain' },
    digest: { value: 'off', scope: 'default' },
    learn: { value: true, scope: 'domain' },
  },
} as FilterSettings

test('only changes are sent, and an inherited threshold is known only as long as it applies', () => {
  const saved = initialValues(settings)
  expect(patchBody(saved, saved)).toEqual({})
  const values = { ...saved, reject_score: null, digest: 'daily' as const }
  expect(patchBody(values, saved)).toEqual({ reject_score: null, digest: 'daily' })
  expect(thresholdOf('junk_score', values, settings)).toBe(6)
  expect(thresholdOf('reject_score', values, settings)).toBeUndefined()
  expect(thresholdOf('junk_score', { ...values, junk_score: '' }, settings)).toBeUndefined()
  expect(thresholdOf('junk_score', { ...values, junk_score: 'off' }, settings)).toBe('off')
})

test('the consequence of a refusal is said before it is saved', () => {
  expect(describeConsequence('off', 15)).toContain('From 15 on, mail is refused')
  expect(describeConsequence(15, 'off')).toContain('No mail is refused')
  expect(describeConsequence(15, 15)).toBe('')
  expect(describeConsequence(15, undefined)).toBe('')
})

test('the kind of an entry follows from its text', () => {
  expect(['a@b.test', ' News@Example.test '].map(kindOf)).toEqual(['address', 'address'])
  expect(['192.0.2.1', '192.0.2.0/24', '2001:db8::/32', '::1'].map(kindOf)).toEqual(['network', 'network', 'network', 'network'])
  expect(['b.test', 'bücher.test', 'dead.beef', ''].map(kindOf)).toEqual(['domain', 'domain', 'domain', 'domain'])
})

test('rows of a file become entries; what is wrong is left to the server', () => {
  const file = new TextEncoder().encode('List,Value,Enforced\ndeny,a@b.test,yes\nallow,b.test,\nperhaps,192.0.2.0/24,maybe\n')
  expect(toEntries(parseCsv(file.buffer as ArrayBuffer))).toEqual([
    { list: 'deny', kind: 'address', value: 'a@b.test', enforced: true },
    { list: 'allow', kind: 'domain', value: 'b.test' },
    { list: 'perhaps', kind: 'network', value: '192.0.2.0/24', enforced: 'maybe' },
  ])
})

test('every rule of the API has a text, with the score where it decides', () => {
  for (const rule of openapi.components.schemas.SpamRule.properties.rule.enum)
    expect(describeReason({ scope: 'domain', rule: rule as 'virus', entry_id: null }, 7.25)).toMatch(/^[A-Z].{10,}/)
  expect(describeReason({ scope: 'mailbox', rule: 'junk_score', entry_id: null }, 7.25)).toBe(
    'Spam score 7.3 reaches the Junk threshold of the mailbox',
  )
  expect(describeReason(null, null)).toBe('No rule decided')
})

test('lessons over the limit are mentioned', () => {
  expect(describeLessons({ accepted: 1, dropped: 0 })).toBe('In the last hour it took 1 message of this mailbox.')
  expect(describeLessons({ accepted: 100, dropped: 7 })).toContain('dropped 7: at most 100')
})

test('sources are named from where they are seen', () => {
  expect(describeSource('domain', 'mailbox')).toBe('from the domain')
  expect(describeSource('domain', 'domain')).toBe('set for this domain')
  expect(describeSource('server', 'server')).toBe('set here')
  expect(describeSource('default', 'mailbox')).toBe('default')
})

test('training says whether it has an effect', () => {
  const counts = { spam_learned: 210, ham_learned: 20, required: 200 }
  expect(describeTraining({ state: 'collecting', ...counts }).text).toContain('until it has 200')
  expect(describeTraining({ state: 'active', ...counts }).text).toContain('210 spam and 20 wanted')
  expect(describeTraining({ state: 'unavailable', ...counts }).text).toContain('does not answer')
})
