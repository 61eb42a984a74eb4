"""Open submission sessions that API keys opened (full profile), and their end when the key ends.

Dovecot authenticates the user `apikey` with a key as the password (`mta_key_login`); Postfix sees the login `key:ID`. The
process `usage` records which process of Postfix serves the session. When the key is revoked or expires, or its owner is
disabled or deleted, a row of `session_ends` tells the process `node` to close the session's connection
(`run/runtime/session_ends`, `mail/postfix/submission_sessions`). The policy service refuses (421) what a session tries
whose key is no longer valid, whether or not its connection could be closed.
"""
