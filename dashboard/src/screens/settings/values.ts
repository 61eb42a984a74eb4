import type { Schema } from '../../api/client'
import { isEqual } from '../../ui/conflict'

export type Setting = Schema['SettingResponse']
export type Effect = Pick<Setting, 'effect' | 'services'>
export type Revision = Schema['RevisionResponse']

/** The value of an input. null: no stored value. An object: the text of a secret that somebody else has changed meanwhile. */
export type Draft = string | boolean | readonly string[] | { text: string; changedIn: string } | null
export type Drafts = Record<string, Draft>

/** How a setting is entered. */
export type Kind =
  | { input: 'switch' | 'text' | 'secret' | 'json' }
  | { input: 'number' }
  | { input: 'list'; ofNumbers: boolean }
  | { input: 'choice'; options: readonly string[] }

/** The JSON Schema of a setting, as far as inputs depend on it. */
export interface ValueSchema {
  type?: string
  enum?: readonly unknown[]
  items?: { type?: string }
}

/** What the API shows in place of a secret. */
export const MASK = '********'

const SECTIONS: Readonly<Record<string, string>> = {
  http: 'HTTP server',
  database: 'Database',
  smtp: 'SMTP listener',
  mta: 'Handing over mail',
  limits: 'Limits',
  sessions: 'Sessions',
  auth: 'Sign-in',
  abuse: 'Abuse limits',
  retention: 'Retention',
  events: 'Events',
  oidc: 'Identity providers',
  webhooks: 'Webhooks',
  dns: 'DNS',
  cors: 'Other web pages (CORS)',
  log: 'Logs',
  server: 'Server',
  tls: 'TLS and certificate files',
  ports: 'Ports',
  acme: 'Certificates (ACME)',
  edge: 'HTTPS (nginx)',
  webmail: 'Webmail',
  filter: 'Spam filter',
  outbound: 'Outbound mail',
  sendmail: 'Sendmail command',
  overlays: 'Own lines for daemons',
}

export function sectionOf(key: string): string {
  return key.split('.')[0] ?? key
}

export function titleOf(section: string): string {
  return SECTIONS[section] ?? section.charAt(0).toUpperCase() + section.slice(1)
}

export function kindOf(setting: Setting, schema: ValueSchema | undefined): Kind {
  if (schema?.type === 'boolean') return { input: 'switch' }
  if (schema?.enum) return { input: 'choice', options: schema.enum.map(String) }
  if (schema?.type === 'integer' || schema?.type === 'number') return { input: 'number' }
  if (schema?.type === 'array' && (schema.items?.type === 'string' || schema.items?.type === 'integer'))
    return { input: 'list', ofNumbers: schema.items.type === 'integer' }
  if (schema?.type === 'array' || schema?.type === 'object') return { input: 'json' }
  return { input: setting.secret ? 'secret' : 'text' }
}

/** The newest value: the one that applies with the next apply or start, if there is one. */
export function newestValue(setting: Setting): unknown {
  return 'pending' in setting ? setting.pending : setting.value
}

const DAEMONS: Readonly<Record<string, string>> = { redis: 'Redis', rspamd: 'Rspamd', dovecot: 'Dovecot', postfix: 'Postfix' }
const VERBS = { none: '', reload: 'reloads', restart: 'restarts' } as const
const MAX_NAMES = 3

/** When a stored change applies, and which services notice it. */
export function describeEffect({ effect, services }: Effect): string {
  if (effect === 'none') return 'Applies at once'
  if (services.includes('mailkeep')) return 'Needs a restart of Mailkeep'
  const names = services.slice(0, services.length > MAX_NAMES ? MAX_NAMES - 1 : MAX_NAMES).map((each) => DAEMONS[each] ?? each)
  const more = services.length - names.length
  return `Needs an apply: ${VERBS[effect]} ${more ? `${names.join(', ')} and ${more} more` : names.join(', ')}`
}

/** Why a setting can't be changed here; null if it can. */
export function whyFixed(setting: Setting): string | null {
  if (setting.source === 'file') return 'Set in mailkeep.toml: change or remove it there.'
  if (setting.source === 'env') return 'Set by the environment or a command-line option: change or remove it there.'
  if (setting.storable) return null
  return setting.expected.startsWith('an absolute path')
    ? 'Names a file, so it is set only in mailkeep.toml or the environment.'
    : 'A wrong value could lock you out, so it is set only in mailkeep.toml or the environment.'
}

/** Whether the database has a value, in effect now or after an apply or start. */
export function isStored(setting: Setting): boolean {
  return setting.source === 'database' || 'pending' in setting
}

export function toDraft(setting: Setting, kind: Kind): Draft {
  const value = newestValue(setting)
  if (kind.input === 'switch') return value === true
  if (kind.input === 'secret') return ''
  if (kind.input === 'list') return Array.isArray(value) ? value.map(String) : []
  if (kind.input === 'json') return JSON.stringify(value, null, 2)
  return String(value ?? '')
}

/** A draft as text for an input. */
export function textOf(draft: Draft | undefined): string {
  if (typeof draft === 'string') return draft
  return draft && typeof draft === 'object' && 'text' in draft ? draft.text : ''
}

/** The names of the edited settings. */
export function listEdited(saved: Drafts, values: Drafts): string[] {
  return Object.keys(values).filter((key) => !isEqual(saved[key], values[key]))
}

