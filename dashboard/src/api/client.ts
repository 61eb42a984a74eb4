import createClient from 'openapi-fetch'
import type { components, paths } from './__generated__/schema'
import { ApiError, fromAnswer } from './errors'

export type Schema = components['schemas']

/** The API, typed by its own document. Answers go through `ask`, `askPage` or `askText`. */
export const client = createClient<paths>({ baseUrl: '/api/v1', fetch: (request) => reach(request) })

let answer: (request: Request) => Promise<Response> = (request) => fetch(request)

/** Let the mock stand in for the network (development only). */
export function answerWith(mock: typeof answer): void {
  answer = mock
}

async function reach(request: Request): Promise<Response> {
  try {
    return await answer(request)
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    throw new ApiError({ code: 'NETWORK', message: 'The server could not be reached.' })
  }
}

type Answer<Body> = Promise<{ data?: Body; error?: unknown; response: Response }>

/** `data` of the envelope, or an ApiError. */
export async function ask<Data>(call: Answer<{ data: Data }>): Promise<Data> {
  return (await whole(call)).data
}

export interface Page<Row> {
  rows: Row[]
  /** Of the page that follows, null on the last. */
  next: string | null
}

/** One page of a list. */
export async function askPage<Row>(
  call: Answer<{ data: Row[]; meta: { pagination: { next_cursor: string; has_more: boolean } } }>,
): Promise<Page<Row>> {
  const { data, meta } = await whole(call)
  return { rows: data, next: meta.pagination.has_more ? meta.pagination.next_cursor : null }
}

/** An answer that is no JSON. Ask with `parseAs: 'text'`. */
export async function askText(call: Answer<unknown>): Promise<string> {
  return String(await whole(call))
}

async function whole<Body>(call: Answer<Body>): Promise<Body> {
  const { data, error, response } = await call
  if (!response.ok || data === undefined) throw fromAnswer(error, response)
  return data
}
