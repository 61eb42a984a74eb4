"""Use cases of mailboxes. Passwords are hashed outside of transactions.

Locks are taken in one order: routes, domain, mailbox.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import UNSET

from mailkeep.app import App
from mailkeep.core.address import Address, fold_local
from mailkeep.core.entity_tag import ANY_VERSION, IfMatch
from mailkeep.core.errors import NotFound
from mailkeep.core.ids import uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.password import check_password
from mailkeep.core.principal import Principal, allow_on, allow_on_mailbox
from mailkeep.db.pool import Conn
from mailkeep.features.access.accounts import service as accounts
from mailkeep.features.access.accounts.model import AccountRef
from mailkeep.features.access.admins import service as admins
from mailkeep.features.access.invitations import rules as invitation_rules, service as invitations
from mailkeep.features.access.invitations.model import Invitation, NewInvitation, StoredInvitation
from mailkeep.features.directory.domains import rules as domain_rules, service as domains
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.directory.mailboxes import rules, store, wire
from mailkeep.features.directory.mailboxes.model import (
    SINGLE_WRITE,
    Mailbox,
    MailboxChanges,
    MailboxFilter,
    MailboxWrite,
    NewMailbox,
    PasswordOrHash,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.web.decode import decode_body

_SCHEME = "{ARGON2ID}"
MailboxRecord, ForwardRecord = wire.MailboxRecord, wire.ForwardRecord
to_record, to_forward = wire.to_record, wire.to_forward
Destinations = wire.Destinations
"""For the endpoints of owners (`directory/owners`)."""

_READ, _WRITE = "mailbox.read", "mailbox.write"


async def page(conn: Conn, who: Principal, filters: MailboxFilter, page_request: PageRequest) -> Page[Mailbox]:
    """A page of the mailboxes that the caller may see; DOMAIN_NOT_FOUND, FORBIDDEN for the filter's domain."""
    if filters.domain_id is not None:
        await domains.get(conn, who, "mailbox.list", filters.domain_id)
    part = fold_local(filters.part) if filters.part else None
    return await store.page(conn, replace(filters, part=part), page_request)


async def get(conn: Conn, who: Principal, mailbox_id: UUID, action: str = _READ) -> Mailbox:
    """The mailbox, not from the trash."""
    return _require(await store.find(conn, mailbox_id), who, action)


async def get_for_state_change(conn: Conn, who: Principal, mailbox_id: UUID, action: str = _WRITE) -> Mailbox:
    """The mailbox whose state, or what belongs to it, the caller wants to change; FORBIDDEN if an administrator of
    higher rank owns it.
    """
    mailbox = _require(await store.find(conn, mailbox_id), who, action)
    await _refuse_lower_rank(conn, who, mailbox.address)
    return mailbox


async def get_for_credential_change(conn: Conn, who: Principal, mailbox_id: UUID) -> Mailbox:
    """The mailbox whose credentials the caller wants to change, locked until the transaction ends; FORBIDDEN if an
    administrator of higher rank owns it.
    """
    mailbox = _require(await store.find_for_update(conn, mailbox_id), who, _WRITE)
    await _refuse_lower_rank(conn, who, mailbox.address)
    return mailbox


async def find(conn: Conn, mailbox_id: UUID) -> Mailbox | None:
    """The mailbox, None if it was deleted. Does not check a permission."""
    mailbox = await store.find(conn, mailbox_id)
    return None if mailbox is None or mailbox.deleted_at is not None else mailbox


async def find_and_prevent_purge(conn: Conn, mailbox_id: UUID) -> Mailbox | None:
    """The mailbox, None if it was deleted. It can't be purged until the transaction ends, so that its folder exists."""
    mailbox = await store.find_and_prevent_purge(conn, mailbox_id)
    return None if mailbox is None or mailbox.deleted_at is not None else mailbox


async def find_by_address(conn: Conn, key: str) -> Mailbox | None:
    """The mailbox with this address key, None if there is none; not from the trash."""
    return await store.find_by_address(conn, key)


async def add_mail(conn: Conn, mailbox_id: UUID, size: int, messages: int = 1) -> None:
    """Add `size` bytes and messages to a mailbox's usage; negative numbers remove them.

    The row stays locked until the transaction ends, so call it last.
    """
    await store.add_mail(conn, mailbox_id, size, messages)


