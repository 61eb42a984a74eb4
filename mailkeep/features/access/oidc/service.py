"""Use cases of single sign-on. No transaction is held during requests to a provider."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core.errors import (
    AuthRequired,
    Conflict,
    Forbidden,
    NotFound,
    Refusal,
    SessionInvalid,
    Unavailable,
)
from mailkeep.core.identity_provider import OidcProvider
from mailkeep.core.principal import ActorType, Principal, Role, allow
from mailkeep.core.secret import new_token, token_hash
from mailkeep.db.pool import Conn
from mailkeep.features.access.accounts import service as accounts
from mailkeep.features.access.accounts.model import AccountRef
from mailkeep.features.access.admins import service as admins
from mailkeep.features.access.admins.model import NO_PASSWORD, NewAdmin
from mailkeep.features.access.logins import service as logins
from mailkeep.features.access.logins.model import CompletedLogin, FailedLogin, SecondFactorChallenge
from mailkeep.features.access.oidc import rules, store
from mailkeep.features.access.oidc.model import (
    COOKIE,
    FLOW_LIFETIME,
    AuthorizationResponse,
    LinkingSession,
    LocalRedirect,
    LoginFlow,
    ProviderRedirect,
    VerifiedIdentity,
)
from mailkeep.features.access.sessions import service as sessions
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.net.openid import InvalidCode, OutboundAccess, ProviderError, code_challenge
from mailkeep.net.openid_token import InvalidToken
from mailkeep.settings import parse_networks
from mailkeep.web.endpoint import Call

log = structlog.get_logger("mailkeep.oidc")

T = TypeVar("T")

_UNKNOWN = "(unknown)"  # the caller's name in the audit log until the account or email is known


@dataclass(slots=True)
class _OidcAttempt:
    """A login or linking in progress: what the audit log records if it fails.

    `linking` is None for a login. `label` is the caller's name in the audit log.
    """

    provider: OidcProvider
    linking: LinkingSession | None = None
    label: str = _UNKNOWN
    admin_id: UUID | None = None


def list_providers(app: App) -> tuple[OidcProvider, ...]:
    """The providers, in the order of the settings."""
    return app.settings.oidc.providers


async def begin_login(
    app: App, call: Call, provider_id: str, next_path: str | None, *, link: bool
) -> ProviderRedirect | LocalRedirect:
    """Begin a login, or linking from the caller's session; a refusal redirects to the login page.

    NOT_FOUND for an unknown provider.
    """
    attempt = _OidcAttempt(_provider(app, provider_id))
    try:
        logins.refuse_network(app, call)
        if link:
            attempt.linking = await _authorize_linking(app, call)
        return await _redirect_to_provider(app, call, attempt, rules.next_path(next_path))
    except Refusal as refusal:
        await _record_refusal(app, call, attempt, refusal)
        return LocalRedirect(rules.error_location(refusal))


async def _authorize_linking(app: App, call: Call) -> LinkingSession:
    await sessions.authenticate(app, call)
    who = call.caller()
    allow(who, "account.change")
    await logins.require_recent_login(app, call, None, "oidc.link")
    async with app.db.autocommit() as conn:
        linking = await store.find_linking_session(conn, who.session_id, app.clock()) if who.session_id else None
        if linking is None:
            raise SessionInvalid
        if await store.is_linked(conn, linking.admin_id):
            raise store.already_linked_conflict()
    return linking


async def _redirect_to_provider(app: App, call: Call, attempt: _OidcAttempt, next_path: str) -> ProviderRedirect:
    provider, at = attempt.provider, app.clock()
    metadata = await _translate_failures(app.openid.get_metadata(provider, _outbound_access(app), at))
    state, browser_token = new_token(), rules.browser_token(call.cookies.get(COOKIE)) or new_token()
    session_id = attempt.linking.session_id if attempt.linking else None
    flow = LoginFlow(provider.id, next_path, session_id, at + FLOW_LIFETIME)
    async with app.db.tx() as conn:
        await store.delete_expired_flows(conn, at)
        await store.insert_flow(conn, token_hash(state), token_hash(browser_token), flow)
    parameters = {
        "response_type": "code",
        "client_id": provider.client_id,
        "redirect_uri": rules.callback_url(app.settings.http.public_url, provider),
        "scope": " ".join(provider.scopes),
        "state": state,
        "nonce": rules.derive_secret(app.vault, "nonce", state),
        "code_challenge": code_challenge(rules.derive_secret(app.vault, "verifier", state)),
        "code_challenge_method": "S256",
    }
    location = rules.authorization_url(metadata.authorization_endpoint, parameters)
    return ProviderRedirect(location, rules.set_cookie(browser_token))


async def finish_login(app: App, call: Call, provider_id: str) -> LocalRedirect:
    """Complete a login with the provider's response; NOT_FOUND for an unknown provider, otherwise a local page."""
    attempt = _OidcAttempt(_provider(app, provider_id))
    try:
        logins.refuse_network(app, call)
        response = rules.read_response(call.query_pairs)
        flow = await _use_flow(app, call, attempt, response)
        identity = await _verify_identity(app, attempt.provider, response)
        async with app.db.tx() as conn:
            if attempt.linking is not None:
                await _link(conn, _principal(call, attempt.linking), app.clock(), attempt.linking.admin_id, identity)
                return LocalRedirect(flow.next)
            result = await _log_in(app, conn, call, attempt, identity)
    except Refusal as refusal:
        await _record_refusal(app, call, attempt, refusal)
        return LocalRedirect(rules.error_location(refusal))
    if isinstance(result, SecondFactorChallenge):
        return LocalRedirect(rules.factor_location(result.token, result.methods, flow.next))
    admins.remove_initial_password(app)
    return LocalRedirect(flow.next, result.cookie)


