import { Button, FileButton, Progress, Select } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Allowed } from '../../access/Allowed'
import {
  type BulkAction,
  type BulkItem,
  type BulkResource,
  fetchOperation,
  followOperation,
  type ItemError,
  listErrors,
  MAX_ITEMS,
  submitBulk,
  submitParts,
} from '../../api/operations'
import { formatNumber } from '../../locale'
import { PATHS } from '../../paths'
import { pluralize } from '../../units'
import { ErrorNote } from '../../ui/ErrorNote'
import { useApiMutation } from '../../ui/useForm'
import { Icon } from '../../ui/Icon'
import { LinkButton } from '../../ui/links'
import { Page, Section } from '../../ui/Page'
import { guessMapping, type Mapping, nameOf, targetColumns, toItems } from './columns'
import { type CsvTable, parseCsv } from './csv'
import { ErrorTable } from './ErrorTable'

/** Larger tables are imported by the command line. */
const MAX_ROWS = 10_000
const POLL_MS = 500
const ACTIONS: readonly { value: BulkAction; label: string }[] = [
  { value: 'create', label: 'Create' },
  { value: 'update', label: 'Update' },
  { value: 'delete', label: 'Delete' },
]
const TEXTS = {
  mailbox: { singular: 'mailbox', plural: 'mailboxes', title: 'Import mailboxes', to: PATHS.mailboxes, list: 'Mailboxes' },
  alias: { singular: 'alias', plural: 'aliases', title: 'Import aliases', to: PATHS.aliases, list: 'Aliases' },
} as const
const PROGRESS: Readonly<Record<BulkAction, string>> = { create: 'Creating', update: 'Updating', delete: 'Deleting' }

export function ImportMailboxes() {
  return <Import resource="mailbox" />
}

export function ImportAliases() {
  return <Import resource="alias" />
}

interface Upload {
  name: string
  table: CsvTable
}

