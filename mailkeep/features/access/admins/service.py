"""Use cases of administrators. Passwords are hashed outside of transactions, a few at a time."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from uuid import UUID

import structlog
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from mailkeep.app import App
from mailkeep.core.address import Address
from mailkeep.core.concurrency import ConcurrencyLimit
from mailkeep.core.entity_tag import ANY_VERSION, IfMatch
from mailkeep.core.errors import DomainNotFound, NotFound
from mailkeep.core.ids import uuid7
from mailkeep.core.password import check_password
from mailkeep.core.password_verification import matches_hash
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.core.secret import new_password
from mailkeep.db.pool import Conn
from mailkeep.features.access.accounts import service as accounts
from mailkeep.features.access.admins import rules, store, wire
from mailkeep.features.access.admins.model import (
    FIRST_ADMIN_EMAIL,
    INITIAL_ADMIN_FILE,
    Admin,
    AdminChanges,
    FirstAdmin,
    NewAdmin,
)
from mailkeep.features.access.invitations import service as invitations
from mailkeep.features.access.invitations.model import Invitation, NewInvitation, StoredInvitation
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.restrictions import service as restrictions
from mailkeep.features.record.system_mail import service as system_mail
from mailkeep.features.record.system_mail.model import SuperAdminNotice

log = structlog.get_logger("mailkeep.admins")

# OWASP's second recommendation for Argon2id: 19 MiB, two passes, about 25 ms.
_HASHER = PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1)
# The hash of a random password that nobody knows. Logins to unknown accounts verify it, so that they take as long.
_DUMMY_HASH = "$argon2id$v=19$m=19456,t=2,p=1$vffo+TurZnMSlB4oAFJnww$Lf2yMM9+3kGQj/K7erjrrBHCmVnshhIDbBdTXSqDeWA"

_CONCURRENT_HASHES = min(4, os.cpu_count() or 1)
_MAX_QUEUED = 400  # about 5 s on two cores

hashing = ConcurrencyLimit(_CONCURRENT_HASHES, _MAX_QUEUED)
"""Limit on concurrent hashing and verifying of passwords, which bounds memory and CPU over all callers."""


def _set_priority(nice: int) -> None:
    """Lower the priority of this thread: on Linux each thread has its own nice value. It may be lower already, as in an
    instance that was started by `nice`; only root could raise it.
    """
    thread = threading.get_native_id()
    if os.getpriority(os.PRIO_PROCESS, thread) < nice:
        os.setpriority(os.PRIO_PROCESS, thread, nice)


_THREADS = ThreadPoolExecutor(_CONCURRENT_HASHES, "hashing", _set_priority, (10,))
# Argon2 releases the interpreter, so that threads are as good as processes (docs/decisions/0063).
_BACKGROUND_THREADS = ThreadPoolExecutor(_CONCURRENT_HASHES, "bulk-hashing", _set_priority, (15,))


async def hash_password(password: str) -> str:
    """The Argon2id hash of a password that `check_password` returned."""
    async with hashing.acquire(priority=True):
        return await asyncio.get_running_loop().run_in_executor(_THREADS, _HASHER.hash, password)


async def hash_in_background(password: str) -> str:
    """`hash_password` at a lower priority than logins, and without taking their places."""
    return await asyncio.get_running_loop().run_in_executor(_BACKGROUND_THREADS, _HASHER.hash, password)


async def verify_password(password_hash: str | None, password: str) -> bool:
    """Whether the password, from `prepare_password`, matches the hash, which may be in Dovecot's format. None never
    matches but takes as long.

    Call it while holding `hashing`.
    """
    return await asyncio.get_running_loop().run_in_executor(_THREADS, _verify, password_hash, password)


def _verify(password_hash: str | None, password: str) -> bool:
    if password_hash is not None and password_hash.startswith("{"):
        if matches_hash(password_hash, password):
            return True
        if password_hash.startswith("{ARGON2"):
            return False
        password_hash = None  # an imported hash that costs little: as long as for an unknown account
    try:
        return _HASHER.verify(password_hash or _DUMMY_HASH, password) and password_hash is not None
    except (VerificationError, InvalidHashError):
        return False


async def list_visible(conn: Conn, who: Principal) -> list[Admin]:
    """The accounts that the caller may see, newest first."""
    return [admin for admin in await store.list_all(conn) if rules.can_see(who, admin)]


async def get(conn: Conn, who: Principal, admin_id: UUID) -> Admin:
    """The account with this id. NOT_FOUND; FORBIDDEN or API_KEY_DOMAIN_SCOPE if the caller may not see it."""
    admin = await _require(conn, admin_id)
    rules.refuse_invisible(who, admin)
    return admin


async def find_by_email(conn: Conn, email: Address) -> Admin | None:
    """The account with this email, None if there is none."""
    return await store.find_by_email(conn, email.key)


async def find_owner_role(conn: Conn, address: Address) -> Role | None:
    """The role of the administrator whose email is this address, with or without its tag. The highest if there are
    several administrators, None if there is none.
    """
    rank = await store.find_address_rank(conn, address.key)
    return None if rank is None else list(Role)[rank]


async def create(conn: Conn, who: Principal, at: datetime, new: NewAdmin) -> Admin:
    """Create an account; DOMAIN_NOT_FOUND for an unknown domain, CONFLICT `email_taken`. All other super_admins get
    mail about a new admin or super_admin.
    """
    await refuse_unknown_domains(conn, new.domain_ids)
    admin_id = uuid7(at)
    await store.insert(conn, admin_id, new, at)
    await store.assign(conn, admin_id, new.domain_ids)
    admin = await _require(conn, admin_id)
    await audit.record(conn, who, at, AuditAction("admin.create", _target(admin), after=wire.audit_fields(admin)))
    if rules.has_all_domains(admin):
        item = {"changes": ["created"], "email": admin.email, "role": admin.role.value}
        notice = SuperAdminNotice("admin_changed", item, without=[admin.email])
        await system_mail.notify_super_admins(conn, who, at, notice)
    return admin


async def change(conn: Conn, who: Principal, at: datetime, admin_id: UUID, changes: AdminChanges) -> Admin:
    """Change an account and return the result. A new password or role ends its other sessions, `active` false all.

    NOT_FOUND, PRECONDITION_FAILED, DOMAIN_NOT_FOUND, CONFLICT `email_taken` or `last_super_admin`. All super_admins get
    mail about a new role, email or password of another admin or super_admin, and when it is disabled or enabled.
    """
    return await _change(conn, who, at, admin_id, changes, "admin.update")


async def set_password(
    conn: Conn, who: Principal, at: datetime, admin_id: UUID, password_hash: str, *, must_change: bool = False
) -> Admin:
    """Set an account's password, for its owner or the command line; ends its other sessions. `must_change`: it must be
    changed before anything else. NOT_FOUND.
    """
    changes = AdminChanges(password_hash=password_hash, must_change_password=must_change)
    return await _change(conn, who, at, admin_id, changes, "admin.password")


async def accept_invitation(
    conn: Conn, who: Principal, at: datetime, invitation: StoredInvitation, password_hash: str
) -> Admin:
    """Set the password of an invited account; ends its sessions. NOT_FOUND if the invitation has ended meanwhile."""
    await store.lock_roles(conn)
    await invitations.claim(conn, invitation, at)
    changes = AdminChanges(password_hash=password_hash, must_change_password=False)
    return await _change(conn, who, at, invitation.account_id, changes, "invitation.accept")


async def invite(
    app: App, conn: Conn, who: Principal, at: datetime, admin: Admin, send_to: Address | None
) -> Invitation:
    """The link with which the owner of an account sets a password; refusals of `invitations.create`."""
    domain = admin.email.rpartition("@")[2]
    return await invitations.create(
        app, conn, who, at, NewInvitation("admin", admin.id, _target(admin), domain, send_to)
    )


async def replace_invitation(
    app: App, conn: Conn, who: Principal, at: datetime, admin_id: UUID, send_to: Address | None
) -> Invitation:
    """A new link for an account that exists; the previous one ends. NOT_FOUND; FORBIDDEN for the caller's own account;
    refusals of `invitations.create`. All super_admins get mail about a link for another admin or super_admin.
    """
    await store.lock_roles(conn)
    admin = await _require(conn, admin_id)
    rules.refuse_own_password_rule(who, admin_id)
    invitation = await invite(app, conn, who, at, admin, send_to)
    if rules.has_all_domains(admin):
        item = {"changes": ["invited"], "email": admin.email, "role": admin.role.value}
        await system_mail.notify_super_admins(conn, who, at, SuperAdminNotice("admin_changed", item))
    return invitation


async def find(conn: Conn, admin_id: UUID) -> Admin | None:
    """The account, None if it was deleted. Does not check the caller's permission."""
    return await store.find(conn, admin_id)


