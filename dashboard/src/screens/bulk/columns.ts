import type { BulkAction, BulkItem, BulkResource } from '../../api/operations'
import type { CsvTable } from './csv'

export interface TargetColumn {
  name: string
  label: string
  isRequired?: boolean
  /** Other names of the column in files, in lower case. */
  synonyms?: readonly string[]
}

const MAILBOX: readonly TargetColumn[] = [
  { name: 'address', label: 'Address', isRequired: true, synonyms: ['email', 'e-mail', 'mail', 'mailbox', 'username', 'user'] },
  { name: 'name', label: 'Name', synonyms: ['full name', 'display name'] },
  { name: 'password', label: 'Password' },
  { name: 'password_hash', label: 'Password hash', synonyms: ['hash', 'crypt'] },
  { name: 'quota_bytes', label: 'Quota in bytes', synonyms: ['quota'] },
  { name: 'active', label: 'Active', synonyms: ['enabled'] },
]
const ALIAS: readonly TargetColumn[] = [
  { name: 'domain', label: 'Domain', isRequired: true },
  { name: 'source_local_part', label: 'Local part', isRequired: true, synonyms: ['alias', 'source', 'local part'] },
  { name: 'destination', label: 'Destinations', isRequired: true, synonyms: ['goto', 'forward', 'target', 'destinations'] },
  { name: 'active', label: 'Active', synonyms: ['enabled'] },
]

/** The values of the items, and whether a file must have them. */
export function targetColumns(resource: BulkResource, action: BulkAction): readonly TargetColumn[] {
  const all = resource === 'mailbox' ? MAILBOX : ALIAS
  const naming = resource === 'mailbox' ? ['address'] : ['domain', 'source_local_part']
  if (action === 'delete') return all.filter(({ name }) => naming.includes(name))
  return action === 'create' ? all : all.map((each) => ({ ...each, isRequired: naming.includes(each.name) }))
}

/** The column of the file (its index) for each target; null: none. */
export type Mapping = Readonly<Record<string, number | null>>

/** Guesses the mapping from the names of the columns. */
export function guessMapping(targets: readonly TargetColumn[], columns: readonly string[]): Mapping {
  const names = columns.map((column) => column.toLowerCase())
  return Object.fromEntries(
    targets.map(({ name, label, synonyms = [] }) => {
      const known = [name, label.toLowerCase(), ...synonyms]
      const index = names.findIndex((each) => known.includes(each))
      return [name, index < 0 ? null : index]
    }),
  )
}

/** How a cell says yes or no, in lower case. */
export const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, yes: true, '1': true, false: false, no: false, '0': false }

/** The items of a file. An empty cell is an absent value, except the local part of a catch-all. */
export function toItems(table: CsvTable, targets: readonly TargetColumn[], mapping: Mapping): BulkItem[] {
  return table.rows.map((row) => {
    const item: BulkItem = {}
    for (const { name } of targets) {
      const index = mapping[name]
      if (index === null || index === undefined) continue
      const value = readCell(name, row[index] ?? '')
      if (value !== '' || name === 'source_local_part') item[name] = value
    }
    return item
  })
}

function readCell(name: string, cell: string): unknown {
  if (name.startsWith('password')) return cell
  const text = cell.trim()
  if (name === 'active') return BOOLEANS[text.toLowerCase()] ?? text
  if (name === 'quota_bytes' && /^\d{1,15}$/.test(text)) return Number(text)
  return text
}

/** What an item is about. */
export function nameOf(resource: BulkResource, item: BulkItem): string {
  if (resource === 'mailbox') return String(item['address'] ?? '')
  return `${String(item['source_local_part'] ?? '')}@${String(item['domain'] ?? '')}`
}
