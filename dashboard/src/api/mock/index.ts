import * as fixtures from './fixtures'

/** `npm run dev:mock`: the dashboard without a server. Collections are stored in memory; other requests get the example of the OpenAPI document. */
interface Row {
  id: string
}

const COLLECTIONS: Readonly<Record<string, Row[]>> = {
  domains: fixtures.domains,
  mailboxes: fixtures.mailboxes,
  aliases: fixtures.aliases,
  messages: fixtures.messages,
}

interface Operation {
  responses?: Record<string, { content?: Record<string, { example?: { data?: unknown } }> }>
}

let isLoggedIn = true

export async function mock(request: Request): Promise<Response> {
  const url = new URL(request.url)
  const path = url.pathname.replace('/api/v1', '')
  const body = request.method === 'GET' ? undefined : await request.json().catch(() => undefined)
  await new Promise((resolve) => setTimeout(resolve, 120))
  if (path === '/auth/login') isLoggedIn = true
  if (path === '/auth/logout') isLoggedIn = false
  if (!isLoggedIn) return refusal(401, 'AUTH_REQUIRED', 'Sign in first.')
  if (path === '/auth/me') return envelope(fixtures.account)
  if (path === '/version') return envelope(fixtures.version)
  if (path === '/queue') return page(fixtures.queue, url.searchParams)
  const [, collection = '', id, action] = path.split('/')
  const rows = COLLECTIONS[collection]
  const isBulk = id === 'bulk' || id === 'export'
  if (rows && !action && !isBulk) return answerFromCollection(rows, request.method, id, url.searchParams, body)
  return answerWithExample(request.method, path)
}

function answerFromCollection(
  rows: Row[],
  method: string,
  id: string | undefined,
  query: URLSearchParams,
  body: object | undefined,
): Response {
  if (id === undefined && method === 'GET') return page(rows, query)
  if (id === undefined) {
    const created = { ...rows[0], ...body, id: crypto.randomUUID() }
    rows.unshift(created)
    return envelope(created, 201)
  }
  const index = rows.findIndex((row) => row.id === id)
  const row = rows[index]
  if (!row) return refusal(404, 'NOT_FOUND', 'No object has this ID.')
  if (method === 'PATCH') rows[index] = { ...row, ...body }
  if (method === 'DELETE') rows.splice(index, 1)
  return envelope(method === 'DELETE' ? { message: 'Deleted.', id } : rows[index])
}

function page(rows: readonly object[], query: URLSearchParams): Response {
  const text = (query.get('q') ?? query.get('name') ?? '').toLowerCase()
  const matches = rows.filter((row) => JSON.stringify(row).toLowerCase().includes(text))
  const begin = Number(query.get('cursor') ?? 0)
  const limit = Number(query.get('limit') ?? 50)
  const has_more = matches.length > begin + limit
  return envelope(matches.slice(begin, begin + limit), 200, {
    pagination: { next_cursor: has_more ? String(begin + limit) : '', has_more },
  })
}

/** The example of the OpenAPI document. */
async function answerWithExample(method: string, path: string): Promise<Response> {
  const { default: document } = await import('../../../../docs/reference/openapi.json')
  const paths = document.paths as unknown as Record<string, Record<string, Operation>>
  const pattern = Object.keys(paths).find((each) => new RegExp(`^${each.replace(/\{\w+\}/g, '[^/]+')}$`).test(path))
  const operation = pattern && paths[pattern]?.[method.toLowerCase()]
  if (!operation) return refusal(404, 'NOT_FOUND', 'No such path.')
  const [status, response] = Object.entries(operation.responses ?? {}).find(([code]) => code.startsWith('2')) ?? ['200', {}]
  const example = response.content?.['application/json']?.example
  return Response.json(example ?? {}, { status: Number(status) })
}

const meta = () => ({ request_id: crypto.randomUUID(), timestamp: new Date().toISOString() })

function envelope(data: unknown, status = 200, more: object = {}): Response {
  return Response.json({ data, error: null, meta: { ...meta(), ...more } }, { status })
}

function refusal(status: number, code: string, message: string): Response {
  return Response.json({ data: null, error: { code, message, details: null }, meta: meta() }, { status })
}