async def _use_flow(app: App, call: Call, attempt: _OidcAttempt, response: AuthorizationResponse) -> LoginFlow:
    """Use up the login in progress, and set `attempt.linking` if it links an identity.

    SESSION_INVALID if it was begun in another browser, or it or the linking session has expired.
    """
    browser_token, at = rules.browser_token(call.cookies.get(COOKIE)), app.clock()
    if browser_token is None:
        raise SessionInvalid(reason="no_cookie")
    async with app.db.autocommit() as conn:
        flow = await store.use_flow(conn, token_hash(response.state), token_hash(browser_token), at)
        if flow is None:
            raise SessionInvalid(reason="unknown_state")
        if flow.link_session_id is not None:
            attempt.linking = await store.find_linking_session(conn, flow.link_session_id, at)
            if attempt.linking is None:
                raise SessionInvalid(reason="session_over")
    if flow.provider != attempt.provider.id:
        raise rules.invalid_response("mix_up")
    return flow


async def _verify_identity(app: App, provider: OidcProvider, response: AuthorizationResponse) -> VerifiedIdentity:
    """The identity of a response.

    INVALID_CREDENTIALS if it is invalid, FORBIDDEN if the provider refused the login, UNAVAILABLE if it fails.
    """
    access, at = _outbound_access(app), app.clock()
    metadata = await _translate_failures(app.openid.get_metadata(provider, access, at))
    rules.refuse_foreign_issuer(response, provider, sends_issuer=metadata.sends_issuer)
    rules.refuse_error(response)
    code = {
        "code": response.code,
        "code_verifier": rules.derive_secret(app.vault, "verifier", response.state),
        "redirect_uri": rules.callback_url(app.settings.http.public_url, provider),
    }
    nonce = rules.derive_secret(app.vault, "nonce", response.state)
    tokens = await _translate_failures(app.openid.exchange_code(provider, access, code, nonce, at))
    claims = tokens.claims
    if rules.needs_email(provider, claims):
        claims = {**await _translate_failures(app.openid.get_userinfo(provider, access, tokens, at)), **claims}
    return rules.read_identity(provider, claims)


async def _log_in(
    app: App, conn: Conn, call: Call, attempt: _OidcAttempt, identity: VerifiedIdentity
) -> CompletedLogin | SecondFactorChallenge:
    """Log in to the account of an identity, which may be linked or created first; returns the session, or the challenge
    for the second factor.

    Sets `label` and `admin_id` of `attempt` as soon as they are known, for the audit entry of a failure. FORBIDDEN
    without an account, SESSION_INVALID if its credentials change meanwhile.
    """
    provider, at = attempt.provider, app.clock()
    admin_id = await store.find_admin(conn, identity.issuer, identity.subject)
    if admin_id is None:
        attempt.label = identity.email.text if identity.email else _UNKNOWN
        admin_id = await _link_by_email_or_create(conn, call, provider, identity, at)
    account = await logins.find_account(conn, call, AccountRef("admin", admin_id))
    if account is None:
        raise Forbidden("The account is disabled.", reason="disabled")
    attempt.label, attempt.admin_id = account.name, account.id
    continue_with = logins.open_session if rules.skips_second_factor(provider, identity) else logins.continue_login
    result = await continue_with(app, conn, call, account, at, f"oidc:{provider.id}")
    if result is None:
        raise SessionInvalid(reason="credentials_changed")
    return result


async def _link_by_email_or_create(
    conn: Conn, call: Call, provider: OidcProvider, identity: VerifiedIdentity, at: datetime
) -> UUID:
    """The account for an identity that is not linked: the one with its email, or a new one; FORBIDDEN if neither is
    allowed.
    """
    account = await admins.find_by_email(conn, identity.email) if identity.email else None
    who = Principal(
        None,
        f"oidc:{provider.id}",
        Role.SUPER_ADMIN,
        ActorType.SYSTEM,
        ip_address=call.ip_address,
        user_agent=call.user_agent,
        request_id=call.request_id,
    )
    if account is not None and not provider.trust_email:
        raise Forbidden("Sign in another way first, then link this identity.", reason="not_linked")
    if account is None:
        if identity.email is None or not provider.auto_create_role:
            raise Forbidden("No account is linked to this identity.", reason="no_account")
        account = await admins.create(
            conn, who, at, NewAdmin(identity.email, NO_PASSWORD, Role(provider.auto_create_role))
        )
    await accounts.lock(conn, AccountRef("admin", account.id))
    await _write_link(conn, who, at, account.id, identity)
    return account.id


