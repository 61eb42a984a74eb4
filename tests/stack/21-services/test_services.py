"""Services in a full instance: their state, operations on them, and edits of their configuration by hand."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.run.runtime import configuration
from mailkeep.run.runtime.context import open_vault
from mailkeep.settings import load_settings
from tests.stack.harness import Stack, eventually
from tests.support.instance import PROGRAM


def services(stack: Stack) -> dict[str, Any]:
    return {each["name"]: each for each in stack.do("GET", "/orchestrator")["services"]}


def finished(stack: Stack, operation_id: str) -> dict[str, Any] | None:
    operation = stack.do("GET", f"/orchestrator/operations/{operation_id}")
    return operation if operation["state"] != "running" else None


def perform(stack: Stack, service: str, action: str) -> dict[str, Any]:
    answer = stack.ask("POST", f"/orchestrator/services/{service}/{action}")
    assert answer.status == 202, answer
    return eventually(lambda: finished(stack, answer.data["operation_id"]), 60, f"{action} {service}")


def drift_events(stack: Stack) -> list[list[str]]:
    return [each["data"]["files"] for each in stack.do("GET", "/events?kind=system.drift&limit=200")]


def test_the_state_of_all_services(stack: Stack) -> None:
    overview = stack.do("GET", "/orchestrator")
    found = {each["name"]: each for each in overview["services"]}
    assert {"database", "prefork", "redis", "rspamd", "dovecot", "postfix", "api", "node"} <= found.keys()
    assert {each["state"] for each in found.values()} == {"running"}
    assert found["dovecot"]["pid"]
    assert found["dovecot"]["memory_bytes"] > 1 << 20
    assert len(found["dovecot"]["config_hash"]) == 64
    assert overview["generation"]["n"] >= 1
    assert found["node"]["actions"] == ["restart"]
    assert (run_folder(stack.data_dir) / "control.sock").stat().st_mode & 0o777 == 0o600


@pytest.mark.timeout(300)
def test_a_service_is_stopped_started_restarted_and_reloaded(alone: Stack) -> None:
    before = services(alone)["sendmail"]["pid"]
    assert perform(alone, "sendmail", "stop")["state"] == "succeeded"
    assert (services(alone)["sendmail"]["state"], services(alone)["sendmail"]["pid"]) == ("stopped", None)
    perform(alone, "sendmail", "start")
    started = services(alone)["sendmail"]
    assert (started["state"], started["pid"] == before) == ("running", False)
    operation = perform(alone, "sendmail", "restart")
    (step,) = operation["steps"]
    assert (operation["state"], operation["author"], step["name"], step["state"]) == (
        "succeeded", alone.do("GET", "/auth/me")["email"], "restart sendmail", "succeeded"
    )  # fmt: skip
    assert services(alone)["sendmail"]["pid"] != started["pid"]
    for daemon in ("rspamd", "dovecot", "nginx", "postfix"):
        pid = services(alone)[daemon]["pid"]
        assert perform(alone, daemon, "reload")["state"] == "succeeded"
        assert services(alone)[daemon]["pid"] == pid
    assert perform(alone, "node", "restart")["state"] == "succeeded"
    assert perform(alone, "api", "restart")["state"] == "succeeded"
    kinds = [(each["kind"], each["service"]) for each in alone.do("GET", "/orchestrator/operations?limit=3")]
    assert kinds == [("restart", "api"), ("restart", "node"), ("reload", "postfix")]


def test_what_the_api_needs_is_not_stopped(stack: Stack) -> None:
    for name in ("api", "node", "prefork", "database"):
        answer = stack.ask("POST", f"/orchestrator/services/{name}/stop")
        assert (answer.status, answer.body["error"]["details"]["reason"]) == (409, "needed_by_api")
    for name, action in (("database", "restart"), ("redis", "reload"), ("worker", "reload")):
        answer = stack.ask("POST", f"/orchestrator/services/{name}/{action}")
        assert (answer.status, answer.body["error"]["details"]["reason"]) == (409, "not_supported")
    for name in ("supervisor", "nothing", "..%2f"):
        assert stack.ask("POST", f"/orchestrator/services/{name}/stop").status == 404


def test_one_of_two_operations_at_once_runs(alone: Stack) -> None:
    def restart(name: str) -> Any:
        return alone.ask("POST", f"/orchestrator/services/{name}/restart")

    with ThreadPoolExecutor() as pool:
        answers = sorted(pool.map(restart, ["sendmail", "worker"]), key=lambda answer: answer.status)
    assert [answer.status for answer in answers] == [202, 409]
    assert answers[1].body["error"]["code"] == "ORCHESTRATOR_BUSY"
    operation_id = answers[0].data["operation_id"]
    assert answers[1].body["error"]["details"]["operation_id"] == operation_id
    eventually(lambda: finished(alone, operation_id), 60, "the restart")


def test_an_edit_by_hand_is_shown(alone: Stack) -> None:
    file = alone.data_dir / "rspamd" / "conf" / "local.d" / "options.inc"
    before = file.read_text()
    assert not services(alone)["rspamd"]["drift"]
    try:
        file.write_text(before + "# by hand\n")
        (drift,) = [each for each in alone.do("GET", "/orchestrator/drift") if each["service"] == "rspamd"]
        assert (drift["path"], drift["kind"], drift["owner"]) == ("local.d/options.inc", "changed", 0)
        assert "+# by hand" in drift["diff"].splitlines()
        assert services(alone)["rspamd"]["drift"]
        path = "rspamd/local.d/options.inc"
        eventually(lambda: any(path in files for files in drift_events(alone)), 10, "the event")
        command = [*PROGRAM, "orchestrator", "drift", "--data-dir", str(alone.data_dir)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (result.returncode, "# by hand" in result.stdout) == (1, True), result
        mark = configuration.list_secrets(open_vault(alone.data_dir, load_settings(alone.data_dir)))[1]
        assert mark in (alone.data_dir / "postfix" / "conf" / "master.cf").read_text()
        assert mark not in result.stdout  # the harness has added a service to master.cf, next to lines with the secret
        assert "policy_context=expanding/********" in result.stdout
    finally:
        file.write_text(before)
    assert not services(alone)["rspamd"]["drift"]


def test_operations_by_the_command_line(alone: Stack) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [*PROGRAM, "orchestrator", *words, "--data-dir", str(alone.data_dir)]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    restarted = run("service", "restart", "sendmail")
    assert (restarted.returncode, restarted.stdout) == (0, "restart sendmail: succeeded\n"), restarted
    refused = run("service", "stop", "api")
    assert (refused.returncode, "the API needs it" in refused.stderr) == (1, True)
    assert "dovecot" in run("status").stdout
    assert "sendmail" in run("operations", "--limit", "1").stdout


def test_a_plan_shows_what_the_next_start_changes(alone: Stack) -> None:
    command = [*PROGRAM, "orchestrator", "plan", "--detailed-exitcode", "--data-dir", str(alone.data_dir)]
    before = alone.do("GET", "/orchestrator/plan")
    assert (before["settings"], before["actions"], before["checks"]) == ([], [], [])
    assert subprocess.run(command, capture_output=True, timeout=60, check=False).returncode == 0
    changes = {"filter.dns_servers": alone.filter_servers(2), "outbound.hide_client": False}
    try:
        alone.do("PATCH", "/config", {"changes": changes})
        plan = alone.do("GET", "/orchestrator/plan")
        assert plan["settings"] == ["filter.dns_servers", "outbound.hide_client"]
        assert plan["target"] > plan["base"]
        assert plan["id"] != before["id"]
        files = {f"{each['service']}/{each['path']}": each for each in plan["files"]}
        added = f'+  nameserver = ["{alone.names}:53", "{alone.names}:53"];'
        assert added in files["rspamd/local.d/options.inc"]["diff"].splitlines()
        assert {each["service"]: each["action"] for each in plan["actions"]} == {
            "rspamd": "reload",
            "postfix": "reload",
        }
        (postfix,) = [each for each in plan["actions"] if each["service"] == "postfix"]
        assert postfix["because"]
        assert {each["service"] for each in plan["checks"]} == {"rspamd", "dovecot", "postfix", "nginx"}
        assert all(each["ok"] for each in plan["checks"])
        assert not list((alone.data_dir / "generations").glob("*.new"))
        shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (shown.returncode, added in shown.stdout) == (2, True), shown
        # The file that the harness has edited stays as it is.
        assert "postfix/master.cf" in plan["warnings"][0]
        assert files["postfix/master.cf"]["change"] == "drifted"
    finally:
        alone.do("PATCH", "/config", {"changes": dict.fromkeys(changes)})
    assert alone.do("GET", "/orchestrator/plan")["actions"] == []
