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

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`
}
