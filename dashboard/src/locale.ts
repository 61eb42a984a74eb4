const LANGUAGE = document.documentElement.lang || 'en'

/** How times and numbers are written: in the language of the interface, as it is spoken where the browser is, if it is. */
export const LOCALE = navigator.languages.find((each) => each === LANGUAGE || each.startsWith(`${LANGUAGE}-`)) ?? LANGUAGE

/** 12 or 24 hours, as people write them where the browser is. */
export const HOUR_CYCLE = new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions().hourCycle ?? 'h23'

const NUMBER = new Intl.NumberFormat(LOCALE)

/** A number with its thousands apart. */
export function number(value: number): string {
  return NUMBER.format(value)
}
