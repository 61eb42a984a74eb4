import { Button, Modal } from '@mantine/core'
import { useState } from 'react'
import { Allowed } from '../../access/Allowed'
import { client, fetchPage, type Schema } from '../../api/client'
import { Badge } from '../../ui/Badge'
import { type Column, DataList } from '../../ui/DataList'
import { EmptyState } from '../../ui/Empty'
import { Time } from '../../ui/Time'
import { AcknowledgeForm } from '../abuse/Alerts'
import { LABELS } from './texts'

type Alert = Schema['AlertResponse']

/** The alerts about components that have not ended. */
export function HealthAlerts() {
  const [acknowledged, setAcknowledged] = useState<Alert | null>(null)
  const close = () => setAcknowledged(null)
  return (
    <>
      <DataList
        label="Alerts"
        queryKey={['alerts', 'health']}
        load={(page) =>
          fetchPage(client.GET('/health/alerts', { params: { query: { ...page, sort: page.sort as 'created_at', state: 'unresolved' } } }))
        }
        columns={columns(setAcknowledged)}
        rowKey={(row) => row.id}
        refetchEvery={30_000}
        empty={
          <EmptyState icon="check" title="No alerts">
            A component that is not in order is reported here, by event and by mail.
          </EmptyState>
        }
      />
      <Modal opened={acknowledged !== null} onClose={close} title="Acknowledge alert">
        {acknowledged && <AcknowledgeForm alert={acknowledged} area="health" onDone={close} />}
      </Modal>
    </>
  )
}

function columns(onAcknowledge: (alert: Alert) => void): readonly Column<Alert>[] {
  return [
    { header: 'About', cell: (row) => <span className="strong">{LABELS[row.subject] ?? row.subject}</span> },
    {
      header: 'Problem',
      wide: true,
      cell: (row) => (
        <span title={row.note ? `${row.reason} Note: ${row.note}` : row.reason}>
          {row.reason}
          {row.note && <span className="muted"> {row.note}</span>}
        </span>
      ),
    },
    { header: 'Severity', cell: (row) => <Badge tone={row.severity === 'critical' ? 'bad' : 'warn'}>{row.severity}</Badge> },
    { header: 'State', cell: (row) => <Badge tone={row.state === 'open' ? 'warn' : 'calm'}>{row.state}</Badge> },
    { header: 'Since', cell: (row) => <Time at={row.created_at} form="ago" /> },
    {
      header: '',
      align: 'right',
      cell: (row) =>
        row.state === 'open' && (
          <Allowed action="health.write">
            <Button
              variant="subtle"
              size="compact-sm"
              aria-label={`Acknowledge the alert about ${LABELS[row.subject] ?? row.subject}`}
              onClick={() => onAcknowledge(row)}
            >
              Acknowledge
            </Button>
          </Allowed>
        ),
    },
  ]
}
