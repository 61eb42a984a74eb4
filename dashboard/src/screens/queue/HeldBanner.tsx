import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Allowed, useDenialReason } from '../../access/Allowed'
import { client, fetchData, type Schema } from '../../api/client'
import { Confirm } from '../../ui/Confirm'
import { Icon } from '../../ui/Icon'
import { Time } from '../../ui/Time'
import { useApiMutation } from '../../ui/useForm'
import { pluralize } from '../../units'

type Held = Schema['HeldResponse']

/** What is on hold since the instance was restored from a backup, with its release. Nothing without a restore. */
export function HeldBanner() {
  const denied = useDenialReason('queue.list')
  const [isOpen, setOpen] = useState(false)
  const { data } = useQuery({
    queryKey: ['queue', 'held'],
    queryFn: () => fetchData(client.GET('/queue/held')),
    refetchInterval: 60_000,
    enabled: denied === null,
  })
  if (!data?.restored) return null
  return (
    <section className="note note-warn" aria-label="On hold after the restore">
      <Icon name="pause" />
      <div className="stack">
        <p className="note-title">On hold after the restore: {describeHeld(data)}.</p>
        <p>
          This server was restored from the backup of <Time at={data.restored.began_at} form="exact" />. What waited in the backup may have
          been sent since.
        </p>
        <div>
          <Allowed action="queue.write">
            <Button size="xs" variant="default" onClick={() => setOpen(true)}>
              Release all
            </Button>
          </Allowed>
        </div>
      </div>
      {isOpen && <ConfirmRelease held={data} onClose={() => setOpen(false)} />}
    </section>
  )
}

function ConfirmRelease({ held, onClose }: { held: Held; onClose: () => void }) {
  const release = useApiMutation({
    request: () => fetchData(client.POST('/queue/actions', { body: { action: 'release', filter: {} } })),
    invalidates: ['queue', 'messages', 'webhooks'],
    message: () => 'What was on hold is released.',
    onSuccess: onClose,
  })
  return (
    <Confirm
      opened
      onClose={onClose}
      title="Release all after the restore"
      action="Release all"
      isPending={release.isPending}
      error={release.error}
      onConfirm={() => release.mutate(undefined)}
    >
      <p className="strong">{describeHeld(held)} will be released.</p>
      <p>Messages that were sent after the backup are sent again. Delete or cancel those first.</p>
    </Confirm>
  )
}

function describeHeld(held: Held): string {
  const parts = [
    `${pluralize(held.messages, 'message')} in the queue`,
    pluralize(held.scheduled_messages, 'scheduled message'),
    pluralize(held.webhook_deliveries, 'webhook delivery', 'webhook deliveries'),
    ...(held.system_mails ? [`${pluralize(held.system_mails, 'message')} of the server itself`] : []),
    ...(held.sieve_messages ? [pluralize(held.sieve_messages, 'redirect or reply', 'redirects and replies')] : []),
    ...(held.local_submissions ? [`${pluralize(held.local_submissions, 'message')} of local programs`] : []),
  ]
  return `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}
