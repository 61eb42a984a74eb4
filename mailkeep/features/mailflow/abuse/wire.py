"""JSON of suspensions and thresholds."""

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


class ThresholdQuery(Query, frozen=True):
    """The scope: `global` (the whole server) or a domain."""

    scope: Literal["global", "domain"] = "global"
    id: UUID | None = None

    def domain_id(self) -> UUID | None:
        """The ID of the requested domain, None for `global`. MISSING_FIELDS, INVALID_FIELD."""
        if self.scope == "domain" and self.id is None:
            raise MissingFields(["id"])
        if self.scope == "global" and self.id is not None:
            raise invalid_field("id", "is allowed with scope=domain only")
        return self.id


class Threshold(Struct, frozen=True):
    """Recipients per hour; `source`: where the value is set (`global`: in the settings).

    `used`: the domain's recipients or copies in the last hour; null for the limit of a sender, and without a domain.
    """

    value: int
    source: Literal["global"]
    used: int | None


class ThresholdValues(Struct, frozen=True):
    """Limits for one sender address, for all mail of a domain, and for the external copies that it forwards."""

    sender_per_hour: Threshold
    domain_per_hour: Threshold
    forward_per_hour: Threshold


class Thresholds(Struct, frozen=True):
    """The hourly limits for sending and forwarding."""

    scope: Literal["global", "domain"]
    id: UUID | None
    values: ThresholdValues


def thresholds(query: ThresholdQuery, limits: AbuseSettings, usage: HourlyUsage | None) -> Thresholds:
    """The JSON of the limits, with the usage of a domain."""
    return Thresholds(
        scope=query.scope,
        id=query.id,
        values=ThresholdValues(
            sender_per_hour=Threshold(limits.sender_per_hour, "global", None),
            domain_per_hour=Threshold(limits.domain_per_hour, "global", usage and usage.sent),
            forward_per_hour=Threshold(limits.forward_per_hour, "global", usage and usage.forwarded),
        ),
    )
