"""JSON of suspensions."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct

from mailkeep.core.clock import iso
from mailkeep.core.principal import Principal
from mailkeep.features.abuse.model import Suspension
from mailkeep.features.mailboxes import rules
from mailkeep.features.mailboxes.model import Mailbox
from mailkeep.web.fields import Body, Query, Timestamp

Reason = Annotated[str, Meta(max_length=500)]


class SuspendBody(Body, frozen=True):
    """Why sending is suspended, as it is shown on the mailbox."""

    reason: Reason = ""


class SuspensionRecord(Struct, frozen=True):
    """Why, by whom (`rules`, or an administrator) and since when sending is suspended.

    `by` names administrators to who sees them all; to a domain_admin or a scoped key it is their role.
    """

    reason: str
    by: str
    at: Timestamp


class SuspendedMailbox(Struct, frozen=True):
    """A mailbox and the suspension of its address, null where it may send."""

    id: UUID
    domain_id: UUID
    address: str
    suspended: SuspensionRecord | None


def suspended_mailbox(mailbox: Mailbox, who: Principal) -> SuspendedMailbox:
    """A mailbox with its suspension, as it is answered to this caller."""
    found = mailbox.suspension
    return SuspendedMailbox(
        id=mailbox.id,
        domain_id=mailbox.domain_id,
        address=str(mailbox.address),
        suspended=found
        and SuspensionRecord(found.reason, rules.shown_suspender(who, found.by, found.by_rank), iso(found.at)),
    )


class SuspendedBy(Struct, frozen=True):
    """Who suspended: the abuse rules, or an administrator by its email (a key by its name); to scoped keys by role."""

    kind: Literal["rules", "admin"]
    label: str


class SenderSuspension(Struct, frozen=True):
    """The suspension of a sender address, with or without a mailbox."""

    id: UUID
    domain_id: UUID | None
    address: str
    reason: str
    by: SuspendedBy
    at: Timestamp


class SuspensionQuery(Query, frozen=True):
    """Filters of the list."""

    domain_id: UUID | None = None


class Lifted(Struct, frozen=True):
    """That a suspension is lifted."""

    message: str
    id: UUID
    address: str


def suspension(found: Suspension, who: Principal) -> SenderSuspension:
    """A suspension as it is answered to this caller."""
    return SenderSuspension(
        id=found.id,
        domain_id=found.domain_id,
        address=found.address,
        reason=found.reason,
        by=SuspendedBy(found.by_kind, rules.shown_suspender(who, found.by_label, found.by_rank)),
        at=iso(found.created_at),
    )
