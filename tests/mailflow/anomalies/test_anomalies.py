"""Spikes, silence and unusual sign-ins, with a clock and weeks of figures."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from mailkeep.features.directory.login_history import service as login_history
from mailkeep.features.directory.login_history.model import MailboxSignIn
from mailkeep.features.mailflow.anomalies import rules, service
from mailkeep.features.record.analytics import store as analytics
from mailkeep.features.record.analytics.model import ALL_DOMAINS, STEPS, Counter, CounterKey
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api, Client

NOW = datetime(2026, 6, 15, 10, 40, tzinfo=UTC)  # 10:40: 55 minutes of the last hour are over
HOUR, WEEK = timedelta(hours=1), timedelta(days=7)


async def count(api: Api, at: datetime, domain: str = EXAMPLE, **figures: int) -> None:
    """Add to the figures of a domain and of all."""
    slot = at.replace(minute=at.minute - at.minute % 15)
    keys = [CounterKey(each, "", "", "", STEPS[0], slot) for each in (DOMAIN_IDS[domain], ALL_DOMAINS)]
    async with api.app.db.tx() as conn:
        await analytics.add(conn, {key: Counter(figures) for key in keys})


async def look(api: Api, at: datetime = NOW) -> None:
    api.clock.advance(seconds=(at - api.clock()).total_seconds())
    await service.look(api.app)


async def alerts_of(client: Client) -> list[tuple[str, str, str]]:
    rows = (await client.get("/abuse/alerts", order="asc")).data
    return [(row["kind"], row["subject"], row["state"]) for row in rows]


def test_the_score_of_a_known_case():
    assert rules.score(900, 155.8) == pytest.approx(15.3, abs=0.05)
    assert rules.usual_number([100.0, None, 50.0, None]) == pytest.approx((100 + 0.36 * 50) / 1.36)
    assert rules.usual_number([100.0, None, None, None]) is None
    assert rules.smooth([10] * 23) is None
    assert rules.smooth([10] * 24) == 10


SPIKE = [("spike", EXAMPLE, "open")]
WEEKS = {-week * WEEK: 100 for week in range(1, 5)}
HOURS = {-hour * HOUR: 100 for hour in range(1, 30)}


@pytest.mark.parametrize(
    "before, now, expected",
    [
        (WEEKS, 900, SPIKE),
        (WEEKS, 150, []),
        ({}, 900, []),  # nothing is known
        (HOURS, 900, SPIKE),  # a day is known
        (HOURS, 120, []),
        ({-hour * HOUR: 100 for hour in range(1, 20)}, 900, []),
        ({-hour * HOUR: 1 for hour in range(1, 30)}, 49, []),  # too little
        ({-hour * HOUR: 1 for hour in range(1, 30)}, 60, SPIKE),
        # The same every Monday at this hour, or an hour later.
        (WEEKS | {-1 * WEEK: 900, -2 * WEEK: 900}, 900, []),
        ({-week * WEEK + HOUR: 900 for week in range(1, 5)}, 900, []),
    ],
)
async def test_spikes(api: Api, before: Mapping[timedelta, int], now: int, expected: list[Any]):
    for offset, number in before.items():
        await count(api, NOW + offset, accepted=number)
    await count(api, NOW, accepted=now)
    await look(api)
    assert await alerts_of(api.dora) == await alerts_of(api.sue) == expected
    assert await alerts_of(api.otto) == []


async def test_a_spike_ends(api: Api):
    for offset, number in HOURS.items():
        await count(api, NOW + offset, accepted=number)
    await count(api, NOW, accepted=900)
    for minutes, state in ((0, "open"), (30, "open"), (65, "open"), (120, "open"), (126, "resolved")):
        await look(api, NOW + timedelta(minutes=minutes))
        assert await alerts_of(api.dora) == [("spike", EXAMPLE, state)]
    events = await api.sql("SELECT data->>'alert' AS alert FROM events WHERE kind = 'system.alert' ORDER BY id")
    assert [each["alert"] for each in events] == ["spike", "spike_recovered"]


async def test_forwarded_copies_count(api: Api):
    """Expansion: what aliases and forwards of a domain send counts for it."""
    for offset, number in HOURS.items():
        await count(api, NOW + offset, accepted=number)
    await api.sql(
        "INSERT INTO sender_outcomes VALUES (forward_subject(%(name)s), %(slot)s, %(domain)s, 900, 0, 900, 0)",
        name=EXAMPLE,
        slot=NOW.replace(minute=30),
        domain=DOMAIN_IDS[EXAMPLE],
    )
    await look(api)
    assert await alerts_of(api.dora) == SPIKE


@pytest.mark.parametrize(
    "before, now, others, expected",
    [
        (30, 0, 5, [("silence", EXAMPLE, "open")]),
        (30, 1, 5, []),
        (15, 0, 5, []),
        (30, 0, 0, [("silence", "server", "open")]),  # nothing goes out at all: one alert
    ],
)
async def test_silence(api: Api, before: int, now: int, others: int, expected: list[Any]):
    for week in range(1, 5):
        await count(api, NOW - week * WEEK - HOUR, delivered=before)
        await count(api, NOW - week * WEEK - HOUR, OTHER, delivered=5)
    if now:
        await count(api, NOW - HOUR, delivered=now)
    if others:
        await count(api, NOW - HOUR, OTHER, delivered=others)
    await look(api)
    assert await alerts_of(api.sue) == expected
    assert await alerts_of(api.dora) == [each for each in expected if each[1] != "server"]


async def test_the_silence_of_a_domain_has_not_ended_while_the_whole_server_is_silent(api: Api):
    for week in range(1, 5):
        for hour in range(-1, 5):
            await count(api, NOW - week * WEEK + hour * HOUR, delivered=30)
            await count(api, NOW - week * WEEK + hour * HOUR, OTHER, delivered=30)
    await count(api, NOW - HOUR, OTHER, delivered=5)
    await look(api)
    of_domain, of_server = ("silence", EXAMPLE, "open"), ("silence", "server", "open")
    assert await alerts_of(api.sue) == [of_domain]
    for hours in (3, 4.5):
        await look(api, NOW + hours * HOUR)
        assert await alerts_of(api.sue) == [of_domain, of_server]


async def sign_in(api: Api, mailbox: UUID, ip: str, at: datetime) -> None:
    async with api.app.db.tx() as conn:
        await login_history.record(conn, [MailboxSignIn(mailbox, at, "imap", ip)])


@pytest.mark.parametrize(
    "sign_ins, expected",
    [
        # From four networks within an hour.
        ([(10, "192.0.2.1"), (9, "198.51.100.1"), (8, "203.0.113.1"), (7, "2001:db8::1")], "sign_in_networks"),
        ([(10, "192.0.2.1"), (9, "192.0.99.9"), (8, "203.0.113.1"), (7, "2001:db8::1")], None),
        ([(70, "192.0.2.1"), (9, "198.51.100.1"), (8, "203.0.113.1"), (7, "2001:db8::1")], None),
        ([(10, "127.0.0.1"), (9, "198.51.100.1"), (8, "203.0.113.1"), (7, "2001:db8::1")], None),
        # After 20 days.
        ([(20 * 1440, "192.0.2.1"), (5, "203.0.113.1")], "sign_in_after_pause"),
        ([(20 * 1440, "192.0.2.1"), (5, "192.0.99.1")], None),
        ([(20 * 1440, "192.0.2.1"), (10 * 1440, "192.0.2.1"), (5, "203.0.113.1")], None),
        ([(5, "203.0.113.1")], None),
    ],
)
async def test_unusual_sign_ins(api: Api, sign_ins: list[tuple[int, str]], expected: str | None):
    mailbox = await api.mailbox(f"alice@{EXAMPLE}")
    for minutes, ip in sign_ins:
        await sign_in(api, mailbox, ip, NOW - timedelta(minutes=minutes))
    await look(api)
    assert await alerts_of(api.dora) == ([(expected, f"alice@{EXAMPLE}", "open")] if expected else [])
    assert await alerts_of(api.otto) == []


async def test_a_domain_that_is_added_again_has_no_history(api: Api):
    """T47."""
    for offset, number in HOURS.items():
        await count(api, NOW + offset, accepted=number, delivered=number)
    await count(api, NOW, accepted=900)
    await api.sql("DELETE FROM domains WHERE id = %(id)s", id=DOMAIN_IDS[EXAMPLE])
    await api.domain(EXAMPLE)
    await look(api)
    assert [each for each in await alerts_of(api.sue) if each[1] == EXAMPLE] == []
