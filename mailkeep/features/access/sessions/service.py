"""Logging in and out, and telling who calls."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core.errors import (
    AuthRequired,
    Forbidden,
    InvalidCredentials,
    NotFound,
    RateLimitExceeded,
    Refusal,
    SessionInvalid,
    TotpInvalid,
)
from mailkeep.core.ids import uuid7
from mailkeep.core.password import MAX_LENGTH, check_password, prepare_password
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.core.secret import new_token, token_hash
from mailkeep.db.pool import Conn
from mailkeep.features.access.admins import service as admins
from mailkeep.features.access.admins.model import Admin
from mailkeep.features.access.api_keys import service as api_keys
from mailkeep.features.access.api_keys.model import AuthenticatedKey
from mailkeep.features.access.second_factors import service as second_factors
from mailkeep.features.access.second_factors.model import SecondFactorCode
from mailkeep.features.access.sessions import rules, store, wire
from mailkeep.features.access.sessions.model import (
    COOKIE,
    PENDING_ATTEMPTS,
    PENDING_LIFETIME,
    RECENT_LOGIN,
    AdminSession,
    CompletedLogin,
    LoginAccount,
    SecondFactorChallenge,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.web.endpoint import Call, HttpResponse, Rate
from mailkeep.web.limits import source_of

log = structlog.get_logger("mailkeep.auth")

_SOURCE_RETENTION = timedelta(days=180)


async def authenticate(app: App, call: Call) -> None:
    """Set `call.who` and `call.rate` from a Bearer key or the session's cookie; the key decides where both are shown.

    AUTH_REQUIRED, SESSION_INVALID, API_KEY_INVALID; RATE_LIMIT_EXCEEDED where the key's requests are used up.
    """
    scheme, _, given = call.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        await _authenticate_key(app, call, given.strip(" "))
    elif shown := call.cookies.get(COOKIE):
        await _authenticate_session(app, call, shown)
    else:
        raise AuthRequired


async def _authenticate_session(app: App, call: Call, cookie: str) -> None:
    token = rules.verify_token(app.vault, cookie)
    if token is None:
        raise SessionInvalid
    async with app.db.autocommit() as conn:
        shown = await store.find_active(conn, token_hash(token), app.clock())
    if shown is None:
        raise SessionInvalid
    auth = app.settings.auth
    call.who = replace(
        _principal(call, shown.email, shown.role, shown.admin_id, shown.session_id),
        assigned=shown.assigned,
        blocked_by=rules.network_bar(call.ip_address, auth.allowed_networks)
        or rules.second_factor_bar(shown.role, shown.second_factor, auth.require_second_factor),
    )


async def _authenticate_key(app: App, call: Call, raw: str) -> None:
    at, auth = app.clock(), app.settings.auth
    count = not call.counted and not rules.network_bar(call.ip_address, auth.allowed_networks)
    async with app.db.autocommit() as conn:
        key = await api_keys.authenticate(conn, raw, at, call.ip_address, count=count)
    call.counted = True
    _apply_rate(call, key)
    call.who = replace(
        _principal(call, key.name, key.role, key.admin_id, None),
        actor=ActorType.API_KEY,
        assigned=key.assigned,
        scope=key.scope,
        blocked_by=rules.network_bar(call.ip_address, auth.allowed_networks, key.allowed_networks)
        or rules.second_factor_bar(key.role, key.second_factor, auth.require_second_factor),
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


async def login(app: App, call: Call, email: str, password: str) -> CompletedLogin | SecondFactorChallenge:
    """Open a session by password, or ask for the account's second factor first.

    The session shown with the call, if any, ends when the new one is opened. INVALID_CREDENTIALS for an unknown email
    and a wrong password alike; RATE_LIMIT_EXCEEDED for an unfamiliar source of an account with many failures;
    FORBIDDEN `network` outside of `auth.allowed_networks`.
    """
    refuse_network(app, call)
    key, label = rules.account_key(email)
    account, right = await _verify_password(app, call, key, None, password)
    at = app.clock()
    async with app.db.tx() as conn:
        done = await continue_login(app, conn, call, account, at) if account is not None and right else None
        if done is None:
            await record_failed_login(conn, call, at, label, account.id if account else None)
    if done is None:
        raise InvalidCredentials
    if isinstance(done, CompletedLogin):
        admins.remove_initial_password(app)
    return done


async def continue_login(
    app: App, conn: Conn, call: Call, account: LoginAccount, at: datetime, method: str | None = None
) -> CompletedLogin | SecondFactorChallenge | None:
    """What follows a right password, or another first proof (`method`, for the audit log).

    None where the account's credentials changed since it was verified.
    """
    methods = rules.available_methods(account)
    if not methods:
        return await open_session(app, conn, call, account, at, method)
    if not await admins.lock(conn, account.id):
        return None
    token, expires_at = new_token(), at + PENDING_LIFETIME
    await store.delete_expired_pending(conn, at)
    await store.insert_pending(conn, token_hash(token), account, expires_at)
    return SecondFactorChallenge(token, expires_at, methods)


async def login_with_code(app: App, call: Call, token: str, proof: SecondFactorCode) -> CompletedLogin:
    """The second step of a login: open the session by a code.

    SESSION_INVALID where the token is unknown, older than 5 minutes, was tried 5 times, or the credentials changed
    meanwhile; TOTP_INVALID; RATE_LIMIT_EXCEEDED after many wrong codes of the account; FORBIDDEN as `login`.
    """
    refuse_network(app, call)
    at = app.clock()
    async with app.db.tx() as conn:
        # What is wrong is answered, not raised, until the tries are committed.
        opened = await _verify_second_step(app, conn, call, token, proof, at)
    if isinstance(opened, Refusal):
        raise opened
    admins.remove_initial_password(app)
    return opened


async def _verify_second_step(
    app: App, conn: Conn, call: Call, token: str, proof: SecondFactorCode, at: datetime
) -> CompletedLogin | Refusal:
    account = await use_attempt(conn, call, token, at)
    if account is None:
        return SessionInvalid()
    # Nobody is exempt here, but a source that has logged in before is counted by itself: who only knows the password
    # can't keep the account's owner waiting.
    key = second_factors.failures_key(account.id, source_of(call.ip_address) if account.familiar else None)
    wrong = await second_factors.verify_code(conn, app.vault, account.id, proof, at, key)
    if isinstance(wrong, TotpInvalid):
        await record_failed_login(conn, call, at, account.email, account.id, TotpInvalid)
    if wrong is not None:
        return wrong
    await end_pending(conn, token)
    return await open_session(app, conn, call, account, at) or SessionInvalid()


async def find_pending(conn: Conn, call: Call, token: str, at: datetime) -> LoginAccount | None:
    """The account whose login waits behind this token for a second factor, held; None where that login is over."""
    pending = await store.find_pending(conn, token_hash(token), at, PENDING_ATTEMPTS)
    if pending is None or not await admins.lock(conn, pending.admin_id):
        return None
    account = await find_account(conn, call, pending.admin_id)
    return account if account is not None and account.credentials_epoch == pending.credentials_epoch else None


async def use_attempt(conn: Conn, call: Call, token: str, at: datetime) -> LoginAccount | None:
    """`find_waiting`, one of the login's tries used up."""
    account = await find_pending(conn, call, token, at)
    tried = account is not None and await store.use_attempt(conn, token_hash(token), at, PENDING_ATTEMPTS)
    return account if tried else None


