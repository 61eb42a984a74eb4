"""JSON of suspensions."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct

from mailkeep.core.clock import iso
from mailkeep.core.principal import Principal
from mailkeep.features.directory.mailboxes import rules
from mailkeep.features.directory.mailboxes.model import Mailbox
from mailkeep.features.mailflow.abuse.model import SenderSuspension
from mailkeep.web.fields import Body, Query, Timestamp

Reason = Annotated[str, Meta(max_length=500)]


class SuspendBody(Body, frozen=True):
    """The reason of a suspension, shown on the mailbox."""

    reason: Reason = ""


class SuspensionRecord(Struct, frozen=True):
    """Why, by whom (`rules` or an administrator) and since when sending is suspended.

    `by` is the name of the administrator for callers who see all administrators, otherwise the role.
    """

    reason: str
    by: str
    at: Timestamp


class MailboxSuspensionResponse(Struct, frozen=True):
    """A mailbox and the suspension of its address, null if it may send."""

    id: UUID
    domain_id: UUID
    address: str
    suspended: SuspensionRecord | None


def mailbox_suspension(mailbox: Mailbox, who: Principal) -> MailboxSuspensionResponse:
    """The JSON of a mailbox with its suspension, for this caller."""
    current = mailbox.suspension
    return MailboxSuspensionResponse(
        id=mailbox.id,
        domain_id=mailbox.domain_id,
        address=str(mailbox.address),
        suspended=current
        and SuspensionRecord(
            current.reason, rules.display_suspender(who, current.by, current.by_rank), iso(current.at)
        ),
    )


class SuspensionAuthor(Struct, frozen=True):
    """Who suspended: the abuse rules, or an administrator (email, key name, or role for scoped keys)."""

    kind: Literal["rules", "admin"]
    label: str


class SuspensionResponse(Struct, frozen=True):
    """The suspension of a sender address, with or without a mailbox."""

    id: UUID
    domain_id: UUID | None
    address: str
    reason: str
    by: SuspensionAuthor
    at: Timestamp


class SuspensionQuery(Query, frozen=True):
    """Filters of the list."""

    domain_id: UUID | None = None


class LiftResponse(Struct, frozen=True):
    """Confirmation that a suspension was lifted."""

    message: str
    id: UUID
    address: str


def suspension_response(suspension: SenderSuspension, who: Principal) -> SuspensionResponse:
    """The JSON of a suspension, for this caller."""
    author = rules.display_suspender(who, suspension.by_label, suspension.by_rank)
    return SuspensionResponse(
        id=suspension.id,
        domain_id=suspension.domain_id,
        address=suspension.address,
        reason=suspension.reason,
        by=SuspensionAuthor(suspension.by_kind, author),
        at=iso(suspension.created_at),
    )
