"""Use cases of app passwords."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from mailkeep.core.errors import Conflict, NotFound
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import Principal
from mailkeep.core.secret import new_app_password, token_hash
from mailkeep.db.pool import Conn
from mailkeep.features.access.accounts import service as accounts
from mailkeep.features.directory.app_passwords import rules, store, wire
from mailkeep.features.directory.app_passwords.model import AppPassword, AppPasswordUse, NewAppPassword
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.directory.mailboxes.model import Mailbox
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.restrictions import service as restrictions


async def list_of_mailbox(conn: Conn, who: Principal, mailbox_id: UUID) -> list[AppPassword]:
    """The app passwords of a mailbox, newest first. NOT_FOUND, FORBIDDEN."""
    mailbox = await mailboxes.get(conn, who, mailbox_id)
    return await store.list_of_mailbox(conn, mailbox.id)


async def get(conn: Conn, app_password_id: UUID) -> AppPassword:
    """The app password with this id; NOT_FOUND. Does not check the caller's permission."""
    app_password = await store.find(conn, app_password_id)
    if app_password is None:
        raise NotFound
    return app_password


async def create(
    conn: Conn, who: Principal, at: datetime, mailbox_id: UUID, new: NewAppPassword
) -> tuple[AppPassword, str]:
    """Create an app password; returns its record and the password itself, which is shown only once.

    NOT_FOUND; FORBIDDEN if an administrator of higher rank owns the mailbox; SESSION_INVALID if its owner's session has
    ended meanwhile; INVALID_FIELD; CONFLICT `incident`, `limit_reached`.
    """
    name = rules.parse_name(new.name)
    rules.check_expiry(new.expires_at, at)
    mailbox = await _lock_mailbox(conn, who, mailbox_id)
    if await restrictions.is_restricted(conn, "new_app_passwords", mailbox_id):
        raise Conflict("An incident blocks new app passwords of this mailbox.", reason="incident")
    protocols = rules.select_protocols(new.protocols, mailbox.protocols)
    rules.refuse_over_limit(await store.count(conn, mailbox_id))
    app_password = AppPassword(uuid7(at), mailbox_id, name, protocols, new.expires_at, at)
    password = new_app_password()
    await store.insert(conn, app_password, token_hash(password))
    after = wire.audit_fields(app_password, mailbox)
    await audit.record(conn, who, at, AuditAction("app_password.create", _target(app_password, mailbox), after=after))
    return app_password, password


async def delete(conn: Conn, who: Principal, at: datetime, mailbox_id: UUID, app_password_id: UUID) -> AppPassword:
    """Delete an app password: it stops working, and its sessions end. NOT_FOUND, FORBIDDEN, SESSION_INVALID."""
    mailbox = await _lock_mailbox(conn, who, mailbox_id)
    app_password = await store.delete(conn, mailbox_id, app_password_id, at)
    if app_password is None:
        raise NotFound
    before = wire.audit_fields(app_password, mailbox)
    await audit.record(conn, who, at, AuditAction("app_password.delete", _target(app_password, mailbox), before=before))
    return app_password


async def end_sessions(conn: Conn, app_password_ids: Collection[UUID], at: datetime) -> None:
    """Let the sessions end that these app passwords opened."""
    await store.end_sessions(conn, app_password_ids, at)


async def end_expired(conn: Conn, at: datetime) -> datetime | None:
    """Let the sessions end that use app passwords that have expired; returns when the next one expires."""
    await store.end_expired(conn, at)
    return await store.find_next_expiry(conn)


async def record_uses(conn: Conn, uses: Sequence[AppPasswordUse]) -> list[int]:
    """Write the last use of each app password; returns the numbers of those that could not be written now."""
    return await store.set_last_uses(conn, uses)


async def filter_requiring(conn: Conn, addresses: Collection[str]) -> set[str]:
    """Which of these address keys are mailboxes that accept only app passwords."""
    return await store.filter_requiring(conn, addresses)


async def opens_session(conn: Conn, address_key: str, protocol: str, digest: str) -> bool:
    """Whether the app password with this SHA-256 (hexadecimal) opens sessions of a mailbox with the protocol."""
    local_part, _, domain = address_key.rpartition("@")
    return await store.opens_session(conn, local_part, domain, protocol, digest)


async def _lock_mailbox(conn: Conn, who: Principal, mailbox_id: UUID) -> Mailbox:
    if who.mailbox is not None:
        await accounts.lock_own(conn, who)
    return await mailboxes.get_for_credential_change(conn, who, mailbox_id)


def _target(app_password: AppPassword, mailbox: Mailbox) -> AuditTarget:
    return AuditTarget("app_password", app_password.id, mailbox.domain_id, mailbox.domain_name)
