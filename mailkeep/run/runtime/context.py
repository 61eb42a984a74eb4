"""An App from a data directory: settings, master secret, database."""

from __future__ import annotations

import base64
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from mailkeep.app import App
from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Failure
from mailkeep.core.secret import Vault
from mailkeep.core.shared_memory import SharedMemory
from mailkeep.db import postgres
from mailkeep.db.instance import INSTANCE_ID, acquire_lock, lock_holder, write_atomically
from mailkeep.db.migrate import list_missing, migrate, read_schema
from mailkeep.db.pool import DatabasePool
from mailkeep.features.record.settings_revisions import rules, service as revisions
from mailkeep.features.record.settings_revisions.model import StoredSettings
from mailkeep.net.client import OutboundClient
from mailkeep.run.runtime import state, stored_settings
from mailkeep.settings import FILE_NAME, LoadedSettings, Settings, SettingsError, load_settings, parse_dns_servers
from mailkeep.settings.tree import DatabaseSettings

SECRET = "secret"
UNFINISHED_RESTORE = ".restore"
"""The folder of a full restore in the data directory, until it is complete."""
RESTORED = "restored.json"
"""The file in the data directory from a full restore until the first start has completed it."""
DEFAULT_DATA_DIR = Path("data")
FULL_DATA_DIR = Path("/var/lib/mailkeep")


def resolve_data_dir(option: Path | None) -> Path:
    """The data directory of a command: its option, else `./data`; /var/lib/mailkeep if only that exists."""
    if option is None and not DEFAULT_DATA_DIR.is_dir() and _has_full_data_dir():
        return FULL_DATA_DIR
    return (option or DEFAULT_DATA_DIR).resolve()


def data_dir_to_start(option: Path | None, profile: str) -> Path:
    """The data directory that `mailkeep up` uses, and creates if missing: its option, else the profile's default."""
    return (option or (FULL_DATA_DIR if profile == "full" else DEFAULT_DATA_DIR)).resolve()


def _has_full_data_dir() -> bool:
    # The folder alone does not count: it may hold only databases of other data directories that root started.
    return any(os.access(FULL_DATA_DIR / name, os.F_OK) for name in (FILE_NAME, INSTANCE_ID))


def make_data_dir(data_dir: Path) -> None:
    """Create the data directory if it is missing. Failure if a restore into it is not complete."""
    if (data_dir / UNFINISHED_RESTORE).exists():
        raise Failure(
            f"The restore into {data_dir} is not complete: wait until it is, or run the same `mailkeep restore` again.",
            permanent=True,
        )
    create_data_dir(data_dir)


def create_data_dir(data_dir: Path) -> None:
    """Create the data directory if it is missing, closed to other accounts.

    If root creates it, other accounts can pass through: the database's account needs to reach its folder.
    """
    data_dir.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)


def open_vault(data_dir: Path, loaded: LoadedSettings) -> Vault:
    """The master secret: from MAILKEEP_SECRET_FILE, else from the data directory, where the first start creates it."""
    external = loaded.first_start.secret_file
    path = Path(external) if external else data_dir / SECRET
    if not external and not path.exists():
        if (data_dir / INSTANCE_ID).exists():
            raise Failure(
                f"The master secret {path} is missing, and encrypted data can't be read without it. Restore "
                "it from a backup, or set MAILKEEP_SECRET_FILE.",
                permanent=True,
            )
        write_atomically(path, base64.b64encode(os.urandom(32)).decode() + "\n", 0o600)
    try:
        text = path.read_text("ascii").strip()
        master = base64.b64decode(text, validate=True)
    except (OSError, ValueError) as error:
        raise Failure(f"The master secret {path} can't be read: {error}", permanent=True) from error
    if len(master) < 32:
        raise Failure(f"The master secret {path} must be at least 32 bytes in base64.", permanent=True)
    return Vault(master)


@asynccontextmanager
async def open_app(data_dir: Path, options: Mapping[str, str] | None = None) -> AsyncGenerator[App]:
    """An App for a command: on the running instance's database, else on the private server, which is started for it.

    Without a running instance the schema is migrated first, as `up` does. Raises Failure if the schema of a running
    instance is of another version.
    """
    loaded = load_settings(data_dir, options=options)
    make_data_dir(data_dir)
    vault = open_vault(data_dir, loaded)
    if url := loaded.settings.database.url:
        async with _with_database(data_dir, loaded, vault, url) as app:
            yield app
        return
    async with private_server(data_dir) as (urls, is_started):
        if is_started:
            await migrate(urls.owner, utc_now)
        async with _with_database(data_dir, loaded, vault, urls.app) as app:
            yield app


