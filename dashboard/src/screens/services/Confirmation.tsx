import { Button } from '@mantine/core'
import { client, fetchData } from '../../api/client'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon } from '../../ui/Icon'
import { Time } from '../../ui/Time'
import { useApiMutation } from '../../ui/useForm'

/** Confirms a change of ports, which is rolled back otherwise; at `url`, if the HTTPS listener changes. */
export function Confirmation({ until, url }: { until: string; url: string | null }) {
  const isElsewhere = url !== null && new URL(url).origin !== window.location.origin
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
          {isElsewhere && (
            <p>
              Sign in at <a href={url}>{url}</a> and confirm it there: that shows that the new listener can be reached.
            </p>
          )}
        </div>
        <Button disabled={isElsewhere} loading={confirm.isPending} onClick={() => confirm.mutate(undefined)}>
          Confirm
        </Button>
      </div>
      <ErrorNote error={confirm.error} />
    </div>
  )
}
