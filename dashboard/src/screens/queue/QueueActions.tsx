import { Button, Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { fetchData, client, type Schema } from '../../api/client'
import { describeError } from '../../api/errors'
import { Allowed } from '../../access/Allowed'
import { pluralize } from '../../units'
import { Confirm } from '../../ui/Confirm'
import { useApiMutation } from '../../ui/useForm'
import { Icon, type IconName } from '../../ui/Icon'

export type QueueFilter = { [Name in keyof Schema['QueueFilterRequest']]: NonNullable<Schema['QueueFilterRequest'][Name]> }
type Action = Schema['QueueAction']['action']
/** Messages by ID, or all that match a filter. */
type Target = Pick<Schema['QueueAction'], 'ids'> | { filter: QueueFilter }

interface QueueCommand {
  action: Action
  label: string
  title: string
  icon: IconName
  /** The effect, and the messages it applies to. */
  description: string
  /** What has happened to the messages: “3 messages retried.” */
  participle: string
}

const COMMANDS: readonly QueueCommand[] = [
  {
    action: 'flush',
    label: 'Retry now',
    title: 'Retry delivery',
    icon: 'refresh',
    description: 'Attempts delivery immediately. Messages on hold are skipped.',
    participle: 'retried',
  },
  {
    action: 'hold',
    label: 'Hold',
    title: 'Hold in the queue',
    icon: 'pause',
    description: 'Stops delivery attempts until the messages are released.',
    participle: 'held',
  },
  {
    action: 'release',
    label: 'Release',
    title: 'Release from hold',
    icon: 'right',
    description: 'Resumes delivery attempts of messages on hold.',
    participle: 'released',
  },
  {
    action: 'delete',
    label: 'Delete',
    title: 'Delete from the queue',
    icon: 'trash',
    description: 'Deletes the messages permanently. Their remaining recipients are marked as failed; the sender gets no bounce.',
    participle: 'deleted',
  },
]

interface Props {
  rows: readonly Schema['QueuedMessage'][]
  selected: ReadonlySet<string>
  filter: QueueFilter
  onSelect: (ids: readonly string[], isSelected: boolean) => void
  onDone: () => void
}

/** Actions on the selected messages, or on all that match the filter if none is selected. */
export function QueueActions({ rows, selected, filter, onSelect, onDone }: Props) {
  const [command, setCommand] = useState<QueueCommand | null>(null)
  const ids = rows.map((row) => row.queue_id)
  const selectedHere = ids.filter((id) => selected.has(id)).length
  const isFiltered = Object.keys(filter).length > 0
  const target: Target = selected.size > 0 ? { ids: [...selected] } : { filter }
  const text =
    selected.size > 0
      ? `${pluralize(selected.size, 'message')} selected`
      : isFiltered
        ? 'All matching messages'
        : 'All messages in the queue'
  return (
    <div className="list-bar">
      <Checkbox
        aria-label="Select all loaded messages"
        checked={ids.length > 0 && selectedHere === ids.length}
        indeterminate={selectedHere > 0 && selectedHere < ids.length}
        onChange={(event) => onSelect(ids, event.currentTarget.checked)}
      />
      <span className="list-bar-text" role="status">
        {text}
      </span>
      {COMMANDS.map((each) => (
        <Allowed key={each.action} action="queue.write">
          <Button size="xs" variant="default" leftSection={<Icon name={each.icon} size={14} />} onClick={() => setCommand(each)}>
            {each.label}
          </Button>
        </Allowed>
      ))}
      {command && <ConfirmCommand command={command} target={target} onClose={() => setCommand(null)} onDone={onDone} />}
    </div>
  )
}

/** Asks for confirmation with the number of affected messages from a dry run. */
function ConfirmCommand({
  command,
  target,
  onClose,
  onDone,
}: {
  command: QueueCommand
  target: Target
  onClose: () => void
  onDone: () => void
}) {
  const call = (dry_run: boolean) => fetchData(client.POST('/queue/actions', { body: { action: command.action, ...target, dry_run } }))
  const preview = useQuery({
    queryKey: ['queue', 'preview', command.action, target],
    queryFn: () => call(true),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
  const act = useApiMutation({
    request: () => call(false),
    invalidates: ['queue', 'messages'],
    message: (answer) => `${pluralize(answer.affected, 'message')} ${command.participle}.`,
    onSuccess: () => {
      onDone()
      onClose()
    },
  })
  const count = preview.data?.affected ?? null
  const name = 'ids' in target && target.ids?.length === 1 ? target.ids[0] : count === null ? undefined : pluralize(count, 'message')
  return (
    <Confirm
      opened
      onClose={onClose}
      title={command.title}
      action={command.label}
      isDisabled={!count}
      isPending={act.isPending}
      error={act.error}
      {...(command.action === 'delete' && { name: name ?? null })}
      onConfirm={() => act.mutate(undefined)}
    >
      <p className="strong" role="status">
        {count === null
          ? preview.error
            ? describeError(preview.error).message
            : 'Counting …'
          : count === 0
            ? `No messages can be ${command.participle}.`
            : `${pluralize(count, 'message')} will be ${command.participle}.`}
      </p>
      <p>{command.description}</p>
    </Confirm>
  )
}
