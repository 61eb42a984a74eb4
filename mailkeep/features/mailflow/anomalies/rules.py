"""When a number, or a sign-in, is unusual."""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from mailkeep.features.mailflow.anomalies.model import SERVER, ComparedDomain, HourHistory, MailboxSignIns, TimeSpan
from mailkeep.features.record.alerts.model import AlertProblem

HOUR, QUARTER, WEEK = timedelta(hours=1), timedelta(minutes=15), timedelta(days=7)
WEEKS = 4
LEAST = 50
SILENCE = timedelta(hours=2)
HISTORY = timedelta(days=7)
PAUSE = timedelta(days=14)
_DECAY, _ALPHA = 0.6, 0.2
_Z, _TIMES, _SPREAD, _NOISE = 6, 2, 0.3, 25
_LEAST_EXPECTED = 20
_LEAST_WEEKS = 2
_LEAST_HOURS = 24
_MOST_NETWORKS = 3
_DAY = timedelta(days=1)


def last_hour(at: datetime) -> TimeSpan:
    """The last four quarters of an hour, with the running one."""
    at = at.astimezone(UTC)
    begin = at.replace(minute=at.minute - at.minute % 15, second=0, microsecond=0)
    return TimeSpan(begin + QUARTER - HOUR, begin + QUARTER)


def weeks_before(span: TimeSpan, shift: timedelta = timedelta()) -> list[TimeSpan]:
    """The same time of the weeks before, the latest first, or a time beside it."""
    return [TimeSpan(span.since - n * WEEK + shift, span.until - n * WEEK + shift) for n in range(1, WEEKS + 1)]


def hours_before(span: TimeSpan) -> list[TimeSpan]:
    """The hours of the week before an hour, the oldest first."""
    number = int(HISTORY / HOUR)
    return [TimeSpan(span.since - (n + 1) * HOUR, span.since - n * HOUR) for n in reversed(range(number))]


def usual_number(weeks: Sequence[float | None]) -> float | None:
    """The mean of weeks, the latest first, each of which counts 0.6 as much as the one before; None below two weeks."""
    known = [(value, _DECAY**number) for number, value in enumerate(weeks) if value is not None]
    if len(known) < _LEAST_WEEKS:
        return None
    return sum(value * weight for value, weight in known) / sum(weight for _, weight in known)


def smooth(hours: Sequence[int]) -> float | None:
    """The exponentially weighted mean of hours, the oldest first; None for less than a day."""
    if len(hours) < _LEAST_HOURS:
        return None
    mean = float(hours[0])
    for number in hours[1:]:
        mean += _ALPHA * (number - mean)
    return mean


def score(now: int, mean: float) -> float:
    """How many standard deviations a number is above the mean of its hour."""
    return (now - mean) / math.sqrt(mean + (_SPREAD * mean) ** 2 + _NOISE)


def spike(mail: ComparedDomain, now: int, history: HourHistory, elapsed: float) -> AlertProblem | None:
    """The problem of a domain whose last hour, of which the share `elapsed` is over, is unusual."""
    mean = usual_number(history.weeks)
    if mean is None:
        mean = smooth(history.hours)
    if mean is None or now < LEAST:
        return None
    mean *= elapsed
    if now < _TIMES * mean or score(now, mean) < _Z:
        return None
    reason = (
        f"{now} recipients in the last hour, where about {round(mean)} are usual. Look at who sends, and suspend the "
        "sender if the account is misused."
    )
    return AlertProblem("spike", mail.name or SERVER, mail.domain_id, "warning", reason, now, round(mean, 1))


def silence(mail: ComparedDomain, delivered: int, weeks: Sequence[float | None]) -> AlertProblem | None:
    """The problem of a domain, or of the server, that delivers nothing where it usually does."""
    usual = usual_number(weeks)
    if delivered or usual is None or usual < _LEAST_EXPECTED:
        return None
    reason = f"Nothing was delivered in the last two hours, where about {round(usual)} deliveries are usual. "
    if mail.domain_id is None:
        reason += "Look at Postfix and its queue."
        return AlertProblem("silence", SERVER, None, "critical", reason, 0, round(usual, 1))
    reason += "Does what sends its mail still work, and is its queue empty?"
    return AlertProblem("silence", mail.name or "", mail.domain_id, "warning", reason, 0, round(usual, 1))


def network_of(ip: str) -> str | None:
    """The network that sign-ins are compared by; None for this machine, and for what is no address."""
    try:
        address = ipaddress.ip_address(ip)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    if address.is_loopback:
        return None
    return str(ipaddress.ip_network((address, 16 if address.version == 4 else 32), strict=False))


def many_networks(sign_ins: Iterable[MailboxSignIns], at: datetime) -> list[AlertProblem]:
    """The problems of mailboxes with sign-ins from many networks in the last hour."""
    networks: dict[tuple[str, object], set[str]] = {}
    for each in sign_ins:
        network = network_of(each.ip)
        if network and at - HOUR <= each.last_at:
            networks.setdefault((each.mailbox, each.domain_id), set()).add(network)
    domains = {each.mailbox: each.domain_id for each in sign_ins}
    return [
        AlertProblem(
            "sign_in_networks",
            mailbox,
            domains[mailbox],
            "warning",
            f"Sign-ins from {len(found)} networks within an hour: {', '.join(sorted(found))}. If its owner does not "
            "know them, change the password and end the sessions.",
            len(found),
            _MOST_NETWORKS,
        )
        for (mailbox, _), found in networks.items()
        if len(found) > _MOST_NETWORKS
    ]


def after_pause(sign_ins: Sequence[MailboxSignIns], at: datetime) -> AlertProblem | None:
    """The problem of a mailbox, by all its sign-ins: one in the last day from a new network, and none long before."""
    new = [each for each in sign_ins if each.first_at >= at - _DAY and network_of(each.ip)]
    earlier = [each for each in sign_ins if each.first_at < at - _DAY]
    if not new or not earlier:
        return None
    first = min(new, key=lambda each: each.first_at)
    pause = first.first_at - max(each.last_at for each in earlier)
    if pause < PAUSE or network_of(first.ip) in {network_of(each.ip) for each in earlier}:
        return None
    reason = (
        f"A sign-in from {first.ip}, a new network, after {pause.days} days without any. If its owner does not know "
        "it, change the password and end the sessions."
    )
    return AlertProblem(
        "sign_in_after_pause", first.mailbox, first.domain_id, "warning", reason, pause.days, PAUSE.days
    )
