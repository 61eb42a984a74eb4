import { Button, Group } from '@mantine/core'
import { useState } from 'react'
import { Allowed } from '../../access/Allowed'
import type { Schema } from '../../api/client'
import { Badge } from '../../ui/Badge'
import { TableHead } from '../../ui/TableHead'
import { Time } from '../../ui/Time'
import { type AlertChange, AlertDialog } from '../abuse/Alerts'
import { LABELS } from './texts'

type Alert = Schema['AlertResponse']

const CHANGES: Readonly<Record<AlertChange['to'], string>> = { acknowledge: 'Acknowledge', resolve: 'Resolve' }

/** The alerts about components, which an administrator can acknowledge and resolve. */
export function HealthAlerts({ alerts }: { alerts: readonly Alert[] }) {
  const [changed, setChanged] = useState<AlertChange | null>(null)
  if (alerts.length === 0) return <p className="muted">No alerts. A component that is not in order is reported here, and by event.</p>
  return (
    <div className="card list-card">
      <table className="list" role="table" aria-label="Alerts">
        <TableHead headers={['About', 'Problem', 'Severity', 'State', 'Since']} unseen="Actions" />
        <tbody role="rowgroup">
          {alerts.map((each) => (
            <Row key={each.id} alert={each} onChange={(to) => setChanged({ alert: each, to })} />
          ))}
        </tbody>
      </table>
      <AlertDialog changed={changed} area="health" onClose={() => setChanged(null)} />
    </div>
  )
}

function Row({ alert, onChange }: { alert: Alert; onChange: (to: AlertChange['to']) => void }) {
  const about = LABELS[alert.subject] ?? alert.subject
  return (
    <tr role="row">
      <td role="cell" data-label="About" className="strong">
        {about}
      </td>
      <td role="cell" data-label="Problem" className="wrap">
        <div>
          {alert.reason}
          {alert.note && <span className="muted"> {alert.note}</span>}
        </div>
      </td>
      <td role="cell" data-label="Severity">
        <Badge tone={alert.severity === 'critical' ? 'bad' : 'warn'}>{alert.severity}</Badge>
      </td>
      <td role="cell" data-label="State">
        <Badge tone={alert.state === 'open' ? 'warn' : 'calm'}>{alert.state}</Badge>
      </td>
      <td role="cell" data-label="Since">
        <Time at={alert.created_at} form="ago" />
      </td>
      <td role="cell" data-label="" className="right">
        <Group gap={4} justify="flex-end">
          {(['acknowledge', 'resolve'] as const)
            .filter((to) => to === 'resolve' || alert.state === 'open')
            .map((to) => (
              <Allowed key={to} action="health.write">
                <Button
                  variant="subtle"
                  size="compact-sm"
                  aria-label={`${CHANGES[to]} the alert about ${about}`}
                  onClick={() => onChange(to)}
                >
                  {CHANGES[to]}
                </Button>
              </Allowed>
            ))}
        </Group>
      </td>
    </tr>
  )
}
