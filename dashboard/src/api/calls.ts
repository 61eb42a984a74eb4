import { useSyncExternalStore } from 'react'
import type { ApiCall } from '../snippets'
import { client } from './client'

/** What each screen (by its address) asked of the API, newest last; of few screens and few calls. */
const asked = new Map<string, ApiCall[]>()
const listeners = new Set<() => void>()
const PREFIX = '/api/v1'
const NONE: readonly ApiCall[] = []
// A program has a key in place of these.
const OWN = /^\/(auth\/|version$)/

client.use({
  async onRequest({ request }) {
    const url = new URL(request.url)
    const path = url.pathname.slice(PREFIX.length)
    if (OWN.test(path)) return
    const query = Object.fromEntries(url.searchParams)
    const screen = location.pathname
    const text = request.method === 'GET' ? '' : await request.clone().text()
    note(screen, { method: request.method, path, query, ...(text && { body: withShortFiles(JSON.parse(text)) }) })
  },
})

/** Keep a call in mind; who does not go through the client says so itself. */
export function note(screen: string, call: ApiCall): void {
  const name = JSON.stringify([call.method, call.path, call.query])
  const before = (asked.get(screen) ?? []).filter((each) => JSON.stringify([each.method, each.path, each.query]) !== name)
  asked.delete(screen)
  asked.set(screen, [...before, call].slice(-20))
  for (const old of [...asked.keys()].slice(0, -30)) asked.delete(old)
  listeners.forEach((listener) => listener())
}

/** None of it is for the next person in this tab. */
export function forget(): void {
  asked.clear()
  listeners.forEach((listener) => listener())
}

const SHORT = 200

/** The body of a call; attached files fill pages, so of each only the beginning is left. */
export function withShortFiles(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('attachments' in body) || !Array.isArray(body.attachments)) return body
  return { ...body, attachments: body.attachments.map(shortened) }
}

function shortened(file: { content?: unknown }): unknown {
  const { content } = file
  return typeof content === 'string' && content.length > SHORT ? { ...file, content: `${content.slice(0, SHORT)}…` } : file
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Those of the screen that is shown: changes first, then what it is about (its address tells), the newest first. */
export function useCalls(): readonly ApiCall[] {
  const all = useSyncExternalStore(subscribe, () => asked.get(location.pathname) ?? NONE)
  const rank = (call: ApiCall) => (call.method !== 'GET' ? 0 : call.path === location.pathname ? 1 : 2)
  return [...all].reverse().sort((one, other) => rank(one) - rank(other))
}
