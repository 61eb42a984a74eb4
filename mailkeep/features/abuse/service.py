"""The use cases of suspensions."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from mailkeep.core.ids import uuid7
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.abuse import rules, store
from mailkeep.features.abuse.model import Suspension
from mailkeep.features.audit import service as audit
from mailkeep.features.audit.model import Deed, Target
from mailkeep.features.mailboxes import service as mailboxes
from mailkeep.features.mailboxes.model import Mailbox


async def suspension_of(conn: Conn, address_key: str) -> Suspension | None:
    """The suspension of a sender address (by its key), None where it may send."""
    return await store.find(conn, address_key)


async def suspended_among(conn: Conn, address_keys: Collection[str]) -> set[str]:
    """Those of the sender addresses (by their keys) that are suspended."""
    return await store.among(conn, address_keys)


async def suspend(conn: Conn, who: Principal, at: datetime, mailbox_id: UUID, reason: str) -> Mailbox:
    """Suspend sending for a mailbox's address; answers the mailbox as it is then. NOT_FOUND, FORBIDDEN."""
    mailbox = await mailboxes.get_for_state(conn, who, mailbox_id)
    address = mailbox.address
    present = await store.find_locked(conn, address.key)
    if rules.takes_over(who, present):
        suspension = Suspension(
            id=uuid7(at),
            domain_id=mailbox.domain_id,
            address=address.text,
            address_key=address.key,
            reason=reason,
            by_kind="admin",
            by_label=who.label,
            by_rank=who.role.rank,
            created_at=at,
        )
        await store.put(conn, suspension)
        deed = Deed("mailbox.suspend", _target(mailbox), _audited(present), _audited(suspension))
        await audit.record(conn, who, at, deed)
    return await mailboxes.get(conn, who, mailbox_id)


async def unsuspend(conn: Conn, who: Principal, at: datetime, mailbox_id: UUID) -> Mailbox:
    """Lift the suspension of a mailbox's address; answers the mailbox as it is then. NOT_FOUND, FORBIDDEN."""
    mailbox = await mailboxes.get_for_state(conn, who, mailbox_id)
    present = await store.find_locked(conn, mailbox.address.key)
    if present is not None:
        rules.refuse_lifting(who, present)
        await store.delete(conn, present.address_key)
        deed = Deed("mailbox.unsuspend", _target(mailbox), _audited(present), _audited(None))
        await audit.record(conn, who, at, deed)
    return await mailboxes.get(conn, who, mailbox_id)


def _audited(suspension: Suspension | None) -> dict[str, object]:
    if suspension is None:
        return {"suspended": None}
    return {"suspended": {"reason": suspension.reason, "by": suspension.by_label}}


def _target(mailbox: Mailbox) -> Target:
    return Target("mailbox", mailbox.id, mailbox.domain_id, mailbox.domain_name)
