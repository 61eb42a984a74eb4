import { Button } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ask, client, type Schema } from '../../api/client'
import { clearAll } from '../../api/queries'
import { PATHS } from '../../paths'
import { Badge } from '../../ui/Badge'
import { Confirm } from '../../ui/Confirm'
import { ErrorBar } from '../../ui/ErrorBar'
import { ErrorNote } from '../../ui/ErrorNote'
import { useChange } from '../../ui/form'
import { Section } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { dropDraft } from '../send/draft'

export function sessionsQuery() {
  return queryOptions({ queryKey: ['sessions'], queryFn: () => ask(client.GET('/auth/sessions')) })
}

export function Sessions() {
  const { data, error } = useQuery(sessionsQuery())
  const navigate = useNavigate()
  const [isAsked, setAsked] = useState(false)
  const leave = () => {
    clearAll()
    dropDraft()
    void navigate({ to: PATHS.login })
  }
  const end = useChange({
    change: (session: Schema['SessionRecord']) => ask(client.DELETE('/auth/sessions/{id}', { params: { path: { id: session.id } } })),
    refreshes: ['sessions'],
    told: 'The session is ended.',
    then: (_, session) => session.current && leave(),
  })
  const endAll = useChange({ change: () => ask(client.POST('/auth/logout-all')), refreshes: [], then: leave })
  return (
    <Section
      title="Sessions"
      lead="Where you are logged in."
      actions={
        <Button variant="light" color="red" onClick={() => setAsked(true)}>
          End all
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
                <span className="strong">{session.ip_address ?? 'unknown address'}</span> {session.current && <Badge tone="good">this one</Badge>}
              </span>
              <Button size="xs" variant="default" onClick={() => end.mutate(session)} aria-label={session.current ? 'End this session' : `End the session from ${session.ip_address}`}>
                End
              </Button>
            </div>
            <p className="soft small break">{session.user_agent ?? 'unknown program'}</p>
            <p className="soft small">
              Since <Time at={session.created_at} />, until <Time at={session.expires_at} /> at the latest
            </p>
          </li>
        ))}
      </ul>
      <Confirm opened={isAsked} onClose={() => setAsked(false)} title="End all sessions" action="End all" busy={endAll.isPending} error={endAll.error} onConfirm={() => endAll.mutate(undefined)}>
        You are logged out everywhere, here too.
      </Confirm>
    </Section>
  )
}
