"""Second factors: one-time passwords by an authenticator, recovery codes, and how often anybody may guess.

Setup makes a secret (160 bits, stored sealed), which is asked for at login only once a code of it was shown: a setup
that is not completed within 10 minutes is none. Codes are RFC 6238's: SHA-1, 6 digits, 30 seconds, one step of drift
either way. A code works once, and none that is older than the last one taken: the step is compared and set in the
database, also where two logins show the same code at once.

Enrolment answers ten recovery codes. Each works once, in place of a code of the authenticator, to log in and to
disable; only hashes are kept, and renewing ends the old ones. They last as long as the account has any factor, this
one or a passkey (see `passkeys`). Enrolling, disabling and renewing end the account's
other sessions.

Every try of a password or a code counts as a failure of its account before it is looked at, and is taken back when it
was right, so that parallel tries gain nothing. From the tenth failure within 15 minutes who tries has to wait: 15 s
first, then twice as long with every try, refused ones too, 15 minutes at most. Sources that have logged in before are
counted apart, and have 50 failures in 15 minutes.
"""
