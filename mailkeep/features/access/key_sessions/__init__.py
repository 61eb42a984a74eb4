"""Submission sessions that API keys opened (full profile), and their end when the key ends.

Dovecot authenticates the user `apikey` with a key as the password (`mta_key_login`); Postfix sees the login `key:ID`.
Dovecot reports a login with the client's address, but not the process of Postfix that serves the session: the policy
service records that at the first recipient of each message. When the key is revoked or expires, or its owner is
disabled or deleted, a row of `session_ends` makes the process `node` close connections (`run/runtime/session_ends`):
those of the recorded processes, and those from the recorded clients on which no message is in progress, of whichever
login. The policy service refuses (421) whatever a session tries whose key is not valid any more.
"""
