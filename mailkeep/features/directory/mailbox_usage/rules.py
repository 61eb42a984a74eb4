"""When a mailbox is counted, and which reports may be stale."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from mailkeep.features.directory.mailbox_usage.model import (
    MailboxQuota,
    MailboxUsage,
    QuotaChange,
    TrackedMailbox,
)
from mailkeep.features.record.events.model import Event

LOGIN_PROTOCOLS = frozenset({"imap", "pop3", "sieve", "smtp"})
LOGIN_INTERVAL = timedelta(minutes=1)
"""A login to the same mailbox from the same address by the same protocol is not written again within this time."""
COUNT_RETRY = timedelta(minutes=1)
"""A mailbox that could not be counted is tried again after this time."""
MAX_REMEMBERED = 100_000
"""Mailboxes with unwritten reports that are kept in memory while the database is away."""
MAX_FAILURES = 1000
"""Failed logins between two writes that are looked at."""
_OVERTAKE_WINDOW = timedelta(seconds=5)  # reports of two sessions within this time may have overtaken each other
_TIMESTAMP_SLACK = timedelta(seconds=1)  # the kernel sets a directory's time to that of its last timer tick
_UNREPORTED_INTERVAL, _REPORTED_INTERVAL = timedelta(minutes=10), timedelta(days=1)
_MAX_VALUE = 2**53


def parse_count(text: str) -> int | None:
    """A count of bytes or messages as Dovecot writes it; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 17 and int(text) < _MAX_VALUE else None


def may_be_stale(at: datetime, unwritten: MailboxUsage | None, last_report: datetime | None) -> bool:
    """Whether a report of `at` may be older than one that arrived before it."""
    return (unwritten is not None and unwritten.may_be_stale) or (
        last_report is not None and at - last_report < _OVERTAKE_WINDOW
    )


def needs_count(mailbox: TrackedMailbox, folder_changed: datetime, at: datetime, *, first_round: bool) -> bool:
    """Whether the round counts a mailbox whose folder last changed at `folder_changed`.

    A mailbox that was never counted is counted. After a reported change it is counted if the last count is a day old,
    after an unreported one if it is ten minutes old. In the first round an unreported change is counted at once:
    reports may have been missed before.
    """
    if mailbox.counted_at is None:
        return True
    if folder_changed < mailbox.counted_at - _TIMESTAMP_SLACK:
        return False
    since_count = at - mailbox.counted_at
    if mailbox.reported_at and folder_changed <= mailbox.reported_at:
        return since_count >= _REPORTED_INTERVAL
    return first_round or since_count >= _UNREPORTED_INTERVAL


def quota_event(change: QuotaChange) -> Event:
    """The event of a mailbox that has reached a level."""
    payload = MailboxQuota(
        mailbox_id=str(change.mailbox_id),
        address=change.address,
        domain=change.domain_name,
        level=change.level,
        used_bytes=change.used_bytes,
        quota_bytes=change.quota_bytes,
    )
    return Event(change.domain_id, None, payload)


def quota_item(change: QuotaChange) -> dict[str, Any]:
    """What the mail to the owner reports."""
    names = ("address", "level", "used_bytes", "quota_bytes")
    return {name: getattr(change, name) for name in names}