async def create(
    app: App, who: Principal, new: NewMailbox, destinations: Sequence[str], write: MailboxWrite = SINGLE_WRITE
) -> Mailbox:
    """Create a mailbox and return it; `destinations` are those of its forward, not parsed yet.

    INVALID_FIELD, MISSING_FIELDS, WEAK_PASSWORD; then DOMAIN_NOT_FOUND, DOMAIN_INACTIVE, FORBIDDEN; CONFLICT
    `address_taken`, `limit_reached`, `alias_domain` or `alias_loop`.
    """
    local_part = rules.parse_local_part(new.local_part, ascii_only=app.settings.is_full_profile)
    forward = rules.forward_to(rules.parse_destinations(destinations), new.forward.keep_copy)
    send_as = rules.parse_send_as(new.send_as)
    rules.check_time_zone(new.time_zone)
    _check(new.secret, required=not new.invite)
    async with app.db.autocommit() as conn:
        domain = await domains.get_active(conn, who, _WRITE, new.domain_id)
    password_hash = await _hash(new.secret, rules.address_in(local_part, domain.name), write)
    at = app.clock()
    async with app.db.tx() as conn:
        if forward.keys:
            await store.lock_routes(conn)
        domain = await domains.get_active_for_update(conn, who, _WRITE, new.domain_id)
        await _refuse_lower_rank(conn, who, rules.address_in(local_part, domain.name))
        await _refuse_over_limit(conn, domain)
        mailbox = Mailbox(
            id=uuid7(at),
            domain_id=domain.id,
            domain_name=domain.name,
            local_part=local_part,
            name=new.name,
            active=new.active,
            quota_bytes=domain.default_quota_bytes if new.quota_bytes is None else new.quota_bytes,
            used_bytes=0,
            message_count=0,
            protocols=new.protocols,
            forward=forward,
            send_as=send_as,
            time_zone=new.time_zone,
            require_app_passwords=new.require_app_passwords,
            created_at=at,
            updated_at=at,
        )
        await store.insert(conn, mailbox, password_hash)
        await _write_send_as(conn, who, mailbox)
        await _refuse_loop(conn, mailbox)
        audit_action = AuditAction("mailbox.create", _target(mailbox), after=wire.audit_fields(mailbox))
        await audit.record(conn, who, at, audit_action)
        await write.before_commit(conn, mailbox)
        return await _reload(conn, mailbox.id)


async def create_invited(
    app: App, who: Principal, new: NewMailbox, destinations: Sequence[str]
) -> tuple[Mailbox, Invitation | None]:
    """`create` a mailbox; with `invite` also the link with which its owner sets a password. Refusals of
    `invitations.create`.
    """
    invitation: Invitation | None = None

    async def invite_owner(conn: Conn, mailbox: Mailbox) -> None:
        nonlocal invitation
        invitation = await invite(app, conn, who, mailbox, new.invite_to) if new.invite else None

    mailbox = await create(app, who, new, destinations, MailboxWrite(invite_owner))
    return mailbox, invitation


async def invite(app: App, conn: Conn, who: Principal, mailbox: Mailbox, send_to: Address | None) -> Invitation:
    """A link with which the owner of a locked mailbox sets a password; refusals of `invitations.create`."""
    new = NewInvitation("mailbox", mailbox.id, _target(mailbox), mailbox.domain_name, send_to)
    return await invitations.create(app, conn, who, app.clock(), new)


async def accept_invitation(
    conn: Conn, who: Principal, at: datetime, invitation: StoredInvitation, password_hash: str
) -> None:
    """Set the password of an invited mailbox; ends its sessions. NOT_FOUND if the invitation has ended meanwhile."""
    mailbox = await store.find_for_update(conn, invitation.account_id)
    if mailbox is None:
        raise NotFound
    await invitations.claim(conn, invitation, at)
    await _write(conn, who, at, (mailbox, mailbox), _SCHEME + password_hash, "invitation.accept")


async def change(
    app: App,
    who: Principal,
    mailbox_id: UUID,
    changes: MailboxChanges,
    if_match: IfMatch = ANY_VERSION,
    write: MailboxWrite = SINGLE_WRITE,
) -> Mailbox:
    """Change a mailbox and return the result. Refusals of `create`, NOT_FOUND and PRECONDITION_FAILED."""
    changes = rules.parse_changes(changes, ascii_only=app.settings.is_full_profile)
    password_hash = None
    if changes.secret is not None:
        _check(changes.secret, required=False)
        async with app.db.autocommit() as conn:
            mailbox = _require(await store.find(conn, mailbox_id), who, _WRITE)
        password_hash = await _hash(changes.secret, mailbox.address, write)
    at = app.clock()
    async with app.db.tx() as conn:
        if changes.changes_forward or changes.changes_address:
            await store.lock_routes(conn)
        mailbox = _require(await store.find(conn, mailbox_id), who, _WRITE)
        domain = None
        if changes.changes_address:
            domain = await domains.get_active_for_update(conn, who, _WRITE, changes.domain_id or mailbox.domain_id)
        before = _require(await store.find_for_update(conn, mailbox_id), who, _WRITE)
        if changes.needs_owner_rank:
            await _refuse_lower_rank(conn, who, before.address)
        if_match.check(before.updated_at)
        after = rules.apply_changes(before, changes)
        if domain is not None:
            after = await _move(conn, who, before, after, domain)
            if after.address.key != before.address.key:
                await _refuse_escape(app, conn, who, before, is_move=True)
        await _write(conn, who, at, (before, after), password_hash)
        await write.before_commit(conn, after)
        return await _reload(conn, mailbox_id)