/** The changes for the API, and what is not even JSON by key. */
export function collectChanges(
  kinds: Readonly<Record<string, Kind>>,
  saved: Drafts,
  values: Drafts,
): { changes: Record<string, unknown>; faults: Record<string, string> } {
  const changes: Record<string, unknown> = {}
  const faults: Record<string, string> = {}
  for (const key of listEdited(saved, values)) {
    const kind = kinds[key]
    const draft = values[key]
    if (!kind || draft === undefined) continue
    if (kind.input === 'secret' && draft !== null && textOf(draft) === '') continue
    try {
      changes[key] = toValue(kind, draft)
    } catch (error) {
      faults[key] = error instanceof MaskedSecret ? error.message : 'is not valid JSON'
    }
  }
  return { changes, faults }
}

class MaskedSecret extends Error {}

function toValue(kind: Kind, draft: Draft): unknown {
  if (draft === null || typeof draft === 'boolean') return draft
  if (Array.isArray(draft)) return kind.input === 'list' && kind.ofNumbers ? draft.map(toNumber) : draft
  const text = textOf(draft)
  if (kind.input === 'secret') return text
  if (kind.input === 'number') return toNumber(text)
  if (kind.input !== 'json') return text.trim()
  if (text.includes(`"${MASK}"`)) throw new MaskedSecret(`has ${MASK} in place of a secret: enter the secret itself`)
  return JSON.parse(text)
}

/** The number, or the text for the server to refuse. */
function toNumber(text: string): number | string {
  const number = Number(text.trim().replace(',', '.'))
  return text.trim() === '' || !Number.isFinite(number) ? text : number
}

/** A value in words. */
export function describeValue(setting: Pick<Setting, 'secret'> | undefined, value: unknown): string {
  if (setting?.secret && !Array.isArray(value)) return value ? 'set (not shown)' : 'not set'
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) return value.length ? value.join(', ') : 'none'
  if (typeof value === 'object' && value !== null) return Object.keys(value).length ? JSON.stringify(value) : 'none'
  return value === '' || value === null || value === undefined ? 'empty' : String(value)
}

/** A draft in words, for the choice between two versions. */
export function describeDraft(setting: Setting | undefined, draft: unknown): string {
  if (draft === null) return 'default'
  if (typeof draft === 'object' && 'changedIn' in draft) return 'another secret'
  if (setting?.secret && typeof draft === 'string' && !draft.startsWith('[')) return draft ? 'your new secret' : 'not changed'
  return describeValue(undefined, draft)
}

export interface ReviewedChange {
  key: string
  before: string
  after: string
  effect: Effect
  /** Not asked for: the server removes a password whose destination changes. */
  isConsequence: boolean
}

/** The rows of a review, from the answer to a dry run. */
export function describeChanges(
  settings: readonly Setting[],
  changes: Schema['ConfigChangeResponse']['changes'],
  edited: readonly string[],
): ReviewedChange[] {
  const byKey = new Map(settings.map((each) => [each.key, each]))
  return Object.entries(changes).map(([key, { before, after }]) => {
    const setting = byKey.get(key)
    const describe = (value: unknown) =>
      value === null ? `default: ${describeValue(setting, setting?.default)}` : describeValue(setting, value)
    const isSecret = setting?.secret === true && !Array.isArray(after)
    return {
      key,
      before: describe(before),
      after: isSecret && after !== null ? 'new secret' : describe(after),
      effect: { effect: setting?.effect ?? 'none', services: setting?.services ?? [] },
      isConsequence: !edited.includes(key),
    }
  })
}

export type Show = 'changed' | 'editable' | 'pending'

/** The settings whose key, description or section contains all words. */
export function filterSettings(
  settings: readonly Setting[],
  filter: { q?: string | undefined; section?: string | undefined; show?: string | undefined },
): Setting[] {
  const words = (filter.q ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  return settings.filter((setting) => {
    const section = sectionOf(setting.key)
    const text = `${setting.key} ${setting.description} ${titleOf(section)}`.toLowerCase()
    if (filter.section && filter.section !== section) return false
    if (filter.show === 'changed' && setting.source === 'default' && !('pending' in setting)) return false
    if (filter.show === 'editable' && whyFixed(setting)) return false
    if (filter.show === 'pending' && !('pending' in setting)) return false
    return words.every((word) => text.includes(word))
  })
}

/** The settings by section, in the order of the API. */
export function groupBySection(settings: readonly Setting[]): [string, Setting[]][] {
  const groups = new Map<string, Setting[]>()
  for (const setting of settings) {
    const section = sectionOf(setting.key)
    groups.set(section, [...(groups.get(section) ?? []), setting])
  }
  return [...groups]
}

/**
 * What a rollback to revision `n` changes, from the newer revisions: for each setting the newest value and that of `n`.
 * Secrets are masked, so those that have changed since are always listed.
 */
export function listRolledBack(revisions: readonly Revision[], n: number): Revision['changes'] {
  const result: Revision['changes'] = {}
  for (const revision of revisions.filter((each) => each.n > n).sort((one, other) => other.n - one.n))
    for (const [key, { before, after }] of Object.entries(revision.changes))
      result[key] = { before: (result[key] ?? { before: after }).before, after: before }
  return Object.fromEntries(
    Object.entries(result).filter(([, { before, after }]) => !isEqual(before, after) || JSON.stringify(after).includes(`"${MASK}"`)),
  )
}
