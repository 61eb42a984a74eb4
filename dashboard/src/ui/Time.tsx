import { HOUR_CYCLE, LOCALE } from '../locale'

const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: HOUR_CYCLE } as const
const SHORT = new Intl.DateTimeFormat(LOCALE, { month: 'short', day: 'numeric', ...CLOCK })
const LONG = new Intl.DateTimeFormat(LOCALE, { year: 'numeric', month: 'short', day: 'numeric', ...CLOCK })
const EXACT = new Intl.DateTimeFormat(LOCALE, { month: 'short', day: 'numeric', ...CLOCK, second: '2-digit' })
const LONG_EXACT = new Intl.DateTimeFormat(LOCALE, { year: 'numeric', month: 'short', day: 'numeric', ...CLOCK, second: '2-digit' })
const AGO = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto' })

/** A time in the browser's zone with UTC on hover. `ago`: relative if less than a week away. */
export function Time({ at, form = 'short' }: { at: string | null | undefined; form?: 'short' | 'exact' | 'ago' }) {
  if (!at) return <span className="muted">never</span>
  const date = new Date(at)
  return (
    <time dateTime={at} title={`${at.replace('T', ' ').replace(/\.\d+Z$/, '')} UTC`}>
      {formatTime(date, form)}
    </time>
  )
}

export function formatTime(date: Date, form: 'short' | 'exact' | 'ago'): string {
  const isThisYear = date.getFullYear() === new Date().getFullYear()
  if (form === 'exact') return (isThisYear ? EXACT : LONG_EXACT).format(date)
  if (form === 'ago') {
    const seconds = (date.getTime() - Date.now()) / 1000
    const distance = Math.abs(seconds)
    if (distance < 45) return seconds > 10 ? 'in a moment' : 'just now'
    if (distance < 3600) return AGO.format(Math.round(seconds / 60), 'minute')
    if (distance < 86_400) return AGO.format(Math.round(seconds / 3600), 'hour')
    if (distance < 604_800) return AGO.format(Math.round(seconds / 86_400), 'day')
  }
  return (isThisYear ? SHORT : LONG).format(date)
}
