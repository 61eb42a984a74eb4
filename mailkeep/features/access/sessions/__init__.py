"""Sessions of administrators and of owners of mailboxes, and authentication of requests by a session or an API key.

The cookie `svc_session`, of an owner `svc_mailbox`, carries a session's token: 256 random bits, signed; only the
token's hash is stored. The action of an endpoint decides which of them counts: `svc_mailbox` for owners (`/me`) and for
checks of Sieve scripts, an API key or `svc_session` otherwise. A cookie that is sent twice is SESSION_INVALID.

`session_id` identifies a session and grants no access. A session ends `sessions.ttl_hours` after login, at logout, or
when the account's credentials change. A login replaces the session whose cookie came with it. Permissions are not
stored in the session: every request reads the account as it is now. An owner's session is valid while the mailbox and
its domain are active and the domain's `self_service` is set.

A request is authenticated before its body is read, and again if that takes longer than two seconds. Changes of
credentials check in their transaction that the session has not ended.

If a request has both a Bearer key and the cookie `svc_session`, the cookie is ignored. With a key, the owner's account
can be read but never changed.

Roles in `auth.require_second_factor` need a second factor. Until such an account has enrolled one, it may only enrol
one, read `/auth/me` and log out; other calls are FORBIDDEN (`second_factor_required`), with a session and with a key.
An account with `must_change_password` may only read `/auth/me`, change its password and log out, also with its keys:
FORBIDDEN (`password_change_required`). A disabled account has no sessions, and its keys answer API_KEY_INVALID.
`auth.allowed_networks` and a key's own `allowed_networks` restrict where calls may come from: FORBIDDEN (`network`).
Neither is about owners of mailboxes.
"""
