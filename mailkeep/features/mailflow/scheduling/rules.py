"""What follows from a scheduled message that was not sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from mailkeep.core.errors import (
    ApiKeyDomainScope,
    Conflict,
    Forbidden,
    MailboxSuspended,
    RateLimitExceeded,
    Refusal,
    SendUnavailable,
)
from mailkeep.features.mailflow.abuse.service import is_permanent
from mailkeep.features.record.scheduled.model import ClaimedMessage

GIVE_UP_AFTER = timedelta(days=5)
_FIRST_PAUSE, _LONGEST_PAUSE = timedelta(seconds=5), timedelta(minutes=15)
_LIMIT_PAUSE = timedelta(seconds=30)  # at least, while over a limit
_MAX_DOUBLINGS = 8
GROUP_MESSAGES = 60
_GROUP_RECIPIENTS, _GROUP_BYTES = 1000, 16 << 20


@dataclass(frozen=True, slots=True)
class Consequence:
    """What follows: it waits until `due_at`, or (None) it fails. `reason` is that of `mail.failed`, `why` in words."""

    due_at: datetime | None
    reason: str
    why: str


def after_refusal(refusal: Refusal, scheduled_at: datetime, at: datetime) -> Consequence:
    """What follows from a refusal before the submission."""
    details = refusal.details or {}
    reason, why = str(details.get("reason") or refusal.code.lower()), refusal.message
    if isinstance(refusal, Forbidden | ApiKeyDomainScope):
        return Consequence(None, "permission", why)
    if isinstance(refusal, MailboxSuspended):
        return _wait("suspended", why, _LONGEST_PAUSE, scheduled_at, at)
    if isinstance(refusal, RateLimitExceeded) and not is_permanent(refusal):
        pause = min(_LONGEST_PAUSE, max(_LIMIT_PAUSE, timedelta(seconds=refusal.retry_after or 0)))
        if reason == "sender_rate":
            why = "The sender has reached its limit of recipients an hour (abuse.sender_per_hour). The message waits."
        return _wait(reason, why, pause, scheduled_at, at)
    if isinstance(refusal, SendUnavailable) or refusal.status >= 500:
        return _wait(reason, why, _FIRST_PAUSE, scheduled_at, at)
    return Consequence(None, reason, why)


def after_failure(why: str, failures: int, scheduled_at: datetime, at: datetime) -> Consequence:
    """What follows after the MTA did not accept the message for now; `failures`: how often before."""
    pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** min(failures, _MAX_DOUBLINGS))
    return _wait("not_accepted", why, pause, scheduled_at, at)


def _wait(reason: str, why: str, pause: timedelta, scheduled_at: datetime, at: datetime) -> Consequence:
    return Consequence(at + pause if at < scheduled_at + GIVE_UP_AFTER else None, reason, why)


def group(claimed: Iterable[ClaimedMessage]) -> list[list[ClaimedMessage]]:
    """Claimed messages in groups that are sent as one batch: of one creator, with at most 60 messages, 1,000
    recipients and 16 MiB (or one message).
    """
    groups: list[list[ClaimedMessage]] = []
    open_groups: dict[object, list[ClaimedMessage]] = {}
    for each in claimed:
        creator = (each.creator.admin_id, each.creator.key_id, each.creator.label, each.creator.actor)
        current = open_groups.get(creator)
        if current is None or not _fits(current, each):
            current = open_groups[creator] = []
            groups.append(current)
        current.append(each)
    return groups


def _fits(current: Sequence[ClaimedMessage], message: ClaimedMessage) -> bool:
    recipients = sum(each.recipients for each in current) + message.recipients
    size = sum(each.size for each in current) + message.size
    return len(current) < GROUP_MESSAGES and recipients <= _GROUP_RECIPIENTS and size <= _GROUP_BYTES


def not_scheduled(status: str) -> Conflict:
    """CONFLICT `not_scheduled` for a message that can't be changed or cancelled any more."""
    text = f"Only a message that waits for its time can be changed or cancelled; this one is {status}."
    return Conflict(text, reason="not_scheduled", status=status)
