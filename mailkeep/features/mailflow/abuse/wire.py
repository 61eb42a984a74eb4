"""JSON of suspensions, and of what may be sent in an hour."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct

from mailkeep.core.clock import iso
from mailkeep.core.errors import MissingFields, invalid_field
from mailkeep.core.principal import Principal
from mailkeep.features.directory.mailboxes import rules
from mailkeep.features.directory.mailboxes.model import Mailbox
from mailkeep.features.mailflow.abuse.model import HourlyUsage, SenderSuspension
from mailkeep.settings.tree import AbuseSettings
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


class MailboxSuspensionResponse(Struct, frozen=True):
    """A mailbox and the suspension of its address, null where it may send."""

    id: UUID
    domain_id: UUID
    address: str
    suspended: SuspensionRecord | None


def mailbox_suspension(mailbox: Mailbox, who: Principal) -> MailboxSuspensionResponse:
    """A mailbox with its suspension, as it is answered to this caller."""
    found = mailbox.suspension
    return MailboxSuspensionResponse(
        id=mailbox.id,
        domain_id=mailbox.domain_id,
        address=str(mailbox.address),
        suspended=found
        and SuspensionRecord(found.reason, rules.display_suspender(who, found.by, found.by_rank), iso(found.at)),
    )


class SuspensionAuthor(Struct, frozen=True):
    """Who suspended: the abuse rules, or an administrator by its email (a key by its name); to scoped keys by role."""

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
    """That a suspension is lifted."""

    message: str
    id: UUID
    address: str


def suspension(found: SenderSuspension, who: Principal) -> SuspensionResponse:
    """A suspension as it is answered to this caller."""
    return SuspensionResponse(
        id=found.id,
        domain_id=found.domain_id,
        address=found.address,
        reason=found.reason,
        by=SuspensionAuthor(found.by_kind, rules.display_suspender(who, found.by_label, found.by_rank)),
        at=iso(found.created_at),
    )


class ThresholdQuery(Query, frozen=True):
    """For the whole installation, or for a domain."""

    scope: Literal["global", "domain"] = "global"
    id: UUID | None = None

    def domain_id(self) -> UUID | None:
        """The domain that is asked for; None: no domain is. MISSING_FIELDS, INVALID_FIELD."""
        if self.scope == "domain" and self.id is None:
            raise MissingFields(["id"])
        if self.scope == "global" and self.id is not None:
            raise invalid_field("id", "goes with scope=domain only")
        return self.id


class Threshold(Struct, frozen=True):
    """Recipients an hour; `source`: where the value is set (`global`: a setting).

    `used`: how many of them the domain has used in the last hour, null where the value is not the domain's own.
    """

    value: int
    source: Literal["global"]
    used: int | None


class ThresholdValues(Struct, frozen=True):
    """For one sender address, for all that a domain sends, and for the external copies that it forwards."""

    sender_per_hour: Threshold
    domain_per_hour: Threshold
    forward_per_hour: Threshold


class Thresholds(Struct, frozen=True):
    """What may be sent and forwarded in an hour."""

    scope: Literal["global", "domain"]
    id: UUID | None
    values: ThresholdValues


def thresholds(asked: ThresholdQuery, limits: AbuseSettings, used: HourlyUsage | None) -> Thresholds:
    """Thresholds with a domain's use, as they are answered."""
    return Thresholds(
        scope=asked.scope,
        id=asked.id,
        values=ThresholdValues(
            sender_per_hour=Threshold(limits.sender_per_hour, "global", None),
            domain_per_hour=Threshold(limits.domain_per_hour, "global", used and used.sent),
            forward_per_hour=Threshold(limits.forward_per_hour, "global", used and used.forwarded),
        ),
    )
