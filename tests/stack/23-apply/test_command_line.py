"""`mailkeep config` and `mailkeep orchestrator` with the daemons: the plan of a change, applied and rolled back."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.stack.harness import Stack
from tests.support.instance import PROGRAM

pytestmark = pytest.mark.timeout(300)
KEY = "filter.dns_servers"


@pytest.fixture
def clean(alone: Stack) -> Iterator[Stack]:
    yield alone
    alone.do("PATCH", "/config", {"changes": {KEY: None}})
    if alone.do("GET", "/orchestrator/plan")["actions"]:  # the test has failed
        assert read(alone, "orchestrator", "apply", "--yes", "--watch", "5")["state"] == "succeeded"


def run(stack: Stack, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    command = [*PROGRAM, *words, "--data-dir", str(stack.data_dir)]
    fields: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
    return subprocess.run(command, text=True, timeout=180, check=False, **fields)


def read(stack: Stack, *words: str, code: int = 0) -> Any:
    result = run(stack, *words, "--json")
    assert result.returncode == code, result
    return json.loads(result.stdout)


def run_on_a_terminal(stack: Stack, *words: str) -> bytes:
    """The output with a terminal as standard output."""
    ours, theirs = os.openpty()
    try:
        result = run(stack, *words, stdout=theirs, env={**os.environ, "TERM": "xterm-256color"})
        assert result.returncode == 0, result
        return os.read(ours, 1 << 20)
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_change_is_planned_applied_and_rolled_back(clean: Stack) -> None:
    servers = clean.filter_servers(2)
    change = f"{KEY}={json.dumps(servers)}"
    line = f'+  nameserver = ["{servers[0]}", "{servers[0]}"];'
    proposed = read(clean, "config", "set", change, "--dry-run")
    assert [each["service"] for each in proposed["plan"]["actions"]] == ["rspamd"]
    digest, _, _ = proposed["plan"]["id"].partition("-")  # then when it expires
    assert clean.do("PATCH", "/config", {"changes": {KEY: servers}, "dry_run": True})["plan"]["id"].startswith(digest)
    shown = run(clean, "config", "set", change, "--dry-run").stdout
    assert line in shown.splitlines()
    assert "rspamd: reload (local.d/options.inc)." in shown

    before = clean.do("GET", "/orchestrator")["generation"]["n"]
    stored = run(clean, "config", "set", change)
    assert stored.stdout.splitlines()[-1] == f"Apply with `mailkeep orchestrator apply`: {KEY}."
    assert read(clean, "orchestrator", "plan", "--detailed-exitcode", code=2)["id"].startswith(digest)
    assert f"\x1b[32m{line}".encode() in run_on_a_terminal(clean, "orchestrator", "plan")
    refused = run(clean, "orchestrator", "apply")
    assert (refused.returncode, "--yes" in refused.stderr) == (2, True)

    applied = read(clean, "orchestrator", "apply", "--yes", "--watch", "5")
    assert (applied["kind"], applied["state"]) == ("apply", "succeeded"), applied
    assert read(clean, "orchestrator", "confirm", code=1)["error"]["details"]["reason"] == "nothing_to_confirm"
    back = read(clean, "orchestrator", "rollback", str(before), "--watch", "5")
    assert (back["kind"], back["state"]) == ("rollback", "succeeded"), back
    assert read(clean, "orchestrator", "rollback", "99999", code=1)["error"]["code"] == "NOT_FOUND"
    edited = read(clean, "orchestrator", "drift", code=1)["files"]  # the harness has added a service to Postfix
    assert {(each["service"], each["path"]) for each in edited} == {("postfix", "master.cf")}
