"""Thresholds and where they are set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from mailkeep.core.address import Address

ThresholdSource = Literal["global", "domain", "mailbox"]
RATES = ("bounce_warn", "bounce_act", "complaint_warn", "complaint_act")
OF_SENDERS = ("sender_per_hour", *RATES)
OF_DOMAINS = ("sender_per_hour", "domain_per_hour", "forward_per_hour", *RATES)
"""The thresholds that a mailbox and a domain may have; each is a setting `abuse.*`."""


@dataclass(frozen=True, slots=True)
class ThresholdSubject:
    """A domain, or with `mailbox_id` a mailbox in it."""

    domain_id: UUID
    domain_name: str
    mailbox_id: UUID | None = None
    mailbox: Address | None = None


@dataclass(frozen=True, slots=True)
class ThresholdBounds:
    """The bounds of values: those of the setting, and for a domain_admin what an admin has set (`highest`)."""

    low: float
    high: float
    highest: float | None


@dataclass(frozen=True, slots=True)
class EffectiveThreshold:
    """The value in force and where it is set. `highest`: what a domain_admin may set at most."""

    name: str
    value: float
    source: ThresholdSource
    highest: float


@dataclass(frozen=True, slots=True)
class StoredThreshold:
    """A value of a domain or a mailbox. `highest`: the one that an admin has set there, if any."""

    value: float
    highest: float | None


@dataclass(frozen=True, slots=True)
class HourlyUsage:
    """The recipients to which a domain has sent, and the external copies that it has forwarded, in one hour."""

    sent: int
    forwarded: int
