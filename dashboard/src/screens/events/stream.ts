import { useEffect, useReducer, useRef } from 'react'
import { recordCall } from '../../api/recordedCalls'
import type { Schema } from '../../api/client'
import { ApiError, errorFromResponse, isSignedOut } from '../../api/errors'
import { leaveIfSignedOut } from '../../api/queries'

type ApiEvent = Schema['EventResponse']

export interface EventStream {
  /** Newest first. */
  events: readonly ApiEvent[]
  status: 'connecting' | 'open' | 'paused' | 'lost'
  /** Why the server ended or refused the stream. */
  error: unknown
}

type Action = { type: 'opened' | 'paused' | 'cleared' } | { type: 'lost'; error: unknown } | { type: 'events'; events: readonly ApiEvent[] }

const MAX_EVENTS = 200
const RETRY_MS = 2000

function reduce(stream: EventStream, action: Action): EventStream {
  if (action.type === 'events') return { ...stream, events: [...action.events.toReversed(), ...stream.events].slice(0, MAX_EVENTS) }
  if (action.type === 'cleared') return { ...stream, events: [] }
  if (action.type === 'lost') return { ...stream, status: 'lost', error: action.error }
  return { ...stream, status: action.type === 'opened' ? 'open' : 'paused', error: null }
}

/** New events from the server-sent event stream. It resumes after the last received event. */
export function useEventStream(filter: { kind?: string; domain_id?: string }, isPaused: boolean): [EventStream, () => void] {
  const [stream, dispatch] = useReducer(reduce, { events: [], status: 'connecting', error: null })
  const { kind, domain_id } = filter
  const position = useRef<Position>({ filter: '', lastId: '' })
  useEffect(() => {
    const filterKey = JSON.stringify([kind, domain_id])
    if (position.current.filter !== filterKey) {
      // Events of another filter are not shown.
      position.current = { filter: filterKey, lastId: '' }
      dispatch({ type: 'cleared' })
    }
    if (isPaused) return dispatch({ type: 'paused' })
    const query = { ...(kind && { kind }), ...(domain_id && { domain_id }) }
    recordCall(location.pathname, { method: 'GET', path: '/events/stream', query })
    const abort = new AbortController()
    void follow(`/api/v1/events/stream?${new URLSearchParams(query).toString()}`, position.current, abort.signal, dispatch)
    return () => abort.abort()
  }, [kind, domain_id, isPaused])
  return [stream, () => dispatch({ type: 'cleared' })]
}

/** The last received event ID for a filter. */
interface Position {
  filter: string
  lastId: string
}

async function follow(url: string, position: Position, signal: AbortSignal, dispatch: (action: Action) => void): Promise<void> {
  while (!signal.aborted) {
    let wait = RETRY_MS
    try {
      const response = await fetch(url, { signal, headers: position.lastId ? { 'Last-Event-ID': position.lastId } : {} })
      if (!response.ok || !response.body) throw errorFromResponse(await response.json().catch(() => null), response)
      dispatch({ type: 'opened' })
      let text = ''
      for await (const piece of readChunks(response.body)) {
        const blocks = (text + piece).split('\n\n')
        text = blocks.pop() ?? ''
        const parsed = blocks.map(parseBlock)
        position.lastId = parsed.findLast((each) => each.id)?.id ?? position.lastId
        const end = parsed.find((each) => each.name === 'stream.end')
        if (end) throw errorFromResponse({ error: end.data }, response)
        const events = parsed.flatMap((each) => (each.data && !each.name.startsWith('stream.') ? [each.data as ApiEvent] : []))
        if (events.length) dispatch({ type: 'events', events })
      }
      dispatch({ type: 'lost', error: null })
    } catch (error) {
      if (signal.aborted) return
      dispatch({ type: 'lost', error: error instanceof TypeError ? null : error })
      if (error instanceof ApiError) {
        if (isSignedOut(error)) return leaveIfSignedOut(error)
        wait = Math.max(wait, (error.retryAfter ?? 0) * 1000)
      }
    }
    await new Promise((resolve) => setTimeout(resolve, wait))
  }
}

async function* readChunks(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield decoder.decode(value, { stream: true })
  }
}

/** One block of the stream (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
function parseBlock(block: string): { id: string; name: string; data: unknown } {
  const fields: Record<string, string> = {}
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).trimStart()
  }
  return { id: fields['id'] ?? '', name: fields['event'] ?? '', data: fields['data'] ? (JSON.parse(fields['data']) as unknown) : null }
}
