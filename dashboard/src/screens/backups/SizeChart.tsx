import { formatBytes } from '../../units'
import { Time, formatTime } from '../../ui/Time'
import type { Backup } from './queries'

const HEIGHT = 96
const SLOT = 14
const BAR = 10

/** What each backup contains, and what it added to the repository: bars, and the same numbers as a table. */
export function SizeChart({ backups }: { backups: readonly Backup[] }) {
  const shown = backups.filter((each) => each.size_bytes !== null).toReversed()
  if (shown.length < 2) return null
  const most = Math.max(1, ...shown.map((each) => each.size_bytes ?? 0))
  const scale = (bytes: number | null) => Math.max(1, ((bytes ?? 0) / most) * HEIGHT)
  return (
    <section className="card stack">
      <h2>Size over time</h2>
      <svg
        role="img"
        aria-label={`Sizes of ${String(shown.length)} backups, at most ${formatBytes(most)}`}
        viewBox={`0 0 ${String(shown.length * SLOT)} ${String(HEIGHT)}`}
        width={shown.length * SLOT}
        height={HEIGHT}
        className="backup-chart"
      >
        {shown.map((each, index) => (
          <g key={each.id}>
            <title>{`${formatTime(new Date(each.created_at), 'short')}: ${formatBytes(each.size_bytes ?? 0)}, added ${formatBytes(each.added_bytes ?? 0)}`}</title>
            <rect
              x={index * SLOT}
              y={HEIGHT - scale(each.size_bytes)}
              width={BAR}
              height={scale(each.size_bytes)}
              fill="currentColor"
              opacity={0.3}
            />
            <rect x={index * SLOT} y={HEIGHT - scale(each.added_bytes)} width={BAR} height={scale(each.added_bytes)} fill="currentColor" />
          </g>
        ))}
      </svg>
      <p className="muted small">Light: what a backup contains. Dark: what it added to the repository.</p>
      <details>
        <summary>Show as a table</summary>
        <table className="list" aria-label="Sizes of backups">
          <thead>
            <tr>
              <th scope="col">Begun</th>
              <th scope="col">Contains</th>
              <th scope="col">Added</th>
            </tr>
          </thead>
          <tbody>
            {shown.toReversed().map((each) => (
              <tr key={each.id}>
                <td>
                  <Time at={each.created_at} />
                </td>
                <td>{formatBytes(each.size_bytes ?? 0)}</td>
                <td>{formatBytes(each.added_bytes ?? 0)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </section>
  )
}
