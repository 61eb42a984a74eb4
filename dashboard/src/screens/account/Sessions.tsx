import { Button } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Schema } from '../../api/client'
import { type Credentials, useCredentials } from '../../api/credentials'
import { describeProgram } from '../../programs'
import { Badge } from '../../ui/Badge'
import { ConfirmDelete } from '../../ui/Confirm'
import { ErrorBar } from '../../ui/ErrorBar'
import { ErrorNote } from '../../ui/ErrorNote'
import { useNavigation } from '../../ui/navigation'
import { useApiMutation } from '../../ui/useForm'
import { Section } from '../../ui/Page'
import { Time } from '../../ui/Time'

export function sessionsQuery(credentials: Credentials) {
  return queryOptions({ queryKey: ['sessions'], queryFn: credentials.listSessions })
}

export function Sessions() {
  const credentials = useCredentials()
  const { data, error } = useQuery(sessionsQuery(credentials))
  const leave = useNavigation().useLeave()
  const [isConfirming, setConfirming] = useState(false)
  const end = useApiMutation({
    request: (session: Schema['SessionRecord']) => credentials.endSession(session.id),
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
            <p className="muted small break" title={session.user_agent ?? undefined}>
              {describeProgram(session.user_agent ?? 'unknown program')}
            </p>
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
        request={credentials.signOutEverywhere}
        invalidates={[]}
        onDeleted={leave}
      >
        You are signed out on all devices, including this one.
      </ConfirmDelete>
    </Section>
  )
}