async def find_email(conn: Conn, admin_id: UUID) -> str | None:
    """The email of an account, None if it was deleted."""
    admin = await store.find(conn, admin_id)
    return admin and admin.email


async def _change(
    conn: Conn,
    who: Principal,
    at: datetime,
    admin_id: UUID,
    changes: AdminChanges,
    action: str,
) -> Admin:
    await store.lock_roles(conn)
    if who.session_id is not None and who.admin_id == admin_id:
        await accounts.lock_own(conn, who)
    before = await _require(conn, admin_id)
    changes.if_match.check(before.updated_at)
    if not rules.stays_super_admin(before, changes):
        rules.refuse_last_super_admin(before, await store.count_other_super_admins(conn, admin_id), stays=False)
    if changes.domain_ids is not None:
        await refuse_unknown_domains(conn, changes.domain_ids)
    if changes.active is not None:
        await restrictions.forget(conn, "account", admin_id)
    if not rules.has_changes(before, changes):
        return before
    if changes.domain_ids is not None:
        await store.assign(conn, admin_id, changes.domain_ids)
    is_disabled = before.active and changes.active is False
    ends_sessions = is_disabled or changes.password_hash is not None or changes.role not in (None, before.role)
    survivor = None if is_disabled else _surviving_session(who, admin_id)
    await store.update(conn, admin_id, changes, at, ends_sessions=ends_sessions, survivor=survivor)
    after = await _require(conn, admin_id)
    fields_before, fields_after = wire.audit_fields(before), wire.audit_fields(after)
    if changes.password_hash is not None:
        fields_after["password"] = "changed"  # the audit log redacts the value but shows the field
    await audit.record_change(conn, who, at, action, _target(after), (fields_before, fields_after))
    if who.admin_id != admin_id and (notable := rules.notable_changes(before, after, changes)):
        item = {
            "changes": notable,
            "email": after.email,
            "role": after.role.value,
            "old_email": before.email,
            "old_role": before.role.value,
        }
        # Also to a super_admin who is none any more, or who would get it at an address that somebody else has set.
        affected = [before.email] if before.role is Role.SUPER_ADMIN else []
        await system_mail.notify_super_admins(conn, who, at, SuperAdminNotice("admin_changed", item, also=affected))
    return after


