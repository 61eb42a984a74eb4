"""GET /messages/totals: compared with the database, for several tenants."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from mailkeep.features.record.history import rules
from tests.plugins.post import Post, letter
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Client

OUTCOMES = ("bounce", "defer", "fail", "complaint", "suppressed", "customer")


async def read_totals(client: Client, **query: Any) -> dict[str, int]:
    answer = await client.get("/messages/totals", **query)
    assert answer.status == 200, answer.body
    assert answer.data["most"] == rules.MOST_COUNTED
    return {status: count for status, count in answer.data["totals"].items() if count}


async def count_rows(post: Post, domain: str | None = None, since: str | None = None) -> dict[str, int]:
    """The messages by status, counted from all rows of the database; by their recipients' statuses if these differ."""
    rows = await post.api.sql(
        "SELECT m.id, m.status, m.domain_id, m.created_at, array_agg(DISTINCT r.status) AS recipients"
        " FROM messages m JOIN message_recipients r ON r.message_id = m.id"
        " WHERE m.created_at >= coalesce(%(since)s::timestamptz, '-infinity') GROUP BY m.id",
        since=since,
    )
    counted = Counter[str]()
    for row in rows:
        if domain is None or row["domain_id"] == DOMAIN_IDS[domain]:
            counted.update(row["recipients"] if row["status"] == "partial" else [row["status"]])
    return dict(counted)


async def fill(post: Post, chance: random.Random) -> None:
    """Messages of two tenants, with one to three recipients, some scheduled, some received, some refused."""
    await post.api.mailbox(f"alice@{EXAMPLE}")
    await post.api.mailbox(f"alice@{OTHER}")
    for domain, number in ((EXAMPLE, 14), (OTHER, 9)):
        items: list[dict[str, Any]] = []
        for index in range(number):
            to = [{"email": f"{each}@elsewhere.test"} for each in chance.sample(OUTCOMES, chance.randint(1, 3))]
            more = {"scheduled_at": "2026-03-09T12:00:00Z"} if index % 7 == 3 else {}
            items.append(letter(**{"from": {"email": f"shop@{domain}"}}, to=to, **more))
        assert (await post.api.sue.post("/send/batch", {"messages": items})).status == 200
        await post.deliver(f"alice@{domain}")
        await post.deliver(f"nobody@{domain}")
    await post.run_queue()


@pytest.mark.parametrize("seed", [1, 2])
async def test_totals_are_those_of_the_database_for_each_tenant(post: Post, seed: int):
    await fill(post, random.Random(seed))
    post.api.clock.advance(days=2)
    since = "2026-03-02T12:00:00.000Z"
    await fill_again(post)
    everything = await count_rows(post)
    assert {"scheduled", "bounced", "deferred", "delivered", "suppressed", "received", "rejected"} <= everything.keys()
    assert await read_totals(post.api.sue) == everything
    assert await read_totals(post.api.adam) == everything
    # Dora has one of the domains, Otto the other, and a scoped key the first.
    of_example, of_other = await count_rows(post, EXAMPLE), await count_rows(post, OTHER)
    assert of_example != of_other
    assert await read_totals(post.api.dora) == of_example
    assert await read_totals(post.api.otto) == of_other
    assert await read_totals(post.api.scoped) == of_example
    assert await read_totals(post.api.sue, domain_id=DOMAIN_IDS[OTHER]) == of_other
    assert await read_totals(post.api.sue, since=since) == await count_rows(post, None, since) != everything
    assert await read_totals(post.api.dora, since=since) == await count_rows(post, EXAMPLE, since)
    assert (await post.api.dora.get("/messages/totals", domain_id=DOMAIN_IDS[OTHER])).code == "FORBIDDEN"
    # A total is the number of messages in the list with the filter `status`.
    for status, count in everything.items():
        assert len(await post.messages(status=status, limit=200)) == count


async def fill_again(post: Post) -> None:
    await post.send(to=[{"email": "bounce@elsewhere.test"}])
    await post.send(to=[{"email": "bounce@elsewhere.test"}, {"email": "customer@elsewhere.test"}])
    await post.send(to=[{"email": "defer@elsewhere.test"}])
    await post.run_queue()


async def test_counting_ends_at_the_limit(post: Post, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rules, "MOST_COUNTED", 3)
    for number in range(5):
        await post.send(to=[{"email": f"{number}@elsewhere.test"}])
    assert await read_totals(post.api.sue) == {"queued": 3}
