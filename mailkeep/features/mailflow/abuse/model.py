"""A suspension, and what is asked of the counts of sending."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from mailkeep.core.address import Address

VerdictKind = Literal["counted", "suspended", "message_above_threshold", "sender_rate", "domain_rate"]


@dataclass(frozen=True, slots=True)
class SenderSuspension:
    """That sending is suspended for an address; `by_rank` is the administrator's, None where the rules did
    it.
    """

    id: UUID
    domain_id: UUID | None  # None: of the host name, which is no managed domain
    address: str
    address_key: str
    reason: str
    by_kind: Literal["rules", "admin"]
    by_label: str
    by_rank: int | None
    created_at: datetime

    @property
    def domain_name(self) -> str:
        """The domain of the address."""
        return self.address_key.rpartition("@")[2]


@dataclass(frozen=True, slots=True)
class SendCharge:
    """A message that wants to go out: its sender, the sender's domain, and how many recipients it has.

    `written` is the address that it goes out under, where that may be another than the sender's: a suspension of it
    holds as well.
    """

    sender: Address
    domain_id: UUID | None
    recipients: int
    written: Address | None = None


@dataclass(frozen=True, slots=True)
class HourlyUsage:
    """Recipients that a domain has sent to, and external copies that it has forwarded, in one hour."""

    sent: int
    forwarded: int


@dataclass(frozen=True, slots=True)
class SendingStatus:
    """Whose mail an address is: its mailbox, if any; and whether the address is suspended itself."""

    mailbox: Address | None
    suspended: bool


@dataclass(frozen=True, slots=True)
class ExternalCopies:
    """A recipient of a managed domain whose aliases and forwards lead outside: to how many addresses (`external`).

    `too_many`: routing refuses it, whatever the message's other recipients are.
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
    """Whether a message may go out; `retry_after` (seconds) where it is over a rate."""

    kind: VerdictKind
    retry_after: int | None