async def end_pending(conn: Conn, token: str) -> bool:
    """The login that waits behind this token goes on; False where it has gone on before."""
    return await store.delete_pending(conn, token_hash(token))


async def find_account(conn: Conn, call: Call, admin_id: UUID) -> LoginAccount | None:
    """An account as logins see it, from where the call comes."""
    return await store.find_account(conn, admin_id, source_of(call.ip_address))


def refuse_network(app: App, call: Call) -> None:
    """FORBIDDEN `network` outside of `auth.allowed_networks`."""
    if bar := rules.network_bar(call.ip_address, app.settings.auth.allowed_networks):
        raise Forbidden("Logins are not allowed from this network.", reason=bar.value)


async def _verify_password(
    app: App, call: Call, key: str, admin_id: UUID | None, password: str
) -> tuple[LoginAccount | None, bool]:
    """Count a try, then verify: the account with the email `key`, or the caller's own, and whether it was right."""
    source = source_of(call.ip_address)
    async with app.db.autocommit() as conn:
        # A flood of logins fills the queue for strangers only.
        ahead = admin_id is not None or await store.is_known_source(conn, key, source)
    # Counted while its turn to hash has come: of tries in parallel no more are under way than are hashed at once.
    async with admins.hashing.acquire(priority=ahead):
        at = app.clock()
        async with app.db.tx() as conn:
            if admin_id is None:
                account = await store.find_account_by_email(conn, key, source)
                familiar = account is not None and account.familiar
            else:
                account, familiar = await store.find_account(conn, admin_id, source), False
            wait = await second_factors.count_attempt(conn, key, at, known=familiar)
            known = None
            if account is not None and (familiar or admin_id is not None):
                # Of sources that have logged in before, and of sessions: theirs alone, so that no stranger uses it up.
                known = rules.known_source_key(account.email)
                wait = wait or await second_factors.count_known_attempt(conn, known, at)
        if wait:
            raise RateLimitExceeded("Too many failed logins; try again later.", retry_after=wait)
        possible = account.password_hash if account and len(password) <= MAX_LENGTH else None
        right = await admins.verify_password(possible, prepare_password(password[:MAX_LENGTH]))
        if right:
            async with app.db.tx() as conn:
                for each in (key, known) if known else (key,):
                    await second_factors.undo_failure(conn, each)
    return account, right


