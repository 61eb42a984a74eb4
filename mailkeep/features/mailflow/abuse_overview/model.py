"""The usage of limits, and what an overview of abuse shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from mailkeep.features.access.sign_in_protection.model import SignInFailures
from mailkeep.features.mailflow.abuse.model import SenderSuspension
from mailkeep.features.record.alerts.model import Alert

LimitName = Literal["sender_per_hour", "domain_per_hour", "forward_per_hour"]


@dataclass(frozen=True, slots=True)
class LimitUsage:
    """How much of a threshold is used in the last hour, by a sender (its address) or a domain (its name).

    `domain_id` None: the domain is not managed; `mailbox_id` None: the sender is not a mailbox.
    """

    name: LimitName
    subject: str
    domain_id: UUID | None
    mailbox_id: UUID | None
    used: int
    limit: int


@dataclass(frozen=True, slots=True)
class AbuseOverview:
    """What an overview shows; the lists are limited, the worst first."""

    suspended: Sequence[SenderSuspension]
    near_limit: Sequence[LimitUsage]
    spikes: Sequence[Alert]
    top_senders: Sequence[LimitUsage]
    failures_by_address: Sequence[SignInFailures]
    failures_by_account: Sequence[SignInFailures]
