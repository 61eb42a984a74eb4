import { useEffect, useReducer, useRef } from 'react'
import { note } from './calls'
import type { Schema } from './client'
import { ApiError, fromAnswer, isLoggedOut } from './errors'
import { noticeLogout } from './queries'

type Event_ = Schema['EventResponse']

export interface Live {
  /** Newest first. */
  events: readonly Event_[]
  link: 'connecting' | 'open' | 'paused' | 'lost'
  /** Why the server ended it, or would not begin. */
  error: unknown
}

type Step = { does: 'opened' | 'paused' | 'cleared' } | { does: 'lost'; error: unknown } | { does: 'told'; events: readonly Event_[] }

const MOST = 200
const AGAIN_MS = 2000

function next(live: Live, step: Step): Live {
  if (step.does === 'told') return { ...live, events: [...step.events.toReversed(), ...live.events].slice(0, MOST) }
  if (step.does === 'cleared') return { ...live, events: [] }
  if (step.does === 'lost') return { ...live, link: 'lost', error: step.error }
  return { ...live, link: step.does === 'opened' ? 'open' : 'paused', error: null }
}

/** What happens from now on, by the stream of server-sent events, which is taken up again where it broke off or paused. */
export function useLive(filter: { kind?: string; domain_id?: string }, isPaused: boolean): [Live, () => void] {
  const [live, step] = useReducer(next, { events: [], link: 'connecting', error: null })
  const { kind, domain_id } = filter
  const place = useRef<Place>({ of: '', last: '' })
  useEffect(() => {
    const of = JSON.stringify([kind, domain_id])
    if (place.current.of !== of) {
      // What another filter let through is not shown under this one.
      place.current = { of, last: '' }
      step({ does: 'cleared' })
    }
    if (isPaused) return step({ does: 'paused' })
    const query = { ...(kind && { kind }), ...(domain_id && { domain_id }) }
    note(location.pathname, { method: 'GET', path: '/events/stream', query })
    const ending = new AbortController()
    void follow(`/api/v1/events/stream?${new URLSearchParams(query).toString()}`, place.current, ending.signal, step)
    return () => ending.abort()
  }, [kind, domain_id, isPaused])
  return [live, () => step({ does: 'cleared' })]
}

/** The id seen last, of what the filter lets through. */
interface Place {
  of: string
  last: string
}

async function follow(address: string, place: Place, signal: AbortSignal, step: (step: Step) => void): Promise<void> {
  while (!signal.aborted) {
    let wait = AGAIN_MS
    try {
      const answer = await fetch(address, { signal, headers: place.last ? { 'Last-Event-ID': place.last } : {} })
      if (!answer.ok || !answer.body) throw fromAnswer(await answer.json().catch(() => null), answer)
      step({ does: 'opened' })
      let text = ''
      for await (const piece of pieces(answer.body)) {
        const blocks = (text + piece).split('\n\n')
        text = blocks.pop() ?? ''
        const found = blocks.map(read)
        place.last = found.findLast((each) => each.id)?.id ?? place.last
        const ended = found.find((each) => each.name === 'stream.end')
        if (ended) throw fromAnswer({ error: ended.data }, answer)
        const events = found.flatMap((each) => (each.data && !each.name.startsWith('stream.') ? [each.data as Event_] : []))
        if (events.length) step({ does: 'told', events })
      }
      step({ does: 'lost', error: null })
    } catch (error) {
      if (signal.aborted) return
      step({ does: 'lost', error: error instanceof TypeError ? null : error })
      if (error instanceof ApiError) {
        if (isLoggedOut(error)) return noticeLogout(error)
        wait = Math.max(wait, (error.retryAfter ?? 0) * 1000)
      }
    }
    await new Promise((resolve) => setTimeout(resolve, wait))
  }
}

async function* pieces(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield decoder.decode(value, { stream: true })
  }
}

/** One block of the stream (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
function read(block: string): { id: string; name: string; data: unknown } {
  const fields: Record<string, string> = {}
  for (const line of block.split('\n')) {
    const at = line.indexOf(':')
    if (at > 0) fields[line.slice(0, at)] = line.slice(at + 1).trimStart()
  }
  return { id: fields['id'] ?? '', name: fields['event'] ?? '', data: fields['data'] ? (JSON.parse(fields['data']) as unknown) : null }
}
