"""The schema of a data directory's database, whether an instance runs on it or not."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from mailkeep.core.clock import utc_now
from mailkeep.db.migrate import Step, find_pending, migrate
from mailkeep.run.runtime.context import make_data_dir, open_vault, private_server
from mailkeep.settings import load_settings


async def migrate_data_dir(data_dir: Path, *, dry_run: bool = False) -> list[Step]:
    """Apply pending migrations, or only try them; creates the database if there is none. Fails like `migrate`."""
    loaded = load_settings(data_dir)
    if not dry_run:
        # A new database needs the master secret, which encrypts its data.
        make_data_dir(data_dir)
        open_vault(data_dir, loaded)
    async with owner_url(data_dir) as url:
        return await migrate(url, utc_now, dry_run=dry_run)


async def list_pending(data_dir: Path) -> list[Step]:
    """The migrations that `migrate_data_dir` would apply."""
    async with owner_url(data_dir) as url:
        return await find_pending(url)


@asynccontextmanager
async def owner_url(data_dir: Path) -> AsyncGenerator[str]:
    """The database's URL for the schema's owner; starts the private server if it does not run."""
    database = load_settings(data_dir).settings.database
    if database.url:
        yield database.owner_url or database.url
        return
    make_data_dir(data_dir)
    async with private_server(data_dir) as (urls, _):
        yield urls.owner
