import { Checkbox } from '@mantine/core'
import { useState } from 'react'
import type { Column } from './DataList'

/** The selected rows of a list. */
export function useSelection() {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const select = (ids: readonly string[], isSelected: boolean) =>
    setSelected((before) => {
      const next = new Set(before)
      for (const id of ids)
        if (isSelected) next.add(id)
        else next.delete(id)
      return next
    })
  return { selected, select, clear: () => setSelected(new Set()) }
}

export type Selection = ReturnType<typeof useSelection>

/** The column with a checkbox for each row. */
export function selectColumn<Row>(selection: Selection, idOf: (row: Row) => string, nameOf: (row: Row) => string): Column<Row> {
  return {
    header: 'Select',
    hidesHeader: true,
    cell: (row) => (
      <Checkbox
        aria-label={`Select ${nameOf(row)}`}
        checked={selection.selected.has(idOf(row))}
        onChange={(event) => selection.select([idOf(row)], event.currentTarget.checked)}
      />
    ),
  }
}