/** Imports a table: the columns are mapped, and all rows checked, before anything is written. */
function Import({ resource }: { resource: BulkResource }) {
  const texts = TEXTS[resource]
  const [action, setAction] = useState<BulkAction>('create')
  const [upload, setUpload] = useState<Upload | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  async function read(file: File | null) {
    if (!file) return
    setUpload(null)
    setProblem(null)
    try {
      const table = parseCsv(await file.arrayBuffer())
      if (table.rows.length === 0) throw new Error('The file has no rows below the names of the columns.')
      if (table.rows.length > MAX_ROWS)
        throw new Error(
          `The file has ${formatNumber(table.rows.length)} rows. For more than ${formatNumber(MAX_ROWS)}, use \`mailkeep ${resource} import\`.`,
        )
      setUpload({ name: file.name, table })
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  return (
    <Page
      title={texts.title}
      lead={`From a CSV file, whose first row names the columns. All rows are checked first; each ${texts.singular} is then written completely or not at all.`}
      back={
        <LinkButton to={texts.to} variant="subtle" size="compact-sm" leftSection={<Icon name="left" size={14} />}>
          {texts.list}
        </LinkButton>
      }
    >
      <Section title="File">
        <div className="stack">
          <div className="between">
            <Select
              label="Action"
              description="What to do with each row"
              data={ACTIONS}
              value={action}
              allowDeselect={false}
              onChange={(value) => setAction((value ?? 'create') as BulkAction)}
            />
            <Allowed action={resource === 'mailbox' ? 'mailbox.bulk' : 'alias.bulk'}>
              <FileButton accept=".csv,.txt,text/csv" onChange={(file) => void read(file)}>
                {(props) => (
                  <Button {...props} leftSection={<Icon name="clip" size={16} />}>
                    Choose file
                  </Button>
                )}
              </FileButton>
            </Allowed>
          </div>
          {upload && (
            <p role="status">
              <strong className="break">{upload.name}</strong>: {pluralize(upload.table.rows.length, 'row')},{' '}
              {pluralize(upload.table.columns.length, 'column')}
            </p>
          )}
          {problem && (
            <div className="note note-bad" role="alert">
              <Icon name="warn" />
              <p>{problem}</p>
            </div>
          )}
        </div>
      </Section>
      {upload && <Steps key={`${upload.name} ${action} ${upload.table.rows.length}`} resource={resource} action={action} upload={upload} />}
    </Page>
  )
}

function Steps({ resource, action, upload: { name, table } }: { resource: BulkResource; action: BulkAction; upload: Upload }) {
  const texts = TEXTS[resource]
  const targets = targetColumns(resource, action)
  const [mapping, setMapping] = useState<Mapping>(() => guessMapping(targets, table.columns))
  const [progress, setProgress] = useState(0)
  const [errors, setErrors] = useState<readonly ItemError[] | null>(null)
  const [isStarted, setStarted] = useState(false)
  const used = new Set(Object.values(mapping))
  const unused = table.columns.filter((_column, index) => !used.has(index))
  const missing = targets.filter((each) => each.isRequired && (mapping[each.name] ?? null) === null)
  const items = toItems(table, targets, mapping)
  const check = useApiMutation({
    request: async () => {
      setProgress(0)
      return dryRun(resource, action, items, setProgress)
    },
    invalidates: [],
    onSuccess: setErrors,
  })
  const faulty = new Set(errors?.map(({ index }) => index))
  const good = items.filter((_item, index) => !faulty.has(index))
  const start = useApiMutation({
    request: async () => {
      const ids = await submitParts(resource, action, good)
      const title = `${PROGRESS[action]} ${pluralize(good.length, texts.singular, texts.plural)} from ${name}`
      followOperation({ ids, title, names: good.map((item) => nameOf(resource, item)) })
    },
    invalidates: [],
    onSuccess: () => setStarted(true),
  })
  return (
    <>
      <Section title="Columns" lead="Which column of the file has which value.">
        <div className="stack">
          <div className="pair">
            {targets.map((target) => (
              <Select
                key={target.name}
                label={target.label}
                required={target.isRequired ?? false}
                placeholder="not in the file"
                clearable
                data={table.columns.map((column, index) => ({ value: String(index), label: column || `Column ${index + 1}` }))}
                value={mapping[target.name] === null || mapping[target.name] === undefined ? null : String(mapping[target.name])}
                onChange={(value) => {
                  setMapping({ ...mapping, [target.name]: value === null ? null : Number(value) })
                  setErrors(null)
                }}
              />
            ))}
          </div>
          {missing.length > 0 && <p className="muted">Select a column for: {missing.map(({ label }) => label).join(', ')}.</p>}
          {unused.length > 0 && <p className="muted break">Columns of the file that are not imported: {unused.join(', ')}.</p>}
          <Preview items={items} targets={targets.filter(({ name: each }) => (mapping[each] ?? null) !== null)} />
          <ErrorNote error={check.error} />
          {check.isPending && <Progress value={(progress / items.length) * 100} aria-label="Rows checked" />}
          <div className="right">
            <Button
              variant={errors ? 'default' : 'filled'}
              disabled={missing.length > 0 || isStarted}
              loading={check.isPending}
              onClick={() => check.mutate(undefined)}
            >
              Check {pluralize(items.length, 'row')}
            </Button>
          </div>
        </div>
      </Section>
      {errors && (
        <Section title="Result of the check" lead="Nothing has been written yet.">
          <div className="stack">
            <p role="status">
              {errors.length === 0
                ? `All ${pluralize(items.length, 'row')} can be imported.`
                : good.length === 0
                  ? 'No row can be imported. Correct the columns above, or the file.'
                  : `${pluralize(good.length, 'row')} can be imported, ${formatNumber(errors.length)} can't. Correct the file, or import the others.`}
            </p>
            {errors.length > 0 && (
              <ErrorTable
                errors={errors}
                nameOf={(index) => nameOf(resource, items[index] ?? {})}
                numberOf={(index) => table.numbers[index] ?? index + 2}
              />
            )}
            <ErrorNote error={start.error} />
            {isStarted ? (
              <p className="strong" role="status">
                Started. The progress is shown at the top of every page. <Link to={texts.to}>Show the {texts.plural}</Link>
              </p>
            ) : (
              <div className="right">
                <Button
                  color={action === 'delete' ? 'red' : 'blue'}
                  disabled={good.length === 0}
                  loading={start.isPending}
                  onClick={() => start.mutate(undefined)}
                >
                  {ACTIONS.find(({ value }) => value === action)?.label} {pluralize(good.length, texts.singular, texts.plural)}
                </Button>
              </div>
            )}
          </div>
        </Section>
      )}
    </>
  )
}

/** The first items, without passwords. */
function Preview({ items, targets }: { items: readonly BulkItem[]; targets: readonly { name: string; label: string }[] }) {
  if (targets.length === 0) return null
  const show = (item: BulkItem, name: string) => {
    const value = item[name]
    if (value === undefined) return <span className="muted">–</span>
    return name.startsWith('password') ? '••••••' : String(value)
  }
  return (
    <div className="card list-card">
      <table className="list" role="table" aria-label="First rows">
        <thead role="rowgroup">
          <tr role="row">
            {targets.map(({ name, label }) => (
              <th key={name} role="columnheader" scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {items.slice(0, 3).map((item, row) => (
            <tr key={row} role="row">
              {targets.map(({ name, label }) => (
                <td key={name} role="cell" data-label={label}>
                  <span className="break">{show(item, name)}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Checks all items, 1,000 at a time. */
async function dryRun(
  resource: BulkResource,
  action: BulkAction,
  items: readonly BulkItem[],
  onProgress: (done: number) => void,
): Promise<ItemError[]> {
  const done = []
  for (let start = 0; start < items.length; start += MAX_ITEMS) {
    const id = await submitBulk(resource, action, items.slice(start, start + MAX_ITEMS), true)
    for (;;) {
      const operation = await fetchOperation(id)
      onProgress(start + operation.progress.done)
      if (operation.state !== 'running') {
        done.push(operation)
        break
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }
  return listErrors(done)
}
