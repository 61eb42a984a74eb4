import type { Schema } from '../../api/client'
import { formatNumber, LOCALE } from '../../locale'
import { PATHS } from '../../paths'
import { formatSearch } from '../../search'
import { knownZone, OWN_ZONE, toLocal } from '../../timeZone'
import type { Series } from '../../ui/DayChart'
import type { Params } from '../../ui/navigation'
import { formatDuration } from '../../units'
import { PERIODS } from '../reports/queries'

export type Overview = Schema['FiguresOverview']
export type Row = Schema['SeriesRow']
export type Figures = Omit<Row, 'at'>

/** Filters that the API does not combine. */
export const EXCLUSIVE = ['provider', 'tag', 'key'] as const
export const FILTERS = ['domain', ...EXCLUSIVE] as const
/** The time zone of days. */
export const ZONE = knownZone(OWN_ZONE)

/** The query of the API: the period, the zone of the browser, and of the filters that exclude each other the first. */
export function readQuery(params: Params) {
  const { domain, provider, tag, key } = params
  return {
    period: PERIODS.find((each) => each.value === params['period'])?.value ?? ('7d' as const),
    tz: ZONE,
    ...(domain && { domain_id: domain }),
    ...(provider ? { provider } : tag ? { tag } : key ? { api_key_id: key } : {}),
  }
}

export type Query = ReturnType<typeof readQuery>

/** The address of a table as CSV. */
export function csvHref(name: string, query: Query): string {
  return `/api/v1/analytics/${name}${formatSearch({ ...query, format: 'csv' })}`
}

/** What of a figure's messages the filters of the list select. */
const MESSAGE_FILTERS = {
  accepted: { direction: 'outbound' },
  delivered: { direction: 'outbound', status: 'delivered' },
  deferred: { direction: 'outbound', status: 'deferred' },
  bounced: { direction: 'outbound', status: 'bounced' },
  failed: { direction: 'outbound', status: 'failed' },
  suppressed: { direction: 'outbound', status: 'suppressed' },
  received: { direction: 'inbound', status: 'received' },
  rejected: { direction: 'inbound', status: 'rejected' },
} as const

export type LinkedFigure = keyof typeof MESSAGE_FILTERS

/**
 * The list of messages behind a figure (all, for none), of the times from `since` to before `until`. It can't be filtered by
 * the tag `other`, which stands for many.
 */
export function messagesHref(figure: LinkedFigure | null, query: Query & { class?: string }, since: string, until?: string): string {
  const { tag, api_key_id, provider, domain_id } = { tag: undefined, api_key_id: undefined, provider: undefined, ...query }
  const search = {
    ...(figure && MESSAGE_FILTERS[figure]),
    domain: domain_id,
    tag: tag === 'other' ? undefined : tag,
    key: api_key_id,
    provider,
    class: query.class,
    since: toLocal(since, ZONE),
    until: until && toLocal(until, ZONE),
  }
  return PATHS.messages + formatSearch(search)
}

/**
 * The messages of each row of a series: until the next row, of the last one until now. The list's local times can't tell the
 * two hours apart that a change of the clocks makes of one; the first leads to both, with the hour before.
 */
export function rowHrefs(rows: readonly Row[], query: Query, direction: 'outbound' | 'inbound'): string[] {
  return rows.map(({ at }, index) => {
    const next = rows[index + 1]?.at
    const isRepeated = next !== undefined && toLocal(at, ZONE) === toLocal(next, ZONE)
    const [since, until] = isRepeated ? [rows[index - 1]?.at ?? at, rows[index + 2]?.at] : [at, next]
    const href = messagesHref(direction === 'outbound' ? 'accepted' : null, query, since, until)
    return direction === 'inbound' ? `${href}&direction=inbound` : href
  })
}

/** A share as percent, never 0 % or 100 % unless it is exactly that. */
export function formatRate(rate: number | null): string {
  if (rate === null) return '–'
  const format = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: rate > 0.1 && rate < 0.99 ? 1 : 2 })
  const percent = rate === 0 || rate === 1 ? rate * 100 : Math.min(Math.max(rate * 100, 0.01), 99.99)
  return `${format.format(percent)} %`
}

export function formatSeconds(seconds: number | null): string {
  return seconds === null ? '–' : formatDuration(seconds)
}

/** How a number changed against the period before, in words. */
export function describeChange(now: number, before: number): string {
  if (now === before) return `as before (${formatNumber(before)})`
  if (before === 0) return '0 before'
  const percent = Math.round((100 * (now - before)) / before)
  const sign = now > before ? '+' : '−'
  return `${sign}${formatNumber(Math.abs(percent))} %, ${formatNumber(before)} before`
}

/** Whether anything was counted. */
export function isEmpty(figures: Figures): boolean {
  const { accepted, delivered, deferred, bounced, failed, suppressed, complained, received, rejected, spam } = figures
  return accepted + delivered + deferred + bounced + failed + suppressed + complained + received + rejected + spam === 0
}

type Picked = { [Name in keyof Figures]: Figures[Name] }

const pick = (rows: readonly Row[], name: keyof Picked) => rows.map((row) => row[name])

/** The series of the three charts, with the period before. With a provider there is no number of accepted messages. */
export function outcomeSeries(rows: readonly Row[], before: readonly Row[], hasAccepted: boolean): Series[] {
  const compared = hasAccepted ? 'accepted' : 'delivered'
  return [
    { label: 'Failed', tone: '--warn', counts: pick(rows, 'failed') },
    { label: 'Bounced', tone: '--bad', counts: pick(rows, 'bounced') },
    { label: 'Delivered', tone: '--good', counts: pick(rows, 'delivered') },
    ...(hasAccepted ? [{ label: 'Accepted', tone: '--keep', counts: pick(rows, 'accepted'), form: 'line' } as const] : []),
    { label: `${hasAccepted ? 'Accepted' : 'Delivered'}, period before`, tone: '--keep', counts: pick(before, compared), form: 'dashed' },
  ]
}

export function incomingSeries(rows: readonly Row[], before: readonly Row[]): Series[] {
  return [
    { label: 'Rejected', tone: '--bad', counts: pick(rows, 'rejected') },
    { label: 'Received', tone: '--good', counts: pick(rows, 'received') },
    // A part of the received.
    { label: 'Spam', tone: '--warn', counts: pick(rows, 'spam'), form: 'line' },
    { label: 'Received, period before', tone: '--keep', counts: pick(before, 'received'), form: 'dashed' },
  ]
}

export function delaySeries(rows: readonly Row[], before: readonly Row[]): Series[] {
  return [
    { label: 'Median', tone: '--good', counts: pick(rows, 'median_seconds'), form: 'line' },
    { label: '95 % within', tone: '--warn', counts: pick(rows, 'p95_seconds'), form: 'line' },
    { label: 'Median, period before', tone: '--good', counts: pick(before, 'median_seconds'), form: 'dashed' },
    { label: '95 % within, period before', tone: '--warn', counts: pick(before, 'p95_seconds'), form: 'dashed' },
  ]
}
