"""Permissions to set and lift suspensions, and the refusals of messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID

from mailkeep.core.address import Address
from mailkeep.core.errors import Forbidden, MailboxSuspended, RateLimitExceeded, Refusal
from mailkeep.core.principal import Principal, Role
from mailkeep.features.mailflow.abuse.model import (
    ExternalCopies,
    ForwardExcess,
    SendCharge,
    SenderSuspension,
    SendVerdict,
    SystemSuspension,
)
from mailkeep.features.record.alerts.model import AlertProblem
from mailkeep.features.record.events.model import Event

RATE_ALERT = "sender_rate"
"""The kind of the alert about a sender beyond its limit."""


def may_replace(who: Principal, current: SenderSuspension | None) -> bool:
    """Whether a suspension by `who` replaces the current one: not if a higher rank set it, or wants it too."""
    return current is None or who.rank >= _highest_rank(current)


def refuse_lifting(who: Principal, current: SenderSuspension) -> None:
    """FORBIDDEN if a domain_admin lifts a suspension by the abuse rules or a higher rank, or one that an open incident
    of a higher rank wants too.
    """
    if who.rank >= min(_highest_rank(current), Role.ADMIN.rank):
        return
    if who.rank >= _rank(current):
        raise Forbidden("An administrator of higher rank has opened an incident that suspends the sender.")
    setter = "the abuse rules" if current.by_rank is None else "an administrator of higher rank"
    raise Forbidden(f"The suspension was set by {setter}: only an admin or super_admin can lift it.")


def rules_may_replace(current: SenderSuspension | None) -> bool:
    """Whether the abuse rules suspend a sender: not if they or an admin have. A domain_admin could lift its own."""
    return current is None or _rank(current) < Role.ADMIN.rank


def resets_counters(who: Principal) -> bool:
    """Whether a sender whose suspension `who` lifts begins with nothing. A domain_admin, who can suspend and lift at
    will, could else send without limits.
    """
    return who.rank >= Role.ADMIN.rank


def rate_suspension(suspension_id: UUID, charge: SendCharge, threshold: int, at: datetime) -> SenderSuspension:
    """The suspension of a sender that exceeded its limit of recipients per hour."""
    reason = f"More than {threshold} recipients within an hour."
    return rules_suspension(suspension_id, charge.sender, charge.domain_id, reason, at)


def rate_problem(suspension: SenderSuspension) -> AlertProblem:
    """The alert about a sender that is suspended because of its limit."""
    reason = f"{suspension.reason} Sending is suspended. Look at the mail and the sign-ins before you lift that."
    return AlertProblem(RATE_ALERT, suspension.address_key, suspension.domain_id, "critical", reason)


def rules_suspension(
    suspension_id: UUID, sender: Address, domain_id: UUID | None, reason: str, at: datetime
) -> SenderSuspension:
    """A suspension by the abuse rules."""
    return SenderSuspension(
        id=suspension_id,
        domain_id=domain_id,
        address=sender.text,
        address_key=sender.key,
        reason=reason,
        by_kind="rules",
        by_label="rules",
        by_rank=None,
        created_at=at,
    )


def suspension_event(suspension: SenderSuspension) -> Event:
    """The event of a suspension."""
    payload = SystemSuspension(
        address=suspension.address,
        domain=suspension.domain_name,
        reason=suspension.reason,
        by=suspension.by_kind,
    )
    return Event(suspension.domain_id, None, payload)


def refusal(charge: SendCharge, verdict: SendVerdict) -> Refusal | None:
    """MAILBOX_SUSPENDED or RATE_LIMIT_EXCEEDED; None if the message may be sent."""
    limit = verdict.limit or 0
    match verdict.kind:
        case "counted":
            return None
        case "suspended":
            return MailboxSuspended(f"Sending is suspended for {charge.sender}. An administrator can lift that.")
        case "message_above_threshold":
            text = (
                f"A message may have at most {limit} recipients (sender_per_hour or domain_per_hour); this one has "
                f"{charge.recipients}."
            )
        case "sender_rate":
            text = (
                f"{charge.sender} may send to {limit} recipients an hour (sender_per_hour) and is now suspended. "
                "An administrator can lift that."
            )
        case "domain_rate":
            domain = charge.sender.domain
            text = f"{domain} may send to {limit} recipients an hour (domain_per_hour). Try again later."
    return RateLimitExceeded(text, retry_after=verdict.retry_after or 1, reason=verdict.kind, limit=limit)


def is_permanent(refusal: Refusal) -> bool:
    """Whether the same message can never be sent: its sender is suspended, or it exceeds a whole hourly limit."""
    too_large = (refusal.details or {}).get("reason") == "message_above_threshold"
    return isinstance(refusal, MailboxSuspended) or (isinstance(refusal, RateLimitExceeded) and too_large)


def find_over_limit(recipients: Iterable[ExternalCopies], limit: int) -> ExternalCopies | None:
    """The first recipient with which a message exceeds `limit` external copies; None if the message does not."""
    total = 0
    for each in recipients:
        total += each.external
        if each.too_many or total > limit:
            return each
    return None


def copies_by_domain(recipients: Iterable[ExternalCopies]) -> dict[str, int]:
    """The number of external copies by forwarding domain."""
    copies: dict[str, int] = {}
    for each in recipients:
        copies[each.domain] = copies.get(each.domain, 0) + each.external
    return copies


def forward_refusal(excesses: Sequence[ForwardExcess]) -> RateLimitExceeded:
    """RATE_LIMIT_EXCEEDED for domains over their limit: `forward_rate`, or `message_above_threshold` if the message
    alone exceeds it.
    """
    most = max(excesses, key=lambda each: (each.retry_after is None, each.retry_after or 0))
    text = f"{most.domain} may forward {most.limit} copies an hour to external recipients (forward_per_hour)"
    if most.retry_after is None:
        text += "; this message has more."
        return RateLimitExceeded(text, retry_after=3600, reason="message_above_threshold", limit=most.limit)
    text += ". Try again later."
    return RateLimitExceeded(text, retry_after=max(1, most.retry_after), reason="forward_rate", limit=most.limit)


def _rank(suspension: SenderSuspension) -> int:
    """The rank of the administrator who set a suspension; the abuse rules count as an admin."""
    return Role.ADMIN.rank if suspension.by_rank is None else suspension.by_rank


def _highest_rank(suspension: SenderSuspension) -> int:
    """The rank of the administrator who set a suspension, or of a higher one whose open incident wants it too."""
    return max(_rank(suspension), suspension.incident_rank or 0)
