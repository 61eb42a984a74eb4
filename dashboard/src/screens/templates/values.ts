import type { Schema } from '../../api/client'

/** A declared variable in the form; `example` is JSON, or text that is no JSON. */
export interface VariableRow {
  name: string
  required: boolean
  example: string
}

/** An example as it is typed: text as it is, everything else as JSON. */
export function formatExample(example: unknown): string {
  if (example === null || example === undefined) return ''
  if (typeof example === 'string' && parseExample(example) === example) return example
  return JSON.stringify(example)
}

/** The value of a typed example: JSON if it is JSON, else the text; null if blank. */
export function parseExample(text: string): unknown {
  if (!text.trim()) return null
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

export function toRows(variables: readonly Schema['VariableRecord'][]): VariableRow[] {
  return variables.map(({ name, required, example }) => ({ name, required, example: formatExample(example) }))
}

/** The declared variables of a form; rows without a name are left out. */
export function toVariables(rows: readonly VariableRow[]): Schema['VariableBody'][] {
  return rows
    .filter((row) => row.name.trim())
    .map((row) => ({ name: row.name.trim(), required: row.required, example: parseExample(row.example) as never }))
}

/** An object with a value at each dotted name: `order.id` becomes `{order: {id}}`. */
export function nestValues(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const nested: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(values)) {
    const path = name.split('.')
    const last = path.pop() ?? ''
    let place = nested
    for (const key of path) {
      const below = place[key]
      place = (place[key] = typeof below === 'object' && below !== null && !Array.isArray(below) ? below : {}) as Record<string, unknown>
    }
    place[last] = value
  }
  return nested
}
