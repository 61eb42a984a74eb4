import { Modal } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { fetchPage, client } from '../../api/client'
import { PATHS } from '../../paths'
import { useSearchParams } from '../../search'
import { Badge } from '../../ui/Badge'
import type { Column } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { NewButton } from '../../ui/NewButton'
import { Page } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { AbuseList } from '../abuse/AbuseList'
import { ACTIONS, type IncidentRecord, SUBJECT_TYPES } from './actions'
import { IncidentForm } from './IncidentForm'

const route = getRouteApi('/app/incidents')

const COLUMNS: readonly Column<IncidentRecord>[] = [
  {
    header: 'About',
    wide: true,
    cell: (row) => (
      <Link className="row-link" to={PATHS.incident} params={{ id: row.id }}>
        {row.subject.label}
      </Link>
    ),
  },
  { header: 'Type', cell: (row) => SUBJECT_TYPES[row.subject.type] },
  { header: 'State', cell: (row) => <IncidentState incident={row} /> },
  { header: 'Actions', cell: (row) => <Names incident={row} /> },
  {
    header: 'By',
    cell: (row) => (
      <span className="party" title={row.by}>
        {row.by}
      </span>
    ),
  },
  { header: 'Opened', cell: (row) => <Time at={row.created_at} form="ago" /> },
]

export function Incidents() {
  const { new: isNew, type, subject, address } = route.useSearch()
  const [, change] = useSearchParams()
  const close = () => change({ new: undefined, type: undefined, subject: undefined, address: undefined })
  const createButton = <NewButton action="incident.write" label="New incident" />
  return (
    <Page
      title="Incidents"
      lead="What was done at once about a mailbox, an API key or an administrator, and can be undone."
      actions={createButton}
    >
      <AbuseList
        what="incidents"
        label="Incidents"
        states={['open', 'undone']}
        load={(query, state) =>
          fetchPage(client.GET('/abuse/incidents', { params: { query: { ...query, ...(state && { state: state as 'open' }) } } }))
        }
        columns={COLUMNS}
        empty={
          <EmptyState icon="shield" title="No incidents" action={createButton}>
            If somebody else knows a password or a key, an incident suspends, disables and holds in one step what could be misused.
          </EmptyState>
        }
      />
      <Modal opened={isNew !== undefined} onClose={close} title="New incident" size="lg">
        {isNew !== undefined && (
          <IncidentForm type={type === 'api_key' || type === 'admin' ? type : 'mailbox'} id={subject} address={address} onCancel={close} />
        )}
      </Modal>
    </Page>
  )
}

/** Whether an incident is open, and whether an action has failed. */
export function IncidentState({ incident }: { incident: IncidentRecord }) {
  if (incident.undone_at) return <Badge>undone</Badge>
  const isFailed = incident.actions.some((each) => each.result === 'failed' || each.result === 'pending' || each.undo === 'failed')
  return isFailed ? <Badge tone="bad">open, not all done</Badge> : <Badge tone="warn">open</Badge>
}

function Names({ incident }: { incident: IncidentRecord }) {
  const names = incident.actions.map((each) => ACTIONS[each.action].label)
  const [first, ...others] = names
  return (
    <span title={names.join(', ')}>
      {first}
      {others.length > 0 && <span className="muted"> and {others.length} more</span>}
    </span>
  )
}
