"""Use cases of logging in."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.errors import (
    Forbidden,
    InvalidCredentials,
    RateLimitExceeded,
    Refusal,
    SessionInvalid,
    TotpInvalid,
    WeakPassword,
)
from mailkeep.core.network import source_of
from mailkeep.core.password import MAX_LENGTH, check_password, prepare_password
from mailkeep.core.principal import BlockReason, Role
from mailkeep.core.secret import new_token, token_hash
from mailkeep.db.pool import Conn
from mailkeep.features.access.admins import rules as admin_rules, service as admins
from mailkeep.features.access.logins import rules, store, wire
from mailkeep.features.access.logins.model import (
    PENDING_ATTEMPTS,
    PENDING_LIFETIME,
    RECENT_LOGIN,
    CompletedLogin,
    LoginAccount,
    SecondFactorChallenge,
)
from mailkeep.features.access.second_factors import service as second_factors
from mailkeep.features.access.second_factors.model import SecondFactorCode
from mailkeep.features.access.sessions import rules as session_rules, service as sessions
from mailkeep.features.access.sign_in_protection import service as sign_ins
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.web.endpoint import Call, HttpResponse

_SOURCE_RETENTION = timedelta(days=180)
EXPIRED_SIGN_IN = f"The sign-in has expired or used up its {PENDING_ATTEMPTS} attempts: enter your password again."


async def login(app: App, call: Call, email: str, password: str) -> CompletedLogin | SecondFactorChallenge:
    """Open a session with a password, or require the account's second factor first.

    INVALID_CREDENTIALS for an unknown email, a disabled account and a wrong password alike; RATE_LIMIT_EXCEEDED for an
    unknown source after many failures of the account; FORBIDDEN `network` outside `auth.allowed_networks`.
    """
    refuse_network(app, call)
    _, label = rules.account_key(email)
    account, is_right = await _verify_password(app, call, email, password)
    at = app.clock()
    async with app.db.tx() as conn:
        result = await continue_login(app, conn, call, account, at) if account is not None and is_right else None
        if result is None:
            await record_failed_login(conn, call, at, label, account.id if account else None)
    if result is None:
        raise InvalidCredentials
    if isinstance(result, CompletedLogin):
        admins.remove_initial_password(app)
    return result


async def continue_login(
    app: App, conn: Conn, call: Call, account: LoginAccount, at: datetime, method: str | None = None
) -> CompletedLogin | SecondFactorChallenge | None:
    """Open the session, or require the second factor, after a right password or another first factor (`method`, for
    the audit log). None if the account's credentials have changed since they were verified.
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


async def login_with_code(app: App, call: Call, token: str, code: SecondFactorCode) -> CompletedLogin:
    """The second step of a login: open the session with a code.

    SESSION_INVALID for a token that is unknown, older than 5 minutes or used 5 times, and after a change of
    credentials; TOTP_INVALID; RATE_LIMIT_EXCEEDED after many wrong codes; FORBIDDEN as in `login`.
    """
    refuse_network(app, call)
    at = app.clock()
    async with app.db.tx() as conn:
        # Refusals are returned and raised after the commit, which keeps the counted attempt.
        result = await _verify_second_step(app, conn, call, token, code, at)
    if isinstance(result, Refusal):
        raise result
    admins.remove_initial_password(app)
    return result


async def _verify_second_step(
    app: App, conn: Conn, call: Call, token: str, code: SecondFactorCode, at: datetime
) -> CompletedLogin | Refusal:
    account = await use_attempt(conn, call, token, at)
    if account is None:
        return SessionInvalid(EXPIRED_SIGN_IN)
    # Each known source is counted separately: somebody who knows only the password can't make the account's owner wait.
    key = second_factors.failures_key(account.id, source_of(call.ip_address) if account.known_source else None)
    refusal = await second_factors.verify_code(conn, app.vault, account.id, code, at, key)
    if isinstance(refusal, TotpInvalid):
        await record_failed_login(conn, call, at, account.email, account.id, TotpInvalid)
    if refusal is not None:
        return refusal
    await end_pending(conn, token)
    return await open_session(app, conn, call, account, at) or SessionInvalid(EXPIRED_SIGN_IN)


