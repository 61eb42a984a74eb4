import { Button } from '@mantine/core'
import { useState } from 'react'
import type { FilteringRequests, ImportAnswer } from '../../api/filteringRequests'
import { pluralize } from '../../units'
import { Form } from '../../ui/Form'
import { useApiMutation } from '../../ui/useForm'
import { type CsvTable, toObjects } from '../bulk/csv'
import { CsvUpload, useCsvUpload } from '../bulk/CsvUpload'
import { ErrorTable } from '../bulk/ErrorTable'
import { toEntries } from './values'

const MAX_ROWS = 10_000

/** Imports entries from a CSV file. */
export function EntryImport({ requests, onDone }: { requests: FilteringRequests; onDone: () => void }) {
  const [answer, setAnswer] = useState<ImportAnswer | null>(null)
  const csv = useCsvUpload({ required: 'value', maxRows: MAX_ROWS, onChoose: () => setAnswer(null) })
  const { upload } = csv
  const start = useApiMutation({
    request: (table: CsvTable) => requests.importEntries(toEntries(table)),
    invalidates: ['filtering'],
    message: ({ succeeded, total }: ImportAnswer) =>
      succeeded === total ? `${pluralize(total, 'entry', 'entries')} imported.` : `${succeeded} of ${pluralize(total, 'row')} imported.`,
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
        A CSV file with the columns <code>list</code> (allow or deny) and <code>value</code>, and optionally <code>kind</code> (address,
        domain or network), <code>comment</code>
        {requests.scope !== 'mailbox' && (
          <>
            {' '}
            and <code>enforced</code>
          </>
        )}
        . Each row is added or refused by itself.
      </p>
      <CsvUpload {...csv} />
      <div className="import-errors">
        {upload && failures.length > 0 && (
          <ErrorTable
            errors={failures}
            nameOf={(index) => toObjects(upload.table)[index]?.['value'] ?? ''}
            numberOf={(index) => upload.table.numbers[index] ?? index + 2}
          />
        )}
      </div>
    </Form>
  )
}
