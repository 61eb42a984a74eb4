import { Modal } from '@mantine/core'
import { describeError } from '../../api/errors'
import { Badge, type Tone } from '../../ui/Badge'
import { LoadingLines } from '../../ui/DataList'
import { ErrorNote } from '../../ui/ErrorNote'
import { Icon } from '../../ui/Icon'
import { Facts } from '../../ui/Page'
import { Time } from '../../ui/Time'
import { Confirmation } from './Confirmation'
import { Output } from './PlanDetails'
import { type Operation, useOperation } from './queries'
import { ACTION_LABELS } from './texts'

const STATES: Readonly<Record<Operation['state'], { label: string; tone: Tone }>> = {
  running: { label: 'running', tone: 'info' },
  succeeded: { label: 'succeeded', tone: 'good' },
  failed: { label: 'failed', tone: 'bad' },
  rolled_back: { label: 'rolled back', tone: 'warn' },
}

/** The state of an operation, also that it waits for a confirmation. */
export function OperationBadge({ operation: { state, confirm_until } }: { operation: Pick<Operation, 'state' | 'confirm_until'> }) {
  if (state === 'running' && confirm_until)
    return (
      <Badge tone="warn">
        waits for your confirmation until <Time at={confirm_until} form="exact" />
      </Badge>
    )
  return <Badge tone={STATES[state].tone}>{STATES[state].label}</Badge>
}

/** An operation in words, for example “Restart postfix”. */
export function describeOperation({ kind, service }: Pick<Operation, 'kind' | 'service'>): string {
  if (kind === 'apply') return 'Apply the newest settings'
  if (kind === 'rollback') return 'Roll back to an earlier generation'
  return `${ACTION_LABELS[kind]} ${service ?? ''}`
}

/** The seconds that something took. */
export function formatDuration({ created_at, finished_at }: Pick<Operation, 'created_at' | 'finished_at'>): string {
  if (!finished_at) return '–'
  const seconds = (Date.parse(finished_at) - Date.parse(created_at)) / 1000
  return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`
}

/** An operation with its steps, live while it runs. It goes on if the dialog is closed. */
export function OperationModal({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  return (
    <Modal opened={id !== undefined} onClose={onClose} title="Operation" size="lg">
      {id !== undefined && <OperationDetails id={id} />}
    </Modal>
  )
}

function OperationDetails({ id }: { id: string }) {
  const { data, error } = useOperation(id)
  if (!data) return error ? <ErrorNote error={error} /> : <LoadingLines />
  return (
    <div className="stack">
      <Facts
        rows={[
          ['Operation', <span className="strong">{describeOperation(data)}</span>],
          [
            'State',
            <span role="status">
              <OperationBadge operation={data} />
            </span>,
          ],
          ['By', data.author],
          ['Started', <Time at={data.created_at} form="exact" />],
          ['Duration', formatDuration(data)],
        ]}
      />
      {data.state === 'running' && data.confirm_until && <Confirmation until={data.confirm_until} url={data.confirm_url} />}
      {error && (
        <p className="muted small" role="status">
          {describeError(error).message} The operation goes on.
        </p>
      )}
      {data.error && (
        <div className="note note-bad">
          <Icon name="warn" />
          <div className="break">{data.error}</div>
        </div>
      )}
      <section className="stack" aria-label="Steps">
        <h3>Steps</h3>
        {data.steps.length === 0 && <p className="muted">{data.state === 'running' ? 'It begins in a moment.' : 'It had not begun.'}</p>}
        <ol className="steps">
          {data.steps.map((step, index) => (
            <li key={index}>
              <span className="row row-tight">
                <span className="strong">{step.name}</span>
                <Badge tone={STATES[step.state].tone}>{STATES[step.state].label}</Badge>
                <span className="muted small">{formatDuration({ created_at: step.started_at, finished_at: step.finished_at })}</span>
              </span>
              {step.output !== data.error && <Output text={step.output} what={`Output of ${step.name}`} />}
            </li>
          ))}
        </ol>
      </section>
    </div>
  )
}
