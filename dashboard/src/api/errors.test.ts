import { describe, expect, test } from 'vitest'
import { ApiError, describeError, errorFromResponse, fieldErrors, isSignedOut } from './errors'

const error = (code: string, details: Record<string, unknown> = {}) => new ApiError({ code, message: `${code}!`, details })

describe('errorFromResponse', () => {
  test('reads code, details, request ID and Retry-After', () => {
    const body = { error: { code: 'UNAVAILABLE', message: 'Down.', details: { reason: 'x' } }, meta: { request_id: 'r1' } }
    const found = errorFromResponse(body, new Response(null, { status: 503, headers: { 'retry-after': '7' } }))
    expect(found).toMatchObject({ code: 'UNAVAILABLE', status: 503, details: { reason: 'x' }, requestId: 'r1', retryAfter: 7 })
  })
  test('names the status of a body without an envelope', () => {
    const found = errorFromResponse('<html>', new Response(null, { status: 502, headers: { 'x-request-id': 'r2' } }))
    expect(found).toMatchObject({ code: 'UNREADABLE_RESPONSE', requestId: 'r2', retryAfter: null })
    expect(found.message).toContain('502')
  })
})

test('field errors come from a list, a single field or the code', () => {
  expect(fieldErrors(error('INVALID_FIELD', { fields: [{ field: 'name', reason: 'is too long' }] }))).toEqual({ name: 'Is too long.' })
  const faults = [3, 5].map((index) => ({ field: `send_as[${index}]`, reason: `is wrong ${index}` }))
  expect(fieldErrors(error('INVALID_FIELD', { fields: faults }))).toEqual({ send_as: 'Is wrong 3.' })
  expect(fieldErrors(error('CONFLICT', { field: 'email' }))).toEqual({ email: 'CONFLICT!' })
  expect(fieldErrors(error('WEAK_PASSWORD'))).toEqual({ password: 'WEAK_PASSWORD!' })
  expect(fieldErrors(error('INVALID_URL'))).toEqual({ url: 'INVALID_URL!' })
  expect(fieldErrors(error('NOT_FOUND'))).toEqual({})
  expect(fieldErrors(new Error('x'))).toEqual({})
})

test('advice says what to do, and a wait time wins', () => {
  expect(describeError(error('RATE_LIMIT_EXCEEDED')).advice).toBe('Wait a moment, then try again.')
  expect(describeError(new ApiError({ code: 'UNAVAILABLE', message: 'x', retryAfter: 5 })).advice).toBe('Try again in 5 s.')
  expect(describeError(new ApiError({ code: 'RATE_LIMIT_EXCEEDED', message: 'x', retryAfter: 841 })).advice).toBe('Try again in 15 min.')
  expect(describeError(new TypeError('x'))).toMatchObject({ code: 'UNEXPECTED_ERROR', advice: 'Reload the page.' })
})

test('a higher role is advised only where the role is the cause', () => {
  expect(describeError(error('FORBIDDEN')).advice).toBe('Ask an administrator with a higher role.')
  expect(describeError(error('FORBIDDEN', { reason: 'no_account' })).advice).toContain('create an account')
  expect(describeError(error('FORBIDDEN', { reason: 'cross_site' })).advice).toBeNull()
})

test('addresses in the details are shown unless the message names them', () => {
  expect(describeError(error('CONFLICT', { destinations: ['a@b.test', 'c@d.test'] })).advice).toBe('Addresses: a@b.test, c@d.test.')
  const named = new ApiError({ code: 'CONFLICT', message: 'a@b.test is itself an alias.', details: { aliases: ['a@b.test'] } })
  expect(describeError(named).advice).toBeNull()
})

test('only missing and expired sessions count as signed out', () => {
  expect([isSignedOut(error('SESSION_INVALID')), isSignedOut(error('AUTH_REQUIRED')), isSignedOut(error('FORBIDDEN'))]).toEqual([
    true,
    true,
    false,
  ])
})
