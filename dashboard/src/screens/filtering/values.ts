import type { Digest, FilterSettings, NewEntry, SettingsPatch, Threshold } from '../../api/filteringRequests'
import { BOOLEANS } from '../bulk/columns'
import { type CsvTable, toObjects } from '../bulk/csv'
import { kindOf } from './words'

/** Null inherits. A score while it is typed is a text. */
export interface Values {
  junk_score: Threshold | string | null
  reject_score: Threshold | string | null
  digest: Digest | null
  learn: boolean | null
}

export function initialValues({ junk_score, reject_score, digest, learn }: FilterSettings): Values {
  return { junk_score, reject_score, digest, learn }
}

/** The changed values. */
export function patchBody(values: Values, saved: Values): SettingsPatch {
  const names = (Object.keys(values) as (keyof Values)[]).filter((name) => values[name] !== saved[name])
  return Object.fromEntries(names.map((name) => [name, values[name]]))
}

/** Which scores go where, in words. */
export interface Outcome {
  inbox: string
  junk: string
  refused: string
}

const UNKNOWN: Outcome = { inbox: 'not known', junk: 'not known', refused: 'not known' }

/** What the two thresholds do together. `undefined`: a threshold that is not known before it is saved, or no number. */
export function describeOutcome(junk: Threshold | undefined, reject: Threshold | undefined): Outcome {
  if (junk === undefined || reject === undefined) return UNKNOWN
  const refused = reject === 'off' ? 'never' : `from ${reject}`
  const isJunkFirst = junk !== 'off' && (reject === 'off' || junk < reject)
  const first = isJunkFirst ? junk : reject
  return {
    inbox: first === 'off' ? 'always' : `below ${first}`,
    junk: !isJunkFirst ? 'never' : reject === 'off' ? `from ${junk}` : `${junk} to below ${reject}`,
    refused,
  }
}

/** The threshold that applies once the form is saved; undefined if that is not known here. */
export function thresholdOf(name: 'junk_score' | 'reject_score', values: Values, saved: FilterSettings): Threshold | undefined {
  const value = values[name]
  if (value === null) return saved[name] === null ? saved.effective[name].value : undefined
  if (typeof value === 'string' && value !== 'off') return undefined
  return value
}

/** What changes for senders, in a sentence; empty if nothing does, or it is not known. */
export function describeConsequence(before: Threshold | undefined, after: Threshold | undefined): string {
  if (after === undefined || after === before) return ''
  if (after === 'off') return 'No mail is refused because of its score any more.'
  return `From ${after} on, mail is refused: its sender gets an error, and nothing is stored.`
}

/** The rows of a file as the API takes them. What is wrong in them is left to the server. */
export function toEntries(table: CsvTable): NewEntry[] {
  return toObjects(table).map(({ enforced, ...row }) => ({
    kind: kindOf(row['value'] ?? ''),
    ...row,
    ...(enforced && { enforced: BOOLEANS[enforced.toLowerCase()] ?? enforced }),
  })) as unknown as NewEntry[]
}
