"""Logging in with a password, and with a second factor if the account has one.

An unknown email and a wrong password get the same response after the same time. `sign_in_protection` limits failures,
without locking out sources that have logged in to the account before. Only a few passwords are hashed at a time, over
all callers. The others wait in a bounded queue, in which known sources and sessions have priority, so that a flood of
logins leaves CPU time for other calls.

An account with a second factor logs in in two steps. The right password returns a token, which is valid for 5 minutes
and 5 attempts. With the token, a code of the authenticator, a recovery code or a passkey opens the session. Only the
token's hash is stored. The token is invalid as soon as the account's credentials change.

Owners of mailboxes log in alike, with the mailbox's address and own password, in any scheme that is accepted for
imports (`core/password_verification`). FORBIDDEN `self_service` if their domain does not allow it.

To change how an account logs in, a session must be at most 15 minutes old or give the current password.
"""
