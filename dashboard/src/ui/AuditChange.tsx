import { Json } from './Json'

/** What an entry tells of a change: each field before and after, those that changed marked in words. */
export function AuditChange({ details }: { details: Readonly<Record<string, unknown>> }) {
  const { before, after, ...more } = details
  const names = [...new Set([...Object.keys(recordOf(before)), ...Object.keys(recordOf(after))])]
  return (
    <>
      {names.length > 0 && (
        <table className="list change" role="table" aria-label="Before and after">
          <thead role="rowgroup">
            <tr role="row">
              <th role="columnheader" scope="col">
                Field
              </th>
              <th role="columnheader" scope="col">
                Before
              </th>
              <th role="columnheader" scope="col">
                After
              </th>
            </tr>
          </thead>
          <tbody role="rowgroup">
            {names.map((name) => (
              <Line key={name} name={name} before={before ? recordOf(before)[name] : undefined} after={after ? recordOf(after)[name] : undefined} />
            ))}
          </tbody>
        </table>
      )}
      {Object.keys(more).length > 0 && <Json value={more} what="details" />}
      {names.length === 0 && Object.keys(more).length === 0 && <p className="soft">Nothing more is recorded.</p>}
    </>
  )
}

function Line({ name, before, after }: { name: string; before: unknown; after: unknown }) {
  const isChanged = before !== undefined && after !== undefined && JSON.stringify(before) !== JSON.stringify(after)
  return (
    <tr role="row" className={isChanged ? 'changed' : undefined}>
      <td role="cell" data-label="Field">
        <span>
          {name}
          {isChanged && <span className="unseen"> (changed)</span>}
        </span>
      </td>
      <td role="cell" data-label="Before" className="break">
        {isChanged ? <del>{written(before)}</del> : written(before)}
      </td>
      <td role="cell" data-label="After" className="break">
        {isChanged ? <ins>{written(after)}</ins> : written(after)}
      </td>
    </tr>
  )
}

function written(value: unknown): string {
  if (value === undefined) return '–'
  return typeof value === 'string' ? value || '(empty)' : JSON.stringify(value)
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
