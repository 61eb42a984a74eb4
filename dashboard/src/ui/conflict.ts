/** A field that differs between the form and the object as somebody else has saved it. */
export interface Difference<Values> {
  name: keyof Values & string
  mine: unknown
  current: unknown
  /** Whether the user has changed the field, so that the choice is theirs. */
  isEdited: boolean
}

/** Whether two values of a form are equal. */
export function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** The fields in `names` that differ from the current object. `original` are the values that the form was filled with. */
export function findDifferences<Values extends object>(
  names: readonly (keyof Values & string)[],
  values: { original: Values; mine: Values; current: Values },
): Difference<Values>[] {
  return names
    .map((name) => ({
      name,
      mine: values.mine[name],
      current: values.current[name],
      isEdited: !isEqual(values.original[name], values.mine[name]),
    }))
    .filter(({ mine, current }) => !isEqual(mine, current))
}

/** A value of a form as text. */
export function formatValue(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (Array.isArray(value)) return value.length ? value.join(', ') : 'None'
  return value === '' || value === null || value === undefined ? 'Blank' : String(value)
}
