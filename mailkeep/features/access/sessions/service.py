"""Authentication of requests, and sessions."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.errors import AuthRequired, NotFound, RateLimitExceeded, SessionInvalid
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import POLICY, ActorType, BlockReason, OwnMailbox, Principal, Role
from mailkeep.core.secret import new_token, token_hash
from mailkeep.db.pool import Conn
from mailkeep.features.access.accounts import service as accounts
from mailkeep.features.access.accounts.model import AccountKind, AccountRef
from mailkeep.features.access.api_keys import service as api_keys
from mailkeep.features.access.api_keys.model import AuthenticatedKey
from mailkeep.features.access.sessions import rules, store
from mailkeep.features.access.sessions.model import COOKIES, ActiveSession, CallerRights, Session
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.web.endpoint import Call, Rate


async def authenticate(app: App, call: Call) -> None:
    """Set `call.who` and `call.rate`: for endpoints that only owners of mailboxes may use from the cookie of an owner's
    session, for others from a Bearer key, else from the cookie of an administrator's session. Where both are permitted,
    an owner's cookie is used if there is no key and the administrator's cookie is missing or invalid.

    AUTH_REQUIRED, SESSION_INVALID, API_KEY_INVALID; RATE_LIMIT_EXCEEDED if the key exceeds its `rate_limit`.
    """
    rule = POLICY[call.endpoint.action or "account.change"]  # without an action: a login that links an identity
    scheme, _, key = call.headers.get("authorization", "").partition(" ")
    owner_cookie = call.cookies.get(COOKIES["mailbox"]) if rule.owners else None
    if rule.role is not None and scheme.lower() == "bearer":
        await _authenticate_key(app, call, key.strip(" "))
    elif rule.role is not None and (cookie := call.cookies.get(COOKIES["admin"])):
        try:
            await _authenticate_session(app, call, cookie)
        except SessionInvalid:
            if not owner_cookie:
                raise
            await _authenticate_owner(app, call, owner_cookie)
    elif owner_cookie:
        await _authenticate_owner(app, call, owner_cookie)
    else:
        raise AuthRequired


async def _authenticate_owner(app: App, call: Call, cookie: str) -> None:
    token = rules.verify_token(app.vault, "mailbox", cookie)
    if token is None:
        raise SessionInvalid
    async with app.db.autocommit() as conn:
        session = await store.find_active_owner(conn, token_hash(token), app.clock())
    if session is None:
        raise SessionInvalid
    call.who = replace(
        owner_principal(call, session.address, session.mailbox, session.session_id), signed_in_at=session.signed_in_at
    )


async def _authenticate_session(app: App, call: Call, cookie: str) -> None:
    token = rules.verify_token(app.vault, "admin", cookie)
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
        permissions=key.permissions,
        blocked_by=rules.network_block(call.ip_address, auth.allowed_networks, key.allowed_networks)
        or _block(app, key),
        key_id=key.id,
    )


def _apply_rate(call: Call, key: AuthenticatedKey) -> None:
    if key.rate is None:
        return
    call.rate = Rate(key.rate_limit, max(0, key.rate_limit - key.rate.used), key.rate.wait)
    refuse_over_rate(key)


async def refresh(app: App, conn: Conn, who: Principal) -> Principal | None:
    """The caller of an earlier request with its present permissions; None if its account was deleted or disabled, or
    its API key was revoked or has expired. The end of a session changes nothing.
    """
    if who.mailbox is not None:
        return None  # no call of an owner outlives its request
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
    if key is None:
        return None
    scope = frozenset(key.scoped_domain_ids) if key.is_scoped else None
    return replace(who, scope=scope, permissions=key.permissions)


def key_principal(app: App, key: AuthenticatedKey, address: str | None) -> Principal:
    """The caller with this key from an address, other than by HTTP. None: the address has been checked before."""
    networks = (app.settings.auth.allowed_networks, key.allowed_networks)
    return Principal(
        admin_id=key.admin_id,
        label=key.name,
        role=key.role,
        actor=ActorType.API_KEY,
        assigned=key.assigned,
        scope=key.scope,
        permissions=key.permissions,
        blocked_by=(rules.network_block(address, *networks) if address is not None else None) or _block(app, key),
        key_id=key.id,
        ip_address=address,
    )


def refuse_over_rate(key: AuthenticatedKey) -> None:
    """RATE_LIMIT_EXCEEDED if the request was not accepted."""
    if key.rate is not None and not key.rate.accepted:
        raise RateLimitExceeded(
            f"The API key may make {key.rate_limit} requests in 60 seconds; the next is accepted in {key.rate.wait} s.",
            retry_after=key.rate.wait,
        )


def _block(app: App, account: ActiveSession | AuthenticatedKey | CallerRights) -> BlockReason | None:
    return rules.account_block(
        account.role,
        must_change_password=account.must_change_password,
        second_factor=account.second_factor,
        required=app.settings.auth.require_second_factor,
    )


def caller_principal(
    call: Call, label: str, role: Role | None, admin_id: UUID | None, session_id: UUID | None
) -> Principal:
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


def owner_principal(call: Call, address: str, mailbox: OwnMailbox | None, session_id: UUID | None) -> Principal:
    """As `caller_principal`, of the owner of a mailbox; `mailbox` is None if there is none with this address."""
    who = caller_principal(call, address, None, None, session_id)
    return replace(who, actor=ActorType.MAILBOX, mailbox=mailbox)


async def open_session(
    app: App, conn: Conn, call: Call, account: AccountRef, credentials_epoch: int, at: datetime
) -> tuple[Session, str]:
    """Open a session, which replaces the one of the call's cookie; returns it and its Set-Cookie value."""
    lifetime = timedelta(hours=app.settings.sessions.ttl_hours)
    token = new_token()
    session = Session(uuid7(at), account.id, call.ip_address, call.user_agent, at, at + lifetime)
    await _end_previous(app, conn, call, account.kind)
    await store.delete_expired(conn, account, at)
    await store.insert(conn, account, session, token_hash(token), credentials_epoch)
    return session, rules.set_cookie(account.kind, rules.sign_token(app.vault, account.kind, token), lifetime)


async def _end_previous(app: App, conn: Conn, call: Call, kind: AccountKind) -> None:
    token = rules.verify_token(app.vault, kind, call.cookies.get(COOKIES[kind], ""))
    if token is not None:
        await store.delete_by_token(conn, kind, token_hash(token))


async def list_sessions(conn: Conn, who: Principal, at: datetime) -> list[Session]:
    """The caller's active sessions, newest first."""
    return await store.list_active(conn, accounts.own(who), at)


async def end_session(conn: Conn, who: Principal, at: datetime, session_id: UUID, action: str) -> None:
    """End one of the caller's own sessions, with the audit action `action`; NOT_FOUND for any other."""
    if not await store.delete(conn, accounts.own(who), session_id):
        raise NotFound
    await audit.record(conn, who, at, AuditAction(action, AuditTarget("session", session_id)))


async def end_all_sessions(conn: Conn, who: Principal, at: datetime) -> int:
    """End the caller's sessions, the current one included; returns how many were active."""
    own = accounts.own(who)
    active = len(await store.list_active(conn, own, at))
    await store.delete_all(conn, own, None)
    details = {"sessions_ended": active}
    await audit.record(conn, who, at, AuditAction("auth.logout_all", accounts.own_target(who), details=details))
    return active


async def end_other_sessions(conn: Conn, who: Principal) -> None:
    """Delete the caller's sessions except the current one."""
    await store.delete_all(conn, accounts.own(who), who.session_id)
