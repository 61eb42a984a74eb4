import { Button, Group, Select, Switch } from '@mantine/core'
import { useState } from 'react'
import { fetchData, client, type Schema } from '../../api/client'
import { pluralize } from '../../units'
import { Form } from '../../ui/Form'
import { useApiMutation } from '../../ui/useForm'
import { RequestButton } from '../../ui/RequestSnippet'

const PERIODS = [
  { value: '1', label: 'Last hour' },
  { value: '24', label: 'Last 24 hours' },
  { value: '168', label: 'Last 7 days' },
  { value: '720', label: 'Last 30 days' },
]

/** Delivers the events of a period again. */
export function ReplayForm({ webhook, onDone }: { webhook: Schema['WebhookRecord']; onDone: () => void }) {
  const [hours, setHours] = useState('24')
  const [onlyFailed, setOnlyFailed] = useState(true)
  // Fixed when the form opens, so that the shown API request equals the sent one.
  const [openedAt] = useState(() => Date.now())
  const body = { since: new Date(openedAt - Number(hours) * 3_600_000).toISOString(), only_failed: onlyFailed }
  const replay = useApiMutation({
    request: () => fetchData(client.POST('/webhooks/{id}/replay', { params: { path: { id: webhook.id } }, body })),
    invalidates: ['webhooks'],
    message: (answer) =>
      `Queued ${pluralize(answer.queued, 'delivery', 'deliveries')}.${answer.next_since ? ' More events match: replay again.' : ''}`,
    onSuccess: onDone,
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
      <Select
        label="Period"
        data={PERIODS}
        value={hours}
        onChange={(value) => setHours(value ?? '24')}
        allowDeselect={false}
        data-autofocus
      />
      <Switch
        label="Only abandoned deliveries"
        description="Otherwise all events of the webhook, including delivered ones."
        checked={onlyFailed}
        onChange={(event) => setOnlyFailed(event.currentTarget.checked)}
      />
    </Form>
  )
}
