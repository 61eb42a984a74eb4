import { useSyncExternalStore } from 'react'
import type { ApiCall } from '../snippets'
import { client } from './client'

/** The last 20 requests of each of the last 30 screens by path, newest last. */
const callsByScreen = new Map<string, ApiCall[]>()
const listeners = new Set<() => void>()
const PREFIX = '/api/v1'
const NONE: readonly ApiCall[] = []
// Requests that applications with an API key do not need.
const UNRECORDED = /^\/(auth\/|invitations\/|me(\/|$)|version$)/

client.use({
  async onRequest({ request }) {
    const url = new URL(request.url)
    const path = url.pathname.slice(PREFIX.length)
    if (UNRECORDED.test(path)) return
    const query = Object.fromEntries(url.searchParams)
    const screen = location.pathname
    const text = request.method === 'GET' ? '' : await request.clone().text()
    recordCall(screen, { method: request.method, path, query, ...(text && { body: withoutSecrets(JSON.parse(text)) }) })
  },
})

/** Records a request. Only the event stream, which does not use the client, calls this directly. */
export function recordCall(screen: string, call: ApiCall): void {
  const name = JSON.stringify([call.method, call.path, call.query])
  const before = (callsByScreen.get(screen) ?? []).filter((each) => JSON.stringify([each.method, each.path, each.query]) !== name)
  callsByScreen.delete(screen)
  callsByScreen.set(screen, [...before, call].slice(-20))
  for (const old of [...callsByScreen.keys()].slice(0, -30)) callsByScreen.delete(old)
  listeners.forEach((listener) => listener())
}

/** Called on sign-out, so that the next user of this tab sees nothing. */
export function clearCalls(): void {
  callsByScreen.clear()
  listeners.forEach((listener) => listener())
}

/** The body of a request as it may be shown: without a private key, and with truncated attachments. */
export function withoutSecrets(body: unknown): unknown {
  if (typeof body === 'object' && body !== null && 'private_key' in body) return { ...body, private_key: '-----BEGIN PRIVATE KEY-----…' }
  return truncateAttachments(body)
}

const MAX_CONTENT = 200

/** The body of a request with truncated attachments. */
export function truncateAttachments(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('attachments' in body) || !Array.isArray(body.attachments)) return body
  return { ...body, attachments: body.attachments.map(truncateAttachment) }
}

function truncateAttachment(file: { content?: unknown }): unknown {
  const { content } = file
  return typeof content === 'string' && content.length > MAX_CONTENT ? { ...file, content: `${content.slice(0, MAX_CONTENT)}…` } : file
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The requests of the current screen: changes first, then the object of its path, newest first. */
export function useCalls(): readonly ApiCall[] {
  const all = useSyncExternalStore(subscribe, () => callsByScreen.get(location.pathname) ?? NONE)
  const rank = (call: ApiCall) => (call.method !== 'GET' ? 0 : call.path === location.pathname ? 1 : 2)
  return [...all].reverse().sort((a, b) => rank(a) - rank(b))
}
