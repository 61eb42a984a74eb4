import { Button, Modal } from '@mantine/core'
import { useState } from 'react'
import { Allowed } from '../../access/Allowed'
import type { Schema } from '../../api/client'
import { Badge } from '../../ui/Badge'
import { TableHead } from '../../ui/TableHead'
import { Time } from '../../ui/Time'
import { AcknowledgeForm } from '../abuse/Alerts'
import { LABELS } from './texts'

type Alert = Schema['AlertResponse']

/** The alerts about components, which an administrator can acknowledge. */
export function HealthAlerts({ alerts }: { alerts: readonly Alert[] }) {
  const [acknowledged, setAcknowledged] = useState<Alert | null>(null)
  const close = () => setAcknowledged(null)
  if (alerts.length === 0) return <p className="muted">No alerts. A component that is not in order is reported here, and by event.</p>
  return (
    <div className="card list-card">
      <table className="list" role="table" aria-label="Alerts">
        <TableHead headers={['About', 'Problem', 'Severity', 'State', 'Since']} unseen="Actions" />
        <tbody role="rowgroup">
          {alerts.map((each) => (
            <Row key={each.id} alert={each} onAcknowledge={() => setAcknowledged(each)} />
          ))}
        </tbody>
      </table>
      <Modal opened={acknowledged !== null} onClose={close} title="Acknowledge alert">
        {acknowledged && <AcknowledgeForm alert={acknowledged} area="health" onDone={close} />}
      </Modal>
    </div>
  )
}

function Row({ alert, onAcknowledge }: { alert: Alert; onAcknowledge: () => void }) {
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
        {alert.state === 'open' && (
          <Allowed action="health.write">
            <Button variant="subtle" size="compact-sm" aria-label={`Acknowledge the alert about ${about}`} onClick={onAcknowledge}>
              Acknowledge
            </Button>
          </Allowed>
        )}
      </td>
    </tr>
  )
}
