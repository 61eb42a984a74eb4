"""Suspensions, and the counts of sent and forwarded mail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from msgspec import Meta

from mailkeep.core.address import Address
from mailkeep.features.record.events.model import EventPayload, Kind

VerdictKind = Literal["counted", "suspended", "message_above_threshold", "sender_rate", "domain_rate"]


@dataclass(frozen=True, slots=True)
class SenderSuspension:
    """The suspension of a sender address; `by_rank` is that of the administrator, None for the abuse rules.

    `incident_rank`: the highest rank of those whose open incidents suspend the mailbox as well.
    """

    id: UUID
    domain_id: UUID | None  # None: the domain is the host name, which is not managed
    address: str
    address_key: str
    reason: str
    by_kind: Literal["rules", "admin"]
    by_label: str
    by_rank: int | None
    created_at: datetime
    incident_rank: int | None = None

    @property
    def domain_name(self) -> str:
        """The domain of the address."""
        return self.address_key.rpartition("@")[2]


@dataclass(frozen=True, slots=True)
class SendCharge:
    """A message to be counted: its sender, the sender's domain, and its number of recipients.

    `written`: the sender address in the message, if it may differ from `sender` (the mailbox that logged in). A
    suspension of it also applies.
    """

    sender: Address
    domain_id: UUID | None
    recipients: int
    written: Address | None = None


@dataclass(frozen=True, slots=True)
class ForwardExcess:
    """A domain over its limit of forwarded copies, and the seconds until it may forward them; None: never."""

    domain: str
    retry_after: int | None
    limit: int


@dataclass(frozen=True, slots=True)
class SendingStatus:
    """The mailbox of an address, if any, and whether the address itself is suspended."""

    mailbox: Address | None
    suspended: bool


@dataclass(frozen=True, slots=True)
class ExternalCopies:
    """A recipient of a managed domain whose aliases and forwards have `external` external destinations.

    `too_many`: routing refuses the address because of them, whatever the other recipients of the message.
    """

    address: str
    external: int
    too_many: bool

    @property
    def domain(self) -> str:
        """The domain that forwards the copies."""
        return self.address.rpartition("@")[2]


@dataclass(frozen=True, slots=True)
class SendVerdict:
    """Whether a message may be sent; `retry_after` (seconds) and the limit if it exceeds one."""

    kind: VerdictKind
    retry_after: int | None
    limit: int | None = None


class SystemSuspension(EventPayload, frozen=True, kw_only=True):
    """Sending was suspended for an address, by the abuse rules or by an administrator."""

    kind: ClassVar[Kind] = "system.suspension"
    example: ClassVar[Mapping[str, Any]] = {
        "address": "shop@example.com",
        "domain": "example.com",
        "reason": "More than 1000 recipients within an hour.",
        "by": "rules",
    }

    address: Annotated[str, Meta(description="The suspended sender.")]
    domain: Annotated[str, Meta(description="Its domain.")]
    reason: Annotated[str, Meta(description="Why, in words.")]
    by: Annotated[str, Meta(description="`rules` or `admin`.")]
