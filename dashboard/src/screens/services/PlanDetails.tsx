import type { Schema } from '../../api/client'
import { Badge, type Tone } from '../../ui/Badge'
import { Icon } from '../../ui/Icon'
import { TableHead } from '../../ui/TableHead'
import { pluralize } from '../../units'
import { FileDiff } from './Diff'
import type { Plan } from './queries'

const CHANGES: Readonly<Record<Schema['PlannedFileResponse']['change'], { label: string; tone: Tone }>> = {
  create: { label: 'new', tone: 'good' },
  update: { label: 'changed', tone: 'info' },
  delete: { label: 'deleted', tone: 'bad' },
  drifted: { label: 'edited by hand, kept', tone: 'warn' },
}
const ACTIONS: Readonly<Record<Schema['PlannedActionResponse']['action'], { label: string; tone: Tone }>> = {
  none: { label: 'nothing to do', tone: 'calm' },
  reload: { label: 'reload', tone: 'info' },
  restart: { label: 'restart', tone: 'warn' },
}

/** Whether more than edits by hand is in the plan. */
export function wouldChange(plan: Plan): boolean {
  return plan.settings.length > 0 || plan.actions.length > 0 || plan.files.some((file) => file.change !== 'drifted')
}

/** All of a plan, failed checks first. */
export function PlanDetails({ plan }: { plan: Plan }) {
  const failed = plan.checks.filter((each) => !each.ok)
  const passed = plan.checks.filter((each) => each.ok)
  return (
    <div className="stack">
      {plan.warnings.map((warning) => (
        <div className="note note-warn" key={warning}>
          <Icon name="warn" />
          <div>{warning}</div>
        </div>
      ))}
      {failed.length > 0 && <Checks checks={failed} />}
      {plan.actions.length > 0 && <PlannedActions actions={plan.actions} />}
      {plan.settings.length > 0 && (
        <section className="stack">
          <h3>{pluralize(plan.settings.length, 'setting')} will take effect</h3>
          <ul className="row row-tight">
            {plan.settings.map((key) => (
              <li key={key}>
                <code>{key}</code>
              </li>
            ))}
          </ul>
        </section>
      )}
      {plan.files.length > 0 && (
        <section className="stack">
          <h3>{pluralize(plan.files.length, 'file')}</h3>
          {plan.files.map((file) => (
            <FileDiff
              key={`${file.service}/${file.path}`}
              name={`${file.service}/${file.path}`}
              state={CHANGES[file.change]}
              diff={file.diff}
            >
              {file.change === 'drifted' && 'The difference is what Mailkeep would change if the edit were not kept.'}
            </FileDiff>
          ))}
        </section>
      )}
      {passed.length > 0 && <Checks checks={passed} />}
    </div>
  )
}

function PlannedActions({ actions }: { actions: Plan['actions'] }) {
  return (
    <table className="list change" role="table" aria-label="Actions">
      <TableHead headers={['Service', 'Action', 'Because of', 'Users notice']} />
      <tbody role="rowgroup">
        {actions.map((action) => (
          <tr role="row" key={action.service}>
            <td role="cell" data-label="Service" className="strong">
              {action.service}
            </td>
            <td role="cell" data-label="Action">
              <Badge tone={ACTIONS[action.action].tone}>{ACTIONS[action.action].label}</Badge>
            </td>
            <td role="cell" data-label="Because of" className="wrap break">
              <span className="row row-tight">
                {action.because.map((each) => (
                  <code key={each}>{each}</code>
                ))}
              </span>
            </td>
            <td role="cell" data-label="Users notice" className="wrap">
              {action.interrupts ?? <span className="muted">nothing</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** The results of the daemons' own checks. */
export function Checks({ checks }: { checks: Plan['checks'] }) {
  return (
    <section className="stack">
      <h3>{checks.every((each) => !each.ok) ? 'Failed checks' : 'Checks'}</h3>
      <ul className="lines">
        {checks.map((check, index) => (
          <li key={index}>
            <span className="row row-tight">
              <span className="strong">{check.service}</span>
              <Badge tone={check.ok ? 'good' : 'bad'}>{check.ok ? 'passed' : 'failed'}</Badge>
            </span>
            <Output text={check.output} what={`Output of the check of ${check.service}`} />
          </li>
        ))}
      </ul>
    </section>
  )
}

/** What a program printed; nothing if that is empty. */
export function Output({ text, what }: { text: string; what: string }) {
  if (!text.trim()) return null
  return (
    <pre className="wrap" tabIndex={0} aria-label={what}>
      {text}
    </pre>
  )
}
