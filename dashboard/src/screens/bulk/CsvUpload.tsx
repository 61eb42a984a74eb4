import { Button, FileButton } from '@mantine/core'
import { useState } from 'react'
import { formatNumber } from '../../locale'
import { pluralize } from '../../units'
import { Icon } from '../../ui/Icon'
import { columnNames, type CsvTable, parseCsv } from './csv'

interface Upload {
  name: string
  table: CsvTable
}

/** A CSV file that must have the column `required`, and at most `maxRows` rows. `onChoose`: before another file is read. */
export function useCsvUpload({ required, maxRows, onChoose }: { required: string; maxRows: number; onChoose: () => void }) {
  const [upload, setUpload] = useState<Upload | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  async function read(file: File | null) {
    if (!file) return
    setUpload(null)
    setProblem(null)
    onChoose()
    try {
      const table = parseCsv(await file.arrayBuffer())
      const count = table.rows.length
      if (count === 0) throw new Error('The file has no rows below the names of the columns.')
      if (count > maxRows)
        throw new Error(`The file has ${formatNumber(count)} rows. Split it into files of at most ${formatNumber(maxRows)}.`)
      if (!columnNames(table).includes(required)) throw new Error(`The first row names no column “${required}”.`)
      setUpload({ name: file.name, table })
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  return { upload, problem, read }
}

/** Chooses the file, and says what is wrong with it. */
export function CsvUpload({ upload, problem, read }: ReturnType<typeof useCsvUpload>) {
  return (
    <>
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
    </>
  )
}
