"""Edits by hand of a full instance: shown, kept until an administrator decides, and adopted into the settings."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from mailkeep.core.errors import Unavailable
from mailkeep.db.instance import run_folder
from mailkeep.features.operations.orchestrator import service as orchestrator
from mailkeep.features.operations.orchestrator.model import ApplyRefusal, ApplyRequest, Operation
from mailkeep.run.cli.accounts import cli_principal
from mailkeep.run.runtime.configuration import LOGINS_PORT
from mailkeep.run.runtime.context import attach
from tests.stack.harness import PASSWORD, Stack, eventually
from tests.support.instance import PROGRAM

pytestmark = pytest.mark.timeout(300)
MAIN_CF, GREYLIST = "postfix/main.cf", "rspamd/local.d/greylist.conf"
KEYS = ("overlays.postfix", "overlays.rspamd", "filter.dns_servers")


def path_of(stack: Stack, name: str) -> Path:
    service, _, path = name.partition("/")
    return stack.data_dir / service / "conf" / path


def edit(stack: Stack, name: str, lines: str, before: str = "") -> str:
    """Add lines to the file, or replace `before` by them; returns what it has then."""
    path = path_of(stack, name)
    text = path.read_text().replace(before, lines) if before else path.read_text() + lines
    path.write_text(text)
    return text


def drift(stack: Stack) -> dict[str, dict[str, Any]]:
    """By name; without the service that the harness adds to master.cf."""
    found = {f"{each['service']}/{each['path']}": each for each in stack.do("GET", "/orchestrator/drift")}
    return {name: each for name, each in found.items() if name != "postfix/master.cf"}


def settings(stack: Stack) -> dict[str, Any]:
    return {each["key"]: each.get("pending", each["value"]) for each in stack.do("GET", "/config")}


def finished(stack: Stack, operation_id: str) -> dict[str, Any] | None:
    operation = stack.do("GET", f"/orchestrator/operations/{operation_id}")
    return operation if operation["state"] != "running" else None


def request(stack: Stack, **more: Any) -> Any:
    body = {"plan_id": stack.do("GET", "/orchestrator/plan")["id"], "watch_seconds": 5} | more
    return stack.ask("POST", "/orchestrator/apply", body)


def apply(stack: Stack, **more: Any) -> dict[str, Any]:
    answer = request(stack, **more)
    assert answer.status == 202, answer
    return eventually(lambda: finished(stack, answer.data["operation_id"]), 120, "the apply")


def details_of(answer: Any) -> dict[str, Any]:
    assert answer.status == 409, answer
    return answer.body["error"]["details"]


@pytest.fixture
def edited(alone: Stack) -> Iterator[Stack]:
    """The instance without the harness's edit of main.cf; afterwards with its files and settings of before."""
    main_cf = path_of(alone, MAIN_CF)
    added = [line for line in main_cf.read_text().splitlines() if line.startswith("relayhost")]
    main_cf.write_text((main_cf.resolve().parents[1] / "rendered" / MAIN_CF).read_text())
    assert drift(alone) == {}
    before = {name: path_of(alone, name).read_text() for name in (MAIN_CF, GREYLIST)}
    yield alone
    body = {"changes": dict.fromkeys(KEYS), "current_password": PASSWORD}
    assert alone.ask("PATCH", "/config", body).status == 200
    if alone.do("GET", "/orchestrator/plan")["actions"]:  # something was applied
        operation = apply(alone, overwrite_drift=list(drift(alone)))
        assert operation["state"] == "succeeded", operation
    else:
        for name, text in before.items():
            path_of(alone, name).write_text(text)
    assert drift(alone) == {}
    edit(alone, MAIN_CF, "".join(f"{line}\n" for line in added))
    subprocess.run(["postfix", "-c", str(main_cf.parent), "reload"], check=True, capture_output=True, timeout=60)


