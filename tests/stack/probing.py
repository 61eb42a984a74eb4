"""Send a probe message to an instance as its process `node` does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.node_report import ProbeResult
from mailkeep.run.runtime import probe
from mailkeep.run.runtime.context import attach
from tests.stack.applying import paths_of
from tests.stack.harness import Stack


def copy_environment(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the test the environment of the instance, with its settings."""
    pid = (run_folder(stack.data_dir) / "pids" / "node.pid").read_text().split()[0]
    for entry in Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0"):
        if entry.startswith("MAILKEEP_"):
            monkeypatch.setenv(*entry.split("=", 1))


def run_probe(stack: Stack, prepare: Callable[[], None] = lambda: None, /, **ports: int) -> ProbeResult:
    """The result of a probe; `prepare` is called before, with the database open. `ports` replace those of the
    settings.
    """

    async def run() -> ProbeResult:
        async with attach(stack.data_dir, "test") as app:
            prepare()
            settings = replace(app.settings, ports=replace(app.settings.ports, **ports))
            return await probe.probe(app, paths_of(stack.data_dir), settings)

    return asyncio.run(run())