async def set_own_password(conn: Conn, who: Principal, at: datetime, password_hash: str) -> None:
    """Set the password of the caller's own mailbox, as an Argon2id hash; ends its other sessions."""
    ref = await accounts.lock_own(conn, who)
    await store.set_password_hash(conn, ref.id, f"{{ARGON2ID}}{password_hash}")
    await accounts.end_sessions(conn, who, at, ref)
    change = AuditAction("mailbox.password", accounts.own_target(who), {}, {"password": "changed"})
    await audit.record(conn, who, at, change)


async def _write(
    conn: Conn,
    who: Principal,
    at: datetime,
    states: tuple[Mailbox, Mailbox],
    password_hash: str | None,
    action: str = "mailbox.update",
) -> None:
    before, after = states
    if before == after and password_hash is None:
        return
    await store.update(conn, replace(after, updated_at=at))
    if after.send_as != before.send_as:
        await _write_send_as(conn, who, after, before.send_as)
    if password_hash is not None:
        await store.set_password_hash(conn, after.id, password_hash)
        await accounts.end_sessions(conn, who, at, AccountRef("mailbox", after.id))
    await _refuse_loop(conn, after)
    fields = wire.audit_fields(after) | ({"password": "changed"} if password_hash is not None else {})
    await audit.record_change(conn, who, at, action, _target(after), (wire.audit_fields(before), fields))


async def _write_send_as(conn: Conn, who: Principal, mailbox: Mailbox, before: Sequence[Address] = ()) -> None:
    """Write the addresses from which a mailbox may send. New ones must be in active domains whose mailboxes the caller
    may change, and must not belong to an administrator of higher rank.
    """
    known = {entry.key for entry in before}
    found = {name: await domains.find_by_name(conn, name) for name in {entry.domain for entry in mailbox.send_as}}
    managed = {name: domain for name, domain in found.items() if domain is not None}
    rules.refuse_unmanaged(mailbox.send_as, managed)
    for entry in mailbox.send_as:
        if entry.key not in known:
            allow_on(who, _WRITE, managed[entry.domain].id)
            domain_rules.refuse_inactive(managed[entry.domain])
            if entry.local_part:
                await _refuse_lower_rank(conn, who, entry)
    await store.set_send_as(conn, mailbox.id, mailbox.send_as, who.rank)


async def _move(conn: Conn, who: Principal, before: Mailbox, after: Mailbox, domain: Domain) -> Mailbox:
    """The mailbox with its new address, in the locked domain."""
    await _refuse_lower_rank(conn, who, rules.address_in(after.local_part, domain.name))
    if domain.id != before.domain_id:
        await _refuse_over_limit(conn, domain)
    return replace(after, domain_id=domain.id, domain_name=domain.name)


async def delete(
    app: App,
    who: Principal,
    mailbox_id: UUID,
    *,
    purge: bool,
    if_match: IfMatch = ANY_VERSION,
    write: MailboxWrite = SINGLE_WRITE,
) -> Mailbox:
    """Put a mailbox in the trash, or with `purge` delete it and its mail; one in the trash can only be purged."""
    at = app.clock()
    async with app.db.tx() as conn:
        mailbox = _require(await store.find_for_update(conn, mailbox_id), who, _WRITE, trashed=purge)
        await _refuse_lower_rank(conn, who, mailbox.address)
        await _refuse_escape(app, conn, who, mailbox, is_move=False)
        if_match.check(mailbox.updated_at)
        trashed = replace(mailbox, deleted_at=mailbox.deleted_at or at, updated_at=at)
        await store.update(conn, trashed)  # also before a purge, because it ends the mailbox's sessions
        if purge:
            await store.delete(conn, mailbox_id)
        else:
            mailbox = trashed
        action = "mailbox.purge" if purge else "mailbox.delete"
        await audit.record(conn, who, at, AuditAction(action, _target(mailbox), before=wire.audit_fields(mailbox)))
        await write.before_commit(conn, mailbox)
    return mailbox


