"""What counts for a sender, and when its rates are too high."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from mailkeep.features.mailflow.sender_checks.model import (
    CheckedSender,
    Limits,
    OutcomeCounter,
    RateMinimum,
    RecipientDays,
    SenderCounts,
    SenderEvent,
    SenderProblems,
    WindowSums,
)
from mailkeep.features.record.alerts.model import AlertProblem, Severity

HOURS: Sequence[int] = (1, 24, 168)
"""The windows."""
SLOT = timedelta(minutes=15)
UNKNOWN = frozenset({"invalid_recipient", "mailbox_disabled", "bad_domain"})
"""The classes of bounces that say that the recipient does not exist."""
BITS = 2048
NEW_SHARE = 0.8
LEAST_RECIPIENTS = 200
_LEAST_DAYS = 5
_MOST_RECIPIENTS = 4000  # with more, too few bits are free
_Z = 1.96  # 95 %


def lower_bound(part: int, whole: int) -> float:
    """The lower bound of the Wilson score interval (95 %) of a share, from 0 to 1."""
    if not whole:
        return 0.0
    share, square = part / whole, _Z * _Z
    spread = _Z * math.sqrt(share * (1 - share) / whole + square / (4 * whole * whole))
    return max(0.0, (share + square / (2 * whole) - spread) / (1 + square / whole))


def slot_of(at: datetime) -> datetime:
    """The beginning of the quarter of an hour, in UTC."""
    at = at.astimezone(UTC)
    return at.replace(minute=at.minute - at.minute % 15, second=0, microsecond=0)


def is_counted(event: SenderEvent) -> bool:
    """Whether an event counts for its sender: its domain exists, and it is an outcome or new mail."""
    return bool(event.author) and event.has_domain and not event.is_temporary and not event.by_mail


def count(events: Sequence[SenderEvent], senders: Mapping[str, str], forwards: Mapping[str, str]) -> SenderCounts:
    """Add up events. `senders`: the sender that each author counts for; `forwards`: the subject of each domain."""
    counts = SenderCounts()
    for event in events:
        if not is_counted(event):
            continue
        sender = forwards.get(event.domain or "") if event.is_forwarded else senders.get(event.author)
        if sender is None:
            continue
        counts.domains[sender] = event.domain_id
        if event.bits is not None:
            if not event.is_forwarded:
                day = (sender, event.at.astimezone(UTC).date())
                counts.recipients[day] = counts.recipients.get(day, 0) | bitmap(event.bits)
            continue
        counter = counts.slots.setdefault((sender, slot_of(event.at)), OutcomeCounter())
        if event.kind == "mail.complained":
            counter.complaints += 1
            continue
        counter.outcomes += 1
        counter.delivered += event.kind == "mail.delivered"
        counter.unknown += event.kind != "mail.delivered" and event.bounce_class in UNKNOWN
    return counts


def may_exceed(checked: CheckedSender, minimum: RateMinimum) -> bool:
    """Whether a rate may be too high, whatever the thresholds are."""
    return any(
        (each.unknown and each.outcomes >= minimum.bounces)
        or (each.complaints and each.delivered >= minimum.complaints)
        for each in checked.windows
    )


def problems(checked: CheckedSender, limits: Limits, minimum: RateMinimum) -> SenderProblems:
    """The alerts about the rates of a sender, and the reason to suspend it, if there is one."""
    bounces = _worst([(each, each.unknown, each.outcomes) for each in checked.windows], minimum.bounces)
    complaints = _worst([(each, each.complaints, each.delivered) for each in checked.windows], minimum.complaints)
    bounced = _reached_severity(bounces, limits["bounce_warn"], limits["bounce_act"])
    complained = _reached_severity(complaints, limits["complaint_warn"], limits["complaint_act"])
    found: list[AlertProblem] = []
    suspension = None
    if bounces and bounced:
        severity, limit = bounced
        what = _share(bounces, "recipients do not exist")
        if severity == "critical":
            suspension = f"{what}; the limit is {limit:.10g} % (bounce_act)."
        text = suspension or f"{what}; more than {limit:.10g} % (bounce_warn) harms the reputation of this server."
        advice = " Sending is suspended." if severity == "critical" else " Ask the sender where the addresses are from."
        found.append(_problem("bounce_rate", checked, severity, text + advice, bounces, limit))
    if complaints and complained:
        severity, limit = complained
        what = _share(complaints, "deliveries were reported as spam")
        name = "complaint_act" if severity == "critical" else "complaint_warn"
        text = f"{what}; the limit is {limit:.10g} % ({name})."
        if severity == "critical" and bounced:
            suspension = suspension or f"{text} Recipients that do not exist confirm it."
        advice = " Sending is suspended." if suspension else " Look at the mail, and suspend the sender if it is spam."
        found.append(_problem("complaint_rate", checked, severity, text + advice, complaints, limit))
    return SenderProblems(found, suspension)


SMALL = (
    "of several senders with few recipients each",
    "Does somebody use an API key with changing senders? Disable it.",
)
FORWARDED = (
    "of forwarded copies",
    "Look at the domain's aliases, forwards and Sieve scripts, and at who writes to them.",
)
"""What the sums of a domain are about, and what to do."""


def domain_problem(
    checked: CheckedSender, limits: Limits, minimum: RateMinimum, text: tuple[str, str]
) -> AlertProblem | None:
    """The alert about a domain, by the sums of those of its senders that have too few recipients for one of their own,
    or of its forwarded copies. Nobody is suspended: most of them may be innocent.
    """
    bounces = _worst([(each, each.unknown, each.outcomes) for each in checked.windows], minimum.bounces)
    if bounces is None or (bounced := _reached_severity(bounces, limits["bounce_warn"], limits["bounce_act"])) is None:
        return None
    severity, limit = bounced
    what, advice = text
    reason = f"{_share(bounces, 'recipients do not exist')}, {what}; the limit is {limit:.10g} %. {advice}"
    return _problem("bounce_rate", checked, severity, reason, bounces, limit)


_Rate = tuple[WindowSums, int, int]


def _worst(rates: Sequence[_Rate], minimum: int) -> _Rate | None:
    """The window with the highest lower bound, of those with at least `minimum` recipients."""
    large = [each for each in rates if each[2] >= max(1, minimum)]
    return max(large, key=lambda each: lower_bound(each[1], each[2]), default=None)


def _reached_severity(rate: _Rate | None, warn: float, act: float) -> tuple[Severity, float] | None:
    """The severity and the threshold that a rate has reached."""
    if rate is None:
        return None
    least = 100 * lower_bound(rate[1], rate[2])
    if least >= act:
        return "critical", act
    return ("warning", warn) if least >= warn else None


def _share(rate: _Rate, what: str) -> str:
    window, part, whole = rate
    time = {1: "hour", 24: "24 hours", 168: "7 days"}[window.hours]
    return f"{part} of {whole} {what} ({_percent(rate)} %) in the last {time}"


def _percent(rate: _Rate) -> float:
    return round(100 * rate[1] / rate[2], 2)


def _problem(
    kind: str, checked: CheckedSender, severity: Severity, reason: str, rate: _Rate, limit: float
) -> AlertProblem:
    return AlertProblem(kind, checked.sender, checked.domain_id, severity, reason, _percent(rate), limit)


def bitmap(bits: Sequence[int]) -> int:
    """The bitmap with these bits."""
    number = 0
    for bit in bits:
        number |= 1 << (bit % BITS)
    return number


def estimate(bits: int) -> float:
    """The number of different recipients that a bitmap with this number of set bits stands for (linear counting)."""
    return BITS * math.log(BITS / max(BITS - bits, 1))


def new_recipients(days: RecipientDays) -> AlertProblem | None:
    """The problem of a sender that suddenly writes to others than before."""
    today, both = estimate(days.seen), estimate(days.both)
    if today < LEAST_RECIPIENTS or days.days < _LEAST_DAYS or both > _MOST_RECIPIENTS:
        return None
    new = min(today, both - estimate(days.before))
    if new / today < NEW_SHARE:
        return None
    percent = round(100 * new / today)
    reason = (
        f"{percent} % of about {round(today)} recipients today had no mail of this sender in the 30 days before. "
        "If it is not a new mailing list, somebody else may use the account: look at its sign-ins."
    )
    return AlertProblem("new_recipients", days.sender, days.domain_id, "warning", reason, percent, 100 * NEW_SHARE)


def window_starts(at: datetime) -> list[datetime]:
    """The beginning of each window: of its first quarter of an hour."""
    return [slot_of(at - timedelta(hours=hours)) for hours in HOURS]


def latest_slot(at: datetime) -> datetime:
    """The end of all windows. Slots after `at` come from another machine's clock; those more than an hour ahead were
    written before the clock was set back, and do not count.
    """
    return at + timedelta(hours=1)
