import type { ReactNode } from 'react'
import { TableHead } from './TableHead'

export interface TableRow {
  id: string
  /** One for each header. */
  cells: readonly ReactNode[]
  actions?: ReactNode
}

interface Props {
  label: string
  headers: readonly string[]
  rows: readonly TableRow[]
  /** What screen readers call the column of the actions; without it there is none. */
  actions?: string
  /** The columns whose texts continue on the next line. */
  wraps?: readonly string[]
}

/** A table that shows all its rows, for few of them; `DataList` shows pages. */
export function Table({ label, headers, rows, actions, wraps = [] }: Props) {
  return (
    <div className="list-card">
      <table className="list" role="table" aria-label={label}>
        <TableHead headers={headers} {...(actions && { unseen: actions })} />
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={row.id} role="row">
              {headers.map((header, index) => (
                <td key={header} role="cell" data-label={header} className={wraps.includes(header) ? 'wrap' : undefined}>
                  {row.cells[index]}
                </td>
              ))}
              {actions && (
                <td role="cell">
                  <span className="row row-tight">{row.actions}</span>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
