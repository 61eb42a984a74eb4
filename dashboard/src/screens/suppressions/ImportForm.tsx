import { Button, FileButton } from '@mantine/core'
import { useState } from 'react'
import { client, fetchData, type Schema } from '../../api/client'
import { pluralize } from '../../units'
import { Form } from '../../ui/Form'
import { Icon } from '../../ui/Icon'
import { useApiMutation } from '../../ui/useForm'
import { type CsvTable, parseCsv } from '../bulk/csv'
import { ErrorTable } from '../bulk/ErrorTable'
import { DomainSelect, useOnlyDomain } from '../domains/DomainSelect'

type Answer = Schema['ImportAnswer']

const MAX_ROWS = 10_000

interface Upload {
  name: string
  table: CsvTable
}

/** Imports a table with the columns of an export. */
export function ImportForm({ onDone }: { onDone: () => void }) {
  const onlyDomain = useOnlyDomain()
  const [chosen, setChosen] = useState<string | null>(null)
  const [upload, setUpload] = useState<Upload | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [answer, setAnswer] = useState<Answer | null>(null)
  const domain = chosen ?? onlyDomain
  const start = useApiMutation({
    request: (table: CsvTable) =>
      fetchData(
        client.POST('/suppressions/import', {
          params: { query: { ...(domain && { domain_id: domain }) } },
          body: { items: toItems(table) },
        }),
      ),
    invalidates: ['suppressions'],
    message: ({ succeeded }: Answer) => `${pluralize(succeeded, 'address', 'addresses')} imported.`,
    onSuccess: (result) => (result.failed ? setAnswer(result) : onDone()),
  })
  async function read(file: File | null) {
    if (!file) return
    setUpload(null)
    setAnswer(null)
    setProblem(null)
    try {
      const table = parseCsv(await file.arrayBuffer())
      const count = table.rows.length
      if (count === 0) throw new Error('The file has no rows below the names of the columns.')
      if (count > MAX_ROWS) throw new Error(`The file has ${count} rows. Split it into files of at most ${MAX_ROWS}.`)
      if (!columnNames(table).includes('address')) throw new Error('The first row names no column “address”.')
      setUpload({ name: file.name, table })
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
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
      <div className="row">
        <FileButton accept=".csv,.txt,text/csv" onChange={(file) => void read(file)}>
          {(props) => (
            <Button {...props} variant="default" leftSection={<Icon name="clip" size={16} />}>
              Choose file
            </Button>
          )}
        </FileButton>
        {upload && (
          <span role="status" className="break">
            {upload.name}: {pluralize(upload.table.rows.length, 'row')}
          </span>
        )}
      </div>
      {problem && (
        <div className="note note-bad" role="alert">
          <Icon name="warn" />
          <p>{problem}</p>
        </div>
      )}
      {upload && failures.length > 0 && (
        <ErrorTable
          errors={failures}
          nameOf={(index) => toItems(upload.table)[index]?.address ?? ''}
          numberOf={(index) => upload.table.numbers[index] ?? index + 2}
        />
      )}
    </Form>
  )
}

function columnNames(table: CsvTable): string[] {
  return table.columns.map((name) => name.toLowerCase())
}

type Item = Schema['SuppressionImport']['items'][number]

/** The rows as items of the API; blank cells are left out. */
function toItems(table: CsvTable): Item[] {
  const names = columnNames(table)
  return table.rows.map(
    (cells) => Object.fromEntries(names.flatMap((name, index) => (cells[index]?.trim() ? [[name, cells[index].trim()]] : []))) as Item,
  )
}
