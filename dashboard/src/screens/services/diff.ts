export type LineKind = 'added' | 'removed' | 'place' | 'same'

export interface DiffLine {
  kind: LineKind
  text: string
}

/** The lines of a unified diff, without the names of the files. */
export function parseDiff(diff: string): DiffLine[] {
  return diff
    .split('\n')
    .filter((line, index) => !(index < 2 && /^(---|\+\+\+) /.test(line)) && line !== '')
    .map((text) => ({ kind: kindOf(text), text }))
}

function kindOf(line: string): LineKind {
  if (line.startsWith('+')) return 'added'
  if (line.startsWith('-')) return 'removed'
  return line.startsWith('@@') ? 'place' : 'same'
}

/** The numbers of added and removed lines. */
export function countChanges(lines: readonly DiffLine[]): { added: number; removed: number } {
  const count = (kind: LineKind) => lines.filter((line) => line.kind === kind).length
  return { added: count('added'), removed: count('removed') }
}

/** The server sends at most this number of characters of a diff. */
const SHORTENED = 64 << 10

export function isShortened(diff: string): boolean {
  return diff.length >= SHORTENED
}
