import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { pluralize } from '../../units'
import { Form } from '../../ui/Form'
import { useApiMutation } from '../../ui/useForm'
import { type CsvTable, toObjects } from './csv'
import { CsvUpload, useCsvUpload } from './CsvUpload'
import { ErrorTable } from './ErrorTable'

const MAX_ROWS = 10_000

/** Results of an import whose rows are added or refused each by itself. */
interface ImportResults {
  total: number
  succeeded: number
  failed: number
  results: { index: number; code?: string | null; error?: string | null }[]
}

interface Props {
  /** The column that every row needs; it names a row in the table of errors. */
  required: string
  request: (table: CsvTable) => Promise<ImportResults>
  invalidates: string
  /** What a row is: one, several. */
  noun: readonly [string, string]
  onDone: () => void
  /** What the table contains, and fields for all rows. */
  children: ReactNode
}

/** Imports a table from a CSV file, and shows why rows were refused. */
export function CsvImport({ required, request, invalidates, noun, onDone, children }: Props) {
  const [answer, setAnswer] = useState<ImportResults | null>(null)
  const csv = useCsvUpload({ required, maxRows: MAX_ROWS, onChoose: () => setAnswer(null) })
  const { upload } = csv
  const start = useApiMutation({
    request,
    invalidates: [invalidates],
    message: ({ succeeded, total }: ImportResults) =>
      succeeded === total ? `${pluralize(total, ...noun)} imported.` : `${succeeded} of ${pluralize(total, 'row')} imported.`,
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
      {children}
      <CsvUpload {...csv} />
      <div className="import-errors">
        {upload && failures.length > 0 && (
          <ErrorTable
            errors={failures}
            nameOf={(index) => toObjects(upload.table)[index]?.[required] ?? ''}
            numberOf={(index) => upload.table.numbers[index] ?? index + 2}
          />
        )}
      </div>
    </Form>
  )
}
