import { Button } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { fetchData, client, type Schema } from '../../api/client'
import { clearCaches } from '../../api/queries'
import { PATHS } from '../../paths'
import { Badge } from '../../ui/Badge'
import { ConfirmDelete } from '../../ui/Confirm'
import { ErrorBar } from '../../ui/ErrorBar'
import { ErrorNote } from '../../ui/ErrorNote'
import { useApiMutation } from '../../ui/useForm'
import { Section } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { deleteDraft } from '../send/draft'

export function sessionsQuery() {
  return queryOptions({ queryKey: ['sessions'], queryFn: () => fetchData(client.GET('/auth/sessions')) })
}

export function Sessions() {
  const { data, error } = useQuery(sessionsQuery())
  const navigate = useNavigate()
  const [isConfirming, setConfirming] = useState(false)
  const leave = () => {
    clearCaches()
    deleteDraft()
    void navigate({ to: PATHS.login })
  }
  const end = useApiMutation({
    request: (session: Schema['SessionRecord']) =>
      fetchData(client.DELETE('/auth/sessions/{id}', { params: { path: { id: session.id } } })),
    invalidates: ['sessions'],
    message: 'Session ended.',
    onSuccess: (_, session) => session.current && leave(),
  })
  return (
    <Section
      title="Sessions"
      lead="Devices that are signed in to your account."
      actions={
        <Button variant="light" color="red" onClick={() => setConfirming(true)}>
          End all sessions
        </Button>
      }
    >
      <ErrorNote error={error} />
      <ErrorBar error={end.error} />
      <ul className="lines">
        {data?.map((session) => (
          <li key={session.id}>
            <div className="between">
              <span className="break">
                <span className="strong">{session.ip_address ?? 'unknown address'}</span>{' '}
                {session.current && <Badge tone="good">current</Badge>}
              </span>
              <Button
                size="xs"
                variant="default"
                onClick={() => end.mutate(session)}
                aria-label={session.current ? 'End this session' : `End the session from ${session.ip_address}`}
              >
                End
              </Button>
            </div>
            <p className="muted small break">{session.user_agent ?? 'unknown user agent'}</p>
            <p className="muted small">
              Signed in <Time at={session.created_at} />, expires <Time at={session.expires_at} />
            </p>
          </li>
        ))}
      </ul>
      <ConfirmDelete
        opened={isConfirming}
        onClose={() => setConfirming(false)}
        title="End all sessions"
        action="End all sessions"
        request={() => fetchData(client.POST('/auth/logout-all'))}
        invalidates={[]}
        onDeleted={leave}
      >
        You are signed out on all devices, including this one.
      </ConfirmDelete>
    </Section>
  )
}
