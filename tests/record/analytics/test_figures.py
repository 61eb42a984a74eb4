"""The figures of /analytics, compared with the history, for several tenants."""

from __future__ import annotations

import asyncio
import csv
import random
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest

from mailkeep.features.record.analytics import rules, service
from mailkeep.features.record.analytics.model import DELAYS
from tests.plugins.post import Post, letter
from tests.record.history.test_totals import fill
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Client

COUNTED = ("accepted", "delivered", "deferred", "bounced", "failed", "suppressed", "complained", "received", "rejected")


async def read(client: Client, name: str = "overview", **query: Any) -> Any:
    answer = await client.get(f"/analytics/{name}", period="30d", **query)
    assert answer.status == 200, answer.body
    return answer.data


async def count_rows(post: Post, domain: str | None = None) -> dict[str, int]:
    """What the history has, row by row: recipients, attempts, and refused recipients."""
    rows = await post.api.sql(
        """
        SELECT m.domain_id, 'accepted' AS what, count(*)
        FROM messages m JOIN message_recipients r ON r.message_id = m.id
        WHERE m.accepted_at IS NOT NULL AND r.suppression IS NULL GROUP BY 1
        UNION ALL SELECT m.domain_id, a.kind, count(DISTINCT (m.id, a.recipient))
        FROM messages m JOIN message_attempts a ON a.message_id = m.id
        WHERE a.kind IN ('delivered', 'deferred', 'bounced', 'failed', 'complained') AND a.recipient IS NOT NULL
        GROUP BY 1, 2
        UNION ALL SELECT m.domain_id, r.status, count(*)
        FROM messages m JOIN message_recipients r ON r.message_id = m.id
        WHERE r.status IN ('received', 'rejected') OR r.status = 'suppressed' AND m.accepted_at IS NOT NULL
        GROUP BY 1, 2
        """
    )
    counted = Counter[str]()
    for row in rows:
        if domain is None or row["domain_id"] == DOMAIN_IDS[domain]:
            counted[row["what"]] += row["count"]
    return dict(counted)


def numbers(figures: dict[str, Any]) -> dict[str, int]:
    return {name: figures[name] for name in COUNTED if figures[name]}


@pytest.mark.parametrize("seed", [1, 2])
async def test_sums_are_those_of_the_history_for_each_tenant(post: Post, seed: int):
    chance = random.Random(seed)
    await fill(post, chance)
    for _ in range(4):  # retries, at other times
        await post.run_queue(chance.uniform(60, 7200))
    everything = await count_rows(post)
    assert {"accepted", "delivered", "deferred", "bounced", "received", "rejected"} <= everything.keys()
    assert numbers(await read(post.api.sue)) == everything
    assert numbers(await read(post.api.adam)) == everything
    of_example, of_other = await count_rows(post, EXAMPLE), await count_rows(post, OTHER)
    assert of_example != of_other
    assert numbers(await read(post.api.dora)) == of_example
    assert numbers(await read(post.api.otto)) == of_other
    assert numbers(await read(post.api.sue, domain_id=DOMAIN_IDS[OTHER])) == of_other
    # Every list adds up to the same, and shows a tenant only its own.
    for client, expected in ((post.api.sue, everything), (post.api.dora, of_example)):
        for interval in ("hour", "day"):
            rows = await read(client, "timeseries", interval=interval)
            assert numbers({name: sum(row[name] for row in rows) for name in COUNTED}) == expected
        assert [row["at"] for row in rows] == sorted({row["at"] for row in rows})
        assert len(rows) == 30
        domains = await read(client, "domains")
        assert numbers({name: sum(row[name] for row in domains) for name in COUNTED}) == expected
        bounces = await read(client, "bounces")
        for name in ("deferred", "bounced", "failed"):
            assert sum(row[name] for row in bounces) == expected.get(name, 0)
        assert all(row["advice"] and row["last_reply"] for row in bounces)
    assert {row["domain"] for row in await read(post.api.dora, "domains")} == {EXAMPLE}
    destinations = await read(post.api.sue, "destinations")
    assert sum(row["delivered"] for row in destinations) == everything["delivered"]
    assert numbers(await read(post.api.sue, provider=destinations[0]["provider"])) == numbers(destinations[0])