def _surviving_session(who: Principal, admin_id: UUID) -> UUID | None:
    """The session that a change of the account's credentials does not end: the caller's, if it is of this account."""
    return who.session_id if who.admin_id == admin_id else None


async def set_oidc_provider(conn: Conn, admin_id: UUID, provider: str | None, at: datetime) -> None:
    """Set the provider of the account's identity; the caller writes the audit log."""
    await store.set_oidc_provider(conn, admin_id, provider, at)


async def delete(conn: Conn, who: Principal, at: datetime, admin_id: UUID, if_match: IfMatch = ANY_VERSION) -> Admin:
    """Delete an account with its sessions and keys; NOT_FOUND, PRECONDITION_FAILED, CONFLICT `last_super_admin`. All
    super_admins and the deleted admin or super_admin get mail about it.
    """
    await store.lock_roles(conn)
    admin = await _require(conn, admin_id)
    if_match.check(admin.updated_at)
    rules.refuse_last_super_admin(admin, await store.count_other_super_admins(conn, admin_id), stays=False)
    keys = await store.delete(conn, admin_id)
    details = {"revoked_with_it": [str(key_id) for key_id in keys]} if keys else {}
    await audit.record(
        conn, who, at, AuditAction("admin.delete", _target(admin), before=wire.audit_fields(admin), details=details)
    )
    if rules.has_all_domains(admin):
        item = {"changes": ["deleted"], "email": admin.email, "role": admin.role.value}
        await system_mail.notify_super_admins(
            conn, who, at, SuperAdminNotice("admin_changed", item, also=[admin.email])
        )
    return admin


async def refuse_unknown_domains(conn: Conn, domain_ids: Sequence[UUID]) -> None:
    """DOMAIN_NOT_FOUND unless every id is a domain; these can't be deleted before the transaction ends."""
    unknown = set(domain_ids) - (await store.lock_domains(conn, domain_ids) if domain_ids else set())
    if unknown:
        raise DomainNotFound(domain_ids=sorted(str(domain_id) for domain_id in unknown))


async def record_login(conn: Conn, admin_id: UUID, credentials_epoch: int, at: datetime) -> Admin | None:
    """Store the time of a login and return the account; None if its credentials are newer than `credentials_epoch`."""
    if not await store.record_login(conn, admin_id, credentials_epoch, at):
        return None
    return await store.find(conn, admin_id)


async def ensure_first_admin(
    app: App, email: str | None, password: str | None, save_password: Callable[[str], None]
) -> FirstAdmin | None:
    """Create a super_admin if there is no account; otherwise None.

    `email` defaults to admin@localhost. Without `password` one is generated and passed to `save_password` just before
    the commit, so that no account exists whose password is lost. INVALID_FIELD for `email`, WEAK_PASSWORD.
    """
    async with app.db.autocommit() as conn:
        if await store.exists_any(conn):
            return None
    address = rules.parse_email(email or FIRST_ADMIN_EMAIL)
    prepared = check_password(password or new_password(), address.text)
    new = NewAdmin(address, await hash_password(prepared), Role.SUPER_ADMIN)
    who = Principal(None, "first start", Role.SUPER_ADMIN, ActorType.SYSTEM)
    async with app.db.tx() as conn:
        await store.lock_roles(conn)
        if await store.exists_any(conn):
            return None
        await create(conn, who, app.clock(), new)
        if not password:
            await asyncio.to_thread(save_password, prepared)
    return FirstAdmin(address.text, prepared, generated=not password)


def remove_initial_password(app: App) -> None:
    """Remove the file with the first administrator's password, after the first login."""
    path = app.data_dir / INITIAL_ADMIN_FILE
    try:
        try:
            path.unlink(missing_ok=True)
        except PermissionError:
            # In the full profile root owns the folder and this process only the file; the process `node` removes it.
            os.truncate(path, 0)
    except OSError as error:
        log.warning("file with the initial password not removed: delete it", file=str(path), error=str(error))


async def _require(conn: Conn, admin_id: UUID) -> Admin:
    admin = await store.find(conn, admin_id)
    if admin is None:
        raise NotFound
    return admin


def _target(admin: Admin) -> AuditTarget:
    return AuditTarget("admin", admin.id)
