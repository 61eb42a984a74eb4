import { Button } from '@mantine/core'
import { useState } from 'react'
import { client, fetchData, type Schema } from '../../api/client'
import { pluralize } from '../../units'
import { Form } from '../../ui/Form'
import { useApiMutation } from '../../ui/useForm'
import { type CsvTable, toObjects } from '../bulk/csv'
import { CsvUpload, useCsvUpload } from '../bulk/CsvUpload'
import { ErrorTable } from '../bulk/ErrorTable'
import { DomainSelect, useOnlyDomain } from '../domains/DomainSelect'

type Answer = Schema['ImportAnswer']
type Item = Schema['SuppressionImport']['items'][number]

const MAX_ROWS = 10_000

/** Imports a table with the columns of an export. */
export function ImportForm({ onDone }: { onDone: () => void }) {
  const onlyDomain = useOnlyDomain()
  const [chosen, setChosen] = useState<string | null>(null)
  const [answer, setAnswer] = useState<Answer | null>(null)
  const csv = useCsvUpload({ required: 'address', maxRows: MAX_ROWS, onChoose: () => setAnswer(null) })
  const { upload } = csv
  const domain = chosen ?? onlyDomain
  const start = useApiMutation({
    request: (table: CsvTable) =>
      fetchData(
        client.POST('/suppressions/import', {
          params: { query: { ...(domain && { domain_id: domain }) } },
          body: { items: toObjects(table) as unknown as Item[] },
        }),
      ),
    invalidates: ['suppressions'],
    message: ({ succeeded }: Answer) => `${pluralize(succeeded, 'address', 'addresses')} imported.`,
    onSuccess: (result) => (result.failed ? setAnswer(result) : onDone()),
  })
  const failures = (answer?.results ?? []).flatMap(({ index, code, error }) => (code ? [{ index, code, message: error ?? '' }] : []))
  return (
    <Form
      onSubmit={() => upload && !answer && start.mutate(upload.table)}
      error={start.error}
      actions={
        <>
          <Button variant="default" onClick={onDone}>
            {answer ? 'Close' : 'Cancel'}
          </Button>
          <Button type="submit" disabled={!upload || answer !== null} loading={start.isPending}>
            Import
          </Button>
        </>
      }
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
      <CsvUpload {...csv} />
      {upload && failures.length > 0 && (
        <ErrorTable
          errors={failures}
          nameOf={(index) => toObjects(upload.table)[index]?.['address'] ?? ''}
          numberOf={(index) => upload.table.numbers[index] ?? index + 2}
        />
      )}
    </Form>
  )
}
