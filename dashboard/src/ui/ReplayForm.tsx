import { Button, Group, Select, Switch } from '@mantine/core'
import { useState } from 'react'
import { ask, client, type Schema } from '../api/client'
import { plural } from './bytes'
import { Form } from './Form'
import { useChange } from './form'
import { RequestButton } from './Request'

const SPANS = [
  { value: '1', label: 'the last hour' },
  { value: '24', label: 'the last day' },
  { value: '168', label: 'the last week' },
  { value: '720', label: 'the last 30 days' },
]

/** Events of a span, to be delivered again. */
export function ReplayForm({ webhook, onDone }: { webhook: Schema['WebhookRecord']; onDone: () => void }) {
  const [hours, setHours] = useState('24')
  const [isFailed, setFailed] = useState(true)
  // As of when the form was opened, so that what is shown as a request is what is asked.
  const [opened] = useState(() => Date.now())
  const body = { since: new Date(opened - Number(hours) * 3_600_000).toISOString(), only_failed: isFailed }
  const replay = useChange({
    change: () => ask(client.POST('/webhooks/{id}/replay', { params: { path: { id: webhook.id } }, body })),
    refreshes: ['webhooks'],
    told: (answer) => `${plural(answer.queued, 'delivery', 'deliveries')} on the way${answer.next_since ? '; there are more: ask again' : ''}.`,
    then: onDone,
  })
  return (
    <Form
      onSubmit={() => replay.mutate(undefined)}
      error={replay.error}
      actions={
        <>
          <RequestButton call={{ method: 'POST', path: `/webhooks/${webhook.id}/replay`, body }} />
          <Group>
            <Button variant="default" onClick={onDone}>
              Cancel
            </Button>
            <Button type="submit" loading={replay.isPending}>
              Replay
            </Button>
          </Group>
        </>
      }
    >
      <Select label="What happened in" data={SPANS} value={hours} onChange={(value) => setHours(value ?? '24')} allowDeselect={false} data-autofocus />
      <Switch label="Only what was given up" description="Else all that the webhook is told of, also what was delivered." checked={isFailed} onChange={(event) => setFailed(event.currentTarget.checked)} />
    </Form>
  )
}
