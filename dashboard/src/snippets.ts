/** A request to the API. `path` is relative to `/api/v1`. */
export interface ApiCall {
  method: string
  path: string
  query?: Readonly<Record<string, unknown>>
  body?: unknown
}

/** Languages of runnable snippets. The API key is read from the environment. */
export const LANGUAGES = [
  { value: 'curl', label: 'curl', write: curl },
  { value: 'python', label: 'Python', write: python },
  { value: 'javascript', label: 'JavaScript', write: javascript },
] as const

export type Language = (typeof LANGUAGES)[number]['value']

export function snippet(language: Language, call: ApiCall, base: string): string {
  const found = LANGUAGES.find((each) => each.value === language) ?? LANGUAGES[0]
  return found.write({ ...call, body: withoutSecrets(call.body) }, base)
}

function curl(call: ApiCall, base: string): string {
  const lines = [
    `curl -sS${call.method === 'GET' ? '' : ` -X ${call.method}`} ${quoted(address(call, base))}`,
    '-H "Authorization: Bearer $MAILKEEP_KEY"',
  ]
  if (call.body !== undefined) lines.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(call.body, null, 2))}`)
  return lines.join(' \\\n  ')
}

function python(call: ApiCall, base: string): string {
  const hasBody = call.body !== undefined
  const lines = [
    'import json, os, urllib.request',
    '',
    'request = urllib.request.Request(',
    `    ${JSON.stringify(address(call, base))},`,
    `    method=${JSON.stringify(call.method)},`,
  ]
  lines.push(
    `    headers={"Authorization": "Bearer " + os.environ["MAILKEEP_KEY"]${hasBody ? ', "Content-Type": "application/json"' : ''}},`,
  )
  if (hasBody) lines.push(`    data=json.dumps(${literal(call.body, '    ')}).encode(),`)
  return [
    ...lines,
    ')',
    'with urllib.request.urlopen(request) as answer:',
    `    print(${isText(call) ? 'answer.read().decode()' : 'json.load(answer)["data"]'})`,
  ].join('\n')
}

function javascript(call: ApiCall, base: string): string {
  const hasBody = call.body !== undefined
  const lines = [`const answer = await fetch(${JSON.stringify(address(call, base))}, {`, `  method: ${JSON.stringify(call.method)},`]
  lines.push(
    `  headers: { Authorization: \`Bearer \${process.env.MAILKEEP_KEY}\`${hasBody ? ', "Content-Type": "application/json"' : ''} },`,
  )
  if (hasBody) lines.push(`  body: JSON.stringify(${JSON.stringify(call.body, null, 2).replaceAll('\n', '\n  ')}),`)
  lines.push('})')
  if (isText(call)) return [...lines, 'console.log(await answer.text())'].join('\n')
  return [
    ...lines,
    'const { data, error } = await answer.json()',
    'if (error) throw new Error(`${error.code}: ${error.message}`)',
    'console.log(data)',
  ].join('\n')
}

function address(call: ApiCall, base: string): string {
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
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A JSON value as a Python literal. */
function literal(value: unknown, indent: string): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  const deeper = `${indent}    `
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]'
    return `[\n${value.map((each) => `${deeper}${literal(each, deeper)},\n`).join('')}${indent}]`
  }
  if (typeof value === 'object') {
    const rows = Object.entries(value).filter(([, each]) => each !== undefined)
    if (rows.length === 0) return '{}'
    return `{\n${rows.map(([name, each]) => `${deeper}${JSON.stringify(name)}: ${literal(each, deeper)},\n`).join('')}${indent}}`
  }
  return JSON.stringify(value)
}

const SECRET = /^(.*_)?(password|secret|code)(_hash)?$/

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, SECRET.test(name) ? '…' : withoutSecrets(each)]))
}
