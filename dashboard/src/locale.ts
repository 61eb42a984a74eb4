const LANGUAGE = document.documentElement.lang || 'en'

/** The locale of times and numbers: the interface language, in the browser's regional variant if it has one. */
export const LOCALE = navigator.languages.find((each) => each === LANGUAGE || each.startsWith(`${LANGUAGE}-`)) ?? LANGUAGE

/** 12 or 24 hours, as in the browser's locale. */
export const HOUR_CYCLE = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions().hourCycle ?? 'h23'

const NUMBER = new Intl.NumberFormat(LOCALE)

/** A number with thousands separators. */
export function formatNumber(value: number): string {
  return NUMBER.format(value)
}
