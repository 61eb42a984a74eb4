/** The error codes and reasons with which the identity provider callback redirects to the sign-in screen. */
export function describeSignInError(code: string, reason: string | undefined): string {
  return (reason && REASONS[reason]) || CODES[code] || `The sign-in failed (${[code, reason].filter(Boolean).join(', ')}).`
}

const EXPIRED = 'The sign-in expired or was started in another window. Try again.'

const REASONS: Readonly<Record<string, string>> = {
  no_account:
    'No account on this server is linked to that identity. Ask an administrator to create one, or sign in and link it under Account.',
  disabled: 'Your account is disabled. Ask an administrator to enable it.',
  not_linked: 'Sign in another way first, then link this identity to your account.',
  login_again: 'Your sign-in is older than 15 minutes. Sign in again, then link the identity.',
  identity_taken: 'That identity is linked to another account.',
  already_linked: 'Your account is linked to another identity. Disconnect that one first.',
  credentials_changed: 'Your credentials changed during the sign-in. Sign in again.',
  access_denied: 'The identity provider refused the sign-in, or you cancelled it there.',
  network: 'Sign-in is not allowed from this network.',
  session_over: EXPIRED,
  no_cookie: EXPIRED,
  unknown_state: EXPIRED,
}

const CODES: Readonly<Record<string, string>> = {
  FORBIDDEN: 'That identity is not allowed to sign in here.',
  CONFLICT: 'That identity is linked to another account, or your account already has an identity.',
  SESSION_INVALID: EXPIRED,
  UNAVAILABLE: 'The identity provider is not responding. Try again later.',
  INVALID_CREDENTIALS: 'The identity provider did not confirm your identity. Try again.',
  RATE_LIMIT_EXCEEDED: 'Too many sign-in attempts. Wait a moment, then try again.',
}
