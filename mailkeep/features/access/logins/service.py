"""Use cases of logging in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta

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
from mailkeep.core.principal import BlockReason, Principal, Role
from mailkeep.core.secret import new_token, token_hash
from mailkeep.db.pool import Conn
from mailkeep.features.access.accounts import service as accounts
from mailkeep.features.access.accounts.model import AccountKind, AccountRef
from mailkeep.features.access.admins import service as admins
from mailkeep.features.access.logins import rules, store, wire
from mailkeep.features.access.logins.model import (
    PENDING_ATTEMPTS,
    PENDING_LIFETIME,
    RECENT_LOGIN,
    CompletedLogin,
    FailedLogin,
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

SetPassword = Callable[[Conn, Principal, datetime, str], Awaitable[None]]
"""Stores the hash of the caller's new password, in a transaction, and writes the audit log."""
_SOURCE_RETENTION = timedelta(days=180)
EXPIRED_SIGN_IN = f"The sign-in has expired or used up its {PENDING_ATTEMPTS} attempts: enter your password again."


async def login(
    app: App, call: Call, kind: AccountKind, name: str, password: str
) -> CompletedLogin | SecondFactorChallenge:
    """Open a session with a password, or require the account's second factor first. `name`: the email or address.

    INVALID_CREDENTIALS for an unknown name, a disabled account and a wrong password alike; RATE_LIMIT_EXCEEDED for an
    unknown source after many failures of the account; FORBIDDEN `network` outside `auth.allowed_networks`
    (administrators), `self_service` if owners of mailboxes may not sign in.
    """
    refuse_network(app, call, kind)
    _, label = rules.account_key(name)
    account, is_right = await _verify_password(app, call, kind, name, password)
    at = app.clock()
    refusal: Refusal = InvalidCredentials()
    async with app.db.tx() as conn:
        result = None
        if account is not None and is_right:
            refusal = self_service_refusal(account) or refusal
            result = await continue_login(app, conn, call, account, at) if account.self_service else None
        if result is None:
            failed = FailedLogin(label, kind) if account is None else replace(FailedLogin.of(account), label=label)
            await record_failed_login(app, conn, call, at, failed, type(refusal))
    if result is None:
        raise refusal
    _remove_initial_password(app, result)
    return result


def self_service_refusal(account: LoginAccount) -> Refusal | None:
    """The refusal if the account is a mailbox whose owner may not sign in."""
    if account.self_service:
        return None
    domain = account.mailbox.domain_name if account.mailbox else ""
    return Forbidden(
        f"Owners of mailboxes in {domain} can't sign in here: ask its administrator.", reason="self_service"
    )


def _remove_initial_password(app: App, result: CompletedLogin | SecondFactorChallenge) -> None:
    if isinstance(result, CompletedLogin) and result.admin is not None:
        admins.remove_initial_password(app)


async def continue_login(
    app: App, conn: Conn, call: Call, account: LoginAccount, at: datetime, method: str | None = None
) -> CompletedLogin | SecondFactorChallenge | None:
    """Open the session, or require the second factor, after a right password or another first factor (`method`, for
    the audit log). None if the account's credentials have changed since they were verified.
    """
    methods = rules.available_methods(account)
    if not methods:
        return await open_session(app, conn, call, account, at, method)
    if not await accounts.lock(conn, account.ref):
        return None
    token, expires_at = new_token(), at + PENDING_LIFETIME
    await store.delete_expired_pending(conn, at)
    await store.insert_pending(conn, token_hash(token), account, expires_at)
    return SecondFactorChallenge(token, expires_at, methods)


async def login_with_code(
    app: App, call: Call, kind: AccountKind, token: str, code: SecondFactorCode
) -> CompletedLogin:
    """The second step of a login: open the session with a code.

    SESSION_INVALID for a token that is unknown, older than 5 minutes or used 5 times, and after a change of
    credentials; TOTP_INVALID; RATE_LIMIT_EXCEEDED after many wrong codes; FORBIDDEN as in `login`.
    """
    refuse_network(app, call, kind)
    at = app.clock()
    async with app.db.tx() as conn:
        # Refusals are returned and raised after the commit, which keeps the counted attempt.
        account = await use_attempt(conn, call, kind, token, at)
        result: CompletedLogin | Refusal = SessionInvalid(EXPIRED_SIGN_IN)
        if account is not None:
            result = await _verify_code(app, conn, call, account, code, at) or await _complete(
                app, conn, call, account, token, at
            )
    if isinstance(result, Refusal):
        raise result
    _remove_initial_password(app, result)
    return result


