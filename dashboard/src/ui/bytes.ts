import { number } from '../locale'

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** Bytes for people: 1024 of one are one of the next. */
export function bytes(count: number): string {
  let amount = count
  let unit = 0
  while (amount >= 1024 && unit < UNITS.length - 1) {
    amount /= 1024
    unit += 1
  }
  return `${amount >= 10 || unit === 0 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[unit]}`
}

const GB = 1024 ** 3

/** `size` in bytes. */
export interface Unit {
  name: string
  size: number
}

/** What to write so many bytes in, as a number of two decimals at most: the largest such unit; GB for none yet. */
export function unitOf(count: number | undefined): Unit {
  for (let size = GB; count && size > 1; size /= 1024) if ((count * 100) % size === 0) return { name: UNITS[Math.log2(size) / 10] ?? '', size }
  return count ? { name: 'B', size: 1 } : { name: 'GB', size: GB }
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`
}
