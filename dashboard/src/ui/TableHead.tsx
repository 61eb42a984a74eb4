/** The headers of a table; `unseen` is one more, for a column that needs no visible header. */
export function TableHead({ headers, unseen }: { headers: readonly string[]; unseen?: string }) {
  return (
    <thead role="rowgroup">
      <tr role="row">
        {headers.map((header) => (
          <th key={header} role="columnheader" scope="col">
            {header}
          </th>
        ))}
        {unseen && (
          <th role="columnheader" scope="col">
            <span className="visually-hidden">{unseen}</span>
          </th>
        )}
      </tr>
    </thead>
  )
}
