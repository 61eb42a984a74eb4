import { useState } from 'react'
import { client, fetchData, type Schema } from '../../api/client'
import { toObjects } from '../bulk/csv'
import { CsvImport } from '../bulk/CsvImport'
import { DomainSelect, useOnlyDomain } from '../domains/DomainSelect'

type Item = Schema['SuppressionImport']['items'][number]

/** Imports a table with the columns of an export. */
export function ImportForm({ onDone }: { onDone: () => void }) {
  const onlyDomain = useOnlyDomain()
  const [chosen, setChosen] = useState<string | null>(null)
  const domain = chosen ?? onlyDomain
  return (
    <CsvImport
      required="address"
      request={(table) =>
        fetchData(
          client.POST('/suppressions/import', {
            params: { query: { ...(domain && { domain_id: domain }) } },
            body: { items: toObjects(table) as unknown as Item[] },
          }),
        )
      }
      invalidates="suppressions"
      noun={['address', 'addresses']}
      onDone={onDone}
    >
      <p className="muted">
        A CSV file with the column <code>address</code>, and optionally <code>reason</code>, <code>domain</code> and <code>group_id</code>,
        as an export has them. Addresses that are suppressed already do not change.
      </p>
      <DomainSelect
        label="Sending domain"
        description="Of rows that name no domain"
        placeholder="Select a domain"
        value={domain}
        onChange={setChosen}
        clearable
      />
    </CsvImport>
  )
}