async def test_each_event_counts_once_whoever_counts(post: Post):
    await fill(post, random.Random(3))
    await asyncio.gather(*(service.count(post.api.app) for _ in range(6)), *(read(post.api.sue) for _ in range(6)))
    assert numbers(await read(post.api.sue)) == await count_rows(post)


async def test_a_domain_that_is_added_again_starts_empty(post: Post):
    await fill(post, random.Random(4))
    assert await read(post.api.sue, "domains")
    domain = await post.api.sue.post("/domains", {"name": "again.test"})
    await post.send(**{"from": {"email": "shop@again.test"}})
    assert (await read(post.api.sue, domain_id=domain.data["id"]))["accepted"] == 1
    assert (await post.api.sue.delete(f"/domains/{domain.data['id']}")).status == 200
    again = await post.api.sue.post("/domains", {"name": "again.test"})
    assert (await read(post.api.sue, domain_id=again.data["id"]))["accepted"] == 0
    named = {row["domain_id"]: row["domain"] for row in await read(post.api.sue, "domains")}
    assert named[domain.data["id"]] is None


async def test_tags_and_keys_have_figures_of_their_own(post: Post, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rules, "TAGS_A_DAY", 3)
    for number in range(5):
        await post.send(tags=[f"t{number}", "all"])
        await read(post.api.sue)  # counts each message on its own
    await post.send(tags=["t0"])
    rows = {row["tag"]: row["accepted"] for row in await read(post.api.sue, "tags")}
    assert rows == {"t0": 2, "all": 5, "t1": 1, "other": 3}
    await post.send(tags=["other"])  # counts with the rest
    rows = [(row["tag"], row["accepted"]) for row in await read(post.api.sue, "tags")]
    assert sorted(rows) == [("all", 5), ("other", 4), ("t0", 2), ("t1", 1)]
    assert (await read(post.api.sue, tag="all"))["accepted"] == 5
    assert (await read(post.api.sue, tag="other"))["accepted"] == 4
    assert (await read(post.api.otto, tag="all"))["accepted"] == 0
    client, key_id = await post.api.key(post.api.sue, name="Shop")
    assert (await client.post("/send", letter())).status == 200
    assert (await read(post.api.sue, api_key_id=key_id))["messages"] == 1
    (row,) = await read(post.api.sue, "api-keys")
    assert (row["api_key_id"], row["name"], row["accepted"]) == (str(key_id), "Shop", 1)
    for other in (post.api.adam, post.api.dora):  # GET /api-keys does not show them the key either
        (row,) = await read(other, "api-keys")
        assert (row["api_key_id"], row["name"], row["accepted"]) == (str(key_id), None, 1)


