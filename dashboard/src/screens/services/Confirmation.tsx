import { Button } from '@mantine/core'
import { client, fetchData } from '../../api/client'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon } from '../../ui/Icon'
import { Time } from '../../ui/Time'
import { useApiMutation } from '../../ui/useForm'

/** Confirms a change of ports, which is rolled back otherwise. */
export function Confirmation({ until }: { until: string }) {
  const confirm = useApiMutation({
    request: () => fetchData(client.POST('/orchestrator/confirm')),
    invalidates: ['orchestrator', 'operation'],
    message: 'Confirmed.',
  })
  return (
    <div className="stack">
      <div className="note note-warn" role="status">
        <Icon name="warn" />
        <div>
          <p className="note-title">Confirm the new ports</p>
          <p>
            Without a confirmation until <Time at={until} form="exact" /> the earlier configuration is restored.
          </p>
        </div>
        <Button loading={confirm.isPending} onClick={() => confirm.mutate(undefined)}>
          Confirm
        </Button>
      </div>
      <ErrorNote error={confirm.error} />
    </div>
  )
}