async def _verify_code(
    app: App, conn: Conn, call: Call, account: LoginAccount, code: SecondFactorCode, at: datetime
) -> Refusal | None:
    # Each known source is counted separately: somebody who knows only the password can't make the account's owner wait.
    key = second_factors.failures_key(account.id, source_of(call.ip_address) if account.known_source else None)
    refusal = await second_factors.verify_code(conn, app.vault, account.id, code, at, key)
    if isinstance(refusal, TotpInvalid):
        await record_failed_login(app, conn, call, at, FailedLogin.of(account), TotpInvalid)
    return refusal


async def _complete(
    app: App, conn: Conn, call: Call, account: LoginAccount, token: str, at: datetime
) -> CompletedLogin | Refusal:
    await end_pending(conn, token)
    return await open_session(app, conn, call, account, at) or SessionInvalid(EXPIRED_SIGN_IN)


async def find_pending(conn: Conn, call: Call, kind: AccountKind, token: str, at: datetime) -> LoginAccount | None:
    """The account, locked, whose login with this token waits for a second factor; None if the login has expired."""
    pending = await store.find_pending(conn, kind, token_hash(token), at, PENDING_ATTEMPTS)
    if pending is None or not await accounts.lock(conn, pending.ref):
        return None
    account = await find_account(conn, call, pending.ref)
    return account if account is not None and account.credentials_epoch == pending.credentials_epoch else None


async def use_attempt(conn: Conn, call: Call, kind: AccountKind, token: str, at: datetime) -> LoginAccount | None:
    """Use up one attempt of a pending login; returns its account as `find_pending` does, None without attempts left."""
    account = await find_pending(conn, call, kind, token, at)
    has_attempt = account is not None and await store.use_attempt(conn, token_hash(token), at, PENDING_ATTEMPTS)
    return account if has_attempt else None


async def end_pending(conn: Conn, token: str) -> bool:
    """End the pending login with this token; False if it was completed before."""
    return await store.delete_pending(conn, token_hash(token))


async def find_account(conn: Conn, call: Call, ref: AccountRef) -> LoginAccount | None:
    """The account, for a login from the call's source; None if it was deleted or disabled, or is a mailbox that may not
    be used.
    """
    return await store.find_account(conn, ref, source_of(call.ip_address))


def refuse_network(app: App, call: Call, kind: AccountKind = "admin") -> None:
    """FORBIDDEN `network` outside `auth.allowed_networks`, which limits administrators only."""
    if kind == "admin" and (
        blocked := session_rules.network_block(call.ip_address, app.settings.auth.allowed_networks)
    ):
        text = f"Sign-in from {call.ip_address} is not allowed: the address is not in auth.allowed_networks."
        raise Forbidden(text, reason=blocked.value)


async def _verify_password(
    app: App, call: Call, kind: AccountKind, name: str, password: str
) -> tuple[LoginAccount | None, bool]:
    """Verify a password, if sign-in protection permits. Returns the account, if there is one, and whether the password
    is right.
    """
    key, source = rules.account_key(name)[0], source_of(call.ip_address)
    attempt = sign_ins.new_attempt(app.vault, kind, name, call.ip_address, password)
    async with app.db.autocommit() as conn:
        # A flood of logins delays unknown sources only.
        has_priority = await store.is_known_source(conn, kind, key, source)
    # Counted inside the limit, so that no more parallel attempts are counted than are hashed at the same time.
    async with admins.hashing.acquire(priority=has_priority):
        at = app.clock()
        async with app.db.tx() as conn:
            account = await store.find_account_by_name(conn, kind, key, source)
            decision = await sign_ins.begin(conn, attempt, at)
        if decision.refused_until is not None:
            app.counters.add("logins", "http", "refused")
            raise _too_many(sign_ins.retry_after(decision.refused_until, at))
        is_right = await _compare(account, password)
        if is_right:
            async with app.db.tx() as conn:
                await sign_ins.succeed(conn, attempt)
    return account, is_right


