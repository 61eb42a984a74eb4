"""Authentication of requests, and sessions of administrators."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.errors import AuthRequired, NotFound, RateLimitExceeded, SessionInvalid
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import ActorType, BlockReason, Principal, Role
from mailkeep.core.secret import new_token, token_hash
from mailkeep.db.pool import Conn
from mailkeep.features.access.admins import rules as admin_rules, service as admins
from mailkeep.features.access.admins.model import Admin
from mailkeep.features.access.api_keys import service as api_keys
from mailkeep.features.access.api_keys.model import AuthenticatedKey
from mailkeep.features.access.sessions import rules, store
from mailkeep.features.access.sessions.model import COOKIE, ActiveSession, AdminSession, CallerRights
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.web.endpoint import Call, Rate


async def authenticate(app: App, call: Call) -> None:
    """Set `call.who` and `call.rate` from a Bearer key, else from the session's cookie.

    AUTH_REQUIRED, SESSION_INVALID, API_KEY_INVALID; RATE_LIMIT_EXCEEDED if the key exceeds its `rate_limit`.
    """
    scheme, _, key = call.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        await _authenticate_key(app, call, key.strip(" "))
    elif cookie := call.cookies.get(COOKIE):
        await _authenticate_session(app, call, cookie)
    else:
        raise AuthRequired


async def _authenticate_session(app: App, call: Call, cookie: str) -> None:
    token = rules.verify_token(app.vault, cookie)
    if token is None:
        raise SessionInvalid
    async with app.db.autocommit() as conn:
        session = await store.find_active(conn, token_hash(token), app.clock())
    if session is None:
        raise SessionInvalid
    auth = app.settings.auth
    call.who = replace(
        caller_principal(call, session.email, session.role, session.admin_id, session.session_id),
        assigned=session.assigned,
        signed_in_at=session.signed_in_at,
        blocked_by=rules.network_block(call.ip_address, auth.allowed_networks) or _block(app, session),
    )


async def _authenticate_key(app: App, call: Call, raw_key: str) -> None:
    at, auth = app.clock(), app.settings.auth
    count = not call.counted and not rules.network_block(call.ip_address, auth.allowed_networks)
    async with app.db.autocommit() as conn:
        key = await api_keys.authenticate(conn, raw_key, at, call.ip_address, count=count)
    call.counted = True
    _apply_rate(call, key)
    call.who = replace(
        caller_principal(call, key.name, key.role, key.admin_id, None),
        actor=ActorType.API_KEY,
        assigned=key.assigned,
        scope=key.scope,
        blocked_by=rules.network_block(call.ip_address, auth.allowed_networks, key.allowed_networks)
        or _block(app, key),
        key_id=key.id,
    )


def _apply_rate(call: Call, key: AuthenticatedKey) -> None:
    if key.rate is None:
        return
    call.rate = Rate(key.rate_limit, max(0, key.rate_limit - key.rate.used), key.rate.wait)
    if not key.rate.accepted:
        raise RateLimitExceeded(
            f"The API key may make {key.rate_limit} requests in 60 seconds; the next is accepted in {key.rate.wait} s.",
            retry_after=key.rate.wait,
        )


async def refresh(app: App, conn: Conn, who: Principal) -> Principal | None:
    """The caller of an earlier request with its present permissions; None if its account was deleted or disabled, or
    its API key was revoked or has expired. The end of a session changes nothing.
    """
    if who.admin_id is None:
        return who  # the command line
    rights = await store.find_rights(conn, who.admin_id)
    if rights is None:
        return None
    who = replace(
        who,
        role=rights.role,
        assigned=rights.assigned,
        blocked_by=_block(app, rights),
    )
    if who.key_id is None:
        return who
    key = await api_keys.find_valid(conn, who.key_id, app.clock())
    return key and replace(who, scope=frozenset(key.scoped_domain_ids) if key.is_scoped else None)


def _block(app: App, account: ActiveSession | AuthenticatedKey | CallerRights) -> BlockReason | None:
    return rules.account_block(
        account.role,
        must_change_password=account.must_change_password,
        second_factor=account.second_factor,
        required=app.settings.auth.require_second_factor,
    )


def caller_principal(call: Call, label: str, role: Role, admin_id: UUID | None, session_id: UUID | None) -> Principal:
    """The principal of a session, or of a login without one yet, with the call's address, user agent and ID."""
    return Principal(
        admin_id=admin_id,
        label=label,
        role=role,
        actor=ActorType.SESSION,
        session_id=session_id,
        ip_address=call.ip_address,
        user_agent=call.user_agent,
        request_id=call.request_id,
    )


async def open_session(
    app: App, conn: Conn, call: Call, admin_id: UUID, credentials_epoch: int, at: datetime
) -> tuple[AdminSession, str]:
    """Open a session, which replaces the one of the call's cookie; returns it and its Set-Cookie value."""
    lifetime = timedelta(hours=app.settings.sessions.ttl_hours)
    token = new_token()
    session = AdminSession(uuid7(at), admin_id, call.ip_address, call.user_agent, at, at + lifetime)
    await _end_previous(app, conn, call)
    await store.delete_expired(conn, admin_id, at)
    await store.insert(conn, session, token_hash(token), credentials_epoch)
    return session, rules.set_cookie(rules.sign_token(app.vault, token), lifetime)


async def _end_previous(app: App, conn: Conn, call: Call) -> None:
    token = rules.verify_token(app.vault, call.cookies.get(COOKIE, ""))
    if token is not None:
        await store.delete_by_token(conn, token_hash(token))


async def get_own_account(conn: Conn, who: Principal) -> Admin:
    """The caller's own account."""
    return await admins.get(conn, who, admin_rules.own_id(who))


async def list_sessions(conn: Conn, who: Principal, at: datetime) -> list[AdminSession]:
    """The caller's active sessions, newest first."""
    return await store.list_active(conn, admin_rules.own_id(who), at)


async def end_session(conn: Conn, who: Principal, at: datetime, session_id: UUID, action: str) -> None:
    """End one of the caller's own sessions, with the audit action `action`; NOT_FOUND for any other."""
    if not await store.delete(conn, admin_rules.own_id(who), session_id):
        raise NotFound
    await audit.record(conn, who, at, AuditAction(action, AuditTarget("session", session_id)))


async def end_all_sessions(conn: Conn, who: Principal, at: datetime) -> int:
    """End the caller's sessions, the current one included; returns how many were active."""
    admin_id = admin_rules.own_id(who)
    active = len(await store.list_active(conn, admin_id, at))
    await store.delete_all(conn, admin_id, None)
    details = {"sessions_ended": active}
    await audit.record(conn, who, at, AuditAction("auth.logout_all", AuditTarget("admin", admin_id), details=details))
    return active


async def end_other_sessions(conn: Conn, who: Principal) -> None:
    """Delete the caller's sessions except the current one."""
    await store.delete_all(conn, admin_rules.own_id(who), who.session_id)


async def find_login_time(conn: Conn, who: Principal) -> datetime | None:
    """When the caller's session was opened; None without a session."""
    return await store.find_created_at(conn, who.session_id) if who.session_id else None
