import { useEffect, useRef, useState } from 'react'
import { formatNumber, LOCALE } from '../locale'
import { formatBytes } from '../units'
import { TableHead } from './TableHead'

export interface Series {
  label: string
  /** The variable of the style sheet with its colour. */
  tone: '--good' | '--bad' | '--warn' | '--keep'
  counts: readonly number[]
}

export interface Bars {
  days: readonly string[]
  series: readonly Series[]
  /** The times between which the days are. */
  since: string
  until: string
  /** Of sizes in bytes the bars are not stacked: each begins at zero, a later series in front of an earlier one. */
  unit?: 'bytes'
}

/** Counts or sizes per UTC day as stacked bars, with a table of the same numbers. The chart's code is loaded when it is shown. */
export function DayChart({ label, days, series, since, until, unit }: Bars & { label: string }) {
  const element = useRef<HTMLDivElement>(null)
  const [hasFailed, setFailed] = useState(false)
  useEffect(() => {
    let remove = () => {}
    let isGone = false
    import('./chart').then(
      ({ drawBars }) => {
        if (!isGone && element.current) remove = drawBars(element.current, { days, series, since, until, ...(unit && { unit }) })
      },
      () => setFailed(true),
    )
    return () => {
      isGone = true
      remove()
    }
  }, [days, series, since, until, unit])
  const format = unit === 'bytes' ? formatBytes : formatNumber
  return (
    <figure className="day-chart" aria-label={label}>
      <div className="row small" aria-hidden>
        {series.map((each) => (
          <span key={each.label} className="day-chart-key" data-tone={each.tone.slice(2)}>
            {each.label}
          </span>
        ))}
      </div>
      {hasFailed ? <p className="muted">The chart could not be loaded.</p> : <div ref={element} className="day-chart-plot" aria-hidden />}
      <details>
        <summary>Show as table</summary>
        <table className="list" role="table" aria-label={label}>
          <TableHead headers={['Day', ...series.map((each) => each.label)]} />
          <tbody role="rowgroup">
            {days.map((day, index) => (
              <tr key={day} role="row">
                <td role="cell" data-label="Day">
                  {new Date(day).toLocaleDateString(LOCALE, { dateStyle: 'medium', timeZone: 'UTC' })}
                </td>
                {series.map((each) => (
                  <td key={each.label} role="cell" data-label={each.label}>
                    {format(each.counts[index] ?? 0)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  )
}
