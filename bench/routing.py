"""RCPT look-ups: `route_address` with 1,000 and with 1,000,000 aliases, over one connection each, interleaved.

Promise: ratio of the medians ≤ 1.2, p99 < 5 ms. Addresses are random existing ones; the private PostgreSQL has the
product's settings. `python -m bench.routing [LOOKUPS] [ALIASES]`.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from mailkeep.core.clock import utc_now
from mailkeep.db import migrate, postgres

SMALL = 1_000
DOMAINS = 10

DOMAINS_SQL = """
    INSERT INTO domains (id, name, active, sending_enabled, receiving_enabled, description, default_quota_bytes,
                         plus_delimiter, dns_status, created_at, updated_at)
    SELECT gen_random_uuid(), 'd' || i || '.test', true, true, true, '', 0, '+', 'unchecked', %(at)s, %(at)s
    FROM generate_series(0, %(domains)s - 1) i
"""
MAILBOXES_SQL = """
    INSERT INTO mailboxes (id, domain_id, local_part, local_key, name, password_hash, active, quota_bytes, imap,
                           pop3, smtp, sieve, created_at, updated_at)
    SELECT gen_random_uuid(), d.id, 'm' || i, 'm' || i, '', '', true, 0, true, true, true, true, %(at)s, %(at)s
    FROM generate_series(0, %(boxes)s - 1) i JOIN domains d ON d.name = 'd' || (i %% %(domains)s) || '.test'
"""
ALIASES_SQL = """
    INSERT INTO aliases (id, domain_id, source_local_part, source_key, destinations, destination_keys, active,
                         created_at, updated_at)
    SELECT gen_random_uuid(), d.id, 'a' || i, 'a' || i, t.to_, t.to_, true, %(at)s, %(at)s
    FROM generate_series(0, %(aliases)s - 1) i
    JOIN domains d ON d.name = 'd' || (i %% %(domains)s) || '.test'
    CROSS JOIN LATERAL (SELECT ARRAY['m' || (i %% %(boxes)s) || '@d' || (i %% %(domains)s) || '.test',
                                     'x' || i || '@out.test'] AS to_) t
"""

Ask = Callable[[int], str]
KINDS: dict[str, tuple[Ask, int]] = {  # an address of alias number n, and how many aliases share one
    "mailbox": (lambda n: f"M{n}@D{n % DOMAINS}.test", 10),
    "plus": (lambda n: f"m{n}+news@d{n % DOMAINS}.test", 10),
    "alias": (lambda n: f"A{n}@d{n % DOMAINS}.test", 1),
    "unknown": (lambda n: f"nobody{n}@d{n % DOMAINS}.test", 1),
}


def fill(url: str, aliases: int) -> None:
    values = {"at": utc_now(), "domains": DOMAINS, "boxes": aliases // 10, "aliases": aliases}
    with psycopg.connect(url, autocommit=True) as conn:
        for statement in (DOMAINS_SQL, MAILBOXES_SQL, ALIASES_SQL):
            conn.execute(statement, values)
        conn.execute("VACUUM ANALYZE")


def measure(conns: dict[int, psycopg.Connection], kind: str, lookups: int) -> dict[int, list[float]]:
    """Seconds of each lookup by number of aliases; the first tenth warms up."""
    make, one_of = KINDS[kind]
    chance = random.Random(kind)
    seconds: dict[int, list[float]] = {size: [] for size in conns}
    for turn in range(lookups + lookups // 10):
        for size, conn in conns.items():
            address = make(chance.randrange(size // one_of))
            start = time.perf_counter()
            row = conn.execute("SELECT decision, deliveries FROM route_address(%s)", (address,)).fetchone()
            took = time.perf_counter() - start
            assert row is not None
            assert (row[0] == "unknown_user") == (kind == "unknown"), (address, row)
            if turn >= lookups // 10:
                seconds[size].append(took)
    return seconds


async def main(lookups: int, large: int) -> None:
    with tempfile.TemporaryDirectory(prefix="mailkeep-bench-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        server = await postgres.start(Path(folder))
        try:
            await migrate.migrate(server.urls.owner, utc_now)
            report(databases(server.urls, (SMALL, large)), lookups)
        finally:
            await server.stop()


def databases(urls: postgres.Urls, sizes: tuple[int, ...]) -> dict[int, psycopg.Connection]:
    """A database for each number of aliases, cloned from the migrated one."""
    made: dict[int, psycopg.Connection] = {}
    template = conninfo_to_dict(urls.owner)["dbname"]
    with psycopg.connect(make_conninfo(urls.owner, dbname="postgres"), autocommit=True) as maintenance:
        for size in sizes:
            name = f"bench_{size}"
            maintenance.execute(
                sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(str(template)))
            )
            fill(make_conninfo(urls.owner, dbname=name), size)
            made[size] = psycopg.connect(make_conninfo(urls.app, dbname=name), autocommit=True)
    return made


def report(conns: dict[int, psycopg.Connection], lookups: int) -> None:
    small, large = sorted(conns)
    print(f"route_address, {lookups} lookups of each kind, µs with the round trip")
    print(f"{'kind':10}{small:>12,} p50{'p99':>8}{large:>12,} p50{'p99':>8}{'ratio':>8}")
    total: dict[int, list[float]] = {size: [] for size in conns}
    for kind in KINDS:
        seconds = measure(conns, kind, lookups)
        for size in conns:
            total[size] += seconds[size]
        print(line(kind, seconds[small], seconds[large]))
    print(line("all", total[small], total[large]))
    print("promise: ratio ≤ 1.2, p99 < 5,000 µs")
    for conn in conns.values():
        conn.close()


def line(kind: str, small: list[float], large: list[float]) -> str:
    def quantiles(seconds: list[float]) -> tuple[float, float]:
        return statistics.median(seconds) * 1e6, statistics.quantiles(seconds, n=100)[98] * 1e6

    (p50, p99), (large_p50, large_p99) = quantiles(small), quantiles(large)
    return f"{kind:10}{p50:>16,.0f}{p99:>8,.0f}{large_p50:>16,.0f}{large_p99:>8,.0f}{large_p50 / p50:>8.2f}"


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]]
    asyncio.run(main(*(numbers + [4_000, 1_000_000][len(numbers) :])))
