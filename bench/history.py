"""The first page of GET /messages for every filter, with N and with 10 N messages, and the cost of writing a message.

Promise: ratio of the medians ≤ 1.5 from 1,000,000 to 5,000,000 messages. Calls the route's service, on the private
PostgreSQL with the product's settings, interleaved. The messages are from the last 80 days; a tenth is inbound.
`python -m bench.history [LARGE] [SMALL] [TURNS]`.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from mailkeep.core.clock import utc_now
from mailkeep.core.ids import uuid7
from mailkeep.core.page import PageRequest
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.db import migrate, postgres
from mailkeep.db.pool import DatabasePool
from mailkeep.features.record.history import service as history
from mailkeep.features.record.history.model import HistoryFilter
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.model import DeliveryOutcome, Message, Recipient, ServerReply

DAYS, DOMAINS, CHUNK = 80, 20, 100_000
WHO = Principal(None, "bench", Role.SUPER_ADMIN, ActorType.CLI)

# i counts from the oldest. All values have the same share in every table size, except those named rare.
ROWS_SQL = """
    CREATE TEMP TABLE rows AS
    SELECT i, t.at, (lpad(to_hex((extract(epoch FROM t.at) * 1000)::bigint), 12, '0') || '7' || substr(h, 1, 3) || '8'
           || substr(h, 4, 15))::uuid AS id, i %% 10 = 0 AS inbound, d.id AS domain_id, d.name AS domain_name,
           CASE WHEN i %% 10 = 0 THEN CASE WHEN i %% 50 = 0 THEN 'rejected' ELSE 'received' END
                WHEN i %% 1000 = 7 THEN 'bounced' WHEN i %% 20000 = 11 THEN 'failed' ELSE 'delivered' END AS status,
           CASE WHEN i = 1003 THEN 'the unicorn of the year'
                WHEN i %% 7919 = 0 THEN 'quarterly zebra report ' || i
                ELSE (ARRAY['Your order ', 'Invoice ', 'Reset your password ', 'Newsletter '])[1 + i %% 4]
                     || substr(h, 6, 9) END AS subject,
           substr(h, 16, 6) || '.' || substr(h, 3, 4) || '@' || (ARRAY['mail', 'post', 'box', 'web'])[1 + i %% 4]
               || (i %% 997) || '.example' AS outside,
           CASE WHEN i %% 100 = 33 THEN ARRAY['campaign-' || (i %% 7)] ELSE '{}' END AS tags
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) i
    CROSS JOIN LATERAL (
        SELECT md5(i::text) AS h, %(start)s::timestamptz + %(days)s * interval '1 day' * i / %(size)s AS at) t
    JOIN domains d ON d.name = 'd' || CASE WHEN i %% 500 = 0 THEN %(domains)s - 1 ELSE i * 31 %% (%(domains)s - 1) END
                               || '.test'
"""
COPIES_SQL = (
    """
    INSERT INTO messages (id, direction, message_id, queue_id, domain_id, domain_name, mailbox_id, source, mail_from,
                          from_address, to_addresses, cc_addresses, subject, size, tags, status, created_at,
                          accepted_at)
    SELECT id, CASE WHEN inbound THEN 'inbound' ELSE 'outbound' END, '<' || id || '@' || domain_name || '>',
           replace(id::text, '-', ''), domain_id, domain_name, CASE WHEN inbound THEN domain_id END, 'api',
           CASE WHEN inbound THEN outside ELSE 'shop' || i % 5 || '@' || domain_name END,
           CASE WHEN inbound THEN outside ELSE 'shop' || i % 5 || '@' || domain_name END,
           ARRAY[CASE WHEN inbound THEN 'info@' || domain_name ELSE outside END], '{}', subject, 2000, tags, status,
           at, at
    FROM rows
    """,
    """
    INSERT INTO message_recipients (message_id, position, address, address_key, status, attempts, smtp_code)
    SELECT id, 0, a, a, status, 1, 250
    FROM rows CROSS JOIN LATERAL (SELECT CASE WHEN inbound THEN 'info@' || domain_name ELSE outside END AS a) a
    """,
    """
    INSERT INTO message_search (message_id, domain_id, subject, sender, recipients)
    SELECT id, domain_id, mailkeep_fold(subject),
           CASE WHEN inbound THEN outside ELSE 'shop' || i % 5 || '@' || domain_name END,
           CASE WHEN inbound THEN 'info@' || domain_name ELSE outside END
    FROM rows
    """,
    "INSERT INTO message_tags (tag, message_id) SELECT unnest(tags), id FROM rows",
    """
    INSERT INTO message_attempts (message_id, id, at, kind, recipient, attempt, domain_id, provider, bounce_class)
    SELECT id, id, at, status, outside, 1, domain_id,
           CASE WHEN i % 20000 = 13 THEN 'comcast' WHEN i % 5 < 2 THEN 'google' ELSE 'other' END,
           CASE status WHEN 'bounced' THEN (ARRAY['invalid_recipient', 'mailbox_full'])[1 + i / 1000 % 2]
                       WHEN 'failed' THEN 'network' END
    FROM rows WHERE NOT inbound
    """,
    "DROP TABLE rows",
)
DOMAINS_SQL = """
    INSERT INTO domains (id, name, active, sending_enabled, receiving_enabled, description, default_quota_bytes,
                         plus_delimiter, dns_status, created_at, updated_at)
    SELECT gen_random_uuid(), 'd' || i || '.test', true, true, true, '', 0, '+', 'unchecked', %(at)s, %(at)s
    FROM generate_series(0, %(domains)s - 1) i
