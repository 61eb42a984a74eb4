"""A private PostgreSQL with the product's schema and the test users."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import LiteralString
from uuid import UUID

import psycopg

from mailkeep.app import App
from mailkeep.core.clock import utc_now
from mailkeep.db import postgres
from mailkeep.db.migrate import migrate
from mailkeep.db.partitions import ensure_partitions
from mailkeep.db.pool import DatabasePool
from mailkeep.db.postgres import Urls
from mailkeep.settings import Settings
from mailkeep.settings.tree import LimitsSettings
from tests.support.client import VAULT, insert_test_users

# High limits, which are still counted.
SETTINGS = Settings(limits=LimitsSettings(requests_per_second=10_000))

ALIASES: LiteralString = """
    INSERT INTO aliases (id, domain_id, source_local_part, source_key, destinations, destination_keys, active,
                         created_at, updated_at)
    SELECT (lpad(to_hex(1767225600000 + i), 12, '0') || '7000' || '8' || lpad(to_hex(i), 15, '0'))::uuid,
           %(domain)s, 'a' || i, 'a' || i, ARRAY['m' || i || '@out.test'], ARRAY['m' || i || '@out.test'], true,
           %(at)s, %(at)s
    FROM generate_series(1, %(count)s) i
"""


@asynccontextmanager
async def database() -> AsyncGenerator[Urls]:
    """A database with the product's settings and the test users."""
    with tempfile.TemporaryDirectory(prefix="mailkeep-bench-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        server = await postgres.start(Path(folder))
        try:
            await migrate(server.urls.owner, utc_now)
            async with await psycopg.AsyncConnection.connect(server.urls.app) as conn:
                await insert_test_users(conn)
            yield server.urls
        finally:
            await server.stop()


@asynccontextmanager
async def application(urls: Urls, data_dir: Path) -> AsyncGenerator[App]:
    """The App on that database."""
    db = DatabasePool(urls.app)
    await db.open()
    try:
        app = App(SETTINGS, data_dir, utc_now, VAULT, db)
        async with db.tx() as conn:
            await ensure_partitions(conn, app.clock())
        yield app
    finally:
        await db.close()


def fill_aliases(urls: Urls, domain_id: UUID, count: int) -> None:
    """Insert `count` aliases of one domain, oldest first, and analyze."""
    with psycopg.connect(urls.owner, autocommit=True) as conn:
        conn.execute(ALIASES, {"domain": domain_id, "count": count, "at": utc_now()})
        conn.execute("VACUUM ANALYZE aliases")
