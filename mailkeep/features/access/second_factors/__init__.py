"""Second factors: one-time passwords (TOTP), recovery codes, and the limits on failed attempts.

Setup creates a secret (160 bits, stored encrypted). Its codes are required at login only after the first one was
verified, within 10 minutes; then the setup expires. Codes follow RFC 6238: SHA-1, 6 digits, 30 seconds, one step of
drift either way. A code works once, and never after a later one: the database compares and sets the time step, so that
of two logins with the same code at the same time only one succeeds.

Enrolment returns ten recovery codes. Each works once, in place of a code of the authenticator, to log in and to disable
the authenticator; only hashes are stored, and renewing replaces the old ones. They are valid as long as the account has
any second factor, TOTP or a passkey (see `passkeys`). Enrolling, disabling and renewing end the account's other
sessions.

Each attempt with a code, or with the current password in a session, is counted as a failure of its account before it is
checked, and uncounted if it was right, so parallel attempts gain nothing. From the tenth failure within 15 minutes,
attempts must wait: 15 s first, then twice as long with every attempt, refused ones included, up to 15 minutes. Codes
from known sources (that have logged in before) are counted separately. Sign-ins: see `sign_in_protection`.
"""
