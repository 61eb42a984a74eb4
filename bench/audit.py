"""Audit log: the cost of an entry with and without concurrent sealing, and the speed of verification.

Promise: sealing slows writing by a factor of at most 1.2; a million entries are verified in two minutes, in bounded
memory. Each entry is a separate transaction with `synchronous_commit` off, so that the disk does not hide costs.
`python -m bench.audit [WRITES] [ENTRIES]`.
"""

from __future__ import annotations

import asyncio
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from mailkeep.app import App
from mailkeep.core.clock import utc_now
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.core.secret import Vault
from mailkeep.db import migrate, postgres
from mailkeep.db.partitions import ensure_partitions
from mailkeep.db.pool import DatabasePool
from mailkeep.features.record.audit import jobs, service
from mailkeep.features.record.audit.model import AuditAction, AuditFilter, AuditTarget
from mailkeep.settings import Settings

WHO = Principal(uuid7(utc_now()), "bench@example.test", Role.ADMIN, ActorType.SESSION, ip_address="192.0.2.1")
ACTION = AuditAction(
    "alias.create", AuditTarget("alias", uuid7(utc_now())), after={"source_local_part": "sales", "active": True}
)
FILL = """
    INSERT INTO audit_entries (id, created_at, actor_type, actor_label, action, resource_type, outcome, details)
    SELECT i, %(at)s, 'session', 'bench@example.test', 'alias.create', 'alias', 'success',
           '{"after": {"active": true, "destinations": ["a@example.test"]}}'
    FROM unnest(%(ids)s::uuid[]) i
"""


async def write(app: App, count: int) -> list[float]:
    """Seconds of each entry, in a separate transaction."""
    seconds: list[float] = []
    for _ in range(count):
        start = time.perf_counter()
        async with app.db.tx() as conn:
            await conn.execute("SET LOCAL synchronous_commit = off")
            await service.record(conn, WHO, utc_now(), ACTION)
        seconds.append(time.perf_counter() - start)
    return seconds


async def sealing(app: App) -> None:
    """Seal like the instance, but every second."""
    while True:
        await jobs.seal(app)
        await asyncio.sleep(1)


async def compare_writes(app: App, count: int) -> None:
    """Time entries with and without concurrent sealing, alternately, so that both use the same table."""
    seconds: dict[bool, list[float]] = {False: [], True: []}
    await write(app, count // 10)
    for turn in range(10):
        sealer = asyncio.create_task(sealing(app)) if turn % 2 else None
        seconds[sealer is not None] += await write(app, count // 5)
        if sealer:
            sealer.cancel()
            await asyncio.wait({sealer})
    plain, sealed = (statistics.mean(seconds[kind]) * 1e6 for kind in (False, True))
    print(f"an entry: {plain:,.0f} µs; while sealing: {sealed:,.0f} µs; ratio {sealed / plain:.2f}")
    print("promise: ratio ≤ 1.2")


async def measure_log(app: App, count: int) -> None:
    for _ in range(0, count, 10_000):
        at = utc_now()
        async with app.db.tx() as conn:
            await conn.execute(FILL, {"at": at, "ids": [uuid7(at) for _ in range(10_000)]})
    start = time.perf_counter()
    sealed = await jobs.seal(app)
    print(f"sealed: {sealed / (time.perf_counter() - start):,.0f} entries a second")
    before = peak()
    start = time.perf_counter()
    verdict = await service.verify(app)
    took = time.perf_counter() - start
    assert verdict.ok, verdict.faults
    rate = verdict.checked / took
    print(f"verified: {rate:,.0f} entries a second ({verdict.checked:,} in {took:.1f} s), {peak() - before} MB more")
    print("promise: 1,000,000 in 120 s")
    before, start, lines = peak(), time.perf_counter(), 0
    file = app.data_dir / "export.ndjson"
    with file.open("wb") as out:
        async for piece in (await service.start_export(app, AuditFilter(None))).lines():
            lines += piece.count(b"\n")
            out.write(piece)
    took = time.perf_counter() - start
    print(f"exported as ndjson: {lines / took:,.0f} entries a second, {peak() - before} MB more")
    start = time.perf_counter()
    with file.open("rb") as lines_of:
        assert service.verify_export(lines_of, None).ok
    print(f"verified offline: {lines / (time.perf_counter() - start):,.0f} entries a second")


def peak() -> int:
    """Peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


async def main(writes: int, entries: int) -> None:
    with tempfile.TemporaryDirectory(prefix="mailkeep-bench-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        server = await postgres.start(Path(folder))
        try:
            await migrate.migrate(server.urls.owner, utc_now)
            db = DatabasePool(server.urls.app, max_size=4)
            await db.open()
            async with db.tx() as conn:
                await ensure_partitions(conn, utc_now())
            app = App(Settings(), Path(folder), utc_now, Vault(bytes(range(32))), db)
            app.audit_db = DatabasePool(server.urls.audit, max_size=2)
            await app.audit_db.open()
            await compare_writes(app, writes)
            await measure_log(app, entries)
            await app.audit_db.close()
            await db.close()
        finally:
            await server.stop()


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]]
    asyncio.run(main(*(numbers + [10_000, 1_000_000][len(numbers) :])))
