/** A refused or failed call: the published code, the server's words, and the id to ask about it. */
export class ApiError extends Error {
  readonly code: string
  readonly status: number
  readonly details: Readonly<Record<string, unknown>>
  readonly requestId: string | null
  /** Seconds to wait, where the server named them. */
  readonly retryAfter: number | null

  constructor(given: {
    code: string
    message: string
    status?: number
    details?: Record<string, unknown> | null
    requestId?: string | null
    retryAfter?: number | null
  }) {
    super(given.message)
    this.name = 'ApiError'
    this.code = given.code
    this.status = given.status ?? 0
    this.details = given.details ?? {}
    this.requestId = given.requestId ?? null
    this.retryAfter = given.retryAfter ?? null
  }
}

/** The error of an answer that is not a success; `body` is what the envelope should be. */
export function fromAnswer(body: unknown, response: Response): ApiError {
  const envelope = isRecord(body) ? body : {}
  const error = isRecord(envelope['error']) ? envelope['error'] : {}
  const meta = isRecord(envelope['meta']) ? envelope['meta'] : {}
  const wait = Number(response.headers.get('retry-after'))
  return new ApiError({
    code: text(error['code']) ?? 'UNREADABLE_ANSWER',
    message: text(error['message']) ?? `The server answered ${response.status} in a form that is not the API's.`,
    status: response.status,
    details: isRecord(error['details']) ? error['details'] : null,
    requestId: text(meta['request_id']) ?? response.headers.get('x-request-id'),
    retryAfter: Number.isFinite(wait) && wait > 0 ? wait : null,
  })
}

/** Whether the session is gone, or there never was one. */
export function isLoggedOut(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'AUTH_REQUIRED' || error.code === 'SESSION_INVALID')
}

/** What is wrong with each field, by its name in the body: of MISSING_FIELDS, INVALID_FIELD and codes of one field. */
export function fieldFaults(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {}
  const { code, details, message } = error
  if (Array.isArray(details['fields']))
    return Object.fromEntries(
      details['fields'].filter(isRecord).map((fault) => [text(fault['field']) ?? '', sentence(text(fault['reason']))]),
    )
  // Its message names the setting that can allow the address, and `mailkeep listen`.
  if (code === 'INVALID_URL') return { url: message }
  const field = text(details['field'])
  if (field) return { [field]: message }
  return code in ONE_FIELD ? { [ONE_FIELD[code] as string]: message } : {}
}

const ONE_FIELD: Readonly<Record<string, string>> = {
  WEAK_PASSWORD: 'password',
  INVALID_SENDER: 'from',
  INVALID_HEADER: 'headers',
  DOMAIN_EXISTS: 'name',
}

/** What the person can do about it, where the server's own words don't say. */
const ADVICE: Readonly<Record<string, string>> = {
  NETWORK: 'Check your connection; nothing was changed as far as we know.',
  UNAVAILABLE: 'This passes: try again in a moment.',
  INTERNAL_ERROR: 'This is our fault. Tell your operator the request id below.',
  FORBIDDEN: 'Ask an administrator of a higher role.',
  RATE_LIMIT_EXCEEDED: 'Wait a little, then try again.',
  INVALID_PAGINATION: 'The list has moved on: go back to its first page.',
  NOT_FOUND: 'It may have been deleted meanwhile.',
  DOMAIN_INACTIVE: 'Activate the domain first, under Domains.',
  MAILBOX_SUSPENDED: 'An administrator can lift the suspension under Suspensions.',
  IDEMPOTENCY_IN_PROGRESS: 'The same request is still being worked on: look under Messages before you try again.',
  SEND_UNAVAILABLE: 'The mail server does not take mail at the moment. Nothing was sent.',
}

/** What to tell about an error. */
export function explain(error: unknown): { message: string; advice: string | null; code: string; requestId: string | null } {
  if (!(error instanceof ApiError))
    return { message: 'Something in this page went wrong.', advice: 'Reload it.', code: 'PAGE', requestId: null }
  const wait = error.retryAfter ? `Try again in ${error.retryAfter} s.` : null
  return { message: error.message, advice: wait ?? ADVICE[error.code] ?? null, code: error.code, requestId: error.requestId }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function sentence(words: string | null): string {
  if (!words) return 'This is not valid.'
  return words.charAt(0).toUpperCase() + words.slice(1) + (/[.!?]$/.test(words) ? '' : '.')
}