async def _link(conn: Conn, who: Principal, at: datetime, admin_id: UUID, identity: VerifiedIdentity) -> None:
    """Link the identity to the account of the linking session; the account's other sessions end."""
    if not await accounts.lock(conn, AccountRef("admin", admin_id)):
        raise SessionInvalid(reason="session_over")
    await _write_link(conn, who, at, admin_id, identity)
    await accounts.end_sessions(conn, who, at, AccountRef("admin", admin_id))


async def _write_link(conn: Conn, who: Principal, at: datetime, admin_id: UUID, identity: VerifiedIdentity) -> None:
    await store.insert(conn, admin_id, identity, at)
    await admins.set_oidc_provider(conn, admin_id, identity.provider, at)
    before, after = {"oidc_provider": None}, {"oidc_provider": identity.provider}
    details = {"issuer": identity.issuer, "subject": identity.subject}
    await audit.record(conn, who, at, AuditAction("oidc.link", AuditTarget("admin", admin_id), before, after, details))


async def disconnect(app: App, call: Call) -> None:
    """Unlink the caller's identity and end its other sessions; NOT_FOUND without one, CONFLICT `last_way_in`."""
    who, at = call.caller(), app.clock()
    async with app.db.tx() as conn:
        account = await logins.find_account(conn, call, await accounts.lock_own(conn, who))
        if account is None:
            raise SessionInvalid
        if not await store.is_linked(conn, account.id):
            raise NotFound("No identity is linked to your account.")
        if account.password_hash == NO_PASSWORD and not account.passkeys:
            raise Conflict(
                "This identity is your only way to sign in. First add a passkey, or ask a super_admin for a password.",
                reason="last_way_in",
            )
        await unlink(conn, who, at, account.id)


async def unlink(conn: Conn, who: Principal, at: datetime, admin_id: UUID) -> None:
    """Unlink an account's identity, and end its sessions except the caller's own. CONFLICT `not_linked`."""
    before = await admins.get(conn, who, admin_id)
    if not await store.delete(conn, admin_id):
        raise Conflict("The account is not linked to any identity.", reason="not_linked")
    await admins.set_oidc_provider(conn, admin_id, None, at)
    await accounts.end_sessions(conn, who, at, AccountRef("admin", admin_id))
    change = {"oidc_provider": before.oidc_provider}, {"oidc_provider": None}
    await audit.record(conn, who, at, AuditAction("oidc.disconnect", AuditTarget("admin", admin_id), *change))


async def _translate_failures(request: Awaitable[T]) -> T:
    """Await a request to a provider; raises its failures as refusals."""
    try:
        return await request
    except ProviderError as error:
        raise rules.provider_failure(error.reason) from error
    except InvalidCode as error:
        raise rules.invalid_response("code") from error
    except InvalidToken as error:
        raise rules.invalid_response(f"token_{error.reason}") from error


async def _record_refusal(app: App, call: Call, attempt: _OidcAttempt, refusal: Refusal) -> None:
    """Write a refused login or linking to the audit log, except linking without a session."""
    at, reason = app.clock(), rules.audit_reason(refusal)
    try:
        async with app.db.tx() as conn:
            if attempt.linking is not None:
                details = {"provider": attempt.provider.id, "reason": reason}
                target = AuditTarget("admin", attempt.linking.admin_id)
                audit_action = AuditAction(
                    "oidc.link", target, details=details, outcome="failed", error_code=refusal.code
                )
                await audit.record(conn, _principal(call, attempt.linking), at, audit_action)
            elif not isinstance(refusal, AuthRequired):
                method = f"oidc:{attempt.provider.id}"
                failed = FailedLogin(attempt.label, account_id=attempt.admin_id)
                await logins.record_failed_login(
                    app, conn, call, at, failed, type(refusal), method=method, reason=reason
                )
    except Unavailable:
        log.warning("refused login not recorded in the audit log", provider=attempt.provider.id, reason=reason)


def _principal(call: Call, linking: LinkingSession) -> Principal:
    return Principal(
        admin_id=linking.admin_id,
        label=linking.email,
        role=Role(linking.role),
        actor=ActorType.SESSION,
        session_id=linking.session_id,
        ip_address=call.ip_address,
        user_agent=call.user_agent,
        request_id=call.request_id,
    )


def _provider(app: App, provider_id: str) -> OidcProvider:
    provider = next((each for each in app.settings.oidc.providers if each.id == provider_id), None)
    if provider is None:
        raise NotFound(f"No identity provider in oidc.providers has the id {provider_id!r}.")
    return provider


def _outbound_access(app: App) -> OutboundAccess:
    settings = app.settings.oidc
    return OutboundAccess(
        parse_networks(settings.allowed_networks), Path(settings.extra_ca_file) if settings.extra_ca_file else None
    )
