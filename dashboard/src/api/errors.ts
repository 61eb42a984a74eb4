/** A failed request: the error code, the message of the server and the request ID. */
export class ApiError extends Error {
  readonly code: string
  readonly status: number
  readonly details: Readonly<Record<string, unknown>>
  readonly requestId: string | null
  /** Seconds to wait, if the server sent Retry-After. */
  readonly retryAfter: number | null

  constructor(fields: {
    code: string
    message: string
    status?: number
    details?: Record<string, unknown> | null
    requestId?: string | null
    retryAfter?: number | null
  }) {
    super(fields.message)
    this.name = 'ApiError'
    this.code = fields.code
    this.status = fields.status ?? 0
    this.details = fields.details ?? {}
    this.requestId = fields.requestId ?? null
    this.retryAfter = fields.retryAfter ?? null
  }
}

/** The error of an unsuccessful response; `body` should be the envelope. */
export function errorFromResponse(body: unknown, response: Response): ApiError {
  const envelope = isRecord(body) ? body : {}
  const error = isRecord(envelope['error']) ? envelope['error'] : {}
  const meta = isRecord(envelope['meta']) ? envelope['meta'] : {}
  const wait = Number(response.headers.get('retry-after'))
  return new ApiError({
    code: asText(error['code']) ?? 'UNREADABLE_RESPONSE',
    message: asText(error['message']) ?? `The server sent an unexpected response (HTTP ${response.status}).`,
    status: response.status,
    details: isRecord(error['details']) ? error['details'] : null,
    requestId: asText(meta['request_id']) ?? response.headers.get('x-request-id'),
    retryAfter: Number.isFinite(wait) && wait > 0 ? wait : null,
  })
}

/** Whether there is no valid session. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'AUTH_REQUIRED' || error.code === 'SESSION_INVALID')
}

/**
 * Errors by field name of the request body: from MISSING_FIELDS, INVALID_FIELD and codes that belong to one field. Those
 * of a list's elements belong to the list.
 */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {}
  const { code, details, message } = error
  if (Array.isArray(details['fields']))
    return Object.fromEntries(
      details['fields']
        .filter(isRecord)
        .reverse() // the first fault of a list remains
        .map((fault) => [(asText(fault['field']) ?? '').replace(/\[\d+\]$/, ''), toSentence(asText(fault['reason']))]),
    )
  // The message names the setting that can allow the URL, and `mailkeep listen`.
  if (code === 'INVALID_URL') return { url: message }
  const field = asText(details['field'])
  if (field) return { [field]: message }
  return code in FIELD_OF_CODE ? { [FIELD_OF_CODE[code] as string]: message } : {}
}

const FIELD_OF_CODE: Readonly<Record<string, string>> = {
  WEAK_PASSWORD: 'password',
  INVALID_SENDER: 'from',
  INVALID_HEADER: 'headers',
  DOMAIN_EXISTS: 'name',
}

/** What to do about an error, if the server's message does not say. */
const ADVICE: Record<string, string> = {
  NETWORK: 'Check your connection and try again.',
  UNAVAILABLE: 'Try again in a moment.',
  INTERNAL_ERROR: 'Report the request ID below to the operator of the server.',
  FORBIDDEN: 'Ask an administrator with a higher role.',
  RATE_LIMIT_EXCEEDED: 'Wait a moment, then try again.',
  INVALID_PAGINATION: 'Reset the sorting or reload the list.',
  NOT_FOUND: 'It may have been deleted.',
  DOMAIN_INACTIVE: 'Activate the domain under Domains.',
  MAILBOX_SUSPENDED: 'An administrator can lift the suspension under Suspensions.',
  IDEMPOTENCY_IN_PROGRESS: 'The same request is still being processed. Check Messages before you try again.',
  SEND_UNAVAILABLE: 'The mail server does not accept mail at the moment. Nothing was sent. Try again later.',
}

/** Replaces advice, on a page for other readers than administrators. */
export function setAdvice(texts: Readonly<Record<string, string>>): void {
  Object.assign(ADVICE, texts)
}

/** The same for the reasons of FORBIDDEN that have nothing to do with the role. */
const FORBIDDEN_ADVICE: Readonly<Record<string, string | null>> = {
  no_account: 'Ask an administrator to create an account with your email address.',
  higher_rank: 'Ask an administrator with a higher role.',
}

function adviceFor({ code, details, message }: ApiError): string | null {
  const reason = asText(details['reason'])
  const advice = code === 'FORBIDDEN' && reason ? (FORBIDDEN_ADVICE[reason] ?? null) : (ADVICE[code] ?? null)
  const addresses = ADDRESS_DETAILS.flatMap((name) => (Array.isArray(details[name]) ? details[name] : []))
    .filter((each): each is string => typeof each === 'string' && each !== '' && !message.includes(each))
    .join(', ')
  return [addresses && `Addresses: ${addresses}.`, advice].filter(Boolean).join(' ') || null
}

/** The details that name the addresses concerned. */
const ADDRESS_DETAILS = ['destinations', 'aliases'] as const

function formatSeconds(seconds: number): string {
  return seconds > 120 ? `${Math.ceil(seconds / 60)} min` : `${seconds} s`
}

/** The texts shown for an error. */
export function describeError(error: unknown): { message: string; advice: string | null; code: string; requestId: string | null } {
  if (!(error instanceof ApiError))
    return { message: 'This page failed unexpectedly.', advice: 'Reload the page.', code: 'UNEXPECTED_ERROR', requestId: null }
  const wait = error.retryAfter ? `Try again in ${formatSeconds(error.retryAfter)}.` : null
  return { message: error.message, advice: wait ?? adviceFor(error), code: error.code, requestId: error.requestId }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function asText(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function toSentence(words: string | null): string {
  if (!words) return 'Not valid.'
  return words.charAt(0).toUpperCase() + words.slice(1) + (/[.!?]$/.test(words) ? '' : '.')
}
