import createClient from 'openapi-fetch'
import type { components, paths } from './__generated__/schema'
import { ApiError, errorFromResponse } from './errors'
import { rememberVersion } from './versions'

export type Schema = components['schemas']

/** The API client, typed by the OpenAPI document. Unwrap results with `fetchData`, `fetchPage` or `fetchText`. */
export const client = createClient<paths>({ baseUrl: '/api/v1', fetch: (request) => send(request) })

let transport: (request: Request) => Promise<Response> = (request) => fetch(request)

/** Replaces the network, for the development mock. */
export function setTransport(mock: typeof transport): void {
  transport = mock
}

async function send(request: Request): Promise<Response> {
  try {
    const response = await transport(request)
    rememberVersion(request, response)
    return response
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    throw new ApiError({ code: 'NETWORK', message: 'The server could not be reached.' })
  }
}

export type ApiResult<Body> = Promise<{ data?: Body; error?: unknown; response: Response }>

/** Returns `data` of the envelope or throws an ApiError. */
export async function fetchData<Data>(call: ApiResult<{ data: Data }>): Promise<Data> {
  return (await unwrap(call)).data
}

export interface Page<Row> {
  rows: Row[]
  /** The cursor of the next page; null on the last one. */
  next: string | null
}

/** One page of a list. */
export async function fetchPage<Row>(
  call: ApiResult<{ data: Row[]; meta: { pagination: { next_cursor: string; has_more: boolean } } }>,
): Promise<Page<Row>> {
  const { data, meta } = await unwrap(call)
  return { rows: data, next: meta.pagination.has_more ? meta.pagination.next_cursor : null }
}

/** Returns a response that is not JSON. Requires `parseAs: 'text'`. */
export async function fetchText(call: ApiResult<unknown>): Promise<string> {
  return String(await unwrap(call))
}

async function unwrap<Body>(call: ApiResult<Body>): Promise<Body> {
  const { data, error, response } = await call
  if (!response.ok || data === undefined) throw errorFromResponse(error, response)
  return data
}
