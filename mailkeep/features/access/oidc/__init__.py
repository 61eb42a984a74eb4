"""Single sign-on: logging in with an account at an identity provider (OpenID Connect).

Providers are configured in the settings (`oidc.providers`). A login is the authorization code flow with PKCE, state and
nonce: the browser goes to the provider and comes back with a code, which the server exchanges for an ID token over TLS
and verifies. An identity is (issuer, subject) and nothing else, because email addresses change owners.

A login in progress is a row, valid once, for 10 minutes. It belongs to the browser that began it: a SameSite=Lax cookie
of 256 random bits, which the browser sends with the provider's redirect, must match the row. Verifier and nonce are
derived from the state with the master secret and not stored. Each provider has its own callback, and its response must
contain the issuer if the provider announces that (RFC 9207), so that the response of one provider is never accepted as
that of another.

The account of an identity is, in this order:

- the account that is linked to it;
- with `trust_email`: the account with the email that the provider calls verified, which is then linked;
- with `auto_create_role`: a new account with that email and role, without a password;
- none: FORBIDDEN (`no_account`).

An account has at most one identity. It is linked from a session at most 15 minutes old
(`/auth/oidc/login/{provider}?link=1`); the row stores that session, because browsers don't send its SameSite=Strict
cookie with the provider's redirect. Linking and disconnecting end the account's other sessions. The last way to log in
can't be disconnected: CONFLICT (`last_way_in`).

After the provider, the account's second factor is required, unless the provider has `trusted_mfa` and the token's `amr`
contains `mfa` (RFC 8176). The browser is redirected to `/` or to the local path `next`; to `/login#totp_session=…` if a
second factor is required; to `/login?error=CODE&reason=…` after a refusal. Every refusal is in the audit log, with a
reason that only operators see.
"""
