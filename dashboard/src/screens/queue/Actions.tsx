import { Button, Checkbox } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ask, client, type Schema } from '../../api/client'
import { explain } from '../../api/errors'
import { Allowed } from '../../ui/Allowed'
import { plural } from '../../ui/bytes'
import { Confirm } from '../../ui/Confirm'
import { useChange } from '../../ui/form'
import { Icon, type IconName } from '../../ui/Icon'

export type Filter = { [Name in keyof Schema['QueueFilterRequest']]: NonNullable<Schema['QueueFilterRequest'][Name]> }
type Action = Schema['QueueAction']['action']
/** What is meant: messages by their ids, or all that a filter means. */
type Meant = Pick<Schema['QueueAction'], 'ids'> | { filter: Filter }

interface Deed {
  action: Action
  label: string
  title: string
  icon: IconName
  /** What comes of it, and to which of them it can be done. */
  about: string
  done: string
}

const DEEDS: readonly Deed[] = [
  { action: 'flush', label: 'Try now', title: 'Try to deliver now', icon: 'refresh', about: 'They are tried at once, whatever their next time was. Those on hold stay.', done: 'tried now' },
  { action: 'hold', label: 'Hold', title: 'Hold in the queue', icon: 'pause', about: 'They are not tried until somebody releases them.', done: 'held' },
  { action: 'release', label: 'Release', title: 'Release what is on hold', icon: 'right', about: 'Those on hold are tried again in their turn.', done: 'released' },
  { action: 'delete', label: 'Delete', title: 'Delete from the queue', icon: 'trash', about: 'They are removed for good. For those whom they did not reach they have failed, as the history will say; nobody gets a bounce.', done: 'deleted' },
]

interface Props {
  rows: readonly Schema['QueuedMessage'][]
  marked: ReadonlySet<string>
  filter: Filter
  onMark: (ids: readonly string[], isMarked: boolean) => void
  onDone: () => void
}

/** What can be done: to the messages that are marked, or, where none is, to all that the filter means. */
export function Actions({ rows, marked, filter, onMark, onDone }: Props) {
  const [deed, setDeed] = useState<Deed | null>(null)
  const ids = rows.map((row) => row.queue_id)
  const here = ids.filter((id) => marked.has(id)).length
  const isFiltered = Object.keys(filter).length > 0
  const meant: Meant = marked.size > 0 ? { ids: [...marked] } : { filter }
  const words = marked.size > 0 ? `${plural(marked.size, 'message')} marked` : isFiltered ? 'All that match, on every page' : 'The whole queue, on every page'
  return (
    <div className="list-bar">
      <Checkbox
        aria-label="Mark all on this page"
        checked={ids.length > 0 && here === ids.length}
        indeterminate={here > 0 && here < ids.length}
        onChange={(event) => onMark(ids, event.currentTarget.checked)}
      />
      <span className="list-bar-words" role="status">
        {words}
      </span>
      {DEEDS.map((each) => (
        <Allowed key={each.action} to="queue.write">
          <Button size="xs" variant="default" leftSection={<Icon name={each.icon} size={14} />} onClick={() => setDeed(each)}>
            {each.label}
          </Button>
        </Allowed>
      ))}
      {deed && <Sure deed={deed} meant={meant} onClose={() => setDeed(null)} onDone={onDone} />}
    </div>
  )
}

/** Asks with the number of messages that the server would do it to. */
function Sure({ deed, meant, onClose, onDone }: { deed: Deed; meant: Meant; onClose: () => void; onDone: () => void }) {
  const call = (dry_run: boolean) => ask(client.POST('/queue/actions', { body: { action: deed.action, ...meant, dry_run } }))
  const figure = useQuery({ queryKey: ['queue', 'would', deed.action, meant], queryFn: () => call(true), staleTime: 0, gcTime: 0, refetchOnWindowFocus: false })
  const act = useChange({
    change: () => call(false),
    refreshes: ['queue', 'messages'],
    told: (answer) => `${plural(answer.affected, 'message')} ${deed.done}.`,
    then: () => {
      onDone()
      onClose()
    },
  })
  const count = figure.data?.affected ?? null
  const name = 'ids' in meant && meant.ids?.length === 1 ? meant.ids[0] : count === null ? undefined : plural(count, 'message')
  return (
    <Confirm
      opened
      onClose={onClose}
      title={deed.title}
      action={deed.label}
      idle={!count}
      busy={act.isPending}
      error={act.error}
      {...(deed.action === 'delete' && { name: name ?? null })}
      onConfirm={() => act.mutate(undefined)}
    >
      <p className="strong" role="status">
        {count === null ? (figure.error ? explain(figure.error).message : 'Counting …') : count === 0 ? `There is none that could be ${deed.done}.` : `${plural(count, 'message')} would be ${deed.done}.`}
      </p>
      <p>{deed.about}</p>
    </Confirm>
  )
}
