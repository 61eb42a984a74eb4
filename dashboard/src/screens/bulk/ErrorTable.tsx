import { Button } from '@mantine/core'
import type { ItemError } from '../../api/operations'
import { formatNumber } from '../../locale'
import { pluralize } from '../../units'
import { Icon } from '../../ui/Icon'
import { writeCsv } from './csv'

const MAX_SHOWN = 100

interface Props {
  errors: readonly ItemError[]
  /** What an item is about. */
  nameOf: (index: number) => string
  /** The number of an item: its row in the file. */
  numberOf: (index: number) => number
}

/** The errors of a bulk operation as a table, and as a file. */
export function ErrorTable({ errors, nameOf, numberOf }: Props) {
  const describe = ({ message, repeats }: ItemError) => (repeats === undefined ? message : `The same as row ${numberOf(repeats)}.`)
  const download = () => {
    const rows = errors.map((error) => [numberOf(error.index), nameOf(error.index), error.code, describe(error)])
    const url = URL.createObjectURL(new Blob([writeCsv([['row', 'name', 'code', 'reason'], ...rows])], { type: 'text/csv' }))
    const link = document.createElement('a')
    link.href = url
    link.download = 'errors.csv'
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <div className="card list-card">
      <div className="list-bar">
        <span className="list-bar-text" role="status">
          {pluralize(errors.length, 'error')}
        </span>
        <Button size="xs" variant="default" leftSection={<Icon name="down_load" size={14} />} onClick={download}>
          Download errors
        </Button>
      </div>
      <table className="list" role="table" aria-label="Errors">
        <thead role="rowgroup">
          <tr role="row">
            {['Row', 'Name', 'Reason'].map((header) => (
              <th key={header} role="columnheader" scope="col">
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {errors.slice(0, MAX_SHOWN).map((error) => (
            <tr key={error.index} role="row">
              <td role="cell" data-label="Row">
                {formatNumber(numberOf(error.index))}
              </td>
              <td role="cell" data-label="Name">
                <span className="break">{nameOf(error.index) || '–'}</span>
              </td>
              <td role="cell" data-label="Reason" className="wrap">
                <span>
                  {describe(error)} <span className="muted small">{error.code}</span>
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {errors.length > MAX_SHOWN && (
        <footer className="list-foot">
          <span className="muted">The first {MAX_SHOWN} are shown. The file has all.</span>
        </footer>
      )}
    </div>
  )
}
