import { Button, Group, Modal, SegmentedControl, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { ApiError } from '../api/errors'
import { versionOf } from '../api/versions'
import { type Difference, findDifferences, formatValue, isEqual } from './conflict'
import { LoadingLines } from './DataList'
import { ErrorNote } from './ErrorNote'
import type { useForm } from './useForm'

/** The version of the edited object, as the field If-Match of its change; undefined for a new object. `known`: of kept input. */
export function useVersion(path: string | undefined, known?: string) {
  const [first] = useState(() => known ?? (path && versionOf(path)))
  const tag = useRef(first)
  return {
    get header() {
      return tag.current ? { 'If-Match': tag.current } : {}
    },
    get tag() {
      return tag.current
    },
    refresh: () => {
      tag.current = path && versionOf(path)
    },
  }
}

interface Props<Values extends object> {
  /** The error of the last save. */
  error: unknown
  form: ReturnType<typeof useForm<Values>>
  version: ReturnType<typeof useVersion>
  /** The fields that are compared, with their labels in the form. */
  labels: Partial<Record<keyof Values & string, string>>
  /** How values of a field are shown, if not as text. */
  show?: Partial<Record<keyof Values & string, (value: unknown) => ReactNode>>
  /** Gets the object as it is now, as values of the form. */
  load: () => Promise<Values>
  /** Forgets the error. */
  onClose: () => void
  onSave: (values: Values) => void
  /** The label of the button that calls it. */
  action?: string
}

/** Shows what somebody else has changed since the form was opened, and lets the user choose for each field. */
export function ConflictDialog<Values extends object>(props: Props<Values>) {
  const { error, load, onClose } = props
  const conflict = error instanceof ApiError && error.code === 'PRECONDITION_FAILED' ? error : null
  const current = useQuery({
    queryKey: ['conflict', conflict?.requestId],
    queryFn: load,
    enabled: conflict !== null,
    staleTime: Infinity,
    gcTime: 0,
  })
  const names = Object.keys(props.labels) as (keyof Values & string)[]
  const saved = props.form.savedValues()
  // Something else has changed, such as a secret that was rotated: there is nothing to choose.
  const isUnrelated = Boolean(current.data) && names.every((name) => isEqual(saved[name], current.data?.[name]))
  useEffect(() => {
    if (!conflict || !isUnrelated) return
    props.version.refresh()
    onClose()
    props.onSave(props.form.values)
  }, [conflict, isUnrelated])
  return (
    <Modal opened={conflict !== null && !isUnrelated} onClose={onClose} title="Changed meanwhile" size="lg">
      {current.error && <ErrorNote error={current.error} />}
      {current.data ? <Choices {...props} current={current.data} /> : !current.error && <LoadingLines />}
    </Modal>
  )
}

function Choices<Values extends object>({
  form,
  version,
  labels,
  show = {},
  current,
  onClose,
  onSave,
  action = 'Save',
}: Props<Values> & { current: Values }) {
  const names = Object.keys(labels) as (keyof Values & string)[]
  const differences = findDifferences(names, { original: form.savedValues(), mine: form.values, current })
  const [kept, setKept] = useState<readonly string[]>(() => differences.filter((each) => each.isEdited).map((each) => each.name))
  function resolve(): Values {
    const merged = { ...form.values }
    for (const { name } of differences) if (!kept.includes(name)) merged[name] = current[name]
    form.rebase(current, merged)
    version.refresh()
    onClose()
    return merged
  }
  return (
    <div className="stack">
      <p>
        Somebody has saved other values since you opened this form. Nothing of yours is saved yet. Choose the value to use for each field.
      </p>
      {differences.length === 0 && <p className="muted">The values that you can edit here are the same as yours.</p>}
      {differences.length > 0 && (
        <Table horizontalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Field</Table.Th>
              <Table.Th>Your value</Table.Th>
              <Table.Th>Current value</Table.Th>
              <Table.Th>Use</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {differences.map((each) => (
              <Choice
                key={each.name}
                difference={each}
                label={labels[each.name] ?? each.name}
                show={show[each.name] ?? formatValue}
                isKept={kept.includes(each.name)}
                onChange={(isKept) => setKept(isKept ? [...kept, each.name] : kept.filter((name) => name !== each.name))}
              />
            ))}
          </Table.Tbody>
        </Table>
      )}
      <Group justify="flex-end">
        {differences.length > 1 && (
          <Button variant="subtle" onClick={() => setKept([])}>
            Use all current values
          </Button>
        )}
        <Button variant="default" onClick={resolve}>
          Keep editing
        </Button>
        <Button onClick={() => onSave(resolve())}>{action}</Button>
      </Group>
    </div>
  )
}

interface ChoiceProps<Values> {
  difference: Difference<Values>
  label: string
  show: (value: unknown) => ReactNode
  isKept: boolean
  onChange: (isKept: boolean) => void
}

function Choice<Values>({ difference, label, show, isKept, onChange }: ChoiceProps<Values>) {
  return (
    <Table.Tr>
      <Table.Th scope="row" className="break">
        {label}
      </Table.Th>
      <Table.Td className="break">{show(difference.mine)}</Table.Td>
      <Table.Td className="break">{show(difference.current)}</Table.Td>
      <Table.Td>
        <SegmentedControl
          size="xs"
          orientation="vertical"
          aria-label={`Value of ${label} to use`}
          value={isKept ? 'mine' : 'current'}
          onChange={(value) => onChange(value === 'mine')}
          data={[
            { value: 'mine', label: 'Yours' },
            { value: 'current', label: 'Current' },
          ]}
        />
      </Table.Td>
    </Table.Tr>
  )
}
