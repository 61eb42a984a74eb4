"""JSON of suspensions."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from msgspec import Meta, Struct

from mailkeep.core.clock import iso
from mailkeep.features.mailboxes.model import Mailbox
from mailkeep.web.fields import Body, Timestamp

Reason = Annotated[str, Meta(max_length=500)]


class SuspendBody(Body, frozen=True):
    """Why sending is suspended, as it is shown on the mailbox."""

    reason: Reason = ""


class SuspensionRecord(Struct, frozen=True):
    """Why, by whom (`rules`, or an administrator) and since when sending is suspended."""

    reason: str
    by: str
    at: Timestamp


class SuspendedMailbox(Struct, frozen=True):
    """A mailbox and the suspension of its address, null where it may send."""

    id: UUID
    domain_id: UUID
    address: str
    suspended: SuspensionRecord | None


def suspended_mailbox(mailbox: Mailbox) -> SuspendedMailbox:
    """A mailbox with its suspension, as it is answered."""
    found = mailbox.suspension
    return SuspendedMailbox(
        id=mailbox.id,
        domain_id=mailbox.domain_id,
        address=str(mailbox.address),
        suspended=found and SuspensionRecord(found.reason, found.by, iso(found.at)),
    )
