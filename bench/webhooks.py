"""Webhooks: deliveries per second, the cost of a claim, and the delay of an event.

- One worker with 16 webhooks to one loopback sink over TLS, and with a single one; compared with aiohttp, which posts
  the same bytes with the same concurrency and stores nothing. CPU of the worker and of its PostgreSQL.
  Promise: ≥ 0.2 of the bare client, ≥ 1,000 per second.
- A claim of 21 deliveries of 21 webhooks, with 1,000 and with 1,000,000 pending for an unreachable one, alternating.
  Promise: ratio ≤ 1.2.
- From POST /send of a running instance to the sink: median and p99 of consecutive sends, and under load.

`python -m bench.webhooks [DELIVERIES] [PENDING]`.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from uuid import UUID

import aiohttp
import psycopg
import uvloop
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from bench.rig.calls import call_all, cpu_of_children
from bench.rig.hook_receiver import HookSink
from bench.rig.sends import Product, message
from mailkeep.app import App
from mailkeep.core.clock import utc_now
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.core.secret import Vault
from mailkeep.db import migrate, postgres
from mailkeep.db.partitions import ensure_partitions
from mailkeep.db.pool import DatabasePool
from mailkeep.features.mailflow.webhooks import delivery_store, jobs, service
from mailkeep.features.mailflow.webhooks.model import NewWebhook
from mailkeep.features.record.events import service as events
from mailkeep.jobs.run import ClaimLimits
from mailkeep.settings import Settings
from tests.support.events import sample_event
from tests.support.webhook_sink import trusted_settings

WHO = Principal(uuid7(utc_now()), "bench@example.test", Role.SUPER_ADMIN, ActorType.SESSION)
NOBODY = UUID(int=0)
DATA = {
    "message_id": "<0199a1b2-51f0-7c3d-9e41-0d8f6c1b2a37@example.test>",
    "from": "shop@example.test",
    "to": ["customer@elsewhere.test"],
    "subject": "Your order",
    "domain": "example.test",
}
AT_A_TIME = 32
ROUNDS = 3
CLAIMS = 400
PENDING = """
    INSERT INTO webhook_deliveries (id, webhook_id, event_id, kind, state, next_attempt_at, created_at)
    SELECT e.id, %(webhook)s, e.id, 'mail.sent', 'pending', e.at, e.at
    FROM generate_series(%(first)s, %(first)s + %(count)s - 1) n
    CROSS JOIN LATERAL (SELECT %(at)s - n * interval '10 milliseconds' AS at) t
    CROSS JOIN LATERAL (SELECT uuid7_floor(t.at) AS id, t.at) e
