"""Applies in the test's own process, with the code of the process `node`, to a running instance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from mailkeep.app import App
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import Principal
from mailkeep.db.instance import run_folder
from mailkeep.features.operations.orchestrator import service as operations, store
from mailkeep.features.operations.orchestrator.model import Operation
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.cli.accounts import cli_principal
from mailkeep.run.runtime import plan
from mailkeep.run.runtime.apply import Application, Applier, Outcome
from mailkeep.run.runtime.context import attach
from mailkeep.run.runtime.orchestrator import Orchestrator
from mailkeep.settings import Settings

Change = Callable[[plan.Draft], plan.Draft]


def paths_of(data_dir: Path) -> InstancePaths:
    return InstancePaths(data_dir, run_folder(data_dir))


async def apply_draft(
    data_dir: Path,
    change: Change = lambda draft: draft,
    ports: Mapping[str, int] | None = None,
    *,
    sections: Mapping[str, Any] | None = None,
    confirm_seconds: float = 120,
    watch_seconds: float = 5,
) -> Outcome:
    """Apply the current settings with a changed draft, other ports or other sections, which a plan of the API can't
    have.
    """
    async with attach(data_dir, "test") as app:
        applier = Applier(app, paths_of(data_dir), confirm_seconds)
        return await _apply(app, data_dir, applier, watch_seconds, change, ports, sections)


async def _apply(
    app: App,
    data_dir: Path,
    applier: Applier,
    watch_seconds: float,
    change: Change = lambda draft: draft,
    ports: Mapping[str, int] | None = None,
    sections: Mapping[str, Any] | None = None,
) -> Outcome:
    paths = paths_of(data_dir)
    target = await Orchestrator(app, paths).read_target()
    settings = _with_ports(target.settings, ports or {})
    target = replace(target, settings=replace(settings, **(sections or {})))
    draft = change(plan.draft_plan(paths, app.vault, target, app.clock()))
    application = Application(draft, target, target.before, watch_seconds)
    applier.publish(application)
    operation = await _begin(app, cli_principal())
    return await applier.perform(operation, application)


async def _begin(app: App, who: Principal) -> Operation:
    operation = Operation(uuid7(app.clock()), "apply", None, "running", None, who.label, app.clock())
    async with app.db.tx() as conn:
        assert await store.insert(conn, operation)
    begun = await operations.begin(app, operation.id)
    assert begun
    return begun


def _with_ports(settings: Settings, ports: Mapping[str, int]) -> Settings:
    return replace(settings, ports=replace(settings.ports, **ports))
