"""Every process takes over a changed setting, also one that starts while the database is away."""

from __future__ import annotations

import os
import signal

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.run.runtime import process
from tests.stack.harness import Stack, eventually


def pid_of(stack: Stack, name: str) -> int:
    return int((run_folder(stack.data_dir) / "pids" / f"{name}.pid").read_text().split()[0])


def takeovers(stack: Stack) -> dict[str, int]:
    """How often each process has logged that its settings have changed."""
    logs = {name: stack.data_dir / "log" / f"{name}.log" for name in process.list_names() if name != "webmail"}  # off
    return {name: path.read_text().count('"settings have changed"') for name, path in logs.items()}


@pytest.mark.timeout(120)
def test_all_processes_take_over_a_change_and_start_with_it(alone: Stack) -> None:
    before = takeovers(alone)
    pids = {name: pid_of(alone, name) for name in before}
    try:
        changed = alone.do("PATCH", "/config", {"changes": {"log.level": "debug", "webhooks.disable_after_hours": 99}})
        assert changed["needs_restart"] == []
        eventually(lambda: all(count > before[name] for name, count in takeovers(alone).items()), 10, "the takeover")
        assert {name: pid_of(alone, name) for name in before} == pids  # without a restart
        assert (alone.data_dir / "stored-settings").stat().st_mode & 0o777 == 0o600
        os.kill(pids["worker"], signal.SIGKILL)
        eventually(lambda: pid_of(alone, "worker") != pids["worker"], 20, "the worker's restart")
        settings = {each["key"]: each["value"] for each in alone.do("GET", "/config")}
        assert (settings["log.level"], settings["mta.mode"]) == ("debug", "postfix")
    finally:
        alone.do("PATCH", "/config", {"changes": {"log.level": None, "webhooks.disable_after_hours": None}})


def test_a_setting_of_a_daemon_waits_for_the_next_start(alone: Stack) -> None:
    main_cf = alone.data_dir / "postfix" / "conf" / "main.cf"
    before = main_cf.read_text()
    try:
        changed = alone.do("PATCH", "/config", {"changes": {"outbound.hide_client": False}})
        assert changed["needs_restart"] == ["outbound.hide_client"]
        assert main_cf.read_text() == before
    finally:
        alone.do("PATCH", "/config", {"changes": {"outbound.hide_client": None}})
