"""Validation of a provider's response, identities, and redirects."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import urlencode

from mailkeep.core.address import Address, AddressError, parse_address
from mailkeep.core.errors import Conflict, Forbidden, InvalidCredentials, Refusal, Unavailable
from mailkeep.core.identity_provider import OidcProvider
from mailkeep.core.secret import Vault
from mailkeep.features.access.oidc.model import COOKIE, FLOW_LIFETIME, AuthorizationResponse, VerifiedIdentity

CALLBACK_PATH = "/api/v1/auth/oidc/callback/"
LOGIN_PATH = "/api/v1/auth/oidc/login/"
_COOKIE_PATH = "/api/v1/auth/oidc"
_LOGIN_PAGE = "/login"

_MAX_STATE, _MAX_CODE, _MAX_ISSUER = 200, 8192, 2048
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
# Refusals whose `reason` users can act on.
_EXPLAINED_REFUSALS = (Forbidden, Conflict, Unavailable)
# A local path: not `//host`, not `/\host`, no characters that browsers strip or headers can't contain.
_PATH = re.compile(r"/(?:[A-Za-z0-9._~!$&'()*+,;=:@%-][A-Za-z0-9._~!$&'()*+,;=:@%/?#-]{0,499})?")

# Errors of the provider that users see, as `reason`.
_PUBLIC_ERRORS = frozenset(
    {"access_denied", "login_required", "consent_required", "interaction_required", "account_selection_required"}
)


def invalid_response(reason: str) -> InvalidCredentials:
    """The refusal of an invalid response; `reason` is for the audit log, users don't get it."""
    return InvalidCredentials("The response of the identity provider is not valid: sign in again.", reason=reason)


def read_response(pairs: Sequence[tuple[str, str]]) -> AuthorizationResponse:
    """The callback's parameters; INVALID_CREDENTIALS if one is repeated (RFC 6749 §3.1), missing or too long.

    Unknown parameters are ignored.
    """
    read = [pair for pair in pairs if pair[0] in ("state", "code", "iss", "error")]
    parameters = dict(read)
    if len(parameters) != len(read):
        raise invalid_response("repeated_parameter")
    state, code, issuer = parameters.get("state", ""), parameters.get("code", ""), parameters.get("iss")
    if not state:
        raise invalid_response("no_state")
    if len(state) > _MAX_STATE or len(code) > _MAX_CODE or len(issuer or "") > _MAX_ISSUER:
        raise invalid_response("too_long")
    return AuthorizationResponse(state, code, issuer, parameters.get("error"))


def refuse_error(response: AuthorizationResponse) -> None:
    """FORBIDDEN if the provider, or the user there, refused the login; INVALID_CREDENTIALS without a code."""
    if response.error is None:
        if not response.code:
            raise invalid_response("no_code")
        return
    reason = response.error if response.error in _PUBLIC_ERRORS else "provider_refused"
    raise Forbidden("The identity provider refused the sign-in, or you cancelled it there.", reason=reason)


def refuse_foreign_issuer(response: AuthorizationResponse, provider: OidcProvider, *, sends_issuer: bool) -> None:
    """INVALID_CREDENTIALS for the response of another provider, or one without an issuer although the provider's
    metadata announces it (`sends_issuer`, RFC 9207 §2.4).
    """
    if response.issuer is None and not sends_issuer:
        return
    if response.issuer != provider.issuer:
        raise invalid_response("mix_up")


def read_identity(provider: OidcProvider, claims: Mapping[str, Any]) -> VerifiedIdentity:
    """The identity in the claims of a verified token, with its email if that is verified, valid and in an allowed
    domain.
    """
    methods: object = claims.get("amr")
    multi_factor = isinstance(methods, list) and "mfa" in cast(list[object], methods)
    return VerifiedIdentity(
        provider.id, provider.issuer, str(claims["sub"]), _read_email(provider, claims), multi_factor
    )


def _read_email(provider: OidcProvider, claims: Mapping[str, Any]) -> Address | None:
    email = claims.get("email")
    # Some providers write booleans as text.
    if not isinstance(email, str) or claims.get("email_verified") not in (True, "true"):
        return None
    try:
        address = parse_address(email)
    except AddressError:
        return None
    domains = provider.allowed_email_domains
    return address if not domains or address.domain in domains else None


def needs_email(provider: OidcProvider, claims: Mapping[str, Any]) -> bool:
    """Whether an email could give an unknown identity an account, but the ID token has none."""
    return bool(provider.trust_email or provider.auto_create_role) and "email" not in claims


def skips_second_factor(provider: OidcProvider, identity: VerifiedIdentity) -> bool:
    """Whether the provider is trusted with the second factor and has verified one."""
    return provider.trusted_mfa and identity.multi_factor


def derive_secret(vault: Vault, purpose: str, state: str) -> str:
    """The `nonce` or `verifier` of a login: 43 characters of base64url, derived from its state with the master
    secret.
    """
    return vault.sign(f"oidc {purpose}", state.encode())


def next_path(path: str | None) -> str:
    """The local path where a login ends: `path` if it is one, else `/`."""
    return path if path is not None and _PATH.fullmatch(path) else "/"


def browser_token(cookie: str | None) -> str | None:
    """The token in a browser's cookie, None if it is missing or malformed."""
    return cookie if cookie is not None and _TOKEN.fullmatch(cookie) else None


def set_cookie(token: str) -> str:
    """The Set-Cookie value for a login in progress; Lax, because browsers must send it with the provider's redirect."""
    seconds = int(FLOW_LIFETIME.total_seconds())
    return f"{COOKIE}={token}; Max-Age={seconds}; Path={_COOKIE_PATH}; HttpOnly; Secure; SameSite=Lax"


def callback_url(public_url: str, provider: OidcProvider) -> str:
    """The redirect URI to configure at the provider."""
    return f"{public_url.removesuffix('/')}{CALLBACK_PATH}{provider.id}"


def authorization_url(endpoint: str, parameters: Mapping[str, str]) -> str:
    """The provider's page with the request's parameters; its endpoint may already have a query (RFC 6749 §3.1)."""
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(parameters)}"


def provider_failure(cause: str) -> Unavailable:
    """The refusal for a failure of the provider; `cause` is for the audit log."""
    return Unavailable(
        "The identity provider is unavailable or its response is malformed.", reason="provider", cause=cause
    )


def audit_reason(refusal: Refusal) -> str:
    """Why a login was refused, in one word, for the audit log."""
    details = refusal.details or {}
    return str(details.get("cause") or details.get("reason") or "unspecified")


def error_location(refusal: Refusal) -> str:
    """The login page with the error's code; with a reason only if users can act on it."""
    parameters, reason = {"error": refusal.code}, (refusal.details or {}).get("reason")
    if reason and isinstance(refusal, _EXPLAINED_REFUSALS):
        parameters["reason"] = str(reason)
    return f"{_LOGIN_PAGE}?{urlencode(parameters)}"


def factor_location(token: str, methods: Sequence[str], next_: str) -> str:
    """The login page for the second factor; parameters are behind `#`, so that they reach no server and no log."""
    return f"{_LOGIN_PAGE}#{urlencode({'totp_session': token, 'methods': ','.join(methods), 'next': next_})}"
