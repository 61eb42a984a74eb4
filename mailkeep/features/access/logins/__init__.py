"""Logging in with a password, and with a second factor where the account has one.

An unknown email and a wrong password get the same answer after the same time. Attempts are counted
(`second_factors`): after ten failures of an account within 15 minutes, sources that have never logged in to it must
wait. Known sources (that have logged in to it in the last 180 days) and sessions that give the current password have a
limit of their own, 50 failures in 15 minutes, so that no stranger can lock anybody out. Only a few passwords are hashed
at a time, over all callers. A flood of logins fills a bounded queue, which known sources pass, and leaves CPU time for
other calls.

An account with a second factor logs in in two steps. The right password returns a token, which is valid for 5 minutes
and 5 attempts; a code of the authenticator, a recovery code or a passkey then opens the session. Only the token's hash
is stored. The token is invalid as soon as the account's credentials change.

To change how an account logs in, a session must be at most 15 minutes old or give the current password.
"""
