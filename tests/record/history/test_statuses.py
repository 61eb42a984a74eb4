"""GET /messages by status: a message is found by the status of each recipient."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from psycopg.sql import SQL

from mailkeep.features.record.history import store
from mailkeep.features.record.history.model import HistoryFilter
from tests.support.client import DOMAIN_IDS, OTHER, Api, Client
from tests.support.messages import acceptance, insert, outbound, outcome, run_steps


async def test_a_status_filter_finds_messages_with_one_such_recipient(api: Api):
    mixed = await insert(api, outbound(api, "a@far.test", "b@far.test", "c@far.test"))
    plain = await insert(api, outbound(api, "a@far.test"))
    foreign = outbound(
        api, "a@far.test", "b@far.test", domain_id=DOMAIN_IDS[OTHER], domain_name=OTHER, tags=["monthly"]
    )
    await insert(api, foreign)
    for message in (mixed, plain, foreign):
        await run_steps(api, message, acceptance(api), outcome(api, "a@far.test", "bounced"))
    await run_steps(api, mixed, outcome(api, "b@far.test", "deferred"), outcome(api, "c@far.test", "delivered"))

    async def listed(status: str, client: Client | None = None, **query: Any) -> set[str]:
        caller = client or api.sue
        found: list[str] = []
        cursor = ""
        while True:
            page = await caller.get("/messages", status=status, limit=1, cursor=cursor, **query)
            assert page.status == 200, page
            found += [row["id"] for row in page.data]
            cursor = page.json["meta"]["pagination"]["next_cursor"]
            if not cursor:
                assert len(found) == len(set(found))
                return set(found)

    ids = {name: str(each.id) for name, each in (("mixed", mixed), ("plain", plain), ("foreign", foreign))}
    assert await listed("bounced") == set(ids.values())
    assert await listed("bounced", direction="outbound") == set(ids.values())
    assert await listed("bounced", direction="inbound") == set()
    assert await listed("bounced", api.dora) == {ids["mixed"], ids["plain"]}
    assert await listed("bounced", domain_id=str(DOMAIN_IDS[OTHER])) == {ids["foreign"]}
    assert await listed("bounced", tag="monthly") == {ids["foreign"]}
    assert await listed("bounced", q="b@far.test") == {ids["mixed"], ids["foreign"]}
    assert await listed("deferred") == {ids["mixed"]}
    assert await listed("delivered") == {ids["mixed"]}
    assert await listed("queued") == {ids["foreign"]}
    assert await listed("partial") == {ids["mixed"], ids["foreign"]}
    [row] = (await api.sue.get("/messages", status="deferred")).data
    assert row["status"] == "partial"

    # The deferred recipients get their final status.
    await run_steps(api, mixed, outcome(api, "b@far.test", "delivered", 2))
    await run_steps(api, foreign, outcome(api, "b@far.test", "bounced"))
    assert await listed("deferred") == set()
    assert await listed("queued") == set()
    assert await listed("bounced") == set(ids.values())
    assert await listed("partial") == {ids["mixed"]}
    rows = await api.sql("SELECT message_id, status FROM message_statuses ORDER BY status")
    assert [(row["message_id"], row["status"]) for row in rows] == [(mixed.id, "bounced"), (mixed.id, "delivered")]


@pytest.mark.parametrize(
    "filters, index",
    [
        (HistoryFilter(None, status="bounced"), "message_statuses"),
        (HistoryFilter(None, provider="google"), "provider_kind_message_id_idx"),
        (HistoryFilter([UUID(int=1)], provider="google", status="bounced"), "provider_kind_message_id_idx"),
        (HistoryFilter(None, bounce_class="policy", provider="google"), "bounce_class_kind_message_id_idx"),
        (HistoryFilter([UUID(int=1)], bounce_class="policy"), "bounce_class_kind_message_id_idx"),
    ],
)
async def test_a_list_reads_only_the_rows_of_its_page(api: Api, filters: HistoryFilter, index: str):
    """According to the query plan, each list is read in the order of an index, also that of `partial` messages."""
    # Of an empty table, each index costs the same. Without statistics that of the domain is as good as the other.
    await api.sql(
        """
        INSERT INTO message_attempts (message_id, id, at, kind, attempt, domain_id, provider, bounce_class)
        SELECT id, id, now(), (ARRAY['delivered', 'deferred', 'bounced', 'failed'])[1 + mod(n, 4)], 1,
               ('00000000-0000-0000-0000-' || lpad(mod(n, 50)::text, 12, '0'))::uuid,
               (ARRAY['google', 'yahoo', 'other'])[1 + mod(n, 3)], (ARRAY['policy', 'tls', 'auth'])[1 + mod(n / 3, 3)]
        FROM generate_series(1, 20000) n CROSS JOIN LATERAL (SELECT gen_random_uuid() AS id WHERE n > 0) i
        """
    )
    async with api.app.db.autocommit() as conn:
        await conn.execute("SET enable_seqscan TO off")
        query = store._in_order(filters, None, descending=True)
        arguments = store._arguments(filters, None) | {"rows": 51}
        cursor = await conn.execute(SQL("EXPLAIN ") + query, arguments)
        plan = "\n".join(next(iter(row.values())) for row in await cursor.fetchall())
        await conn.execute("RESET enable_seqscan")
    assert "Index Only Scan" in plan or "Index Scan" in plan
    assert index in plan
    assert "Seq Scan" not in plan.replace("Function Scan", "")