async def open_session(
    app: App, conn: Conn, call: Call, account: LoginAccount, at: datetime, method: str | None = None
) -> CompletedLogin | None:
    """The session; None where the account's credentials changed since they were verified.

    `method` is what its entry in the audit log says of how it was opened. Call `admins.remove_initial_password` after.
    """
    lifetime = timedelta(hours=app.settings.sessions.ttl_hours)
    token = new_token()
    session = AdminSession(uuid7(at), account.id, call.ip_address, call.user_agent, at, at + lifetime)
    admin = await admins.record_login(conn, account.id, account.credentials_epoch, at)
    if admin is None:
        return None
    await _end_previous(app, conn, call)
    await store.delete_expired(conn, account.id, at)
    await store.insert(conn, session, token_hash(token), account.credentials_epoch)
    await store.record_source(conn, account.id, source_of(call.ip_address), at, at - _SOURCE_RETENTION)
    who = _principal(call, account.email, admin.role, account.id, session.id)
    more = {"method": method} if method else {}
    await audit.record(conn, who, at, AuditAction("auth.login", AuditTarget("session", session.id), more=more))
    return CompletedLogin(admin, session, rules.set_cookie(rules.sign_token(app.vault, token), lifetime))


async def _end_previous(app: App, conn: Conn, call: Call) -> None:
    token = rules.verify_token(app.vault, call.cookies.get(COOKIE, ""))
    if token is not None:
        await store.delete_by_token(conn, token_hash(token))


async def record_failed_login(
    conn: Conn,
    call: Call,
    at: datetime,
    label: str,
    admin_id: UUID | None,
    wrong: type[Refusal] = InvalidCredentials,
    **more: str,
) -> None:
    """Write the entry of a failed login; `label` names who is said to try, `admin_id` the account, if it is known."""
    target = AuditTarget("admin", admin_id)
    failed = AuditAction("auth.login", target, more=more, outcome="failed", error_code=wrong.code)
    await audit.record(conn, _principal(call, label, Role.DOMAIN_ADMIN, None, None), at, failed)


def _principal(call: Call, label: str, role: Role, admin_id: UUID | None, session_id: UUID | None) -> Principal:
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


