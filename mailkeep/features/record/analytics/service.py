"""Counts events, and reads figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.errors import DomainNotFound, invalid_field
from mailkeep.core.principal import Principal, allow_on
from mailkeep.db.pool import Conn
from mailkeep.features.record.analytics import rules, store
from mailkeep.features.record.analytics.model import (
    ALL_DOMAINS,
    OTHER,
    STEPS,
    BounceCounter,
    BounceSum,
    Counter,
    CounterKey,
    Figures,
    Group,
    Interval,
    Period,
    Scope,
    TimeRange,
    TimeWindow,
)
from mailkeep.features.record.events import service as feed
from mailkeep.features.record.messages import service as messages

MOST_GROUPS = 1000
_BATCH = 2000
_BATCHES_BEFORE_A_READ = 5


@dataclass(frozen=True, slots=True)
class Selection:
    """What a caller asks for."""

    period: Period
    tz: str
    domain_id: UUID | None = None
    provider: str | None = None
    tag: str | None = None
    api_key_id: UUID | None = None

    def window(self, at: datetime, interval: Interval | None = None, *, previous: bool = False) -> TimeWindow:
        """The window of the period, or the one before, at the time `at`. INVALID_FIELD."""
        return rules.window(self.period, interval, rules.zone(self.tz), at, previous=previous)


async def count(app: App, most: int | None = None) -> None:
    """Count the events that are new, at most `most` batches of them (None: all)."""
    batches = 0
    while most is None or batches < most:
        async with app.db.autocommit() as conn:
            if not await feed.has_unread(conn, "analytics"):
                return
        async with app.db.tx() as conn:
            if not await _count_batch(conn):
                return
        batches += 1


async def _count_batch(conn: Conn) -> bool:
    tx, event_id = await feed.lock_position(conn, "analytics")
    events = await store.list_events(conn, tx, event_id, _BATCH)
    if not events:
        return False
    days = {(each.domain_id or ALL_DOMAINS, rules.slot_of(each.at, STEPS[-1])) for each in events if each.tags}
    sums = rules.Sums(await store.find_tags(conn, days) if days else {})
    for event in events:
        sums.add(event)
    await _add(conn, sums.counters, sums.bounces)
    failpoint.reach("analytics.added")
    await feed.set_position(conn, "analytics", events[-1].tx, events[-1].id)
    return len(events) == _BATCH


async def count_rejected(conn: Conn, rejected: Sequence[tuple[datetime, UUID | None]]) -> None:
    """Count recipients that were refused at SMTP, which has no event: the time and the domain of each."""
    counters: dict[CounterKey, Counter] = {}
    for at, domain_id in rejected:
        for each in {domain_id or ALL_DOMAINS, ALL_DOMAINS}:
            key = CounterKey(each, "", "", OTHER, STEPS[0], rules.slot_of(at))
            counters.setdefault(key, Counter()).add(Counter({"rejected": 1}))
    await _add(conn, counters, {})


async def _add(
    conn: Conn, counters: Mapping[CounterKey, Counter], bounces: Mapping[tuple[CounterKey, str], BounceCounter]
) -> None:
    counters, bounces = rules.with_hours_and_days(counters, bounces)
    if counters:
        await store.add(conn, counters)
    if bounces:
        await store.add_bounces(conn, bounces)


async def sum_spans(
    conn: Conn, figure: str, spans: Sequence[tuple[datetime, datetime]], domains: Sequence[UUID] | None
) -> list[tuple[UUID, int, int]]:
    """The sums of a figure in each span (whole quarters of an hour), where there are any: domain (`ALL_DOMAINS`: all
    together), number of the span, sum. `domains`: None for each.
    """
    return await store.sum_spans(conn, figure, spans, domains)


async def first_slots(conn: Conn, domains: Sequence[UUID]) -> dict[UUID, datetime]:
    """Since when domains have figures; without those that have none."""
    return await store.first_slots(conn, domains)


async def prune(app: App) -> None:
    """Delete counters that no period reaches any more."""
    async with app.db.tx() as conn:
        await store.delete_before(conn, app.clock() - rules.RETENTION)


async def read_overview(app: App, who: Principal, chosen: Selection) -> tuple[TimeWindow, Figures, TimeWindow, Figures]:
    """The sums of the period and of the one before, each with its window. DOMAIN_NOT_FOUND, API_KEY_DOMAIN_SCOPE."""
    at = app.clock()
    current, previous = chosen.window(at), chosen.window(at, previous=True)
    await count(app, _BATCHES_BEFORE_A_READ)
    async with app.db.autocommit() as conn:
        scope = await _scope(conn, who, chosen)
        return (
            current,
            await store.read_total(conn, scope, _whole(current)),
            previous,
            await store.read_total(conn, scope, _whole(previous)),
        )


async def read_series(
    app: App, who: Principal, chosen: Selection, interval: Interval | None, *, previous: bool
) -> list[tuple[datetime, Figures]]:
    """The sums of each hour or day. DOMAIN_NOT_FOUND, API_KEY_DOMAIN_SCOPE."""
    window = chosen.window(app.clock(), interval, previous=previous)
    ranges = rules.time_ranges(window.edges, window.until)
    await count(app, _BATCHES_BEFORE_A_READ)
    async with app.db.autocommit() as conn:
        rows = await store.read_series(conn, await _scope(conn, who, chosen), window.edges, ranges)
    return [(edge, rows.get(number, rules.NO_FIGURES)) for number, edge in enumerate(window.edges)]


async def read_groups(
    app: App, who: Principal, chosen: Selection, by: Literal["domain", "provider", "tag", "api_key"]
) -> list[Group]:
    """The sums of each domain, provider, tag or key that has some, the largest first, at most `MOST_GROUPS`.
    DOMAIN_NOT_FOUND, API_KEY_DOMAIN_SCOPE.
    """
    ranges = _whole(chosen.window(app.clock()))
    await count(app, _BATCHES_BEFORE_A_READ)
    async with app.db.autocommit() as conn:
        scope = await _scope(conn, who, chosen)
        names: dict[str, str] = {}
        match by:
            case "domain":
                rows = await store.read_groups(conn, scope, ranges, "domain_id", MOST_GROUPS)
                names = await store.find_domain_names(conn, [key for key, _ in rows])
            case "provider":
                rows = await store.read_groups(conn, scope, ranges, "provider", MOST_GROUPS)
            case "tag" | "api_key":
                of = Scope(scope.domains, by)
                rows = await store.read_groups(conn, of, ranges, "value", MOST_GROUPS)
                if by == "api_key":
                    names = await store.find_key_names(conn, [key for key, _ in rows], rules.owner_of_keys(who))
    return [Group(key, names.get(key), figures) for key, figures in rows]


async def read_bounces(app: App, who: Principal, chosen: Selection) -> list[BounceSum]:
    """The sums of each class of replies. DOMAIN_NOT_FOUND, API_KEY_DOMAIN_SCOPE."""
    ranges = _whole(chosen.window(app.clock()))
    await count(app, _BATCHES_BEFORE_A_READ)
    async with app.db.autocommit() as conn:
        return await store.read_bounces(conn, await _scope(conn, who, chosen), ranges)


def _whole(window: TimeWindow) -> list[TimeRange]:
    return rules.time_ranges([window.since], window.until)


async def _scope(conn: Conn, who: Principal, chosen: Selection) -> Scope:
    filters = {"provider": chosen.provider, "tag": chosen.tag, "api_key_id": chosen.api_key_id}
    given = [name for name, value in filters.items() if value is not None]
    if len(given) > 1:
        raise invalid_field(given[1], f"can't be combined with {given[0]}")
    domains = who.domains()
    if chosen.domain_id is not None:
        if not await messages.knows_domain(conn, chosen.domain_id):
            raise DomainNotFound
        allow_on(who, "analytics.read", chosen.domain_id)
        domains = [chosen.domain_id]
    if chosen.tag is not None:
        return Scope(domains, "tag", chosen.tag)
    if chosen.api_key_id is not None:
        return Scope(domains, "api_key", str(chosen.api_key_id))
    return Scope(domains, provider=chosen.provider or OTHER)