async def find_pending(conn: Conn, call: Call, token: str, at: datetime) -> LoginAccount | None:
    """The account, locked, whose login with this token waits for a second factor; None if the login has expired."""
    pending = await store.find_pending(conn, token_hash(token), at, PENDING_ATTEMPTS)
    if pending is None or not await admins.lock(conn, pending.admin_id):
        return None
    account = await find_account(conn, call, pending.admin_id)
    return account if account is not None and account.credentials_epoch == pending.credentials_epoch else None


async def use_attempt(conn: Conn, call: Call, token: str, at: datetime) -> LoginAccount | None:
    """Use up one attempt of a pending login; returns its account as `find_pending` does, None without attempts left."""
    account = await find_pending(conn, call, token, at)
    has_attempt = account is not None and await store.use_attempt(conn, token_hash(token), at, PENDING_ATTEMPTS)
    return account if has_attempt else None


async def end_pending(conn: Conn, token: str) -> bool:
    """End the pending login with this token; False if it was completed before."""
    return await store.delete_pending(conn, token_hash(token))


async def find_account(conn: Conn, call: Call, admin_id: UUID) -> LoginAccount | None:
    """The account with this id, for a login from the call's source; None if it is disabled."""
    return await store.find_account(conn, admin_id, source_of(call.ip_address))


def refuse_network(app: App, call: Call) -> None:
    """FORBIDDEN `network` outside `auth.allowed_networks`."""
    if blocked := session_rules.network_block(call.ip_address, app.settings.auth.allowed_networks):
        text = f"Sign-in from {call.ip_address} is not allowed: the address is not in auth.allowed_networks."
        raise Forbidden(text, reason=blocked.value)


async def _verify_password(app: App, call: Call, email: str, password: str) -> tuple[LoginAccount | None, bool]:
    """Verify a password, if sign-in protection permits. Returns the account, if there is one, and whether the password
    is right.
    """
    key, source = rules.account_key(email)[0], source_of(call.ip_address)
    attempt = sign_ins.new_attempt(app.vault, "admin", email, call.ip_address, password)
    async with app.db.autocommit() as conn:
        # A flood of logins delays unknown sources only.
        has_priority = await store.is_known_source(conn, key, source)
    # Counted inside the limit, so that no more parallel attempts are counted than are hashed at the same time.
    async with admins.hashing.acquire(priority=has_priority):
        at = app.clock()
        async with app.db.tx() as conn:
            account = await store.find_account_by_email(conn, key, source)
            decision = await sign_ins.begin(conn, attempt, at)
        if decision.refused_until is not None:
            raise _too_many(sign_ins.retry_after(decision.refused_until, at))
        is_right = await _compare(account, password)
        if is_right:
            async with app.db.tx() as conn:
                await sign_ins.succeed(conn, attempt)
    return account, is_right


async def _verify_current_password(app: App, call: Call, admin_id: UUID, password: str) -> bool:
    """Whether this is the password of the session's account. RATE_LIMIT_EXCEEDED after many wrong ones, which count
    apart from sign-ins: no stranger can use them up.
    """
    key = f"password:{admin_id}"
    async with admins.hashing.acquire(priority=True):
        at = app.clock()
        async with app.db.tx() as conn:
            account = await store.find_account(conn, admin_id, source_of(call.ip_address))
            wait = await second_factors.count_attempt(conn, key, at)
        if wait:
            raise _too_many(wait)
        is_right = await _compare(account, password)
        if is_right:
            async with app.db.tx() as conn:
                await second_factors.undo_failure(conn, key)
    return is_right


async def _compare(account: LoginAccount | None, password: str) -> bool:
    password_hash = account.password_hash if account and len(password) <= MAX_LENGTH else None
    return await admins.verify_password(password_hash, prepare_password(password[:MAX_LENGTH]))


def _too_many(seconds: int) -> RateLimitExceeded:
    return RateLimitExceeded("Too many wrong passwords; try again later.", retry_after=seconds)