"""


async def webhook(app: App, url: str) -> UUID:
    async with app.db.tx() as conn:
        made, _ = await service.create(conn, app, WHO, utc_now(), NewWebhook(url, ["mail.sent"], None))
    return made.id


async def emit(app: App, count: int) -> None:
    for _ in range(0, count, 500):
        async with app.db.tx() as conn:
            await events.emit_all(
                conn, utc_now(), [sample_event("mail.sent", None, uuid7(utc_now()), DATA)] * min(count, 500)
            )


async def deliver(app: App, count: int) -> tuple[float, float, float]:
    """Deliveries per second of a running worker; CPU of it and of the database per delivery."""
    worker = jobs.DeliveryWorker(app)
    before = time.process_time(), cpu_of_children(_self())
    start = time.perf_counter()
    task = asyncio.create_task(worker.run())
    while await waiting(app):
        await asyncio.sleep(0.05)
    seconds = time.perf_counter() - start
    used = time.process_time() - before[0], cpu_of_children(_self()) - before[1]
    await worker.stop(1)
    await task
    return count / seconds, used[0] / count, used[1] / count


def _self() -> int:
    return int(Path("/proc/self").readlink().name)


async def waiting(app: App) -> bool:
    async with app.db.autocommit() as conn:
        cursor = await conn.execute("SELECT FROM webhook_deliveries d WHERE d.next_attempt_at IS NOT NULL LIMIT 1")
        return await cursor.fetchone() is not None


async def bare(url: str, folder: Path, count: int) -> tuple[float, float]:
    """Requests per second of aiohttp, and its CPU per request."""
    context = ssl.create_default_context(cafile=str(folder / "sink-authority.pem"))
    body = json.dumps({"id": str(uuid7(utc_now())), "event": "mail.sent", "data": DATA}).encode()
    headers = {"Content-Type": "application/json", "X-Svc-Signature": "0" * 64, "webhook-signature": "v1," + "A" * 44}
    connector = aiohttp.TCPConnector(limit=AT_A_TIME, ssl=context)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def post(times: int) -> None:
            for _ in range(times):
                async with session.post(url, data=body, headers=headers) as answer:
                    await answer.read()

        await post(AT_A_TIME)
        cpu, start = time.process_time(), time.perf_counter()
        await asyncio.gather(*(post(count // AT_A_TIME) for _ in range(AT_A_TIME)))
        return count / (time.perf_counter() - start), (time.process_time() - cpu) / count


async def measure_deliveries(app: App, sink: HookSink, folder: Path, count: int) -> None:
    print(f"deliveries a second, {count:,} each, median of {ROUNDS}; CPU of the worker and its PostgreSQL each")
    found: dict[str, list[tuple[float, ...]]] = {"aiohttp alone": [], "one webhook": [], "16 webhooks": []}
    for _ in range(ROUNDS):
        found["aiohttp alone"].append(await bare(sink.url, folder, count))
        for webhooks in (1, 16):
            made = [await webhook(app, sink.url) for _ in range(webhooks)]
            await emit(app, count // webhooks)
            name = "one webhook" if webhooks == 1 else "16 webhooks"
            found[name].append(await deliver(app, count))
            for each in made:
                async with app.db.tx() as conn:
                    await service.delete(conn, WHO, utc_now(), each)
            await jobs.prune(app)
    alone = statistics.median(rate for rate, *_ in found["aiohttp alone"])
    for name, rounds in found.items():
        rate = statistics.median(each[0] for each in rounds)
        costs = [statistics.median(each[i] for each in rounds) * 1e6 for i in range(1, len(rounds[0]))]
        cpu = "  ".join(f"{cost:6,.0f} µs" for cost in costs)
        print(f"  {name:16}{rate:8,.0f} a second  {rate / alone:5.2f} of the bare client  {cpu}")
    print("promise: ≥ 0.2 of the bare client, ≥ 1,000 a second")


async def claim(app: App) -> float:
    """Seconds of a claim of 21 deliveries."""
    async with app.db.autocommit() as conn:
        at = utc_now()
        start = time.perf_counter()
        found = await delivery_store.claim(conn, at, at + jobs.LEASE, ClaimLimits(64, 1, {}, NOBODY))
        seconds = time.perf_counter() - start
        assert len(found) == 21
    return seconds


async def measure_claims(server: postgres.PrivateServer, settings: Settings, folder: Path, pending: int) -> None:
    """Time claims in two databases alternately, so that both have the same conditions."""
    async with AsyncExitStack() as stack:
        apps: dict[int, App] = {}
        for size in (1_000, pending):
            urls = await asyncio.to_thread(_clone, server.urls, f"pending_{size}")
            apps[size] = await stack.enter_async_context(application(urls.app, settings, folder))
            await _fill(apps[size], size)
            async with await psycopg.AsyncConnection.connect(urls.owner, autocommit=True) as conn:
                await conn.execute("VACUUM ANALYZE webhook_deliveries")
        seconds: dict[int, list[float]] = {size: [] for size in apps}
        for turn in range(CLAIMS + 50):
            for size, app in apps.items():
                took = await claim(app)
                if turn >= 50:
                    seconds[size].append(took * 1e3)
    for size, took in seconds.items():
        times = f"median {statistics.median(took):.2f} ms, p99 {statistics.quantiles(took, n=100)[98]:.2f} ms"
        print(f"a claim of 21 with {size:>9,} pending for an unreachable webhook: {times}")
    print(f"ratio {statistics.median(seconds[pending]) / statistics.median(seconds[1_000]):.2f}; promise: ≤ 1.2")


async def _fill(app: App, pending: int) -> None:
    """Events of the unreachable webhook from the past hours, 10 ms apart; of the others from just now."""
    at, dead = utc_now(), await webhook(app, "https://dead.example/")
    for _ in range(20):
        await webhook(app, "https://alive.example/")
    await emit(app, CLAIMS + 50)
    for there in range(0, pending, 100_000):
        async with app.db.autocommit() as conn:
            count = min(pending - there, 100_000)
            await conn.execute(PENDING, {"webhook": dead, "at": at, "first": there + 1, "count": count})


def _clone(urls: postgres.Urls, name: str) -> postgres.Urls:
    template = str(conninfo_to_dict(urls.owner)["dbname"])
    with psycopg.connect(make_conninfo(urls.owner, dbname="postgres"), autocommit=True) as maintenance:
        maintenance.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template))
        )
    return postgres.Urls(*(make_conninfo(url, dbname=name) for url in (urls.owner, urls.app, urls.audit)))


@asynccontextmanager
async def application(url: str, settings: Settings, folder: Path) -> AsyncIterator[App]:
    """The App on a migrated database."""
    db = DatabasePool(url, max_size=10)
    await db.open()
    app = App(settings, folder, utc_now, Vault(bytes(range(32))), db)
    try:
        async with db.tx() as conn:
            await ensure_partitions(conn, utc_now())
        yield app
    finally:
        await app.outbound.close()
        await db.close()


async def measure_way(sink: HookSink, folder: Path) -> None:
    settings = {
        "MAILKEEP_WEBHOOKS__ALLOWED_NETWORKS": '["127.0.0.0/8"]',
        "MAILKEEP_WEBHOOKS__EXTRA_CA_FILE": str(folder / "sink-authority.pem"),
    }
    product = await asyncio.to_thread(Product, None, settings)
    try:
        await asyncio.to_thread(
            product.ask, "/webhooks", {"url": sink.url, "events": ["mail.sent"]}, dict(product.headers)
        )
        body = json.dumps(message()).encode()
        begun: dict[str, int] = {}
        answered: dict[str, int] = {}

        async def send() -> None:
            start = time.monotonic_ns()
            [answer] = await call_all(product.port, "POST", "/api/v1/send", product.headers, [body], 1)
            message_id = json.loads(answer)["data"]["id"]
            begun[message_id], answered[message_id] = start, time.monotonic_ns()

        for quiet in (True, False):
            begun.clear()
            answered.clear()
            for _ in range(150):
                await asyncio.gather(*(send() for _ in range(1 if quiet else 10)))
                await asyncio.sleep(0.05 if quiet else 0)
            await asyncio.sleep(3)
            heard = sink.heard()["heard"]
            assert begun.keys() <= heard.keys()
            for name, since in (("the call", begun), ("its answer", answered)):
                took = sorted((heard[each] - at) / 1e6 for each, at in since.items())
                p99 = statistics.quantiles(took, n=100)[98]
                under = "one after the other" if quiet else "10 at a time"
                times = f"median {statistics.median(took):5.1f} ms, p99 {p99:5.1f} ms"
                print(f"from {name:10} of /send to the sink, {under:19}: {times}")
    finally:
        await asyncio.to_thread(product.end)


async def main(deliveries: int, pending: int) -> None:
    with tempfile.TemporaryDirectory(prefix="mailkeep-bench-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        settings = Settings(webhooks=trusted_settings(folder))
        sink = HookSink(folder)
        server = await postgres.start(folder)
        try:
            await migrate.migrate(server.urls.owner, utc_now)
            await measure_claims(server, settings, folder, pending)
            async with application(server.urls.app, settings, folder) as app:
                await measure_deliveries(app, sink, folder, deliveries)
        finally:
            await server.stop()
        await measure_way(sink, folder)
        sink.end()


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]]
    uvloop.run(main(*(numbers + [8_000, 1_000_000][len(numbers) :])))
