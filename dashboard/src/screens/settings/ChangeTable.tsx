import { Badge } from '../../ui/Badge'
import { TableHead } from '../../ui/TableHead'
import { describeEffect, type Effect, type ReviewedChange } from './values'

/** The badge names all services on hover. */
export function EffectBadge({ effect }: { effect: Effect }) {
  return (
    <span title={effect.services.join(', ') || undefined}>
      <Badge tone={effect.effect === 'none' ? 'good' : 'info'}>{describeEffect(effect)}</Badge>
    </span>
  )
}

/** Settings with their values before and after a change, and when it applies. */
export function ChangeTable({ changes, label }: { changes: readonly ReviewedChange[]; label: string }) {
  return (
    <table className="list change" role="table" aria-label={label}>
      <TableHead headers={['Setting', 'Old', 'New', 'Effect']} />
      <tbody role="rowgroup">
        {changes.map((change) => (
          <tr role="row" key={change.key}>
            <td role="cell" data-label="Setting" className="break">
              <span>
                <code>{change.key}</code>
                {change.isConsequence && <span className="muted small block">Removed, because its destination changes</span>}
              </span>
            </td>
            <td role="cell" data-label="Old" className="break">
              <del>{change.before}</del>
            </td>
            <td role="cell" data-label="New" className="break">
              <ins>{change.after}</ins>
            </td>
            <td role="cell" data-label="Effect" className="wrap">
              {describeEffect(change.effect)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
