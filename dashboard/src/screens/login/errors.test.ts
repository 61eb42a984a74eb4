import { expect, test } from 'vitest'
import { describeSignInError } from './errors'

test('the reason explains more than the code, and unknown codes are shown', () => {
  expect(describeSignInError('FORBIDDEN', 'no_account')).toContain('No account on this server')
  expect(describeSignInError('FORBIDDEN', 'something')).toBe('That identity is not allowed to sign in here.')
  expect(describeSignInError('ODD', 'why')).toBe('The sign-in failed (ODD, why).')
})
