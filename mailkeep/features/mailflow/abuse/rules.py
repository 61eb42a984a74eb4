"""Permissions to set and lift suspensions, and the refusals of messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from uuid import UUID

from mailkeep.core.errors import Forbidden, MailboxSuspended, RateLimitExceeded, Refusal
from mailkeep.core.principal import Principal, Role
from mailkeep.features.mailflow.abuse.model import (
    ExternalCopies,
    SendCharge,
    SenderSuspension,
    SendVerdict,
    SystemSuspension,
)
from mailkeep.features.record.events.model import Event


def takes_over(who: Principal, present: SenderSuspension | None) -> bool:
    """Whether a suspension by `who` replaces the present one: not if a higher rank set it."""
    return present is None or who.role.rank >= _rank(present)


def refuse_lifting(who: Principal, present: SenderSuspension) -> None:
    """FORBIDDEN if somebody below admin lifts a suspension by the abuse rules or a higher rank."""
    if who.role.rank < min(_rank(present), Role.ADMIN.rank):
        raise Forbidden("Only an admin can lift a suspension by the abuse rules or a higher rank.")


def rate_suspension(suspension_id: UUID, charge: SendCharge, threshold: int, at: datetime) -> SenderSuspension:
    """The suspension of a sender that exceeded its limit of recipients per hour."""
    return SenderSuspension(
        id=suspension_id,
        domain_id=charge.domain_id,
        address=charge.sender.text,
        address_key=charge.sender.key,
        reason=f"More than {threshold} recipients within an hour.",
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


def refusal(charge: SendCharge, verdict: SendVerdict, sender_threshold: int, domain_threshold: int) -> Refusal | None:
    """MAILBOX_SUSPENDED or RATE_LIMIT_EXCEEDED; None if the message may be sent."""
    match verdict.kind:
        case "counted":
            return None
        case "suspended":
            return MailboxSuspended(f"Sending is suspended for {charge.sender}.")
        case "message_above_threshold":
            limit = min(sender_threshold, domain_threshold)
            text = f"A message may have at most {limit} recipients (this one has {charge.recipients})."
        case "sender_rate":
            limit = sender_threshold
            text = f"{charge.sender} may send to {limit} recipients an hour; sending is now suspended."
        case "domain_rate":
            limit = domain_threshold
            text = f"{charge.sender.domain} may send to {limit} recipients an hour."
    wait = verdict.retry_after or 1
    return RateLimitExceeded(text, retry_after=wait, reason=verdict.kind, limit=limit)


def is_permanent(refusal: Refusal) -> bool:
    """Whether the same message can never be sent: its sender is suspended, or it exceeds a whole hourly limit."""
    too_large = (refusal.details or {}).get("reason") == "message_above_threshold"
    return isinstance(refusal, MailboxSuspended) or (isinstance(refusal, RateLimitExceeded) and too_large)


def find_over_limit(found: Iterable[ExternalCopies], limit: int) -> ExternalCopies | None:
    """The first of a message's recipients with which it exceeds `limit` external copies, None if it does not."""
    total = 0
    for each in found:
        total += each.external
        if each.too_many or total > limit:
            return each
    return None


def copies_by_domain(found: Iterable[ExternalCopies]) -> dict[str, int]:
    """The number of copies by forwarding domain."""
    copies: dict[str, int] = {}
    for each in found:
        copies[each.domain] = copies.get(each.domain, 0) + each.external
    return copies


def forward_refusal(full: Mapping[str, int | None], limit: int) -> RateLimitExceeded:
    """RATE_LIMIT_EXCEEDED for domains over their limit: `forward_rate`, or `message_above_threshold` if the message
    alone exceeds it.
    """
    domain, wait = max(full.items(), key=lambda each: (each[1] is None, each[1] or 0))
    if wait is None:
        text = f"{domain} may forward at most {limit} copies an hour to external recipients; this message needs more."
        return RateLimitExceeded(text, retry_after=3600, reason="message_above_threshold", limit=limit)
    text = f"{domain} has forwarded its {limit} copies of this hour (abuse.forward_per_hour). Try again later."
    return RateLimitExceeded(text, retry_after=max(1, wait), reason="forward_rate", limit=limit)


def _rank(present: SenderSuspension) -> int:
    return Role.ADMIN.rank if present.by_rank is None else present.by_rank