@asynccontextmanager
async def private_server(data_dir: Path) -> AsyncGenerator[tuple[postgres.Urls, bool]]:
    """The URLs of the private database server; True if it runs only for this block, because no instance is running."""
    if lock_holder(data_dir):
        urls = postgres.running_urls(data_dir)
        if urls is None:
            raise Failure("Mailkeep has just stopped; try again.")
        yield urls, False
        return
    lock = acquire_lock(data_dir)
    try:
        server = await postgres.start(data_dir)
        try:
            yield server.urls, True
        finally:
            await server.stop()
    finally:
        lock.release()


@dataclass(frozen=True, slots=True)
class InstanceContext:
    """What a process of a running instance reads from the data directory. `loaded` is without stored settings,
    `settings` with the copy of them. `url` is the database; `audit_url` is the same database for the role that seals
    the audit log.
    """

    data_dir: Path
    loaded: LoadedSettings
    settings: Settings
    vault: Vault
    url: str
    audit_url: str


def read_context(data_dir: Path) -> InstanceContext:
    """Read the context. Failure if no instance is running; permanent if the directory is missing."""
    loaded = load_settings(data_dir)
    database = loaded.settings.database
    url, audit_url = database.url, audit_url_of(database)
    if not url:
        urls = postgres.running_urls(data_dir)
        if urls is None:
            raise Failure(f"Mailkeep is not running on {data_dir}.", permanent=not data_dir.is_dir())
        url, audit_url = urls.app, urls.audit
    vault = open_vault(data_dir, loaded)
    settings = stored_settings.load_copy(data_dir, vault, loaded).settings
    return InstanceContext(data_dir, loaded, settings, vault, url, audit_url)


def load_with_copy(data_dir: Path) -> LoadedSettings:
    """The settings of the instance's profile with the copy of the stored ones, for a command that needs no database."""
    loaded = load_settings(data_dir, options=state.list_options(data_dir))
    if not (data_dir / stored_settings.COPY).exists():
        return loaded
    return stored_settings.load_copy(data_dir, open_vault(data_dir, loaded), loaded)


def audit_url_of(database: DatabaseSettings) -> str:
    """The URL of an external database for the role that seals the audit log."""
    return database.audit_url or database.owner_url or database.url


@asynccontextmanager
async def audit_database(url: str) -> AsyncGenerator[DatabasePool]:
    """Connections as the role that seals and prunes the audit log: at most two, none while idle."""
    db = DatabasePool(url, min_size=0, max_size=2, application_name="mailkeep audit")
    await db.open()
    try:
        yield db
    finally:
        await db.close()


@asynccontextmanager
async def attach(data_dir: Path, application_name: str) -> AsyncGenerator[App]:
    """An App for a process of a running instance. Does not fail if the database does not answer."""
    async with attach_context(read_context(data_dir), application_name) as app:
        yield app


@asynccontextmanager
async def attach_context(
    context: InstanceContext,
    application_name: str,
    memory: SharedMemory | None = None,
    *,
    seals_audit_log: bool = False,
) -> AsyncGenerator[App]:
    """An App on this context that counts in `memory`. `seals_audit_log`: the process seals and prunes the audit log."""
    if seals_audit_log:
        async with (
            audit_database(context.audit_url) as audit_db,
            attach_context(context, application_name, memory) as app,
        ):
            app.audit_db = audit_db
            yield app
        return
    settings = context.settings
    db = DatabasePool(
        context.url, max_size=settings.database.pool_size, application_name=f"mailkeep {application_name}"
    )
    await db.open()
    outbound = OutboundClient(parse_dns_servers(settings.dns.servers))
    try:
        yield App(
            settings,
            context.data_dir,
            utc_now,
            context.vault,
            db,
            context.loaded,
            outbound=outbound,
            memory=memory or SharedMemory(),
        )
    finally:
        await outbound.close()
        await db.close()


@asynccontextmanager
async def _with_database(data_dir: Path, loaded: LoadedSettings, vault: Vault, url: str) -> AsyncGenerator[App]:
    db = DatabasePool(url, min_size=1, max_size=4)
    await db.open()
    try:
        async with db.autocommit() as conn:
            missing = await list_missing(conn, read_schema())
            if missing:
                raise Failure(
                    f"The database's schema is older than this program ({missing[0].file} is to be applied): restart "
                    "Mailkeep with this version, or run `mailkeep migrate`.",
                    permanent=True,
                )
            stored = await revisions.read(conn, vault, is_full_profile=loaded.settings.is_full_profile)
        settings = _with_stored(loaded, stored)
        outbound = OutboundClient(parse_dns_servers(settings.dns.servers))
        try:
            yield App(settings, data_dir, utc_now, vault, db, loaded, outbound=outbound)
        finally:
            await outbound.close()
    finally:
        await db.close()


def _with_stored(loaded: LoadedSettings, stored: StoredSettings) -> Settings:
    """The settings in effect. Stored ones that are not valid are left out, so that a command can remove them."""
    try:
        return loaded.with_stored(rules.select_effective(stored)).settings
    except SettingsError:
        return loaded.settings