"""


def fill(url: str, size: int) -> None:
    """Insert `size` messages over the last days; the last domain has 1/500 of the messages of others."""
    now = utc_now()
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute("SET synchronous_commit = off; SET maintenance_work_mem = '512MB'")
        for day in range(0, DAYS + 1, 20):
            conn.execute("SELECT ensure_partitions(%s)", (now - timedelta(days=day),))
        conn.execute(DOMAINS_SQL, {"at": now, "domains": DOMAINS})
        definition = conn.execute("SELECT pg_get_indexdef('message_search_trigrams'::regclass)").fetchone()
        assert definition is not None
        conn.execute("DROP INDEX message_search_trigrams")
        for first in range(1, size + 1, CHUNK):
            conn.execute(
                ROWS_SQL,
                {
                    "first": first,
                    "last": min(size, first + CHUNK - 1),
                    "start": now - timedelta(days=DAYS),
                    "days": DAYS,
                    "size": size,
                    "domains": DOMAINS,
                },
            )
            for statement in COPIES_SQL:
                conn.execute(statement)
        conn.execute(definition[0].replace("ON ONLY", "ON"))
        conn.execute("VACUUM ANALYZE")


async def make_filters(db: DatabasePool) -> dict[str, HistoryFilter]:
    """The filters by name; a filter for one message uses one from the middle of the history."""
    async with db.autocommit() as conn:
        cursor = await conn.execute(
            "SELECT id, message_id, queue_id, to_addresses[1] AS to_ FROM messages WHERE direction = 'outbound' "
            "AND id > uuid7_floor(%(at)s) ORDER BY id LIMIT 1",
            {"at": utc_now() - timedelta(days=DAYS / 2)},
        )
        one = await cursor.fetchone()
        cursor = await conn.execute("SELECT id, name FROM domains ORDER BY length(name), name")
        domains = [row["id"] for row in await cursor.fetchall()]
    assert one is not None
    rare, some = domains[-1], domains[:3]
    week = utc_now() - timedelta(days=40)
    return {
        "(all)": HistoryFilter(None),
        "direction=inbound": HistoryFilter(None, direction="inbound"),
        "direction=outbound": HistoryFilter(None, direction="outbound"),
        "status=delivered": HistoryFilter(None, status="delivered"),
        "status=failed (1 in 20,000)": HistoryFilter(None, status="failed"),
        "status=lost (none)": HistoryFilter(None, status="lost"),
        "domain_id": HistoryFilter(None, domain_id=domains[0]),
        "domain_id (rare)": HistoryFilter(None, domain_id=rare),
        "three domains seen": HistoryFilter(some),
        "three domains, status=bounced": HistoryFilter(some, status="bounced"),
        "mailbox_id": HistoryFilter(None, mailbox_id=domains[0]),
        "message_id": HistoryFilter(None, message_id=one["message_id"]),
        "queue_id": HistoryFilter(None, queue_id=one["queue_id"]),
        "tag": HistoryFilter(None, tag="campaign-3"),
        "tag (none)": HistoryFilter(None, tag="nothing"),
        "provider": HistoryFilter(None, provider="google"),
        "provider (1 in 20,000)": HistoryFilter(None, provider="comcast"),
        "provider, status=bounced": HistoryFilter(None, provider="google", status="bounced"),
        "provider, rare domain": HistoryFilter(None, provider="google", domain_id=rare),
        "provider, three domains": HistoryFilter(some, provider="other"),
        "bounce_class": HistoryFilter(None, bounce_class="invalid_recipient"),
        "bounce_class, rare domain": HistoryFilter(None, bounce_class="mailbox_full", domain_id=rare),
        "bounce_class (none)": HistoryFilter(None, bounce_class="tls"),
        "since, until": HistoryFilter(None, since=week, until=week + timedelta(days=7)),
        "from (a sender)": HistoryFilter(None, from_="shop3@d4"),
        "to (one address)": HistoryFilter(None, to=one["to_"]),
        "to (1 in 1,000)": HistoryFilter(None, to="@mail500.example"),
        "to (nobody)": HistoryFilter(None, to="nobody@nowhere"),
        "subject (1 in 4)": HistoryFilter(None, subject="newsletter"),
        "subject (1 in 8,000)": HistoryFilter(None, subject="ZEBRA"),
        "subject (one)": HistoryFilter(None, subject="unicorn"),
        "subject (none)": HistoryFilter(None, subject="no such words"),
        "subject, rare domain": HistoryFilter(None, subject="invoice", domain_id=rare),
        "subject, status=bounced": HistoryFilter(None, subject="order", status="bounced"),
        "q (two words)": HistoryFilter(None, q="invoice shop3@d4"),
        "q (one)": HistoryFilter(None, q="unicorn year"),
    }


def letter(domain_id: UUID) -> Message:
    """A message to send."""
    at = utc_now()
    one = uuid7(at)
    to = f"{one.hex[:10]}@mail{one.int % 997}.example"
    return Message(
        id=one,
        direction="outbound",
        message_id=f"<{one}@d1.test>",
        queue_id=None,
        domain_id=domain_id,
        domain_name="d1.test",
        mailbox_id=None,
        source="api",
        admin_id=None,
        api_key_id=None,
        mail_from="shop1@d1.test",
        from_address="shop1@d1.test",
        to_addresses=[to],
        cc_addresses=[],
        subject=f"Your order {one.hex[12:22]}",
        size=2000,
        status="submitting",
        created_at=at,
        recipients=[Recipient(to, "submitting")],
    )


async def write(db: DatabasePool, batches: int) -> float:
    """Seconds per message (attempt, acceptance, outcome), in batches of a hundred."""
    said = ServerReply(250, "2.0.0", "Ok", "mx.example")
    started = time.perf_counter()
    for _ in range(batches):
        batch = [letter(UUID(int=1)) for _ in range(100)]
        async with db.tx() as conn:
            await messages.insert_messages(conn, batch)
        async with db.tx() as conn:
            await messages.accept(conn, utc_now(), [(one, one.id.hex) for one in batch], status="queued")
        for one in batch:
            async with db.tx() as conn:
                await messages.record_outcome(
                    conn, utc_now(), DeliveryOutcome(one.id, one.to_addresses[0], "delivered", 1, said)
                )
    return (time.perf_counter() - started) / batches / 100


async def compare(what: str, turns: int, sides: list[Callable[[], Awaitable[object]]]) -> tuple[float, ...]:
    """Medians of interleaved turns, printed with their ratio."""
    seconds: list[list[float]] = [[] for _ in sides]
    for turn in range(turns + 2):
        for side, ask in enumerate(sides):
            started = time.perf_counter()
            await ask()
            if turn > 1:
                seconds[side].append(time.perf_counter() - started)
    small, large = (statistics.median(side) for side in seconds)
    print(f"{what:32}{small * 1e3:>12.2f}{large * 1e3:>12.2f}{large / small:>8.2f}", flush=True)
    return small, large


async def measure(databases: dict[int, DatabasePool], turns: int) -> None:
    first = PageRequest(50, "created_at", "desc", None)
    asked = {size: await make_filters(db) for size, db in databases.items()}

    def page(size: int, name: str) -> Callable[[], Awaitable[object]]:
        async def ask() -> object:
            async with databases[size].autocommit() as conn:
                return await history.page(conn, WHO, asked[size][name], first)

        return ask

    print(f"{'first page, ms':32}" + "".join(f"{size:>12,}" for size in databases) + f"{'ratio':>8}")
    for name in next(iter(asked.values())):
        await compare(name, turns, [page(size, name) for size in databases])
    print("promise: ratio ≤ 1.5 from 1,000,000 to 5,000,000")
    await compare("life of one message, written", 3, [lambda db=db: write(db, 10) for db in databases.values()])
    print("(that line: milliseconds for 1,000 messages)")


async def main(large: int, small: int, turns: int) -> None:
    with tempfile.TemporaryDirectory(prefix="mailkeep-bench-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        server = await postgres.start(Path(folder))
        try:
            await migrate.migrate(server.urls.owner, utc_now)
            databases = make(server.urls, (small, large))
            for db in databases.values():
                await db.open()
            await measure(databases, turns)
            for db in databases.values():
                await db.close()
        finally:
            await server.stop()


def make(urls: postgres.Urls, sizes: tuple[int, ...]) -> dict[int, DatabasePool]:
    """A database for each number of messages, cloned from the migrated one."""
    made: dict[int, DatabasePool] = {}
    template = str(conninfo_to_dict(urls.owner)["dbname"])
    with psycopg.connect(make_conninfo(urls.owner, dbname="postgres"), autocommit=True) as maintenance:
        for size in sizes:
            name = f"bench_{size}"
            maintenance.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template))
            )
            fill(make_conninfo(urls.owner, dbname=name), size)
            made[size] = DatabasePool(make_conninfo(urls.app, dbname=name), min_size=1, max_size=2)
    return made


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]]
    asyncio.run(main(*(numbers + [1_000_000, 100_000, 15][len(numbers) :])))
