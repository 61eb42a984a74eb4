"""`mailkeep orchestrator` and the plan of `mailkeep config`, with an instance of the embedded profile."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.run.cli.test_cli import Result, inside
from tests.support import instance
from tests.support.instance import PROGRAM, Instance
from tests.support.scratch import new_directory

WAITING = "smtp.max_sessions"


@pytest.fixture(scope="module")
def running() -> Iterator[Instance]:
    folder = new_directory("mailkeep-cli-", 0o755, programs=True)
    one = instance.start(folder / "data")
    yield one
    assert one.stop() == 0
    shutil.rmtree(folder)


def run(running: Instance, *words: str) -> Result:
    return inside(*words, data=running.data_dir)


def answer(running: Instance, *words: str, code: int = 0) -> Any:
    result = run(running, *words, "--json")
    assert result.code == code, result
    return result.json


def test_the_one_process_is_described(running: Instance) -> None:
    (service,) = answer(running, "orchestrator", "status")["services"]
    assert (service["name"], service["state"], service["pid"]) == ("mailkeep", "running", running.process.pid)
    assert "mailkeep" in run(running, "orchestrator", "status").out
    assert answer(running, "orchestrator", "drift") == {"files": []}
    assert answer(running, "orchestrator", "operations")["operations"] == []


def test_the_empty_plan_is_applied(running: Instance) -> None:
    plan = answer(running, "orchestrator", "plan", "--detailed-exitcode")
    assert (plan["files"], plan["actions"], plan["settings"]) == ([], [], [])
    assert answer(running, "orchestrator", "apply", "--yes")["state"] == "succeeded"
    (operation,) = answer(running, "orchestrator", "operations")["operations"]
    assert operation["kind"] == "apply"
    assert operation["id"] in run(running, "orchestrator", "operations").out


def test_without_a_terminal_an_apply_needs_yes(running: Instance) -> None:
    result = run(running, "orchestrator", "apply")
    assert (result.code, "--yes" in result.err, result.out) == (2, True, "")


def test_on_a_terminal_an_apply_asks(running: Instance) -> None:
    ours, theirs = os.openpty()
    os.write(ours, b"n\n")
    command = [*PROGRAM, "orchestrator", "apply", "--data-dir", str(running.data_dir)]
    try:
        done = subprocess.run(command, stdin=theirs, capture_output=True, text=True, timeout=90, check=False)
    finally:
        os.close(ours)
        os.close(theirs)
    assert (done.returncode, "Apply this plan?" in done.stderr) == (1, True), done


def test_settings_wait_for_a_restart(running: Instance) -> None:
    proposed = answer(running, "config", "set", f"{WAITING}=77", "--dry-run")
    assert proposed["plan"]["settings"] == [WAITING]
    shown = run(running, "config", "set", f"{WAITING}=77", "--dry-run").out
    assert f"mailkeep: restart ({WAITING})." in shown
    assert answer(running, "orchestrator", "plan")["settings"] == []
    try:
        stored = run(running, "config", "set", f"{WAITING}=77", "filter.spam_score=7").out
        assert stored.splitlines()[-1] == f"Restart Mailkeep to apply: {WAITING}."
        plan = answer(running, "orchestrator", "plan", "--detailed-exitcode", code=2)
        assert (plan["settings"], [each["service"] for each in plan["actions"]]) == ([WAITING], ["mailkeep"])
        error = answer(running, "orchestrator", "apply", "--yes", code=1)["error"]
        assert (error["code"], error["details"]["reason"]) == ("CONFLICT", "restart_required")
        assert f"Restart Mailkeep, then these settings take effect: {WAITING}." in error["message"]
    finally:
        run(running, "config", "rollback", "0")


@pytest.mark.parametrize(
    "words, code, reason",
    [
        (["rollback", "1"], "UNAVAILABLE", "needs_full_profile"),
        (["confirm"], "CONFLICT", "nothing_to_confirm"),
        (["service", "restart", "postfix"], "UNAVAILABLE", "needs_full_profile"),
        (["service", "stop", "mailkeep"], "CONFLICT", "needed_by_api"),
        (["service", "restart", "mailkeep"], "CONFLICT", "not_supported"),
    ],
    ids=str,
)
def test_what_needs_the_full_profile_is_refused(running: Instance, words: list[str], code: str, reason: str) -> None:
    error = answer(running, "orchestrator", *words, code=1)["error"]
    assert (error["code"], error["details"]["reason"]) == (code, reason)


def test_errors_name_settings_and_revisions_as_the_command_line_does(running: Instance) -> None:
    wrong = run(running, "config", "set", "filter.spam_score=lots", "overlays.rspamd=text").err
    assert "changes." not in wrong
    assert "filter.spam_score: expected" in wrong
    assert "the value is text, not a table" in wrong
    assert "There is no revision 99 of the settings." in run(running, "config", "rollback", "99").err
    unedited = run(running, "orchestrator", "apply", "--yes", "--overwrite-drift", "main.cf").err
    assert "such as postfix/main.cf" in unedited


def test_a_rollback_of_settings_is_shown_without_storing_it(running: Instance) -> None:
    try:
        run(running, "config", "set", "filter.spam_score=8")
        shown = run(running, "config", "rollback", "0", "--dry-run").out
        assert "filter.spam_score: 8" in shown
        assert "Nothing was stored." in shown
        newest = run(running, "config", "history", "--limit", "1").out
        assert "in effect" in newest
        assert "filter.spam_score" in newest
    finally:
        run(running, "config", "rollback", "0")
    assert "replaced" in run(running, "config", "history").out


def test_without_an_instance_it_is_a_temporary_failure() -> None:
    folder = new_directory("mailkeep-cli-", 0o755, programs=True)
    command = [*PROGRAM, "orchestrator", "plan", "--json", "--data-dir", str(folder)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    shutil.rmtree(folder)
    assert (result.returncode, json.loads(result.stdout)["error"]["code"]) == (75, "UNAVAILABLE")