async def open_session(
    app: App, conn: Conn, call: Call, account: LoginAccount, at: datetime, method: str | None = None
) -> CompletedLogin | None:
    """Complete a login; None if the account's credentials have changed since they were verified.

    `method` is written to the audit log. Call `admins.remove_initial_password` after the commit.
    """
    admin = await admins.record_login(conn, account.id, account.credentials_epoch, at)
    if admin is None:
        return None
    session, cookie = await sessions.open_session(app, conn, call, account.id, account.credentials_epoch, at)
    await store.record_source(conn, account.id, source_of(call.ip_address), at, at - _SOURCE_RETENTION)
    who = sessions.caller_principal(call, account.email, admin.role, account.id, session.id)
    details = {"method": method} if method else {}
    await audit.record(conn, who, at, AuditAction("auth.login", AuditTarget("session", session.id), details=details))
    return CompletedLogin(admin, session, cookie)


async def record_failed_login(
    conn: Conn,
    call: Call,
    at: datetime,
    label: str,
    admin_id: UUID | None,
    refusal: type[Refusal] = InvalidCredentials,
    **details: str,
) -> None:
    """Write a failed login to the audit log; `label` is the caller's name there, `admin_id` the account if known."""
    target = AuditTarget("admin", admin_id)
    audit_action = AuditAction("auth.login", target, details=details, outcome="failed", error_code=refusal.code)
    await audit.record(conn, sessions.caller_principal(call, label, Role.DOMAIN_ADMIN, None, None), at, audit_action)


LoginResponse = wire.LoginResponse
"""The response to a completed login, for endpoints of other features that open sessions."""


def to_response(app: App, result: CompletedLogin | SecondFactorChallenge) -> HttpResponse:
    """The response to a login, with the session's cookie, or to its first step."""
    data = wire.to_login_response(result, app.settings.auth.require_second_factor)
    return HttpResponse(data, cookies=[result.cookie] if isinstance(result, CompletedLogin) else [])


async def require_recent_login(app: App, call: Call, current: str | None, action: str) -> None:
    """Refuse to change the account's ways to log in, unless the session is at most 15 minutes old or `current` is the
    account's password.

    FORBIDDEN `login_again`; INVALID_CREDENTIALS if `current` is wrong, RATE_LIMIT_EXCEEDED after many of them.
    """
    if current is not None:
        await verify_own_password(app, call, current, action)
        return
    async with app.db.autocommit() as conn:
        opened_at = await sessions.find_login_time(conn, call.caller())
    if opened_at is None or abs(app.clock() - opened_at) > RECENT_LOGIN:
        raise Forbidden("Sign in again, or enter your current password.", reason="login_again")


async def verify_own_password(app: App, call: Call, current: str, action: str) -> None:
    """INVALID_CREDENTIALS (counted as a failed login, recorded as a failed `action`) or RATE_LIMIT_EXCEEDED unless
    `current` is the caller's password.
    """
    admin_id = admin_rules.own_id(call.caller())
    if not await _verify_current_password(app, call, admin_id, current):
        refusal = InvalidCredentials("The current password is wrong.")
        audit_action = AuditAction(action, AuditTarget("admin", admin_id), outcome="failed", error_code=refusal.code)
        async with app.db.tx() as conn:
            await audit.record(conn, call.caller(), app.clock(), audit_action)
        raise refusal


async def change_password(app: App, call: Call, current: str, new: str) -> int:
    """Change the caller's own password and end its other sessions; returns how many.

    WEAK_PASSWORD, also for the current password if the account must change it; INVALID_CREDENTIALS if `current` is
    wrong, RATE_LIMIT_EXCEEDED after many of them.
    """
    who = call.caller()
    admin_id = admin_rules.own_id(who)
    prepared = check_password(new, who.label)
    if who.blocked_by is BlockReason.PASSWORD and prepared == prepare_password(current):
        raise WeakPassword("Choose a password other than the current one.", reason="unchanged")
    await verify_own_password(app, call, current, "admin.password")
    password_hash = await admins.hash_password(prepared)
    at = app.clock()
    async with app.db.tx() as conn:
        other_sessions = len(await sessions.list_sessions(conn, who, at)) - 1
        await admins.set_password(conn, who, at, admin_id, password_hash)
        await sessions.end_other_sessions(conn, who)
    return max(0, other_sessions)
