/** A table: the first line names the columns. */
export interface CsvTable {
  columns: string[]
  rows: string[][]
  /** The numbers of the rows in a spreadsheet. */
  numbers: number[]
}

const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/
const PROTECTED = /^'+[=+\-@\t\r\n＝＋－＠]/
const DELIMITERS = [',', ';', '\t'] as const

/** Reads a table with any usual delimiter; throws an Error that says what is wrong. */
export function parseCsv(bytes: ArrayBuffer): CsvTable {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Error('The file is not UTF-8. Save it as “CSV UTF-8” in the spreadsheet.')
  }
  if (text.includes('\0')) throw new Error('The file contains NUL characters, so it is not a text file.')
  const all = parseLines(text, pickDelimiter(text))
  const [head, ...rows] = all.filter(({ cells }) => cells.some((cell) => cell !== ''))
  if (!head) throw new Error('The file is empty.')
  return {
    columns: head.cells.map((cell) => cell.trim()),
    rows: rows.map(({ cells }) => cells.map((cell) => (PROTECTED.test(cell) ? cell.slice(1) : cell))),
    numbers: rows.map(({ number }) => number),
  }
}

/** The delimiter that occurs most often in the first line, outside of quotes. */
function pickDelimiter(text: string): string {
  const first = (text.split(/\r?\n|\r/).find((line) => line !== '') ?? '').replace(/"[^"]*"/g, '')
  const count = (delimiter: string) => first.split(delimiter).length
  return DELIMITERS.reduce((best, each) => (count(each) > count(best) ? each : best))
}

interface Line {
  cells: string[]
  number: number
}

function parseLines(text: string, delimiter: string): Line[] {
  const lines: Line[] = []
  let cells: string[] = []
  let position = 0
  const endLine = () => {
    lines.push({ cells, number: lines.length + 1 })
    cells = []
  }
  while (position < text.length) {
    let cell = ''
    if (text[position] === '"') {
      const line = lines.length + 1
      for (;;) {
        const end = text.indexOf('"', position + 1)
        if (end < 0) throw new Error(`Row ${line} has a quotation mark without its end.`)
        cell += text.slice(position + 1, end)
        position = end + 1
        if (text[position] !== '"') break
        cell += '"'
      }
      const next = text[position]
      if (next !== undefined && next !== delimiter && next !== '\n' && next !== '\r')
        throw new Error(`Row ${line} has text after a quotation mark.`)
    } else {
      const start = position
      while (position < text.length && text[position] !== delimiter && text[position] !== '\n' && text[position] !== '\r') position += 1
      cell = text.slice(start, position)
    }
    cells.push(cell)
    if (text[position] === delimiter) {
      position += 1
      if (position === text.length) cells.push('')
      continue
    }
    if (position < text.length) position += text.startsWith('\r\n', position) ? 2 : 1
    endLine()
  }
  if (cells.length > 0) endLine()
  return lines
}

/** Writes a table that spreadsheets open without evaluating a cell as a formula. */
export function writeCsv(rows: readonly (readonly (string | number)[])[]): string {
  const quote = (cell: string) => `"${(FORMULA.test(cell) ? `'${cell}` : cell).replaceAll('"', '""')}"`
  return rows.map((row) => `${row.map((cell) => quote(String(cell))).join(',')}\r\n`).join('')
}

/** The names of the columns in lower case. */
export function columnNames(table: CsvTable): string[] {
  return table.columns.map((name) => name.toLowerCase())
}

/** The rows as objects with the names of the columns; blank cells are left out. */
export function toObjects(table: CsvTable): Record<string, string>[] {
  const names = columnNames(table)
  return table.rows.map((cells) =>
    Object.fromEntries(names.flatMap((name, index) => (cells[index]?.trim() ? [[name, cells[index].trim()]] : []))),
  )
}
