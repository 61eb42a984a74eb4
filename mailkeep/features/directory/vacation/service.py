"""Use cases of vacations. A change locks the mailbox."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.entity_tag import ANY_VERSION, IfMatch
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.directory.mailboxes import service as mailboxes
from mailkeep.features.directory.mailboxes.model import Mailbox
from mailkeep.features.directory.vacation import rules, store, wire
from mailkeep.features.directory.vacation.model import Vacation
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget


async def find(conn: Conn, who: Principal, mailbox_id: UUID) -> tuple[Mailbox, Vacation | None]:
    """A mailbox with its vacation, None if it has none. NOT_FOUND, FORBIDDEN."""
    mailbox = await mailboxes.get(conn, who, mailbox_id)
    return mailbox, await store.find(conn, mailbox_id)


async def write(
    app: App, who: Principal, mailbox_id: UUID, vacation: Vacation, if_match: IfMatch = ANY_VERSION
) -> tuple[Vacation, list[str]]:
    """Set the vacation of a mailbox; returns it as stored, and warnings. It applies to the next message.

    INVALID_FIELD; NOT_FOUND; FORBIDDEN if an administrator of higher rank owns the mailbox; PRECONDITION_FAILED;
    UNAVAILABLE `needs_full_profile` for an active vacation in the embedded profile.
    """
    rules.check_period(vacation)
    script = rules.write_script(vacation)
    at = app.clock()
    async with app.db.tx() as conn:
        mailbox = await mailboxes.get_for_credential_change(conn, who, mailbox_id)
        before = await store.find(conn, mailbox_id)
        if_match.check(wire.changed_at(mailbox, before))
        rules.check_profile(vacation, is_full_profile=app.settings.is_full_profile)
        stored = replace(vacation, updated_at=at)
        if before is None or replace(before, updated_at=at) != stored:
            await store.upsert(conn, mailbox_id, stored, script)
            states = (wire.audit_fields(mailbox, before), wire.audit_fields(mailbox, stored))
            await audit.record_change(conn, who, at, "vacation.update", _target(mailbox), states)
        else:
            stored = before
        return stored, rules.list_warnings(mailbox, stored, at)


async def delete(app: App, who: Principal, mailbox_id: UUID, if_match: IfMatch = ANY_VERSION) -> Mailbox:
    """Delete the vacation of a mailbox. Idempotent. NOT_FOUND, FORBIDDEN, PRECONDITION_FAILED."""
    at = app.clock()
    async with app.db.tx() as conn:
        mailbox = await mailboxes.get_for_credential_change(conn, who, mailbox_id)
        before = await store.find(conn, mailbox_id)
        if_match.check(wire.changed_at(mailbox, before))
        if before is not None:
            await store.delete(conn, mailbox_id)
            fields = wire.audit_fields(mailbox, before)
            await audit.record(conn, who, at, AuditAction("vacation.delete", _target(mailbox), before=fields))
    return mailbox


def _target(mailbox: Mailbox) -> AuditTarget:
    return AuditTarget("mailbox", mailbox.id, mailbox.domain_id, mailbox.domain_name)
