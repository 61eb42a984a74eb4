import { Button, Checkbox, Modal, SegmentedControl } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Allowed } from '../../access/Allowed'
import type { Action } from '../../access/policy'
import type { FilteringRequests, JunkMessage, JunkRequests, ReleaseAnswer } from '../../api/filteringRequests'
import { useSearchParams } from '../../search'
import { Badge } from '../../ui/Badge'
import { type Column, DataList } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { ErrorBar } from '../../ui/ErrorBar'
import { Form, FormButtons } from '../../ui/Form'
import { Icon } from '../../ui/Icon'
import { Time } from '../../ui/Time'
import { useApiMutation, useForm } from '../../ui/useForm'
import { describeReason } from './words'

interface Props {
  requests: JunkRequests
  /** Of the same mailbox: where an allow entry is removed again. */
  filtering: FilteringRequests
  action: Action
  /** The link that explains a decision. */
  explain: (id: string) => ReactNode
}

/** A message that was released, for what can be done next. */
interface Released {
  message: JunkMessage
  answer: ReleaseAnswer
}

/** Mail of a mailbox that was filed in Junk or refused, with the reasons; mail in Junk can be released. */
export function Junk({ requests, filtering, action, explain }: Props) {
  const [params, change] = useSearchParams()
  const result = params['show'] === 'junk' || params['show'] === 'refused' ? params['show'] : undefined
  const [chosen, setChosen] = useState<JunkMessage | null>(null)
  const [released, setReleased] = useState<Released | null>(null)
  return (
    <>
      <div>
        <SegmentedControl
          aria-label="Show"
          value={result ?? 'all'}
          onChange={(value) => change({ show: value === 'all' ? undefined : value })}
          data={[
            { value: 'all', label: 'All' },
            { value: 'junk', label: 'In Junk' },
            { value: 'refused', label: 'Refused' },
          ]}
        />
      </div>
      {released && <ReleasedNote key={released.message.id} {...released} filtering={filtering} />}
      <DataList
        key={result}
        label="Junk and refused mail"
        queryKey={['junk', requests.id, result]}
        load={({ limit, cursor }) => requests.list({ limit, ...(cursor && { cursor }), ...(result && { result }) })}
        columns={columns(action, setChosen, explain)}
        rowKey={(row) => row.id}
        empty={EMPTY[result ?? 'all']}
      />
      <Modal opened={chosen !== null} onClose={() => setChosen(null)} title="Release to the inbox">
        {chosen && (
          <ReleaseForm
            message={chosen}
            requests={requests}
            onCancel={() => setChosen(null)}
            onDone={(answer) => {
              setReleased({ message: chosen, answer })
              setChosen(null)
            }}
          />
        )}
      </Modal>
    </>
  )
}

/** Where a message is: a released one, or one that its owner has moved or deleted, is in Junk no longer. */
function placeOf({ result, can_release }: JunkMessage) {
  if (result === 'refused') return <Badge tone="bad">refused</Badge>
  return can_release ? <Badge tone="warn">in Junk</Badge> : <Badge>no longer in Junk</Badge>
}

function columns(action: Action, onRelease: (row: JunkMessage) => void, explain: Props['explain']): readonly Column<JunkMessage>[] {
  return [
    {
      header: 'From',
      wide: true,
      cell: (row) => (
        <span className="break">
          <span className="strong">{row.from || '(empty sender)'}</span>
          <br />
          <span className="muted">{row.subject || '(no subject)'}</span>
        </span>
      ),
    },
    {
      header: 'Why',
      cell: (row) => (
        <span className="reason break">
          {placeOf(row)} {describeReason(row.decided_by, row.score)}. {explain(row.id)}
        </span>
      ),
    },
    { header: 'When', cell: (row) => <Time at={row.at} form="ago" /> },
    {
      header: '',
      align: 'right',
      cell: (row) =>
        row.can_release && (
          <Allowed action={action}>
            <Button
              size="xs"
              variant="default"
              aria-label={`Release ${row.subject || 'message'} of ${row.from}`}
              onClick={() => onRelease(row)}
            >
              Release
            </Button>
          </Allowed>
        ),
    },
  ]
}

const EMPTY = {
  all: (
    <EmptyState icon="inbox" title="No junk">
      Mail that the spam filter files in Junk or refuses is listed here, with the reason.
    </EmptyState>
  ),
  junk: (
    <EmptyState icon="inbox" title="Nothing in Junk">
      Mail in the folder Junk is listed here, with the reason.
    </EmptyState>
  ),
  refused: (
    <EmptyState icon="inbox" title="No refused mail">
      Mail that was refused is listed here. Its senders got an error.
    </EmptyState>
  ),
}

interface ReleaseProps {
  message: JunkMessage
  requests: JunkRequests
  onCancel: () => void
  onDone: (answer: ReleaseAnswer) => void
}

function ReleaseForm({ message, requests, onCancel, onDone }: ReleaseProps) {
  const release = useApiMutation({
    request: ({ allow }: { allow: boolean }) => requests.release(message.id, allow),
    invalidates: ['junk', 'filtering'],
    onSuccess: onDone,
  })
  const form = useForm({ allow: false }, release.error)
  return (
    <Form
      onSubmit={() => release.mutate(form.values)}
      error={release.error}
      formFields={form.names}
      actions={<FormButtons submit="Release" isPending={release.isPending} onCancel={onCancel} />}
    >
      <p className="break">
        <strong>{message.subject || '(no subject)'}</strong> from {message.from} moves from Junk to the inbox. If learning is on, the filter
        learns that it is not spam.
      </p>
      <Checkbox
        name="allow"
        label="Always allow this sender"
        description={`Adds ${message.from || 'the sender'} to the allow list of the mailbox.`}
        {...form.checkbox('allow')}
      />
    </Form>
  )
}

/** What was done, with the warnings of the answer; the allow entry can be removed again. */
function ReleasedNote({ message, answer, filtering }: Released & { filtering: FilteringRequests }) {
  const [isUndone, setUndone] = useState(false)
  const undo = useApiMutation({
    request: (entry: string) => filtering.removeEntry(entry),
    invalidates: ['filtering'],
    onSuccess: () => setUndone(true),
  })
  const { allow_entry_id: entry, warnings } = answer
  return (
    <div className={warnings.length > 0 ? 'note note-warn' : 'note note-good'} role="status">
      <Icon name={warnings.length > 0 ? 'warn' : 'check'} />
      <div>
        <p className="note-title break">{message.subject || 'The message'} is in the inbox.</p>
        {warnings.map((warning) => (
          <p key={warning}>{warning}</p>
        ))}
        {entry && isUndone && <p className="break">{message.from} is no longer on the allow list.</p>}
        {entry && !isUndone && (
          <>
            <p className="break">{message.from} is on the allow list.</p>
            <div>
              <Button size="xs" variant="default" loading={undo.isPending} onClick={() => undo.mutate(entry)}>
                Undo: do not allow
              </Button>
            </div>
          </>
        )}
        <ErrorBar error={undo.error} />
      </div>
    </div>
  )
}
