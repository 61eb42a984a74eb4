"""Read and change the settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mailkeep.app import App
from mailkeep.core.entity_tag import ANY_VERSION, IfMatch
from mailkeep.core.errors import NotFound, Unavailable
from mailkeep.core.principal import Principal
from mailkeep.db.instance import lock_holder
from mailkeep.db.pool import Conn
from mailkeep.features.directory.routing import service as routing
from mailkeep.features.mailflow.filtering import service as filtering
from mailkeep.features.operations.configuration import rules
from mailkeep.features.operations.configuration.model import ConfigChange, CurrentSettings
from mailkeep.features.operations.orchestrator import service as orchestrator
from mailkeep.features.operations.orchestrator.model import ConfigurationPlan
from mailkeep.features.record.settings_revisions import rules as revision_rules, service as revisions
from mailkeep.features.record.settings_revisions.model import SettingsChange, StoredSettings, Values

_PLAN_SECONDS = 30.0
_NOT_RUNNING = "What this change does to the services is unknown: Mailkeep does not run."


def parse_number(text: str) -> int:
    """The number of a revision in a path; NOT_FOUND if it is none."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise NotFound(f"{text} is not the number of a revision.")
    return int(text)


class _DryRun(Exception):
    """Ends the transaction of a dry run."""


async def read(conn: Conn, app: App) -> CurrentSettings:
    """The current settings."""
    stored = await revisions.read(conn, app.vault, is_full_profile=app.settings.is_full_profile)
    return CurrentSettings(
        n=stored.n,
        running=app.loaded.with_stored(revision_rules.select_effective(stored)),
        newest=app.loaded.with_stored(stored.values),
        pending=tuple(revision_rules.list_pending(stored)),
    )


async def change(
    app: App,
    who: Principal,
    changes: Mapping[str, Any],
    *,
    comment: str = "",
    if_match: IfMatch = ANY_VERSION,
    dry_run: bool = False,
) -> ConfigChange:
    """Store changed settings (None: no longer stored), or show with `dry_run` what that would change. INVALID_FIELD,
    PRECONDITION_FAILED.
    """

    def edit(current: StoredSettings) -> Values:
        return rules.edit(app.loaded, current, changes)

    return await _add(app, who, SettingsChange(edit, comment, if_match), dry_run=dry_run)


async def roll_back(
    app: App, who: Principal, n: int, *, comment: str = "", if_match: IfMatch = ANY_VERSION, dry_run: bool = False
) -> ConfigChange:
    """Add a revision with the stored values of revision `n` (0: with none), or show with `dry_run` what that would
    change. NOT_FOUND, INVALID_FIELD.
    """
    async with app.db.autocommit() as conn:
        old = await revisions.read_values(conn, app.vault, n) if n else dict[str, Any]()

    def edit(current: StoredSettings) -> Values:
        return rules.edit_back(app.loaded, current, old)

    change = SettingsChange(edit, comment or f"Rollback to revision {n}", if_match, is_rollback=True)
    return await _add(app, who, change, dry_run=dry_run)


async def list_changes_to(app: App, n: int) -> list[str]:
    """The settings that a rollback to revision `n` would change; NOT_FOUND."""
    async with app.db.autocommit() as conn:
        old = await revisions.read_values(conn, app.vault, n) if n else dict[str, Any]()
        current = await revisions.read(conn, app.vault, is_full_profile=app.settings.is_full_profile)
    return list(revision_rules.describe_changes(current.values, old))


async def _add(app: App, who: Principal, change: SettingsChange, *, dry_run: bool = False) -> ConfigChange:
    before = StoredSettings()
    after = before

    def edit(current: StoredSettings) -> Values:
        nonlocal before
        before = current
        values = change.edit(current)
        rules.refuse_lock_out(app.loaded.with_stored(values), who)
        return values

    try:
        async with app.db.tx() as conn:
            after = await revisions.add(
                conn,
                app.vault,
                who,
                app.clock(),
                replace(change, edit=edit),
                is_full_profile=app.settings.is_full_profile,
            )
            if dry_run:
                raise _DryRun
            settings = app.loaded.with_stored(revision_rules.select_effective(after)).settings
            await routing.apply_settings(conn, settings, app.clock())
            await filtering.apply_settings(conn, settings, app.clock())
        plan, warnings, n = None, (), after.n
    except _DryRun:
        plan, warnings = await _make_plan(app, after.values)
        n = before.n
    described = revision_rules.describe_changes(before.values, after.values)
    pending = tuple(revision_rules.list_pending(after))
    return ConfigChange(n, described, pending, plan, warnings, after.use_at_start)


async def _make_plan(app: App, values: Values) -> tuple[ConfigurationPlan | None, tuple[str, ...]]:
    """The plan with these stored values; without one, why."""
    if app.settings.is_full_profile and lock_holder(app.data_dir) == os.getpid():  # a command, and no process `node`
        return None, (_NOT_RUNNING,)
    try:
        return await orchestrator.make_plan(app, values, _PLAN_SECONDS), ()
    except Unavailable as error:
        return None, (f"What this change does to the services is unknown: {error}",)
