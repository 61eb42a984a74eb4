"""The stored settings in processes: read at their start, taken over when they change.

A copy of the values in effect is in the data directory, sealed with the master secret, so that a process of a running
instance starts with the right settings while the database is away.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import psycopg
import structlog

from mailkeep.app import App
from mailkeep.core.errors import Unavailable
from mailkeep.core.secret import Vault
from mailkeep.db.instance import write_atomically
from mailkeep.db.pool import Conn
from mailkeep.features.record.settings_revisions import rules, service as revisions
from mailkeep.features.record.settings_revisions.model import Values
from mailkeep.run.runtime import logs, state
from mailkeep.settings import LoadedSettings, SettingsError

log = structlog.get_logger("mailkeep.settings")

COPY = "stored-settings"
"""The file with the copy."""
_RETRY_SECONDS = 1.0
_CHECK_SECONDS = 60.0  # in case a notification was missed


def load_copy(data_dir: Path, vault: Vault, loaded: LoadedSettings) -> LoadedSettings:
    """The settings with the values of the copy, if there is one. SettingsError if they are not valid."""
    try:
        sealed = bytes.fromhex((data_dir / COPY).read_text("ascii"))
    except FileNotFoundError:
        return loaded
    return loaded.with_stored(revisions.unseal(vault, sealed))


async def apply_newest(conn: Conn, data_dir: Path, vault: Vault, loaded: LoadedSettings) -> tuple[LoadedSettings, int]:
    """At the start of an instance: the settings with the newest stored values, which become the applied ones, and the
    revision. After an apply was rolled back, the applied values stay. Keeps the profile for commands.

    SettingsError, with the advice to remove the value, if they are not valid together with the other sources.
    """
    is_full = loaded.settings.is_full_profile
    state.keep_profile(data_dir, is_full=is_full)
    stored = await revisions.read(conn, vault, is_full_profile=is_full)
    values, n = stored.values, stored.n
    if not stored.use_at_start:
        pending = rules.list_pending(stored)
        log.warning("settings whose apply was rolled back are not used", settings=pending)
        values, n = rules.select_effective(stored), stored.applied_n
    try:
        newest = loaded.with_stored(values)
    except SettingsError as error:
        advice = "Stored settings are changed with `mailkeep config unset KEY` or `mailkeep config rollback N`."
        raise SettingsError([*error.faults, advice] if stored.values else error.faults, error.by_key) from None
    await revisions.mark_applied(conn, n)
    save_copy(data_dir, vault, values)
    return newest, n


def save_copy(data_dir: Path, vault: Vault, values: Values) -> None:
    """Write the copy."""
    write_atomically(data_dir / COPY, revisions.seal(vault, values).hex() + "\n", 0o600)


async def keep_current(app: App, *, saves_copy: bool = False) -> None:
    """Take over changed settings within a second, until cancelled. One process of an instance saves the copy."""
    while True:
        try:
            async with app.db.listen("mailkeep_settings") as conn:
                while True:  # first for the changes before this connection
                    await take_over(app, conn, saves_copy=saves_copy)
                    async for _ in conn.notifies(timeout=_CHECK_SECONDS, stop_after=1):
                        pass
        except (Unavailable, psycopg.OperationalError):
            pass  # the database's outage is logged elsewhere
        except Exception:
            log.exception("changed settings were not taken over")
        await asyncio.sleep(_RETRY_SECONDS)


async def refresh_copy(app: App, conn: Conn) -> None:
    """Write the values in effect to the copy."""
    save_copy(app.data_dir, app.vault, await _read_effective(app, conn))


async def _read_effective(app: App, conn: Conn) -> Values:
    stored = await revisions.read(conn, app.vault, is_full_profile=app.loaded.settings.is_full_profile)
    return rules.select_effective(stored)


async def take_over(app: App, conn: Conn, *, saves_copy: bool = False) -> None:
    """Use the settings in effect from now on. Invalid ones are logged, and change nothing."""
    values = await _read_effective(app, conn)
    if saves_copy:
        save_copy(app.data_dir, app.vault, values)
    try:
        settings = app.loaded.with_stored(values).settings
    except SettingsError as error:
        log.error("the stored settings are not valid together with the other sources", faults=error.faults)
        return
    if settings == app.settings:
        return
    if settings.log.level != app.settings.log.level:
        logs.set_level(settings.log.level)
    app.settings = settings
    log.info("settings have changed")
