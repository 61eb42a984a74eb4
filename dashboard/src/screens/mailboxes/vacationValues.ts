import type { Schema } from '../../api/client'
import { formatInZone, fromLocal, toLocal } from '../../timeZone'

export type Vacation = Schema['VacationRecord']

/** The values of the form. Times are local times in the mailbox's zone; empty: at once, never. */
export function initialValues(vacation: Vacation, zone: string) {
  return {
    active: vacation.active,
    subject: vacation.subject ?? '',
    text: vacation.text ?? '',
    html: vacation.html ?? '',
    start: toLocal(vacation.start_at, zone),
    end: toLocal(vacation.end_at, zone),
    days: (vacation.days ?? 7) as number | string,
  }
}

export type Values = ReturnType<typeof initialValues>

/** The body of the change. A time that was not edited keeps its seconds. */
export function putBody(values: Values, saved: Vacation, zone: string): Schema['VacationWrite'] {
  const time = (local: string, before: string | null) => (local === toLocal(before, zone) ? before : fromLocal(local, zone))
  const start_at = time(values.start, saved.start_at)
  const end_at = time(values.end, saved.end_at)
  return {
    active: values.active,
    ...(values.text && { text: values.text }),
    ...(values.subject.trim() && { subject: values.subject.trim() }),
    ...(values.html && { html: values.html }),
    ...(start_at && { start_at }),
    ...(end_at && { end_at }),
    ...(values.days !== '' && { days: Number(values.days) }),
  }
}

/** Whether replies are sent now, in words. */
export function describeState({ active, start_at, end_at }: Vacation, zone: string, now = Date.now()): string {
  if (!active) return 'Off'
  if (end_at && Date.parse(end_at) <= now) return `Ended ${formatInZone(end_at, zone)}`
  if (start_at && Date.parse(start_at) > now) return `Starts ${formatInZone(start_at, zone)}`
  return end_at ? `On until ${formatInZone(end_at, zone)}` : 'On'
}
