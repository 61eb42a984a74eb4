import type { Series } from './DayChart'

/** A part of a bar, with its place in the key. */
export interface Part {
  label: string
  tone: Series['tone']
  count: number
}

/** The key of the bars of a table. Its columns have the numbers. */
export function BarKey({ parts }: { parts: readonly Omit<Part, 'count'>[] }) {
  return (
    <div className="row small" aria-hidden>
      {parts.map(({ label, tone }) => (
        <span key={label} className="day-chart-key" data-tone={tone.slice(2)}>
          {label}
        </span>
      ))}
    </div>
  )
}

/** The counts of a row as a bar, as long as the row's share of `most`, the largest sum of a row. */
export function StackedBar({ parts, most }: { parts: readonly Part[]; most: number }) {
  return (
    <span className="stacked-bar" aria-hidden>
      {parts.map(({ label, tone, count }) => (
        <span key={label} data-tone={tone.slice(2)} style={{ width: `${most > 0 ? (100 * count) / most : 0}%` }} />
      ))}
    </span>
  )
}
