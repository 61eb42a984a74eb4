"""One worker checks the DNS records of 10,000 domains, against two name servers on loopback.

Prints the rate without a limit, against the 10,000 an hour that it needs; the queries per domain, hence how many of
`dns.lookups_per_second` (200) an hour of checks takes; the growth of memory after the first tenth; and the time of
GET /domains with a rare and a common `dns_status` at 10,000 domains against 100 (interleaved, medians).
Promises: 10,000 within an hour and the budget, memory growth ≤ 1.05 ×, list ≤ 1.3 ×.
`python -m bench.dns_checks [DOMAINS]`.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import resource
import sys
import tempfile
import time
from dataclasses import replace
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

import psycopg
import uvloop

from bench.rig.data import application, database
from mailkeep.app import App
from mailkeep.core.clock import utc_now
from mailkeep.db.postgres import Urls
from mailkeep.features.directory.dns_checks.jobs import DnsCheckWorker
from mailkeep.run.runtime.router import ACCESS_CONTROL, ENDPOINTS
from mailkeep.settings.dns import DnsSettings
from mailkeep.web.pipeline import Pipeline
from mailkeep.web.router import Router
from tests.support.client import Client, key_of
from tests.support.dns_server import DnsServer

HOST = "mx.host.test"
DEFAULT_LIMIT = DnsSettings().lookups_per_second
HOUR = 3600
ROUNDS = 200
MARKER_EVERY = 2000  # domains with the rare status


class AnyDomain(DnsServer):
    """Every domain has the right MX, SPF and DMARC records."""

    def _take(self, name: str, record_type: str) -> list[str]:
        if name == HOST:
            return ["192.0.2.10"] if record_type == "A" else []
        if record_type == "MX":
            return [f"10 {HOST}."]
        if record_type == "TXT" and name.startswith("_dmarc."):
            return [f"v=DMARC1; p=none; rua=mailto:dmarc@{HOST}"]
        return ["v=spf1 mx -all"] if record_type == "TXT" and not name.startswith("_") else []


def serve_names(ports: Connection) -> None:
    with AnyDomain() as first, AnyDomain() as second:
        ports.send([first.address, second.address])
        ports.recv()


def fill_domains(urls: Urls, first: int, last: int) -> None:
    with psycopg.connect(urls.owner, autocommit=True) as conn:
        conn.execute(
            """
            INSERT INTO domains (id, name, active, sending_enabled, receiving_enabled, description, default_quota_bytes,
                                 plus_delimiter, dns_status, created_at, updated_at)
            SELECT (lpad(to_hex(1767225600000 + i), 12, '0') || '7000' || '8' || lpad(to_hex(i), 15, '0'))::uuid,
                   'd' || i || '.test', true, true, true, '', 0, '+',
                   CASE WHEN i %% %(marker)s = 0 THEN 'failing' ELSE 'ok' END, %(at)s, %(at)s
            FROM generate_series(%(first)s::bigint, %(last)s::bigint) i
            """,
            {"first": first, "last": last, "marker": MARKER_EVERY, "at": utc_now()},
        )
        conn.execute("VACUUM ANALYZE domains")
        conn.execute("VACUUM ANALYZE dns_checks")


def memory() -> int:
    """The largest resident size of this process so far, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


async def measure_lists(app: App) -> dict[str, float]:
    """Milliseconds of a page of 50, by filter."""
    client = Client(Pipeline(app, Router(ENDPOINTS), ACCESS_CONTROL), {"authorization": f"Bearer {key_of('unscoped')}"})
    filters: dict[str, dict[str, Any]] = {
        "all": {},
        "rare": {"dns_status": "failing"},
        "common": {"dns_status": "ok"},
        "common, by name": {"dns_status": "ok", "sort": "name"},
        "rare, by name": {"dns_status": "failing", "sort": "name"},
    }
    times: dict[str, list[float]] = {name: [] for name in filters}
    for _ in range(ROUNDS):
        for name, query in filters.items():
            began = time.perf_counter()
            answer = await client.get("/domains", limit=50, **query)
            times[name].append((time.perf_counter() - began) * 1000)
            assert answer.status == 200, answer.body
    return {name: median(each) for name, each in times.items()}


