import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { fetchData, client } from '../../api/client'
import { Allowed } from '../../access/Allowed'
import { PATHS } from '../../paths'
import { Badge, type Tone } from '../../ui/Badge'
import { ConfirmDelete } from '../../ui/Confirm'
import { CopyableCode } from '../../ui/Copy'
import { DetailPage } from '../../ui/DetailPage'
import { ErrorBar } from '../../ui/ErrorBar'
import { Facts, Section } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { useApiMutation } from '../../ui/useForm'
import { pluralize } from '../../units'
import { DomainName } from '../domains/DomainSelect'
import { ACTIONS, type IncidentRecord, SUBJECT_TYPES } from './actions'
import { INVALIDATES } from './IncidentForm'
import { IncidentState } from './Incidents'

type ActionRecord = IncidentRecord['actions'][number]

const route = getRouteApi('/app/incidents/$id')

export function IncidentDetails() {
  const { id } = route.useParams()
  const query = useQuery({
    queryKey: ['incidents', 'one', id],
    queryFn: () => fetchData(client.GET('/abuse/incidents/{id}', { params: { path: { id } } })),
  })
  return (
    <DetailPage
      kind="Incident"
      list={{ to: PATHS.incidents, label: 'Incidents' }}
      query={query}
      title={(data) => data.subject.label}
      lead={(data) => (
        <>
          <IncidentState incident={data} /> {data.note}
        </>
      )}
      actions={(data) => <Actions incident={data} />}
    >
      {(data) => (
        <>
          <Section title="Actions">
            <ul className="stack" aria-label="Results">
              {data.actions.map((each) => (
                <li key={each.action} className="between">
                  <Result action={each} />
                </li>
              ))}
            </ul>
          </Section>
          <Section title="Incident">
            <Facts
              rows={[
                [SUBJECT_TYPES[data.subject.type], <Subject incident={data} />],
                ...(data.domain_id ? ([['Domain', <DomainName id={data.domain_id} />]] as const) : []),
                ['Opened by', data.by],
                ['Opened', <Time at={data.created_at} />],
                ['Undone', data.undone_at ? <Time at={data.undone_at} /> : 'not yet'],
                ...(data.undone_by ? ([['Undone by', data.undone_by]] as const) : []),
                ['ID', <CopyableCode value={data.id} what="ID" />],
              ]}
            />
          </Section>
        </>
      )}
    </DetailPage>
  )
}

function Subject({ incident: { subject } }: { incident: IncidentRecord }) {
  if (subject.type !== 'mailbox') return <>{subject.label}</>
  return (
    <Link to={PATHS.mailbox} params={{ id: subject.id }}>
      {subject.label}
    </Link>
  )
}

function Actions({ incident }: { incident: IncidentRecord }) {
  const [isUndoing, setUndoing] = useState(false)
  const path = { id: incident.id }
  const retry = useApiMutation({
    request: () => fetchData(client.POST('/abuse/incidents/{id}/retry', { params: { path } })),
    invalidates: INVALIDATES,
    message: 'The actions were tried again.',
  })
  if (incident.undone_at) return null
  const canRetry =
    incident.actions.some((each) => each.result === 'failed' || each.result === 'pending') && incident.actions.every((each) => !each.undo)
  return (
    <>
      {canRetry && (
        <Allowed action="incident.write">
          <Button variant="default" loading={retry.isPending} onClick={() => retry.mutate(undefined)}>
            Retry
          </Button>
        </Allowed>
      )}
      <Allowed action="incident.write">
        <Button onClick={() => setUndoing(true)}>Undo</Button>
      </Allowed>
      <ErrorBar error={retry.error} />
      <ConfirmDelete
        opened={isUndoing}
        onClose={() => setUndoing(false)}
        title="Undo incident"
        action="Undo"
        request={() => fetchData(client.POST('/abuse/incidents/{id}/undo', { params: { path } }))}
        invalidates={INVALIDATES}
        message={(answer) => (answer.undone_at ? 'The incident is undone.' : 'Not all could be undone: try again.')}
      >
        What this incident suspended, disabled or held for <strong className="break">{incident.subject.label}</strong> is as before. Ended
        sessions and deleted mail don't come back, and what somebody has changed since stays. Change the password first if somebody else may
        know it.
      </ConfirmDelete>
    </>
  )
}

const RESULTS: Readonly<Record<ActionRecord['result'], readonly [Tone, string]>> = {
  done: ['good', 'done'],
  unchanged: ['calm', 'was so before'],
  pending: ['warn', 'not begun'],
  failed: ['bad', 'failed'],
}
const UNDO: Readonly<Record<NonNullable<ActionRecord['undo']>, readonly [Tone, string]>> = {
  restored: ['good', 'restored'],
  unchanged: ['calm', 'nothing to undo'],
  changed_since: ['warn', 'changed since, left as it is'],
  not_restorable: ['warn', 'can’t be restored'],
  failed: ['bad', 'undo failed'],
}
const COUNTED: Readonly<Partial<Record<ActionRecord['action'], string>>> = {
  disable_keys: 'key',
  disable_app_passwords: 'app password',
  hold_queue: 'message',
  delete_queue: 'message',
}

function Result({ action }: { action: ActionRecord }) {
  const [tone, text] = action.undo ? UNDO[action.undo] : RESULTS[action.result]
  const counted = COUNTED[action.action]
  return (
    <>
      <div>
        <span className="strong">{ACTIONS[action.action].label}</span>{' '}
        {counted && action.result === 'done' && <span className="muted">{pluralize(action.affected, counted)}</span>}
        {action.error && <p className="muted break">{action.error.message}</p>}
      </div>
      <Badge tone={tone}>{text}</Badge>
    </>
  )
}