Opened = wire.LoginResponse
"""What a login answers, for endpoints of other features that open sessions too."""


def reply(app: App, done: CompletedLogin | SecondFactorChallenge) -> HttpResponse:
    """The answer to a login, done or half done, with the cookie that it sets."""
    data = wire.to_login_response(done, app.settings.auth.require_second_factor)
    return HttpResponse(data, cookies=[done.cookie] if isinstance(done, CompletedLogin) else [])


async def get_own_account(conn: Conn, who: Principal) -> Admin:
    """The caller's own account."""
    return await admins.get(conn, who, _own_id(who, SessionInvalid))


async def list_sessions(conn: Conn, who: Principal, at: datetime) -> list[AdminSession]:
    """The caller's active sessions, the newest first."""
    return await store.list_active(conn, _own_id(who, SessionInvalid), at)


async def end_session(conn: Conn, who: Principal, at: datetime, session_id: UUID, action: str) -> None:
    """End one of the caller's own sessions; NOT_FOUND for any other."""
    if not await store.delete(conn, _own_id(who, SessionInvalid), session_id):
        raise NotFound
    await audit.record(conn, who, at, AuditAction(action, AuditTarget("session", session_id)))


async def end_all_sessions(conn: Conn, who: Principal, at: datetime) -> int:
    """End the caller's sessions, this one too; how many were active."""
    admin_id = _own_id(who, SessionInvalid)
    ended = len(await store.list_active(conn, admin_id, at))
    await store.delete_all(conn, admin_id, None)
    more = {"sessions_ended": ended}
    await audit.record(conn, who, at, AuditAction("auth.logout_all", AuditTarget("admin", admin_id), more=more))
    return ended


async def require_recent_login(app: App, call: Call, current: str | None, action: str) -> None:
    """Refuse to let a session change how its account logs in, unless it is fresh or shows the password.

    FORBIDDEN `login_again` where neither is so; INVALID_CREDENTIALS where `current` is wrong, and
    RATE_LIMIT_EXCEEDED after many such.
    """
    who = call.caller()
    if current is not None:
        await verify_own_password(app, call, current, action)
        return
    async with app.db.autocommit() as conn:
        opened_at = await store.find_created_at(conn, who.session_id) if who.session_id else None
    if opened_at is None or abs(app.clock() - opened_at) > RECENT_LOGIN:
        raise Forbidden("Log in again, or give your current password.", reason="login_again")


async def verify_own_password(app: App, call: Call, current: str, action: str) -> None:
    """INVALID_CREDENTIALS (counted as a failed login) or RATE_LIMIT_EXCEEDED unless `current` is the own password."""
    admin_id = _own_id(call.caller(), SessionInvalid)
    _, right = await _verify_password(app, call, f"password:{admin_id}", admin_id, current)
    if not right:
        wrong = InvalidCredentials("The current password is wrong.")
        failed = AuditAction(action, AuditTarget("admin", admin_id), outcome="failed", error_code=wrong.code)
        async with app.db.tx() as conn:
            await audit.record(conn, call.caller(), app.clock(), failed)
        raise wrong


async def change_password(app: App, call: Call, current: str, new: str) -> int:
    """Change the caller's own password, and end its other sessions; how many these were.

    WEAK_PASSWORD; INVALID_CREDENTIALS where `current` is wrong, and RATE_LIMIT_EXCEEDED after many such.
    """
    who = call.caller()
    admin_id = _own_id(who, SessionInvalid)
    chosen = check_password(new, who.label)
    await verify_own_password(app, call, current, "admin.password")
    password_hash = await admins.hash_password(chosen)
    at = app.clock()
    async with app.db.tx() as conn:
        others = len(await store.list_active(conn, admin_id, at)) - 1
        await admins.set_password(conn, who, at, admin_id, password_hash)
        await store.delete_all(conn, admin_id, who.session_id)
    return max(0, others)


def _own_id(who: Principal, otherwise: type[Refusal]) -> UUID:
    if who.admin_id is None:
        raise otherwise
    return who.admin_id