async def check_all(app: App, domains: int) -> None:
    worker = DnsCheckWorker(app)
    done, early, began, cpu = 0, 0, time.perf_counter(), time.process_time()
    while done < domains:
        draining = asyncio.create_task(worker.drain())
        while not draining.done():
            await asyncio.wait([draining], timeout=0.5)
            done += sum(times for (name, _), times in app.counters.drain() if name == "dns_checks")
            if not early and done >= domains // 10:
                early = memory()
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    async with app.db.autocommit() as conn:
        cursor = await conn.execute("SELECT spent_until FROM dns_lookup_budget")
        spent = await cursor.fetchone()
        cursor = await conn.execute("SELECT status, count(*) AS n FROM dns_checks GROUP BY status ORDER BY status")
        print({row["status"]: row["n"] for row in await cursor.fetchall()})
    assert spent
    print(f"{done} checks in {seconds:.0f} s: {done / seconds:.1f} a second; an hour needs {domains / HOUR:.1f}: "
          f"{done / seconds / (domains / HOUR):.1f} ×. CPU {cpu / done * 1000:.1f} ms a check")  # fmt: skip
    print(f"memory: {early / 1024:.0f} MiB after a tenth, {memory() / 1024:.0f} at the end: {memory() / early:.3f} ×")


async def run(domains: int, servers: tuple[str, ...]) -> None:
    async with database() as urls:
        with tempfile.TemporaryDirectory() as folder:
            async with application(urls, Path(folder)) as app:
                settings = app.settings
                app.settings = replace(
                    settings,
                    mta=replace(settings.mta, mode="postfix"),  # the full profile, which has the most records
                    server=replace(settings.server, hostname=HOST, addresses=("192.0.2.10",)),
                    dns=replace(settings.dns, servers=servers, blocklists=(), lookups_per_second=10_000),
                )
                fill_domains(urls, 1, 100)
                few = await measure_lists(app)
                fill_domains(urls, 101, domains)
                many = await measure_lists(app)
                for name, before in few.items():
                    print(f"list of {name}: {many[name]:.2f} ms with {domains} domains, {before:.2f} with 100: "
                          f"{many[name] / before:.2f} ×")  # fmt: skip
                await count_queries(app)
                await check_all(app, domains)


async def count_queries(app: App) -> None:
    """The queries of one check, from what it takes from the budget."""
    app.settings = replace(app.settings, dns=replace(app.settings.dns, lookups_per_second=1))
    async with app.db.autocommit() as conn:
        await conn.execute("INSERT INTO dns_lookup_budget (spent_until) VALUES (%(at)s)", {"at": utc_now()})
    worker = DnsCheckWorker(app)
    [check] = await worker.claim(1)
    await worker.work(check)
    async with app.db.autocommit() as conn:
        cursor = await conn.execute("SELECT spent_until - %(at)s AS ahead FROM dns_lookup_budget", {"at": utc_now()})
        row = await cursor.fetchone()
        await conn.execute("DELETE FROM dns_lookup_budget")
    assert row
    ahead: timedelta = row["ahead"]
    queries = round(ahead.total_seconds())
    print(
        f"about {queries} queries a check: {DEFAULT_LIMIT} a second allow {DEFAULT_LIMIT * HOUR / queries:,.0f} an hour"
    )
    app.settings = replace(app.settings, dns=replace(app.settings.dns, lookups_per_second=10_000))


def main() -> None:
    domains = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    ours, theirs = multiprocessing.Pipe()
    names = multiprocessing.Process(target=serve_names, args=(theirs,), daemon=True)
    names.start()
    try:
        uvloop.run(run(domains, tuple(ours.recv())))
    finally:
        ours.send("stop")
        names.join(10)


if __name__ == "__main__":
    main()