async def test_tables_and_refusals(post: Post):
    await fill(post, random.Random(5))
    for name in ("overview", "timeseries", "domains", "destinations", "bounces", "tags", "api-keys"):
        answer = await post.api.sue.get(f"/analytics/{name}", period="7d", format="csv")
        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        lines = list(csv.DictReader(StringIO(answer.body.decode())))
        rows = (await post.api.sue.get(f"/analytics/{name}", period="7d")).data
        rows = [rows, rows.pop("previous")] if name == "overview" else rows
        assert lines == [{key: "" if cell is None else str(cell) for key, cell in row.items()} for row in rows], name
        for period in (None, "", "1d", "24H"):
            answer = await post.api.sue.get(f"/analytics/{name}", **({} if period is None else {"period": period}))
            assert (answer.status, answer.code) == (400, "INVALID_PERIOD"), (name, period)
    for query in ({"tz": "Mars/Base"}, {"tz": "Factory"}, {"tag": "a", "provider": "google"}, {"format": "xml"}):
        answer = await post.api.sue.get("/analytics/overview", period="7d", **query)
        assert (answer.status, answer.code) == (400, "INVALID_FIELD"), query
    answer = await post.api.sue.get(
        "/analytics/overview", period="7d", domain_id="0199a1b2-0000-7000-8000-000000000000"
    )
    assert answer.code == "DOMAIN_NOT_FOUND"
    answer = await post.api.dora.get("/analytics/overview", period="7d", domain_id=DOMAIN_IDS[OTHER])
    assert answer.code == "FORBIDDEN"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "zone, now, lengths",
    [
        ("Europe/Berlin", "2026-03-30T10:07:00", [24, 24, 24, 24, 24, 23, 24]),  # 29 March: summer time begins
        ("Europe/Berlin", "2026-10-26T10:07:00", [24, 24, 24, 24, 24, 25, 24]),
        ("Asia/Kathmandu", "2026-03-30T10:07:00", [24] * 7),  # UTC+05:45
        ("America/Asuncion", "2023-10-02T10:07:00", [24, 24, 24, 24, 24, 23, 24]),  # begins at midnight
        ("Australia/Lord_Howe", "2026-10-05T10:07:00", [24, 24, 24, 24, 24, 23.5, 24]),  # by half an hour
    ],
)
def test_days_are_those_of_the_zone(zone: str, now: str, lengths: list[float]):
    window = rules.window("7d", None, rules.zone(zone), at(now))
    ends = [*window.edges[1:], window.edges[-1] + timedelta(hours=24)]
    assert [(end - start) / timedelta(hours=1) for start, end in zip(window.edges, ends, strict=True)] == lengths
    assert all(rules.slot_of(edge) == edge for edge in window.edges)
    assert window.edges[-1] <= at(now) < ends[-1]
    previous = rules.window("7d", None, rules.zone(zone), at(now), previous=True)
    assert len(previous.edges) == 7
    assert previous.edges[-1] < previous.until <= window.since
    hours = rules.window("24h", None, rules.zone(zone), at(now))
    assert len(hours.edges) == 24
    assert at(now) - hours.edges[-1] < timedelta(hours=1)
    for each in (window, previous, hours):
        for edges in (each.edges, [each.since]):
            check_ranges(edges, each.until)


def check_ranges(edges: Sequence[datetime], until: datetime) -> None:
    """Each quarter of an hour is in one counter, none of which covers an edge, and there are few."""
    quarters: list[datetime] = []
    ranges = rules.time_ranges(edges, until)
    counters = 0
    for each in ranges:
        step = timedelta(minutes=each.step)
        begin = each.since
        assert rules.slot_of(begin, each.step) == begin
        while begin < each.until:
            assert not any(begin < edge < begin + step for edge in edges)
            quarters += [begin + n * rules.SLOT for n in range(step // rules.SLOT)]
            begin, counters = begin + step, counters + 1
    assert quarters == [edges[0] + n * rules.SLOT for n in range(len(quarters))]
    assert quarters[-1] == rules.slot_of(until)
    if len(edges) == 1:
        assert counters <= (until - edges[0]).days + 2 * (23 + 3)


def test_percentiles_are_within_six_percent():
    chance = random.Random(6)
    times = sorted(chance.lognormvariate(1.4, 1.1) for _ in range(20_000))
    delays = [0] * len(DELAYS)
    for seconds in times:
        delays[rules.delay_bucket(seconds)] += 1
    for share in (0.5, 0.95, 0.99):
        assert rules.percentile(delays, share) == pytest.approx(times[int(share * len(times))], rel=0.06)
    assert rules.percentile([0] * len(DELAYS), 0.5) is None
    assert rules.delay_bucket(-3) == 0
    assert rules.delay_bucket(1e9) == len(DELAYS) - 1
