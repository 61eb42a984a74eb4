import type { Schema } from '../../api/client'
import { formatNumber } from '../../locale'
import type { Series } from '../../ui/DayChart'
import { formatTime } from '../../ui/Time'
import { formatBytes, pluralize } from '../../units'

export type Component = Schema['ComponentResponse']

export const LABELS: Readonly<Record<string, string>> = {
  database: 'Database',
  mta: 'Mail server',
  filter: 'Spam filter',
  mailboxes: 'Mailboxes',
  queue: 'Queue',
  certificates: 'Certificates',
  dns: 'DNS',
  probe: 'Probe message',
  antivirus: 'Virus scanner',
  dns_lists: 'DNS lists of the filter',
  disk: 'Disk',
  clock: 'Clock',
  workers: 'Background jobs',
  blocklists: 'Blocklists',
  backups: 'Backups',
  replication: 'Replication',
}

const DAY_MS = 86_400_000
const FORECAST_DAYS = 14

export type DiskDay = Readonly<{ day: string; used_bytes: number; total_bytes: number }>

/** What the API says about the disk. */
export type Disk = Readonly<{
  free_bytes?: number
  total_bytes?: number
  bytes_per_day?: number | null
  days_until_full?: number | null
  history?: readonly DiskDay[]
}>

/** The measured values of a component as names and texts; what is not measured is left out. */
export function describeDetails(details: Readonly<Record<string, unknown>>): readonly (readonly [string, string])[] {
  return Object.entries(details)
    .filter(([name]) => name !== 'history')
    .map(([name, value]) => [name.replaceAll('_', ' '), describeValue(name, value)] as const)
    .filter(([, text]) => text !== '')
}

function describeValue(name: string, value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return name.includes('bytes') ? formatBytes(value) : formatNumber(value)
  if (typeof value === 'string') return name.endsWith('_at') || name === 'at' ? formatTime(new Date(value), 'short') : value
  const parts = Array.isArray(value)
    ? value.map((each) => (isRecord(each) ? listValues(each).join(', ') : describeValue('', each)))
    : Object.entries(value).map(([key, each]) => `${key}: ${describeValue(key, each)}`)
  return parts.join('; ')
}

function listValues(record: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(record).flatMap(([name, value]) => describeValue(name, value) || [])
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The use of the disk per day, and how it goes on: a line to the day on which the disk is full, or for two weeks. */
export function forecastDisk(disk: Disk): { days: readonly string[]; series: readonly Series[] } {
  const history = disk.history ?? []
  const last = history.at(-1)
  if (!last) return { days: [], series: [] }
  const growth = disk.bytes_per_day ?? null
  const ahead = growth === null ? 0 : Math.min(FORECAST_DAYS, Math.max(1, Math.ceil(disk.days_until_full ?? FORECAST_DAYS)))
  const later = Array.from({ length: ahead }, (_, index) => index + 1)
  const clip = (bytes: number) => Math.round(Math.min(last.total_bytes, Math.max(0, bytes)))
  const series: Series[] = [
    { label: 'In use', tone: '--keep', counts: [...history.map((each) => each.used_bytes), ...later.map(() => null)] },
    {
      label: 'Size',
      tone: '--bad',
      form: 'line',
      counts: [...history.map((each) => each.total_bytes), ...later.map(() => last.total_bytes)],
    },
  ]
  if (growth !== null)
    series.push({
      label: 'Forecast',
      tone: '--warn',
      form: 'dashed',
      counts: [...history.slice(1).map(() => null), last.used_bytes, ...later.map((day) => clip(last.used_bytes + growth * day))],
    })
  const laterDays = later.map((day) => new Date(Date.parse(last.day) + day * DAY_MS).toISOString().slice(0, 10))
  return { days: [...history.map((each) => each.day), ...laterDays], series }
}

/** When the disk will be full, in words. */
export function describeForecast({ bytes_per_day, days_until_full }: Disk): string {
  if (bytes_per_day === null || bytes_per_day === undefined) return 'The forecast needs measurements of three days.'
  if (bytes_per_day < 0) return `Its use falls by ${formatBytes(-bytes_per_day)} a day.`
  const growth = `It grows by ${formatBytes(bytes_per_day)} a day`
  if (days_until_full === null || days_until_full === undefined) return `${growth}, and is not full within a year.`
  return `${growth}, and is full in ${pluralize(Math.max(1, Math.round(days_until_full)), 'day')}.`
}

const BY_STATUS: readonly Component['status'][] = ['down', 'degraded', 'ok', 'disabled']

/** What needs attention first, what is off last. */
export function sortByStatus(components: readonly Component[]): readonly Component[] {
  return components.toSorted((a, b) => BY_STATUS.indexOf(a.status) - BY_STATUS.indexOf(b.status))
}

/** How many components are in which status, the worst first. */
export function summarize(components: readonly Component[]): string {
  const count = (status: Component['status']) => components.filter((each) => each.status === status).length
  const parts = [`${formatNumber(count('ok'))} of ${pluralize(components.length, 'component')} ok`]
  for (const status of ['down', 'degraded', 'disabled'] as const) if (count(status)) parts.push(`${formatNumber(count(status))} ${status}`)
  return parts.join(', ')
}
