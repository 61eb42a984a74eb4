import { expect, test } from 'vitest'
import {
  collectChanges,
  describeChanges,
  describeDraft,
  describeEffect,
  type Effect,
  describeValue,
  filterSettings,
  groupBySection,
  type Kind,
  kindOf,
  listRolledBack,
  type Revision,
  type Setting,
  toDraft,
  whyFixed,
} from './values'

const setting = (key: string, more: Partial<Setting> = {}): Setting => ({
  key,
  value: 6,
  default: 6,
  source: 'default',
  effect: 'none',
  services: [],
  storable: true,
  secret: false,
  expected: 'a number',
  description: 'The score.',
  ...more,
})

const SCORE = setting('filter.spam_score', { effect: 'reload', services: ['rspamd'], description: 'The score from which mail is spam.' })
const PASSWORD = setting('outbound.relay_password', { value: '********', default: '', secret: true, source: 'database' })
const NETWORKS = setting('webhooks.allowed_networks', { value: ['10.0.0.0/8'], default: [], source: 'file', description: 'Networks.' })

test.each<[unknown, Kind['input']]>([
  [{ type: 'boolean' }, 'switch'],
  [{ enum: ['a', 'b'] }, 'choice'],
  [{ type: 'integer' }, 'number'],
  [{ type: 'array', items: { type: 'string' } }, 'list'],
  [{ type: 'array', items: { $ref: '#/x' } }, 'json'],
  [{ type: 'object' }, 'json'],
  [undefined, 'text'],
])('the input of %o is %s', (schema, input) => {
  expect(kindOf(SCORE, schema as object).input).toBe(input)
})

test('a secret is only written', () => {
  const kind = kindOf(PASSWORD, { type: 'string' })
  expect([kind.input, toDraft(PASSWORD, kind)]).toEqual(['secret', ''])
  expect(describeValue(PASSWORD, PASSWORD.value)).toBe('set (not shown)')
  expect(describeDraft(PASSWORD, 'hidden')).toBe('your new secret')
  const kinds = { [PASSWORD.key]: kind }
  expect(collectChanges(kinds, { [PASSWORD.key]: { text: '', changedIn: '2' } }, { [PASSWORD.key]: '' }).changes).toEqual({})
  expect(collectChanges(kinds, { [PASSWORD.key]: '' }, { [PASSWORD.key]: 'new' }).changes).toEqual({ [PASSWORD.key]: 'new' })
})

test('only edited values are sent, with the types of the API', () => {
  const kinds: Record<string, Kind> = {
    number: { input: 'number' },
    word: { input: 'number' },
    list: { input: 'list', ofNumbers: true },
    table: { input: 'json' },
    unset: { input: 'text' },
    same: { input: 'text' },
  }
  const saved = { number: '6', word: '6', list: ['1'], table: '{}', unset: 'a', same: 'b' }
  const values = { number: ' 7.5 ', word: 'many', list: ['443', 'x'], table: '{"a": ["b"]}', unset: null, same: 'b' }
  expect(collectChanges(kinds, saved, values)).toEqual({
    changes: { number: 7.5, word: 'many', list: [443, 'x'], table: { a: ['b'] }, unset: null },
    faults: {},
  })
})

test('a table must be JSON without masked secrets', () => {
  const kinds: Record<string, Kind> = { one: { input: 'json' }, other: { input: 'json' } }
  const { changes, faults } = collectChanges(kinds, { one: '', other: '' }, { one: '[', other: '[{"client_secret": "********"}]' })
  expect(changes).toEqual({})
  expect(faults['one']).toBe('is not valid JSON')
  expect(faults['other']).toContain('enter the secret itself')
})

test('every word of the search must be in the name, description or section', () => {
  const all = [SCORE, PASSWORD, NETWORKS]
  const keys = (filter: object) => filterSettings(all, filter).map((each) => each.key)
  expect(keys({ q: 'SPAM score' })).toEqual([SCORE.key])
  expect(keys({ q: 'outbound mail' })).toEqual([PASSWORD.key])
  expect(keys({ q: 'spam relay' })).toEqual([])
  expect(keys({ section: 'filter' })).toEqual([SCORE.key])
  expect(keys({ show: 'changed' })).toEqual([PASSWORD.key, NETWORKS.key])
  expect(keys({ show: 'editable' })).toEqual([SCORE.key, PASSWORD.key])
  expect(groupBySection(all).map(([section]) => section)).toEqual(['filter', 'outbound', 'webhooks'])
})

test('what cannot be changed here names its source', () => {
  expect(whyFixed(SCORE)).toBeNull()
  expect(whyFixed(NETWORKS)).toContain('mailkeep.toml')
  expect(whyFixed(setting('a.b', { source: 'env' }))).toContain('environment')
  expect(whyFixed(setting('tls.key_file', { storable: false, expected: 'an absolute path, or an empty string' }))).toContain('file')
  expect(whyFixed(setting('http.listen', { storable: false }))).toContain('lock you out')
})

test('a review names defaults, secrets and what the server changes besides', () => {
  const changes = {
    [SCORE.key]: { before: null, after: 7 },
    [PASSWORD.key]: { before: '********', after: null },
  }
  expect(describeChanges([SCORE, PASSWORD], changes, [SCORE.key])).toEqual([
    { key: SCORE.key, before: 'default: 6', after: '7', effect: { effect: 'reload', services: ['rspamd'] }, isConsequence: false },
    {
      key: PASSWORD.key,
      before: 'set (not shown)',
      after: 'default: not set',
      effect: { effect: 'none', services: [] },
      isConsequence: true,
    },
  ])
})

test.each<[Effect, string]>([
  [{ effect: 'none', services: [] }, 'Applies at once'],
  [{ effect: 'reload', services: ['rspamd', 'postfix'] }, 'Needs an apply: reloads Rspamd, Postfix'],
  [{ effect: 'restart', services: ['dovecot', 'postfix', 'lmtp', 'api'] }, 'Needs an apply: restarts Dovecot, Postfix and 2 more'],
  [{ effect: 'restart', services: ['mailkeep'] }, 'Needs a restart of Mailkeep'],
])('the effect %o in words', (effect, words) => {
  expect(describeEffect(effect)).toBe(words)
})

test('a rollback undoes the newer revisions', () => {
  const revision = (n: number, changes: Revision['changes']) => ({ n, changes }) as Revision
  const revisions = [
    revision(4, { a: { before: 2, after: 3 }, secret: { before: '********', after: '********' } }),
    revision(3, { a: { before: 1, after: 2 }, b: { before: null, after: 5 }, c: { before: 8, after: 9 } }),
    revision(2, { a: { before: null, after: 1 }, c: { before: 9, after: 8 } }),
  ]
  expect(listRolledBack(revisions, 2)).toEqual({
    a: { before: 3, after: 1 },
    b: { before: 5, after: null },
    c: { before: 9, after: 8 },
    secret: { before: '********', after: '********' },
  })
  expect(Object.keys(listRolledBack(revisions, 1))).toEqual(['a', 'secret', 'b'])
})
