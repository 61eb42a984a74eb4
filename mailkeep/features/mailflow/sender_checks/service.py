"""Count what became of mail, check its senders, and act."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from uuid import UUID

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.address import Address, AddressError, parse_address
from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.sender_checks import rules, store
from mailkeep.features.mailflow.sender_checks.model import (
    KINDS,
    RateMinimum,
    SenderCounts,
    SenderEvent,
)
from mailkeep.features.mailflow.thresholds import service as thresholds
from mailkeep.features.record.alerts import service as alerts
from mailkeep.features.record.alerts.model import AlertProblem
from mailkeep.features.record.events import service as feed

_BATCH = 1000
_RETENTION = timedelta(days=8)
_FORWARD_RETENTION = timedelta(days=31)
_DAYS_BEFORE = timedelta(days=30)
_RATE_KINDS = KINDS[:2]
_HOURS_OF_DOMAINS = 24
_LEAST_BITS = 190  # of 200 recipients, some share a bit


async def check(app: App) -> None:
    """Count the outcomes that are new, check their senders, and suspend those beyond a threshold."""
    while True:
        async with app.db.autocommit() as conn:
            if not await feed.has_unread(conn, "sender_checks"):
                return
        async with app.db.tx() as conn:
            if not await _check_batch(app, conn):
                return


async def check_again(app: App) -> None:
    """Check the senders that have an alert, and the recipients of the senders with much mail today. Run it every few
    minutes: alerts end by it.
    """
    at = app.clock()
    async with app.db.tx() as conn:
        senders = await alerts.list_subjects(conn, "abuse", _RATE_KINDS)
        found = await _check(app, conn, at, senders)
        of_domains = await _check_domains(app, conn, at)
        checked = senders | {each.subject for each in of_domains}
        await alerts.report(conn, at, "abuse", [*found, *of_domains], kinds=_RATE_KINDS, subjects=checked)
    # Another transaction, since it takes seconds with 10,000 busy senders, and others that report wait for this one.
    async with app.db.tx() as conn:
        day = at.astimezone(UTC).date()
        busy = await store.find_busy_days(conn, day, day - _DAYS_BEFORE, _LEAST_BITS)
        found = [problem for each in busy if (problem := rules.new_recipients(each))]
        await alerts.report(conn, at, "abuse", found, kinds=["new_recipients"])
        await abuse.report_suspended(conn, at)


async def prune(app: App) -> None:
    """Delete counters that are no longer used."""
    at = app.clock()
    async with app.db.autocommit() as conn:
        await store.delete_before(conn, at - _RETENTION, at - _FORWARD_RETENTION)


async def _check_batch(app: App, conn: Conn) -> bool:
    tx, event_id = await feed.lock_position(conn, "sender_checks")
    events = await store.list_events(conn, tx, event_id, _BATCH)
    if not events:
        return False
    counts = await _count(conn, [each for each in events if rules.is_counted(each)])
    await store.add(conn, counts)
    await store.add_recipients(conn, counts)
    failpoint.reach("senders.counted")
    await feed.set_position(conn, "sender_checks", events[-1].tx, events[-1].id)
    senders = {sender for sender, _ in counts.slots if "@" in sender}  # not of forwarded copies
    at = app.clock()
    if senders and (found := await _check(app, conn, at, senders)):
        await alerts.report(conn, at, "abuse", found, kinds=_RATE_KINDS, subjects={each.subject for each in found})
    return len(events) == _BATCH


async def _count(conn: Conn, events: list[SenderEvent]) -> SenderCounts:
    domains = {each.domain_id for each in events if each.domain_id}
    existing = await store.lock_domains(conn, domains) if domains else set[UUID]()
    events = [each for each in events if each.domain_id is None or each.domain_id in existing]
    forwards = await store.forward_subjects(conn, {each.domain for each in events if each.is_forwarded and each.domain})
    authors = {each.author: address for each in events if not each.is_forwarded and (address := _address(each.author))}
    keys = await abuse.counted_senders(conn, list(authors.values()))
    return rules.count(events, dict(zip(authors, keys, strict=True)), forwards)


def _address(text: str) -> Address | None:
    try:
        return parse_address(text)
    except AddressError:
        return None


async def _check(app: App, conn: Conn, at: datetime, senders: Collection[str]) -> list[AlertProblem]:
    """What is wrong with the rates of these senders. Suspends those beyond a threshold, and locks them."""
    starts = dict(zip(rules.HOURS, rules.window_starts(at), strict=True))
    minimum = RateMinimum(app.settings.abuse.bounce_minimum, app.settings.abuse.complaint_minimum)
    found: list[AlertProblem] = []
    for each in await store.read_sums(conn, senders, starts, rules.latest_slot(at)):
        if rules.may_exceed(each, minimum):
            judged = rules.problems(each, await thresholds.of_sender(app, conn, each.sender), minimum)
            found += judged.problems
            if judged.suspension:
                await abuse.suspend_by_rules(conn, at, parse_address(each.sender), each.domain_id, judged.suspension)
    return found


async def _check_domains(app: App, conn: Conn, at: datetime) -> list[AlertProblem]:
    """What is wrong with the bounces of domains: of forwarded copies, and of senders that have too few recipients to be
    checked on their own.
    """
    minimum = RateMinimum(app.settings.abuse.bounce_minimum, app.settings.abuse.complaint_minimum)
    window = (_HOURS_OF_DOMAINS, rules.slot_of(at - timedelta(hours=_HOURS_OF_DOMAINS)), rules.latest_slot(at))
    small = await store.sum_small_senders(conn, *window, minimum.bounces)
    forwarded = await store.sum_forwarded(conn, *window, minimum.bounces)
    found: list[AlertProblem] = []
    for each, text in [*((each, rules.SMALL) for each in small), *((each, rules.FORWARDED) for each in forwarded)]:
        limits = await thresholds.of_domain(app, conn, each.sender)
        if problem := rules.domain_problem(each, limits, minimum, text):
            found.append(problem)
    return found
