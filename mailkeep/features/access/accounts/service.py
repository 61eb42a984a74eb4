"""Use cases of accounts, whatever their kind."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from mailkeep.core.errors import NotFound, SessionInvalid
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.access.accounts import store
from mailkeep.features.access.accounts.model import Account, AccountRef
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget


def own(who: Principal) -> AccountRef:
    """The caller's account; SESSION_INVALID without one."""
    if who.mailbox is not None:
        return AccountRef("mailbox", who.mailbox.id)
    if who.admin_id is None:
        raise SessionInvalid
    return AccountRef("admin", who.admin_id)


async def get(conn: Conn, ref: AccountRef) -> Account:
    """The account; NOT_FOUND."""
    account = await store.find(conn, ref)
    if account is None:
        raise NotFound
    return account


async def lock(conn: Conn, ref: AccountRef) -> bool:
    """Lock the account until the transaction ends; False if it was deleted."""
    return await store.lock(conn, ref)


async def lock_own(conn: Conn, who: Principal) -> AccountRef:
    """The account of the caller's session, locked until the transaction ends. SESSION_INVALID if the session has ended
    since the request was authenticated: a change that `end_sessions` follows would make it valid again.
    """
    ref = own(who)
    if not await store.lock_own(conn, ref, who.session_id):
        raise SessionInvalid
    return ref


async def set_totp(conn: Conn, who: Principal, at: datetime, ref: AccountRef, action: str, *, enabled: bool) -> None:
    """Record whether an account has an authenticator (audit action `action`); ends its other sessions."""
    before = await get(conn, ref)
    await store.end_sessions(conn, ref, at, _surviving_session(who, ref), totp_enabled=enabled)
    change = AuditAction(action, target(before), {"totp_enabled": before.totp_enabled}, {"totp_enabled": enabled})
    await audit.record(conn, who, at, change)


async def end_sessions(conn: Conn, who: Principal, at: datetime, ref: AccountRef) -> None:
    """End an account's sessions and pending logins, except the caller's session, after a change of how it signs in."""
    await store.end_sessions(conn, ref, at, _surviving_session(who, ref))


def target(account: Account) -> AuditTarget:
    """The account in the audit log."""
    return AuditTarget(account.ref.kind, account.ref.id, account.domain_id, account.domain_name)


def own_target(who: Principal) -> AuditTarget:
    """The caller's account in the audit log; SESSION_INVALID without one."""
    own(who)
    return AuditTarget(*who.account)


def _surviving_session(who: Principal, ref: AccountRef) -> UUID | None:
    """The session that a change of the account does not end: the caller's, if it is of this account."""
    return who.session_id if who.id == ref.id else None