async def restore(app: App, who: Principal, mailbox_id: UUID) -> Mailbox:
    """Restore a mailbox from the trash; CONFLICT `not_trashed`, `address_taken`, `limit_reached`, `alias_loop`."""
    at = app.clock()
    async with app.db.tx() as conn:
        await store.lock_routes(conn)
        domain_id = _require(await store.find(conn, mailbox_id), who, _WRITE, trashed=True).domain_id
        domain = await domains.get_active_for_update(conn, who, _WRITE, domain_id)
        mailbox = _require(await store.find_for_update(conn, mailbox_id), who, _WRITE, trashed=True)
        await _refuse_lower_rank(conn, who, mailbox.address)
        rules.refuse_not_in_trash(mailbox)
        await _refuse_over_limit(conn, domain)
        await store.update(conn, replace(mailbox, deleted_at=None, updated_at=at))
        await _refuse_loop(conn, mailbox)
        audit_action = AuditAction("mailbox.restore", _target(mailbox), after=wire.audit_fields(mailbox))
        await audit.record(conn, who, at, audit_action)
        return await _reload(conn, mailbox_id)


async def create_item(app: App, who: Principal, item: Mapping[str, Any], write: MailboxWrite) -> None:
    """Create a mailbox from the body of POST /mailboxes, as an item of a bulk operation; refuses what that refuses, and
    `invite`: nobody would see the link.
    """
    body = decode_body(item, wire.MailboxCreate)
    invitation_rules.refuse_in_bulk(invite=body.invite or body.invite_to is not UNSET)
    new, destinations = wire.read_new(body)
    await create(app, who, new, destinations, write)


async def change_item(app: App, who: Principal, mailbox_id: UUID, item: Mapping[str, Any], write: MailboxWrite) -> None:
    """Change a mailbox by the body of PATCH /mailboxes/{id}, as an item of a bulk operation."""
    await change(app, who, mailbox_id, wire.read_changes(decode_body(item, wire.MailboxPatch)), write=write)


async def delete_item(app: App, who: Principal, mailbox_id: UUID, item: Mapping[str, Any], write: MailboxWrite) -> None:
    """Delete a mailbox as DELETE /mailboxes/{id} does, as an item of a bulk operation, which may have `purge`."""
    await delete(app, who, mailbox_id, purge=decode_body(item, wire.BulkDeletion).purge, write=write)


def _check(secret: PasswordOrHash, *, required: bool) -> None:
    """The checks that do not need the mailbox's address."""
    rules.check_secret(secret, required=required)
    if secret.password is not None:
        check_password(secret.password, "")


async def _hash(secret: PasswordOrHash, address: Address, write: MailboxWrite) -> str:
    if secret.password is None:
        return secret.password_hash or ""
    return _SCHEME + await (write.hash_password or admins.hash_password)(check_password(secret.password, address.text))


async def _refuse_lower_rank(conn: Conn, who: Principal, address: Address) -> None:
    rules.refuse_lower_rank(who, await admins.find_owner_role(conn, address))


async def _refuse_escape(app: App, conn: Conn, who: Principal, mailbox: Mailbox, *, is_move: bool) -> None:
    rules.refuse_escape(who, mailbox, await store.find_holds(conn, mailbox.id, app.settings.abuse), is_move=is_move)


async def _refuse_over_limit(conn: Conn, domain: Domain) -> None:
    if domain.max_mailboxes is not None:
        domain_rules.refuse_over_limit(domain.max_mailboxes, await store.count_in_domain(conn, domain.id), "mailboxes")


async def _refuse_loop(conn: Conn, mailbox: Mailbox) -> None:
    if mailbox.forward.keys:
        rules.refuse_loop(await store.find_loop(conn, mailbox.id))


async def _reload(conn: Conn, mailbox_id: UUID) -> Mailbox:
    mailbox = await store.find(conn, mailbox_id)
    assert mailbox is not None
    return mailbox


def _require(mailbox: Mailbox | None, who: Principal, action: str, *, trashed: bool = False) -> Mailbox:
    """The mailbox, or NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE; one in the trash only with `trashed`."""
    if mailbox is None or (mailbox.deleted_at is not None and not trashed):
        raise NotFound
    allow_on_mailbox(who, action, mailbox.id, mailbox.domain_id)
    return mailbox


def _target(mailbox: Mailbox) -> AuditTarget:
    return AuditTarget("mailbox", mailbox.id, mailbox.domain_id, mailbox.domain_name)
