const BROWSERS: readonly [RegExp, string][] = [
  [/Edg(?:A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/(?:Firefox|FxiOS)\//, 'Firefox'],
  [/(?:Chrome|CriOS)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
]

const SYSTEMS: readonly [RegExp, string][] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
]

/** A browser and its system in words, from a user agent; other texts as they are. */
export function describeProgram(text: string): string {
  const find = (names: readonly [RegExp, string][]) => names.find(([pattern]) => pattern.test(text))?.[1]
  const browser = text.startsWith('Mozilla/') ? find(BROWSERS) : undefined
  const system = find(SYSTEMS)
  return browser ? `${browser}${system ? ` on ${system}` : ''}` : text
}
