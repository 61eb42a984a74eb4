import { Json } from '../../ui/Json'
import { TableHead } from '../../ui/TableHead'

/** The fields of an entry before and after the change. */
export function AuditChange({ details }: { details: Readonly<Record<string, unknown>> }) {
  const { before, after, ...more } = details
  const names = [...new Set([...Object.keys(recordOf(before)), ...Object.keys(recordOf(after))])]
  return (
    <>
      {names.length > 0 && (
        <table className="list change" role="table" aria-label="Before and after">
          <TableHead headers={['Field', 'Before', 'After']} />
          <tbody role="rowgroup">
            {names.map((name) => (
              <FieldRow
                key={name}
                name={name}
                before={before ? recordOf(before)[name] : undefined}
                after={after ? recordOf(after)[name] : undefined}
              />
            ))}
          </tbody>
        </table>
      )}
      {Object.keys(more).length > 0 && <Json value={more} what="details" />}
      {names.length === 0 && Object.keys(more).length === 0 && <p className="muted">No further details are recorded.</p>}
    </>
  )
}

function FieldRow({ name, before, after }: { name: string; before: unknown; after: unknown }) {
  const isChanged = before !== undefined && after !== undefined && JSON.stringify(before) !== JSON.stringify(after)
  return (
    <tr role="row" className={isChanged ? 'changed' : undefined}>
      <td role="cell" data-label="Field">
        <span>
          {name}
          {isChanged && <span className="visually-hidden"> (changed)</span>}
        </span>
      </td>
      <td role="cell" data-label="Before" className="break">
        {isChanged ? <del>{formatValue(before)}</del> : formatValue(before)}
      </td>
      <td role="cell" data-label="After" className="break">
        {isChanged ? <ins>{formatValue(after)}</ins> : formatValue(after)}
      </td>
    </tr>
  )
}

function formatValue(value: unknown): string {
  if (value === undefined) return '–'
  return typeof value === 'string' ? value || '(empty)' : JSON.stringify(value)
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
