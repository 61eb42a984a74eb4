import { HOUR_CYCLE, LOCALE } from './locale'

/** Names of time zones, and local times (`datetime-local`) in one of them. */

export const UTC = 'UTC'

/** The browser's time zone. */
export const OWN_ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone

/** All zones that the browser knows, and `present`. */
export function listZones(present: string): string[] {
  return [...new Set([UTC, present, ...Intl.supportedValuesOf('timeZone')])].sort()
}

/** The zone, or UTC if the browser does not know it. */
export function knownZone(zone: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone && zone
  } catch {
    return UTC
  }
}

/** A time in words, as local time in a zone that is named unless it is the browser's. */
export function formatInZone(iso: string, zone: string): string {
  const format = new Intl.DateTimeFormat(LOCALE, {
    timeZone: zone,
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: HOUR_CYCLE,
  })
  return `${format.format(new Date(iso))}${zone === OWN_ZONE ? '' : ` (${zone})`}`
}

/** A time as local time in a zone, to the minute; empty for null. */
export function toLocal(iso: string | null, zone: string): string {
  if (iso === null) return ''
  const format = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  })
  const parts = new Map(format.formatToParts(new Date(iso)).map(({ type, value }) => [type, value]))
  return `${(parts.get('year') ?? '').padStart(4, '0')}-${parts.get('month')}-${parts.get('day')}T${parts.get('hour')}:${parts.get('minute')}`
}

/** A local time in a zone as UTC; null if it is no time. One that a clock change skips counts from before the change. */
export function fromLocal(local: string, zone: string): string | null {
  const wanted = Date.parse(`${local}Z`)
  if (Number.isNaN(wanted)) return null
  const offset = (at: number) => Date.parse(`${toLocal(new Date(at).toISOString(), zone)}Z`) - Math.floor(at / 60_000) * 60_000
  // The offset is that of the time which is searched.
  const guess = wanted - offset(wanted)
  return new Date(wanted - offset(guess)).toISOString()
}
