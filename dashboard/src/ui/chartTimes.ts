import { HOUR_CYCLE, LOCALE } from '../locale'

export type Step = 'hour' | 'day'

/** How the days or hours of a chart are written. An hour that a change of the clocks repeats has its offset from UTC. */
export function formatTimes(times: readonly string[], step: Step, zone: string): string[] {
  const format: Intl.DateTimeFormatOptions = {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZone: zone,
    ...(step === 'hour' && { hour: '2-digit', minute: '2-digit', hourCycle: HOUR_CYCLE }),
  }
  const short = new Intl.DateTimeFormat(LOCALE, format)
  const long = new Intl.DateTimeFormat(LOCALE, { ...format, timeZoneName: 'shortOffset' })
  const dates = times.map((time) => new Date(time))
  const labels = dates.map((date) => short.format(date))
  return dates.map((date, index) => {
    const label = labels[index] ?? ''
    return label === labels[index - 1] || label === labels[index + 1] ? long.format(date) : label
  })
}

const STEPS = { hour: [1, 2, 3, 6, 12, 24, 48, 96, 168], day: [1, 2, 7, 14, 28, 56] }

/** The times with a label at the axis, at most `most`: the last, and each second, third, … before it. */
export function pickTicks(times: readonly string[], step: Step, most: number): string[] {
  const every = STEPS[step].find((each) => times.length <= each * most) ?? times.length
  return times.filter((_, index) => (times.length - 1 - index) % every === 0)
}