async def _verify_current_password(app: App, call: Call, ref: AccountRef, password: str) -> bool:
    """Whether this is the password of the session's account. RATE_LIMIT_EXCEEDED after many wrong ones, which count
    apart from sign-ins: no stranger can use them up.
    """
    key = f"password:{ref.id}"
    async with admins.hashing.acquire(priority=True):
        at = app.clock()
        async with app.db.tx() as conn:
            account = await find_account(conn, call, ref)
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
    admin, source = None, source_of(call.ip_address)
    if account.ref.kind == "admin":
        admin = await admins.record_login(conn, account.id, account.credentials_epoch, at)
        if admin is None:
            return None
        await store.record_source(conn, account.id, source, at, at - _SOURCE_RETENTION)
    else:
        if not await store.hold_mailbox(conn, account):
            return None
        await sign_ins.record_mailbox_source(conn, account.id, source, at)
    session, cookie = await sessions.open_session(app, conn, call, account.ref, account.credentials_epoch, at)
    who = (
        sessions.caller_principal(call, account.name, admin.role, account.id, session.id)
        if admin is not None
        else sessions.owner_principal(call, account.name, account.mailbox, session.id)
    )
    app.counters.add("logins", "http", "success")
    details = {"method": method} if method else {}
    await audit.record(conn, who, at, AuditAction("auth.login", AuditTarget("session", session.id), details=details))
    return CompletedLogin(account, session, cookie, admin)


async def record_failed_login(
    app: App,
    conn: Conn,
    call: Call,
    at: datetime,
    failed: FailedLogin,
    refusal: type[Refusal] = InvalidCredentials,
    **details: str,
) -> None:
    """Count a failed login, and write it to the audit log."""
    app.counters.add("logins", "http", "failed")
    if failed.kind == "admin":
        who = sessions.caller_principal(call, failed.label, Role.DOMAIN_ADMIN, None, None)
    else:
        who = sessions.owner_principal(call, failed.label, failed.mailbox, None)
    target = AuditTarget(failed.kind, failed.account_id)
    audit_action = AuditAction("auth.login", target, details=details, outcome="failed", error_code=refusal.code)
    await audit.record(conn, who, at, audit_action)


LoginResponse = wire.LoginResponse
SecondFactorResponse = wire.SecondFactorResponse
LoginByCode = wire.LoginByCode
LoginByRecoveryCode = wire.LoginByRecoveryCode
PasswordChange = wire.PasswordChange
PasswordChangeResponse = wire.PasswordChangeResponse
"""Bodies and responses, for endpoints of other features that open sessions or change passwords."""


def to_challenge(challenge: SecondFactorChallenge) -> wire.SecondFactorResponse:
    """The response to the first step of a login."""
    return wire.to_challenge(challenge)


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
    opened_at = call.caller().signed_in_at
    if opened_at is None or abs(app.clock() - opened_at) > RECENT_LOGIN:
        raise Forbidden("Sign in again, or enter your current password.", reason="login_again")


async def verify_own_password(app: App, call: Call, current: str, action: str) -> None:
    """INVALID_CREDENTIALS (counted as a failed login, recorded as a failed `action`) or RATE_LIMIT_EXCEEDED unless
    `current` is the caller's password.
    """
    who = call.caller()
    if not await _verify_current_password(app, call, accounts.own(who), current):
        refusal = InvalidCredentials("The current password is wrong.")
        target = accounts.own_target(who)
        audit_action = AuditAction(action, target, outcome="failed", error_code=refusal.code)
        async with app.db.tx() as conn:
            await audit.record(conn, call.caller(), app.clock(), audit_action)
        raise refusal


async def change_password(app: App, call: Call, current: str, new: str, set_password: SetPassword) -> int:
    """Change the caller's own password by `set_password` and end its other sessions; returns how many.

    WEAK_PASSWORD, also for the current password if the account must change it; INVALID_CREDENTIALS if `current` is
    wrong, RATE_LIMIT_EXCEEDED after many of them.
    """
    who = call.caller()
    prepared = check_password(new, who.label)
    if who.blocked_by is BlockReason.PASSWORD and prepared == prepare_password(current):
        raise WeakPassword("Choose a password other than the current one.", reason="unchanged")
    await verify_own_password(app, call, current, f"{accounts.own(who).kind}.password")
    password_hash = await admins.hash_password(prepared)
    at = app.clock()
    async with app.db.tx() as conn:
        other_sessions = len(await sessions.list_sessions(conn, who, at)) - 1
        await set_password(conn, who, at, password_hash)
        await sessions.end_other_sessions(conn, who)
    return max(0, other_sessions)


async def change_own_password(app: App, call: Call, current: str, new: str) -> int:
    """`change_password` of an administrator."""

    async def set_password(conn: Conn, who: Principal, at: datetime, password_hash: str) -> None:
        await admins.set_password(conn, who, at, accounts.own(who).id, password_hash)

    return await change_password(app, call, current, new, set_password)
