import { useEffect, useRef, useState } from 'react'
import { formatNumber } from '../locale'
import { UTC } from '../timeZone'
import { formatBytes, formatDuration } from '../units'
import { formatTimes, type Step } from './chartTimes'
import { useNavigation } from './navigation'
import { TableHead } from './TableHead'

export interface Series {
  label: string
  /** The variable of the style sheet with its colour. */
  tone: '--good' | '--bad' | '--warn' | '--keep'
  /** Null: no value, a gap in a line. */
  counts: readonly (number | null)[]
  /** Bars unless given. `dashed`: a line for comparison. */
  form?: 'line' | 'dashed'
}

export interface Bars {
  /** Days as dates, or when the days or hours begin. */
  days: readonly string[]
  series: readonly Series[]
  /** The times between which the days are. */
  since: string
  until: string
  /** Of sizes in bytes the bars are not stacked: each begins at zero, a later series in front of an earlier one. */
  unit?: 'bytes' | 'seconds'
  step?: Step
  /** The time zone of the days; UTC unless given. */
  zone?: string
}

interface Props extends Bars {
  label: string
  /** What the table and a click in the chart open. */
  hrefs?: readonly string[]
}

const FORMATS = { bytes: formatBytes, seconds: formatDuration }

/** How a value of a chart is written. */
export function formatValue(value: number, unit: Bars['unit']): string {
  return unit ? FORMATS[unit](value) : formatNumber(value)
}

/**
 * Counts, sizes or times per day or hour as stacked bars and lines, with a table of the same numbers. The chart's code is
 * loaded when it is shown.
 */
export function DayChart({ label, days, series, since, until, unit, step = 'day', zone = UTC, hrefs }: Props) {
  const { Link } = useNavigation()
  const element = useRef<HTMLDivElement>(null)
  const rows = useRef<HTMLTableSectionElement>(null)
  const [hasFailed, setFailed] = useState(false)
  useEffect(() => {
    let remove = () => {}
    let isGone = false
    import('./chart').then(
      ({ drawBars }) => {
        if (isGone || !element.current) return
        const open = (index: number) => rows.current?.rows[index]?.querySelector('a')?.click()
        remove = drawBars(element.current, { days, series, since, until, step, zone, ...(unit && { unit }) }, hrefs && open)
      },
      () => setFailed(true),
    )
    return () => {
      isGone = true
      remove()
    }
  }, [days, series, since, until, unit, step, zone, hrefs])
  const heading = step === 'hour' ? 'Hour' : 'Day'
  const times = formatTimes(days, step, zone)
  return (
    <figure className="day-chart" aria-label={label}>
      <div className="row small" aria-hidden>
        {series.map((each) => (
          <span key={each.label} className="day-chart-key" data-tone={each.tone.slice(2)} data-form={each.form}>
            {each.label}
          </span>
        ))}
      </div>
      {hasFailed ? <p className="muted">The chart could not be loaded.</p> : <div ref={element} className="day-chart-plot" aria-hidden />}
      <details>
        <summary>Show as table</summary>
        <table className="list" role="table" aria-label={label}>
          <TableHead headers={[heading, ...series.map((each) => each.label)]} />
          <tbody role="rowgroup" ref={rows}>
            {days.map((day, index) => (
              <tr key={day} role="row">
                <td role="cell" data-label={heading}>
                  {hrefs?.[index] ? <Link href={hrefs[index]}>{times[index]}</Link> : times[index]}
                </td>
                {series.map((each) => (
                  <td key={each.label} role="cell" data-label={each.label}>
                    {formatCount(each.counts[index], unit)}
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

function formatCount(count: number | null | undefined, unit: Bars['unit']): string {
  return count === null || count === undefined ? '–' : formatValue(count, unit)
}
