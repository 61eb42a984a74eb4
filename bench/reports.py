"""DMARC reports: reading and storing one with 20,000 records, compared with only parsing its XML into a tree.

Promise: 20,000 records are read and stored within 10 seconds. The report is in gzip, and all its records differ. It is
read in the child process and stored in PostgreSQL, as by the worker. Also: the summary of a domain with these records.
`python -m bench.reports [RECORDS] [ROUNDS]`.
"""

from __future__ import annotations

import asyncio
import gzip
import statistics
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from pathlib import Path

from mailkeep.app import App
from mailkeep.core.clock import utc_now
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.core.secret import Vault
from mailkeep.db import migrate, postgres
from mailkeep.db.partitions import ensure_partitions
from mailkeep.db.pool import DatabasePool
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.domains.model import NewDomain
from mailkeep.features.mailflow.reports import service
from mailkeep.settings import Settings
from tests.support.reports import DAY, Dmarc, Record

WHO = Principal(uuid7(utc_now()), "bench@example.test", Role.SUPER_ADMIN, ActorType.CLI)


def report(number: int, records: int) -> bytes:
    begin = int(time.time()) // DAY * DAY - (number + 1) * DAY
    rows = [
        Record(f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}", n % 9 + 1, auth=(("dkim", "example.test", "mk1", "pass"),))
        for n in range(records)
    ]
    return Dmarc(rows, report_id=str(number), begin=begin, end=begin + DAY - 1).xml()


async def measure(app: App, records: int, rounds: int) -> None:
    domain = await domains.create(app, WHO, NewDomain("example.test"))
    stored: list[float] = []
    parsed: list[float] = []
    for number in range(rounds):
        xml = report(number, records)
        packed = gzip.compress(xml)
        start = time.perf_counter()
        await service.upload(app, WHO, packed)
        stored.append(time.perf_counter() - start)
        start = time.perf_counter()
        ET.fromstring(xml)
        parsed.append(time.perf_counter() - start)
    start = time.perf_counter()
    async with app.db.autocommit() as conn:
        await service.summarize_dmarc(app, conn, WHO, domain.id, "90d")
    summary = time.perf_counter() - start
    read, tree = statistics.median(stored), statistics.median(parsed)
    print(f"{records:,} records: {read:.2f} s, XML alone {tree:.2f} s; ratio {read / tree:.1f}")
    print(f"summary of {records * rounds:,} records: {summary:.2f} s")
    print("promise: 20,000 records within 10 s")


async def main() -> None:
    records, rounds = (int(text) for text in (*sys.argv[1:], *("20000", "5")[len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as folder:
        server = await postgres.start(Path(folder))
        try:
            await migrate.migrate(server.urls.owner, utc_now)
            pool = DatabasePool(server.urls.app)
            await pool.open()
            app = App(Settings(), Path(folder), utc_now, Vault(b"b" * 32), pool)
            async with app.db.tx() as conn:
                await ensure_partitions(conn, utc_now())
            await measure(app, records, rounds)
            await app.report_reader.close()
            await pool.close()
        finally:
            await server.stop()


if __name__ == "__main__":
    asyncio.run(main())
