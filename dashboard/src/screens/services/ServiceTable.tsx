import { ActionIcon, Menu } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Allowed } from '../../access/Allowed'
import { client, fetchData } from '../../api/client'
import { describeError } from '../../api/errors'
import { formatNumber } from '../../locale'
import { PATHS } from '../../paths'
import { useSearchParams } from '../../search'
import { Badge, type Tone } from '../../ui/Badge'
import { Confirm } from '../../ui/Confirm'
import { LoadingLines } from '../../ui/DataList'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon } from '../../ui/Icon'
import { TableHead } from '../../ui/TableHead'
import { Time } from '../../ui/Time'
import { useApiMutation } from '../../ui/useForm'
import { formatBytes, pluralize } from '../../units'
import { overviewQuery } from './queries'
import { ACTION_LABELS, listSensibleActions, type Service, type ServiceAction } from './texts'

const TONES: Readonly<Record<Service['state'], Tone>> = { running: 'good', starting: 'info', stopped: 'bad' }

interface Command {
  service: Service
  action: ServiceAction
}

/** All services, with what can be done with each. */
export function ServiceTable() {
  const { data, error } = useQuery(overviewQuery())
  const [command, setCommand] = useState<Command | null>(null)
  const [{ operation }, change] = useSearchParams()
  // The running operation is shown in place of the command that it refused.
  useEffect(() => {
    if (operation) setCommand(null)
  }, [operation])
  if (!data) return error ? <ErrorNote error={error} /> : <LoadingLines count={8} />
  const down = data.services.filter((each) => each.state !== 'running').length
  return (
    <div className="card list-card">
      <table className="list" role="table" aria-label="Services">
        <TableHead headers={['Service', 'State', 'Process ID', 'Since', 'Version', 'Restarts', 'Memory']} unseen="Actions" />
        <tbody role="rowgroup">
          {data.services.map((service) => (
            <Row key={service.name} service={service} onAct={(action) => setCommand({ service, action })} />
          ))}
        </tbody>
      </table>
      <footer className="list-foot muted">
        <span role="status">
          {error
            ? `The state may be out of date: ${describeError(error).message}`
            : `${pluralize(data.services.length, 'service')}${down ? `, ${formatNumber(down)} not running` : ''}`}
        </span>
        {data.generation && (
          <span>
            Configuration: generation {data.generation.n}, <Time at={data.generation.created_at} form="ago" />
          </span>
        )}
      </footer>
      {command && <ConfirmCommand command={command} onClose={() => setCommand(null)} onStarted={(id) => change({ operation: id })} />}
    </div>
  )
}

function Row({ service, onAct }: { service: Service; onAct: (action: ServiceAction) => void }) {
  const unknown = <span className="muted">–</span>
  return (
    <tr role="row">
      <td role="cell" data-label="Service" className="strong">
        {service.name}
      </td>
      <td role="cell" data-label="State">
        <span className="row row-tight">
          <Badge tone={TONES[service.state]}>{service.state}</Badge>
          {service.drift && (
            <Link to={PATHS.services} search={{ tab: 'drift' }} className="badge badge-warn">
              edited by hand
            </Link>
          )}
        </span>
      </td>
      <td role="cell" data-label="Process ID">
        {service.pid ?? unknown}
      </td>
      <td role="cell" data-label="Since">
        {service.since ? <Time at={service.since} form="ago" /> : unknown}
      </td>
      <td role="cell" data-label="Version">
        {service.version}
      </td>
      <td role="cell" data-label="Restarts">
        {formatNumber(service.restarts)}
      </td>
      <td role="cell" data-label="Memory">
        {service.memory_bytes === null ? unknown : formatBytes(service.memory_bytes)}
      </td>
      <td role="cell" data-label="" className="right">
        <Actions service={service} onAct={onAct} />
      </td>
    </tr>
  )
}

function Actions({ service, onAct }: { service: Service; onAct: (action: ServiceAction) => void }) {
  const actions = listSensibleActions(service)
  if (actions.length === 0) return null
  return (
    <Allowed action="orchestrator.write">
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" aria-label={`Actions of ${service.name}`}>
            <Icon name="dots" size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {actions.map((action) => (
            <Menu.Item key={action} onClick={() => onAct(action)}>
              {ACTION_LABELS[action]}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </Allowed>
  )
}

function ConfirmCommand({
  command: {
    service: { name, consequences },
    action,
  },
  onClose,
  onStarted,
}: {
  command: Command
  onClose: () => void
  onStarted: (operationId: string) => void
}) {
  const act = useApiMutation({
    request: () => fetchData(client.POST(`/orchestrator/services/{name}/${action}`, { params: { path: { name } } })),
    invalidates: ['orchestrator'],
    onSuccess: (answer) => {
      onClose()
      onStarted(answer.operation_id)
    },
  })
  return (
    <Confirm
      opened
      onClose={onClose}
      title={`${ACTION_LABELS[action]} ${name}`}
      action={ACTION_LABELS[action]}
      isPending={act.isPending}
      error={act.error}
      onConfirm={() => act.mutate(undefined)}
    >
      <p>{consequences[action]}</p>
    </Confirm>
  )
}
