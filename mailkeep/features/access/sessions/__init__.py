"""Sessions of administrators, and authentication of requests by a session or an API key.

The cookie `svc_session` carries a session's token: 256 random bits, signed; only the token's hash is stored.
`session_id` identifies a session and grants no access. A session ends `sessions.ttl_hours` after login, at logout, or
when the account's credentials change. A login replaces the session whose cookie came with it. Permissions are not
stored in the session: every request reads the account as it is now.

If a request has both a Bearer key and a cookie, the cookie is ignored. With a key, the owner's account can be read but
never changed.

Roles in `auth.require_second_factor` need a second factor. Until such an account has enrolled one, it may only enrol
one, read `/auth/me` and log out; other calls are FORBIDDEN (`second_factor_required`), with a session and with a key.
An account with `must_change_password` may only read `/auth/me`, change its password and log out, also with its keys:
FORBIDDEN (`password_change_required`). A disabled account has no sessions, and its keys answer API_KEY_INVALID.
`auth.allowed_networks` and a key's own `allowed_networks` restrict where calls may come from: FORBIDDEN (`network`).
"""
