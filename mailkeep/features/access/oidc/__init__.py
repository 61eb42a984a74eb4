"""Single sign-on: logging in with an account of an identity provider, by OpenID Connect.

Providers stand in the settings (`oidc.providers`). A login is the authorization code flow with PKCE, state and nonce:
the browser goes to the provider and comes back with a code, which we exchange for an ID token over TLS, and check. An
identity is (issuer, subject), nothing else: emails change hands.

A login under way is a row, used once, good for 10 minutes. It belongs to the browser that began it: a Lax cookie of
256 random bits, sent when the provider redirects back, must be the row's. Verifier and nonce are derived from the state
with the master secret and stored nowhere. Each provider has a callback of its own, and an answer must name its issuer
where the provider says that it does (RFC 9207), so that no provider's answer passes for another's.

Who an identity is:

- the account that is linked to it;
- where the provider has `trust_email`: the account with the email that it calls verified, which is linked by that;
- where it has `auto_create_role`: a new account with that email and role, which has no password;
- nobody else: FORBIDDEN (`no_account`).

An account has one identity at most. A person links one from a session not older than 15 minutes
(`/auth/oidc/login/{provider}?link=1`); who that was stands in the row, since the session's Strict cookie does not come
along when the provider redirects back. Linking and disconnecting end the account's other sessions. What is the last
way in is not disconnected: CONFLICT (`last_way_in`).

After the provider an account's second factor is asked for, unless the provider has `trusted_mfa` and the token's `amr`
says `mfa` (RFC 8176). The browser ends at `/`, or at a path of ours that the login began with (`next`); where a factor
is asked for at `/login#totp_session=…`, and with a refusal at `/login?error=CODE&reason=…`. Every refusal is an entry
of the audit log, with the reason that only operators are told.
"""
