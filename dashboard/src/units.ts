import { formatNumber } from './locale'

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** Formats a size with a factor of 1024 between the units. */
export function formatBytes(count: number): string {
  let amount = count
  let unit = 0
  while (amount >= 1024 && unit < UNITS.length - 1) {
    amount /= 1024
    unit += 1
  }
  return `${amount >= 10 || unit === 0 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[unit]}`
}

const GB = 1024 ** 3

/** `size` is in bytes. */
export interface Unit {
  name: string
  size: number
}

/** The largest unit in which the size has at most two decimals; GB for no size. */
export function pickUnit(count: number | undefined): Unit {
  for (let size = GB; count && size > 1; size /= 1024)
    if ((count * 100) % size === 0) return { name: UNITS[Math.log2(size) / 10] ?? '', size }
  return count ? { name: 'B', size: 1 } : { name: 'GB', size: GB }
}

/** Seconds in the largest unit of which there is at least one, with at most one decimal. */
export function formatDuration(seconds: number): string {
  const [name, size] = seconds < 60 ? ['s', 1] : seconds < 3600 ? ['min', 60] : seconds < 86_400 ? ['h', 3600] : ['d', 86_400]
  const amount = seconds / Number(size)
  return `${formatNumber(amount < 10 ? Math.round(amount * 10) / 10 : Math.round(amount))} ${name}`
}

/** The number with the noun. */
export function pluralize(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatNumber(count)} ${count === 1 ? singular : plural}`
}
