"""What an event counts as, time windows, percentiles and rates."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import cast
from uuid import UUID
from zoneinfo import ZoneInfo, available_timezones

from mailkeep.core.errors import InvalidPeriod, invalid_field
from mailkeep.features.record.analytics.model import (
    ALL_DOMAINS,
    DELAYS,
    FIGURES,
    OTHER,
    BounceCounter,
    Counter,
    CounterKey,
    Dimension,
    Figures,
    Interval,
    MailEvent,
    Period,
    TimeWindow,
)
from mailkeep.mail.smtp.bounce_class import BounceClass, provider_of

SLOT = timedelta(minutes=15)
RETENTION = timedelta(days=190)
TAGS_A_DAY = 200
"""How many tags of a domain are counted on their own in a UTC day; the rest together."""
PERIODS: Mapping[Period, int] = {"24h": 1, "7d": 7, "30d": 30, "90d": 90}
_HOURS_A_DAY = 24
_MOST_REPLY = 400  # characters
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)


def slot_of(at: datetime) -> datetime:
    """The beginning of the quarter of an hour, in UTC."""
    at = at.astimezone(UTC)
    return at.replace(minute=at.minute - at.minute % 15, second=0, microsecond=0)


def figures_of(event: MailEvent) -> dict[str, int]:
    """What an event counts as; nothing for events that are not counted."""
    match event.kind:
        case "mail.sent":
            return {"accepted": event.recipients, "messages": 1}
        case "mail.received":
            return {"received": 1}
        case "mail.spam":
            return {"rejected": max(1, event.recipients)} if event.is_refused else {"spam": 1}
        case "mail.suppressed":
            return {"suppressed": 1}
        case "mail.complained":
            return {"complained": 1}
        case _ if event.is_forwarded:
            return {}
        case "mail.delivered":
            return {"delivered": 1, "first_attempt": int(event.attempts <= 1)}
        case "mail.bounced":
            return {"deferred": 1} if event.is_temporary else {"bounced": 1}
        case "mail.failed":
            return {"failed": 1}
        case _:
            return {}


def provider(event: MailEvent) -> str | None:
    """The provider of the server of an outcome; None if there was none."""
    return provider_of(event.remote_host) if event.kind == "mail.delivered" else event.provider


def delay_bucket(seconds: float) -> int:
    """The index of the bucket of a delivery time; times below zero, after a change of the clock, are in the first."""
    return min(bisect_left(DELAYS, seconds), len(DELAYS) - 1)


class Sums:
    """Adds up events. `counted_tags`: the tags with counters of their own, by domain and UTC day; it grows."""

    def __init__(self, counted_tags: dict[tuple[UUID, datetime], set[str]]) -> None:
        self.counters: dict[CounterKey, Counter] = {}
        self.bounces: dict[tuple[CounterKey, str], BounceCounter] = {}
        self._tags = counted_tags

    def add(self, event: MailEvent) -> None:
        """Add an event."""
        figures = figures_of(event)
        if not figures:
            return
        slot, at_provider = slot_of(event.at), provider(event)
        bucket = None
        if "delivered" in figures and event.accepted_at is not None:
            bucket = delay_bucket((event.at - event.accepted_at).total_seconds())
        bounce_class = event.bounce_class if figures.keys() & {"deferred", "bounced", "failed"} else None
        values = self._values(event, slot)
        for domain_id in {event.domain_id or ALL_DOMAINS, ALL_DOMAINS}:
            for dimension, value in values:
                providers = {OTHER, at_provider} if at_provider and not dimension else {OTHER}
                for each in providers:
                    key = CounterKey(domain_id, dimension, value, each, slot)
                    self._count(key, figures, bucket)
                    if bounce_class:
                        self._count_bounce(key, bounce_class, figures, event)

    def _values(self, event: MailEvent, slot: datetime) -> list[tuple[Dimension, str]]:
        values: list[tuple[Dimension, str]] = [("", "")]
        if event.api_key_id is not None:
            values.append(("api_key", str(event.api_key_id)))
        if event.tags:
            day = slot.replace(hour=0, minute=0)
            counted = self._tags.setdefault((event.domain_id or ALL_DOMAINS, day), set())
            for tag in dict.fromkeys(event.tags):
                if tag not in counted and len(counted) < TAGS_A_DAY:
                    counted.add(tag)
                values.append(("tag", tag if tag in counted else OTHER))
        return list(dict.fromkeys(values))

    def _count(self, key: CounterKey, figures: Mapping[str, int], bucket: int | None) -> None:
        counter = self.counters.setdefault(key, Counter())
        for name, number in figures.items():
            counter.figures[name] = counter.figures.get(name, 0) + number
        if bucket is not None:
            counter.delays[bucket] = counter.delays.get(bucket, 0) + 1

    def _count_bounce(self, key: CounterKey, bounce_class: str, figures: Mapping[str, int], event: MailEvent) -> None:
        bounce = self.bounces.setdefault((key, bounce_class), BounceCounter())
        for name, number in figures.items():
            bounce.figures[name] = bounce.figures.get(name, 0) + number
        if event.reply and (bounce.reply_at is None or event.at >= bounce.reply_at):
            bounce.reply, bounce.reply_at, bounce.message_id = event.reply[:_MOST_REPLY], event.at, event.message_id


@cache
def _zone_names() -> frozenset[str]:
    return frozenset(available_timezones())


def zone(name: str) -> ZoneInfo:
    """The time zone with this IANA name. INVALID_FIELD."""
    if name not in _zone_names():
        raise invalid_field("tz", "must be the name of a time zone, such as Europe/Berlin")
    return ZoneInfo(name)


def read_period(text: str | None) -> Period:
    """INVALID_PERIOD for another text, and for none."""
    if text not in PERIODS:
        got = "it is missing" if text is None else f"got {text[:100]}"
        raise InvalidPeriod(f"period must be one of {', '.join(PERIODS)} ({got}).")
    return cast(Period, text)


def window(
    period: Period, interval: Interval | None, tz: ZoneInfo, at: datetime, *, previous: bool = False
) -> TimeWindow:
    """The window of a period that ends at `at`: whole hours for 24h, else whole days of the zone, of which the last is
    the running one. Its edges are hours (`interval`; as a rule for 24h) or days.

    `previous`: the same time of the window before, which has as many hours or days.
    """
    local, days = at.astimezone(tz), PERIODS[period]
    if period == "24h":
        first = local.replace(minute=0, second=0, microsecond=0).astimezone(UTC) - (_HOURS_A_DAY - 1) * _HOUR
        until = at.astimezone(UTC)
        if previous:
            first, until = first - _DAY, until - _DAY
        if interval == "day":
            return TimeWindow([first, *_midnights(first, until, tz)], until)
        return TimeWindow(_hours(first, until), until)
    last_day = local.date() - timedelta(days=days if previous else 0)
    midnights = [_midnight(last_day - timedelta(days=n), tz) for n in reversed(range(days))]
    until = _same_time(local, last_day, tz) if previous else at.astimezone(UTC)
    until = max(until, midnights[-1] + SLOT) if previous else until
    return TimeWindow(_hours(midnights[0], until) if interval == "hour" else midnights, until)


def _hours(first: datetime, until: datetime) -> list[datetime]:
    hours = [first]
    while hours[-1] + _HOUR <= until:
        hours.append(hours[-1] + _HOUR)
    return hours


def _midnight(day: object, tz: ZoneInfo) -> datetime:
    return datetime.fromisoformat(f"{day}T00:00:00").replace(tzinfo=tz).astimezone(UTC)


def _midnights(first: datetime, until: datetime, tz: ZoneInfo) -> Iterable[datetime]:
    day = first.astimezone(tz).date() + timedelta(days=1)
    while (midnight := _midnight(day, tz)) <= until:
        if midnight > first:
            yield midnight
        day += timedelta(days=1)


def _same_time(local: datetime, day: object, tz: ZoneInfo) -> datetime:
    return datetime.fromisoformat(f"{day}T{local:%H:%M:%S}").replace(tzinfo=tz).astimezone(UTC)


def percentile(delays: Sequence[int], share: float) -> float | None:
    """The delivery time, in seconds, that this share of the deliveries did not exceed, interpolated within its bucket;
    None without deliveries.
    """
    wanted, below = share * sum(delays), 0
    if not wanted:
        return None
    for number, count in enumerate(delays):
        if count and below + count >= wanted:
            low = DELAYS[number - 1] if number else 0.0
            return round(low + (DELAYS[number] - low) * (wanted - below) / count, 2)
        below += count
    return DELAYS[-1]


def rate(part: int, *whole: int) -> float | None:
    """`part` of the sum of `whole`, from 0 to 1; None if that is 0."""
    total = sum(whole)
    return round(part / total, 6) if total else None


NO_FIGURES = Figures(dict.fromkeys(FIGURES, 0), (0,) * len(DELAYS))

ADVICE: Mapping[BounceClass, str] = {
    "invalid_recipient": "The address does not exist. It is suppressed; correct it where it was entered.",
    "mailbox_disabled": "The mailbox is disabled. The address is suppressed; ask the recipient for another one.",
    "bad_domain": "The domain does not exist or takes no mail. Look for a typing error in the address.",
    "mailbox_full": "The mailbox is full. After three times in 14 days the address is suppressed.",
    "rate_limited": "The server wants less mail at a time. Send more slowly; new IP addresses are trusted after weeks.",
    "greylisted": "The server asks unknown senders to try again. Nothing is to be done: Postfix does.",
    "reputation": "The server does not trust this IP address or domain. Look at blocklists and at complaints.",
    "content": "The content was taken for spam or a virus. Look at the links and attachments of the message.",
    "auth": "SPF, DKIM, DMARC or the reverse name failed. See the DNS records of the domain and of the server.",
    "policy": "A rule of the recipient's server refuses this mail. Its reply says which; ask its postmaster.",
    "too_large": "The message is larger than the server takes. Send a link instead of the attachment.",
    "relay_denied": "The server is not responsible for this domain. Its MX records may be wrong; tell the recipient.",
    "tls": "No encrypted connection was possible as the recipient's domain or a setting requires it.",
    "network": "The server could not be reached. If many are affected, look at this server's network and DNS.",
    "expired": "No server took the mail before its time in the queue ended. The replies before say why.",
    "unknown": "The reply has no known meaning. Read it, and look at the message's timeline.",
}
