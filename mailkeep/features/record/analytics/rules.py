"""What an event counts as, time windows, percentiles and rates."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import cast
from uuid import UUID
from zoneinfo import ZoneInfo

from mailkeep.core.clock import is_time_zone
from mailkeep.core.errors import InvalidPeriod, invalid_field
from mailkeep.core.principal import Principal, Role
from mailkeep.features.record.analytics.model import (
    ALL_DOMAINS,
    DELAYS,
    FIGURES,
    OTHER,
    OTHER_TAGS,
    STEPS,
    BounceCounter,
    Counter,
    CounterKey,
    Dimension,
    Figures,
    Interval,
    MailEvent,
    Period,
    TimeRange,
    TimeWindow,
)
from mailkeep.mail.smtp.bounce_class import BounceClass, provider_of

SLOT = timedelta(minutes=STEPS[0])
RETENTION = timedelta(days=190)
TAGS_A_DAY = 200
"""How many tags of a domain are counted on their own in a UTC day; the rest together."""
PERIODS: Mapping[Period, int] = {"24h": 1, "7d": 7, "30d": 30, "90d": 90}
_HOURS_A_DAY = 24
_MOST_REPLY = 400  # characters
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def slot_of(at: datetime, step: int = STEPS[0]) -> datetime:
    """When the quarter of an hour began, or the hour or day of UTC (`step`: its minutes)."""
    at = at.astimezone(UTC)
    minutes = (60 * at.hour + at.minute) % step
    return at.replace(second=0, microsecond=0) - timedelta(minutes=minutes)


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


def with_hours_and_days(
    counters: Mapping[CounterKey, Counter], bounces: Mapping[tuple[CounterKey, str], BounceCounter]
) -> tuple[dict[CounterKey, Counter], dict[tuple[CounterKey, str], BounceCounter]]:
    """These counters of quarters of an hour, and their sums of hours and days."""
    all_counters, all_bounces = dict(counters), dict(bounces)
    for step in STEPS[1:]:
        for key, counter in counters.items():
            all_counters.setdefault(_enlarge(key, step), Counter()).add(counter)
        for (key, bounce_class), bounce in bounces.items():
            all_bounces.setdefault((_enlarge(key, step), bounce_class), BounceCounter()).add(bounce)
    return all_counters, all_bounces


def _enlarge(key: CounterKey, step: int) -> CounterKey:
    return CounterKey(key.domain_id, key.dimension, key.value, key.provider, step, slot_of(key.slot, step))


class Sums:
    """Adds up events by quarters of an hour. `counted_tags`: the tags with counters of their own, by domain and UTC
    day; it grows.
    """

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
        counter, bounce = Counter(figures), None
        if "delivered" in figures and event.accepted_at is not None:
            counter.delays[delay_bucket((event.at - event.accepted_at).total_seconds())] = 1
        if event.bounce_class and figures.keys() & {"deferred", "bounced", "failed"}:
            reply = (event.reply[:_MOST_REPLY], event.at, event.message_id) if event.reply else (None, None, None)
            bounce = BounceCounter(figures, *reply)
        values = self._values(event, slot)
        for domain_id in {event.domain_id or ALL_DOMAINS, ALL_DOMAINS}:
            for dimension, value in values:
                providers = {OTHER, at_provider} if at_provider and not dimension else {OTHER}
                for each in providers:
                    key = CounterKey(domain_id, dimension, value, each, STEPS[0], slot)
                    self.counters.setdefault(key, Counter()).add(counter)
                    if bounce and event.bounce_class:
                        self.bounces.setdefault((key, event.bounce_class), BounceCounter()).add(bounce)

    def _values(self, event: MailEvent, slot: datetime) -> list[tuple[Dimension, str]]:
        values: list[tuple[Dimension, str]] = [("", "")]
        if event.api_key_id is not None:
            values.append(("api_key", str(event.api_key_id)))
        if event.tags:
            day = slot_of(slot, STEPS[-1])
            counted = self._tags.setdefault((event.domain_id or ALL_DOMAINS, day), set())
            for tag in dict.fromkeys(event.tags):
                if tag not in counted and tag != OTHER_TAGS and len(counted) < TAGS_A_DAY:
                    counted.add(tag)
                values.append(("tag", tag if tag in counted else OTHER))
        return list(dict.fromkeys(values))


def zone(name: str) -> ZoneInfo:
    """The time zone with this IANA name. INVALID_FIELD."""
    if not is_time_zone(name):
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


def time_ranges(edges: Sequence[datetime], until: datetime) -> list[TimeRange]:
    """The fewest counters with what was counted from the first edge until then, the running quarter of an hour
    included. None of them covers an edge.
    """
    ranges: list[TimeRange] = []
    for since, end in pairwise([*edges, slot_of(until) + SLOT]):
        for each in _cover(since, end, STEPS):
            if ranges and (ranges[-1].step, ranges[-1].until) == (each.step, each.since):
                ranges[-1] = TimeRange(each.step, ranges[-1].since, each.until)
            else:
                ranges.append(each)
    return ranges


def _cover(since: datetime, until: datetime, steps: Sequence[int]) -> Iterable[TimeRange]:
    """Whole hours and days where there are some between two quarters of an hour."""
    *smaller, step = steps
    first, last = -(-(since - _EPOCH) // timedelta(minutes=step)), slot_of(until, step)
    begin = _EPOCH + first * timedelta(minutes=step)
    if begin < last:
        yield from _cover(since, begin, smaller) if since < begin else ()
        yield TimeRange(step, begin, last)
        yield from _cover(last, until, smaller) if last < until else ()
    elif since < until:
        yield from _cover(since, until, smaller)


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


def owner_of_keys(who: Principal) -> UUID | None:
    """Whose API keys the caller may know by name (None: everybody's), as in GET /api-keys."""
    return None if who.role is Role.SUPER_ADMIN and who.domains() is None else who.admin_id
