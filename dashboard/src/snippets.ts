/** A request to the API. `path` is relative to `/api/v1`. */
export interface ApiCall {
  method: string
  path: string
  query?: Readonly<Record<string, unknown>>
  body?: unknown
}

/** Languages of runnable snippets. The API key is read from the environment. */
export const LANGUAGES = [
  { value: 'curl', label: 'curl', write: writeCurl },
  { value: 'python', label: 'Python', write: writePython },
  { value: 'javascript', label: 'JavaScript', write: writeJavaScript },
] as const

export type Language = (typeof LANGUAGES)[number]['value']

/** A request as a program that can be run. `base`: the URL of the API. */
export function writeSnippet(language: Language, call: ApiCall, base: string): string {
  const { write } = LANGUAGES.find((each) => each.value === language) ?? LANGUAGES[0]
  return write({ ...call, body: hideSecrets(call.body) }, base)
}

function writeCurl(call: ApiCall, base: string): string {
  const lines = [
    `curl -sS${call.method === 'GET' ? '' : ` -X ${call.method}`} ${quote(buildUrl(call, base))}`,
    '-H "Authorization: Bearer $MAILKEEP_KEY"',
  ]
  if (call.body !== undefined) lines.push("-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(call.body, null, 2))}`)
  return lines.join(' \\\n  ')
}

function writePython(call: ApiCall, base: string): string {
  const hasBody = call.body !== undefined
  const lines = [
    'import json, os, urllib.request',
    '',
    'request = urllib.request.Request(',
    `    ${JSON.stringify(buildUrl(call, base))},`,
    `    method=${JSON.stringify(call.method)},`,
  ]
  lines.push(
    `    headers={"Authorization": "Bearer " + os.environ["MAILKEEP_KEY"]${hasBody ? ', "Content-Type": "application/json"' : ''}},`,
  )
  if (hasBody) lines.push(`    data=json.dumps(${toPython(call.body, '    ')}).encode(),`)
  return [
    ...lines,
    ')',
    'with urllib.request.urlopen(request) as response:',
    `    print(${isText(call) ? 'response.read().decode()' : 'json.load(response)["data"]'})`,
  ].join('\n')
}

function writeJavaScript(call: ApiCall, base: string): string {
  const hasBody = call.body !== undefined
  const lines = [`const response = await fetch(${JSON.stringify(buildUrl(call, base))}, {`, `  method: ${JSON.stringify(call.method)},`]
  lines.push(
    `  headers: { Authorization: \`Bearer \${process.env.MAILKEEP_KEY}\`${hasBody ? ', "Content-Type": "application/json"' : ''} },`,
  )
  if (hasBody) lines.push(`  body: JSON.stringify(${JSON.stringify(call.body, null, 2).replaceAll('\n', '\n  ')}),`)
  lines.push('})')
  if (isText(call)) return [...lines, 'console.log(await response.text())'].join('\n')
  return [
    ...lines,
    'const { data, error } = await response.json()',
    'if (error) throw new Error(`${error.code}: ${error.message}`)',
    'console.log(data)',
  ].join('\n')
}

function buildUrl(call: ApiCall, base: string): string {
  const pairs = Object.entries(call.query ?? {}).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[name, String(value)]],
  )
  const query = new URLSearchParams(pairs).toString()
  return base + call.path + (query && `?${query}`)
}

function isText(call: ApiCall): boolean {
  return /\/(raw|html|zone-file)$/.test(call.path)
}

/** Quotes a text for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A JSON value as a Python literal. */
function toPython(value: unknown, indent: string): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  const deeper = `${indent}    `
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    return `[\n${value.map((each) => `${deeper}${toPython(each, deeper)},\n`).join('')}${indent}]`
  }
  if (typeof value === 'object') {
    const rows = Object.entries(value).filter(([, each]) => each !== undefined)
    if (rows.length === 0) return '{}'
    return `{\n${rows.map(([name, each]) => `${deeper}${JSON.stringify(name)}: ${toPython(each, deeper)},\n`).join('')}${indent}}`
  }
  return JSON.stringify(value)
}

const SECRET = /^(.*_)?(password|secret|code)(_hash)?$/

function hideSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hideSecrets)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, SECRET.test(name) ? '…' : hideSecrets(each)]))
}