def test_an_edit_is_shown_kept_and_adopted(edited: Stack) -> None:
    text = edit(edited, MAIN_CF, "\n# by hand\nsmtpd_timeout =\n  97s\n")
    found = eventually(lambda: drift(edited), 10, "the edit")
    assert list(found) == [MAIN_CF]
    assert found[MAIN_CF]["adoption"] == {
        "setting": "overlays.postfix",
        "lines": "smtpd_timeout = 97s\n",
        "refused": [],
    }
    events = "/events?kind=system.drift&limit=200"
    eventually(lambda: any(MAIN_CF in each["data"]["files"] for each in edited.do("GET", events)), 60, "the event")

    for service in ("postfix", "node"):  # kept by restarts and by an apply of something else
        operation_id = edited.do("POST", f"/orchestrator/services/{service}/restart")["operation_id"]
        eventually(lambda: finished(edited, operation_id), 90, f"the restart of {service}")  # noqa: B023
    edited.do("PATCH", "/config", {"changes": {"filter.dns_servers": edited.filter_servers(2)}})
    assert apply(edited)["state"] == "succeeded"
    assert (path_of(edited, MAIN_CF).read_text(), list(drift(edited))) == (text, [MAIN_CF])
    assert value_of(edited, "smtpd_timeout") == "97s"

    operation = apply(edited, adopt_drift=[MAIN_CF], current_password=PASSWORD)
    assert operation["state"] == "succeeded", operation
    assert "switch and reload postfix" in [step["name"] for step in operation["steps"]]
    assert drift(edited) == {}
    assert settings(edited)["overlays.postfix"] == "smtpd_timeout = 97s\n"
    assert value_of(edited, "smtpd_timeout") == "97s"
    assert "# by hand" not in path_of(edited, MAIN_CF).read_text()
    (revision,) = edited.do("GET", "/config/revisions?limit=1")
    assert (revision["comment"], revision["state"]) == (f"Adopted edits by hand: {MAIN_CF}", "applied")
    assert list(revision["changes"]) == ["overlays.postfix"]
    n = edited.do("GET", "/orchestrator")["generations"][1]["n"]  # without the overlay
    rollback = edited.ask("POST", "/orchestrator/rollback", {"generation": n})
    assert rollback.body["error"]["details"]["reason"] == "recent_sign_in_required"


def value_of(stack: Stack, parameter: str) -> str:
    command = ["postconf", "-c", str(stack.data_dir / "postfix" / "conf"), "-h", parameter]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()


def test_what_can_not_be_adopted_is_refused(edited: Stack) -> None:
    before = edited.do("GET", "/orchestrator")["generation"]["n"], settings(edited)

    def require_unchanged(text: str) -> None:
        assert (edited.do("GET", "/orchestrator")["generation"]["n"], settings(edited)) == before
        assert path_of(edited, MAIN_CF).read_text() == text
        assert edited.do("GET", "/orchestrator")["operation_id"] is None

    rendered = path_of(edited, MAIN_CF).read_text()
    edit(edited, MAIN_CF, "", "enable_long_queue_ids = yes\n")
    text = edit(edited, MAIN_CF, "max_idle = 90s\nmynetworks = 0.0.0.0/0\n")
    details = details_of(request(edited, adopt_drift=[MAIN_CF], current_password=PASSWORD))
    assert details["reason"] == "not_adoptable"
    assert sorted(details["lines"]) == [
        f"{MAIN_CF}: mynetworks = 0.0.0.0/0: mynetworks can't be set here",
        f"{MAIN_CF}: removed: enable_long_queue_ids",
    ]
    require_unchanged(text)

    # A parameter that may be adopted, with a value that may not.
    path_of(edited, MAIN_CF).write_text(rendered)
    text = edit(edited, MAIN_CF, "default_process_limit = many\n")
    details = details_of(request(edited, adopt_drift=[MAIN_CF], current_password=PASSWORD))
    assert details["reason"] == "not_adoptable"
    assert "expected a whole number from 50 to 500, not 'many'" in details["lines"][0]
    require_unchanged(text)

    # Edited again since the plan, also if the time of the change is the same.
    path_of(edited, MAIN_CF).write_text(rendered)
    edit(edited, MAIN_CF, "max_idle = 90s\n")
    status = path_of(edited, MAIN_CF).stat()
    plan_id = edited.do("GET", "/orchestrator/plan")["id"]
    text = edit(edited, MAIN_CF, "max_idle = 91s\n", "max_idle = 90s\n")
    os.utime(path_of(edited, MAIN_CF), ns=(status.st_atime_ns, status.st_mtime_ns))
    body = {"plan_id": plan_id, "adopt_drift": [MAIN_CF], "current_password": PASSWORD}
    details = details_of(edited.ask("POST", "/orchestrator/apply", body))
    assert (details["reason"], details["plan"]["id"] == plan_id) == ("plan_stale", False)
    require_unchanged(text)

    # Lines of the settings that are not in use yet would be lost.
    body = {"changes": {"overlays.postfix": "max_use = 50"}, "current_password": PASSWORD}
    assert edited.ask("PATCH", "/config", body).status == 200
    (line,) = details_of(request(edited, adopt_drift=[MAIN_CF], current_password=PASSWORD))["lines"]
    assert "overlays.postfix was changed and not applied yet" in line
    assert details_of(request(edited))["reason"] == "drifted"


def test_what_was_adopted_is_taken_back_if_the_apply_does_not_begin(
    edited: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In between, the file is edited again, or the process `node` can't make the plan."""
    node = (run_folder(edited.data_dir) / "pids" / "node.pid").read_text().split()[0]
    for entry in Path(f"/proc/{node}/environ").read_bytes().decode().split("\0"):
        if entry.startswith("MAILKEEP_"):
            monkeypatch.setenv(*entry.split("=", 1))
    port = edited.data_dir / LOGINS_PORT
    prepare = orchestrator._prepare

    async def adopt(disturb: Callable[[], object]) -> Operation | ApplyRefusal:
        async def disturb_and_prepare(*arguments: Any) -> Operation | ApplyRefusal:
            disturb()
            return await prepare(*arguments)

        monkeypatch.setattr(orchestrator, "_prepare", disturb_and_prepare)
        async with attach(edited.data_dir, "test") as app:
            plan_id = (await orchestrator.make_plan(app)).id
            return await orchestrator.request_apply(app, cli_principal(), ApplyRequest(plan_id, 5, (), [MAIN_CF]))

    def require_taken_back() -> None:
        newest, adopted = edited.do("GET", "/config/revisions?limit=2")
        assert newest["comment"] == "Edits by hand were not adopted: the apply did not begin"
        assert list(newest["changes"]) == list(adopted["changes"]) == ["overlays.postfix"]
        assert settings(edited)["overlays.postfix"] == before
        assert (edited.do("GET", "/orchestrator")["operation_id"], list(drift(edited))) == (None, [MAIN_CF])

    before = settings(edited)["overlays.postfix"]
    edit(edited, MAIN_CF, "max_idle = 90s\n")
    refusal = asyncio.run(adopt(lambda: edit(edited, MAIN_CF, "max_idle = 91s\n", "max_idle = 90s\n")))
    assert isinstance(refusal, ApplyRefusal)
    assert refusal.reason == "plan_stale"
    require_taken_back()
    try:
        with pytest.raises(Unavailable):
            asyncio.run(adopt(lambda: port.rename(port.with_name("away"))))
    finally:
        port.with_name("away").rename(port)
    require_taken_back()
    assert "max_idle = 91s" in path_of(edited, MAIN_CF).read_text()


def test_adopting_needs_a_recent_sign_in(edited: Stack) -> None:
    edit(edited, MAIN_CF, "max_idle = 90s\n")
    wrong = request(edited, adopt_drift=[MAIN_CF], current_password="not the password")
    assert (wrong.status, wrong.body["error"]["code"]) == (401, "INVALID_CREDENTIALS")
    twice = request(edited, adopt_drift=[MAIN_CF], overwrite_drift=[MAIN_CF])
    assert (twice.status, twice.body["error"]["code"]) == (400, "INVALID_FIELD")
    created = edited.do("POST", "/api-keys", {"name": "adopt"})
    body = {"plan_id": edited.do("GET", "/orchestrator/plan")["id"], "adopt_drift": [MAIN_CF]}
    call = Request(f"{edited.api}/api/v1/orchestrator/apply", json.dumps(body).encode(), method="POST")
    call.add_header("Authorization", f"Bearer {created['key']}")
    call.add_header("Content-Type", "application/json")
    with pytest.raises(HTTPError) as refused:
        urlopen(call, timeout=60)
    assert refused.value.code == 403
    assert json.load(refused.value)["error"]["details"]["reason"] == "recent_sign_in_required"
    assert list(drift(edited)) == [MAIN_CF]


def test_an_edit_of_rspamd_is_adopted_by_the_command_line(edited: Stack) -> None:
    edit(edited, GREYLIST, "\nexpire = 2d;\n")
    edit(edited, MAIN_CF, "# only a comment\n")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [*PROGRAM, "orchestrator", *words, "--data-dir", str(edited.data_dir)]
        return subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)

    assert "Can be adopted: overlays.rspamd then has these lines:\n  expire = 2d;" in run("drift").stdout
    options = ("--adopt-drift", GREYLIST, "--adopt-drift", MAIN_CF)
    result = run("apply", "--yes", "--watch", "5", *options)
    assert (result.returncode, "apply: succeeded" in result.stdout) == (0, True), result
    assert settings(edited)["overlays.rspamd"] == {"greylist.conf": "expire = 2d;\n"}
    assert "expire = 2d;" in path_of(edited, GREYLIST).read_text()
    assert "# only a comment" not in path_of(edited, MAIN_CF).read_text()
    assert drift(edited) == {}
