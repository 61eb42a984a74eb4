"""Applying the configuration of a full instance: watched, confirmed, rolled back, and after a crash."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Failure
from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.node_report import ProbeResult
from mailkeep.mail.dovecot import search_index
from mailkeep.run.runtime import generations, journal, plan, probe
from tests.stack.applying import apply_draft, paths_of
from tests.stack.harness import ADDRESS, PASSWORD, Stack, eventually
from tests.support.instance import PROGRAM
from tests.support.ports import free_port
from tests.support.processes import children

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def clean(alone: Stack, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """The instance, whose environment the test has too; afterwards with the settings and files of before."""
    for entry in Path(f"/proc/{pid_of_node(alone)}/environ").read_bytes().decode().split("\0"):
        if entry.startswith("MAILKEEP_"):
            monkeypatch.setenv(*entry.split("=", 1))
    yield alone
    keys = ("filter.dns_servers", "outbound.hide_client", "search.full_text")
    alone.do("PATCH", "/config", {"changes": dict.fromkeys(keys)})
    if alone.do("GET", "/orchestrator/plan")["actions"]:
        assert asyncio.run(apply_draft(alone.data_dir, watch_seconds=0.1)).state == "succeeded"


def pid_of_node(stack: Stack) -> int:
    return int((run_folder(stack.data_dir) / "pids" / "node.pid").read_text().split()[0])


def finished(stack: Stack, operation_id: str) -> dict[str, Any] | None:
    operation = stack.do("GET", f"/orchestrator/operations/{operation_id}")
    return operation if operation["state"] != "running" else None


def request(stack: Stack, **more: Any) -> Any:
    plan_id = stack.do("GET", "/orchestrator/plan")["id"]
    return stack.ask("POST", "/orchestrator/apply", {"plan_id": plan_id, "watch_seconds": 5} | more)


def apply(stack: Stack, **more: Any) -> dict[str, Any]:
    operation_id = request(stack, **more).data["operation_id"]
    return eventually(lambda: finished(stack, operation_id), 120, "the apply")


def set_servers(stack: Stack, number: int) -> None:
    stack.do("PATCH", "/config", {"changes": {"filter.dns_servers": stack.filter_servers(number)}})


def used_options(stack: Stack) -> str:
    return (stack.data_dir / "rspamd" / "conf" / "local.d" / "options.inc").read_text()


def used_servers(stack: Stack) -> int:
    """How many name servers the filter has."""
    return used_options(stack).count(f"{stack.names}:53")


def newest_alert(stack: Stack) -> dict[str, Any]:
    alerts: list[dict[str, Any]] = stack.do("GET", "/events?kind=system.alert&limit=100")
    about_applies = [each for each in alerts if not each["data"].get("alert_id")]  # others are about the health
    return max(about_applies, key=lambda alert: alert["id"])


def pending(stack: Stack) -> list[str]:
    return stack.do("GET", "/orchestrator/plan")["settings"]


def test_an_apply_and_a_rollback_to_an_earlier_generation(clean: Stack) -> None:
    before = clean.do("GET", "/orchestrator")["generation"]["n"]
    # Not settings that need a recent sign-in: then a roll-back is refused.
    clean.do("PATCH", "/config", {"changes": {"search.full_text": "words", "outbound.hide_client": False}})
    old_plan = clean.do("GET", "/orchestrator/plan")["id"]
    operation = apply(clean)
    assert (operation["state"], operation["error"], operation["service"]) == ("succeeded", None, None), operation
    names = [step["name"] for step in operation["steps"]]
    assert names == ["use the settings", "switch and reload dovecot", "switch and reload postfix", "watch"]
    dovecot = clean.data_dir / "dovecot" / "conf" / "dovecot.conf"
    assert search_index.is_on(dovecot)
    assert pending(clean) == []
    assert clean.do("GET", "/orchestrator")["generation"]["n"] == before + 1
    stale = clean.ask("POST", "/orchestrator/apply", {"plan_id": old_plan})
    assert (stale.status, stale.body["error"]["details"]["reason"]) == (409, "plan_stale")
    digest, _, _ = clean.do("GET", "/orchestrator/plan")["id"].partition("-")
    assert stale.body["error"]["details"]["plan"]["id"].startswith(digest)
    expired = clean.ask("POST", "/orchestrator/apply", {"plan_id": f"{digest}-1700000000000"}).body["error"]
    assert (expired["details"]["reason"], "expired at 2023" in expired["message"]) == ("plan_stale", True), expired
    assert journal.read(paths_of(clean.data_dir)) is None

    rendered = dovecot.read_text()
    dovecot.write_text(f"{rendered}# edited\n")
    refused = clean.ask("POST", "/orchestrator/rollback", {"generation": before})
    assert refused.status == 409, refused.body
    assert pending(clean) == []
    dovecot.write_text(rendered)
    rollback = clean.ask("POST", "/orchestrator/rollback", {"generation": before, "watch_seconds": 5})
    operation = eventually(lambda: finished(clean, rollback.data["operation_id"]), 120, "the rollback")
    assert (operation["kind"], operation["state"]) == ("rollback", "succeeded"), operation
    assert not search_index.is_on(dovecot)
    assert clean.ask("POST", "/orchestrator/rollback", {"generation": 99999}).status == 404


def test_a_setting_of_our_own_processes_is_applied(clean: Stack) -> None:
    pids = {each["name"]: each["pid"] for each in clean.do("GET", "/orchestrator")["services"]}
    try:
        clean.do("PATCH", "/config", {"changes": {"limits.body_budget_mb": 300}})
        operation = apply(clean)
        assert operation["state"] == "succeeded", operation
        assert operation["steps"][-2]["name"] == "restart api"
        now = {each["name"]: each["pid"] for each in clean.do("GET", "/orchestrator")["services"]}
        assert {name for name, pid in now.items() if pid != pids[name]} == {"api"}
        assert pending(clean) == []
    finally:
        clean.do("PATCH", "/config", {"changes": {"limits.body_budget_mb": None}})


def test_one_of_two_applies_at_once_runs_and_overwrites_an_edit_by_hand(clean: Stack) -> None:
    """Of two processes: the API and the command line. The edit is kept until it is named."""
    name, file = "rspamd/local.d/options.inc", clean.data_dir / "rspamd" / "conf" / "local.d" / "options.inc"
    file.write_text(file.read_text() + "# by hand\n")
    set_servers(clean, 3)
    refused = request(clean)
    assert (refused.status, refused.body["error"]["details"]) == (409, {"reason": "drifted", "files": [name]})
    assert "# by hand" in used_options(clean)
    command = [*PROGRAM, "orchestrator", "apply", "--yes", "--watch", "10", "--json", "--overwrite-drift", name]
    command += ["--data-dir", str(clean.data_dir)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as other:
        running = eventually(lambda: clean.do("GET", "/orchestrator")["operation_id"], 60, "the other apply")
        refused = clean.ask("POST", "/orchestrator/apply", {"plan_id": "0" * 64})
        assert (refused.status, refused.body["error"]["code"]) == (409, "ORCHESTRATOR_BUSY")
        assert refused.body["error"]["details"]["operation_id"] == running
        confirm = clean.ask("POST", "/orchestrator/confirm")
        assert (confirm.status, confirm.body["error"]["details"]["reason"]) == (409, "nothing_to_confirm")
        output, _ = other.communicate(timeout=120)
    assert (other.returncode, running in output) == (0, True), output
    assert clean.do("GET", f"/orchestrator/operations/{running}")["state"] == "succeeded"
    assert (used_servers(clean), "# by hand" in used_options(clean)) == (3, False)


def test_a_change_that_stops_delivery_is_rolled_back(clean: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    async def succeed(*_: Any) -> ProbeResult:
        return ProbeResult(utc_now(), "ok")

    monkeypatch.setattr(probe, "probe", succeed)  # 24-probe shows what the probe finds
    domain_id = clean.make_domain("rolled-back.test")
    address = clean.make_mailbox(domain_id, "ann")["address"]
    before = clean.do("GET", "/orchestrator")["generation"]["n"]

    def break_delivery(draft: plan.Draft) -> plan.Draft:
        main = draft.rendered["postfix"]["main.cf"]
        rendered = {**draft.rendered, "postfix": {**draft.rendered["postfix"], "main.cf": _break_transport(main)}}
        manifest = msgspec.structs.replace(draft.manifest, services=generations.hash_files(rendered))
        action = plan.PlannedAction("postfix", "reload", ["main.cf: virtual_transport"], None)
        drift = [each for each in draft.drift if each.path != "main.cf"]
        new_plan = replace(draft.plan, actions=[action])
        return replace(draft, rendered=rendered, manifest=manifest, drift=drift, plan=new_plan)

    sent: list[str] = []

    async def apply_and_deliver() -> Any:
        applying = asyncio.create_task(apply_draft(clean.data_dir, break_delivery))
        journal = paths_of(clean.data_dir).generations / "operation.json"
        while not journal.exists():
            await asyncio.sleep(0.05)
        # Postfix uses the new file only after its reload, and a queue manager may deliver one message as before.
        while not applying.done():
            await asyncio.to_thread(clean.deliver, address, "During the apply")
            sent.append(address)
            await asyncio.sleep(0.3)
        return await applying

    outcome = asyncio.run(apply_and_deliver())
    assert outcome.state == "rolled_back", outcome
    assert "deferred because of this server" in outcome.error
    alert = newest_alert(clean)
    (operation,) = clean.do("GET", "/orchestrator/operations?limit=1")
    assert (alert["data"]["alert"], alert["data"]["operation_id"]) == ("apply_rolled_back", operation["id"])
    assert clean.do("GET", "/orchestrator")["generation"]["n"] == before
    eventually(lambda: len(clean.mail_of(address)) >= len(sent), 60, "the mail that came meanwhile")
    assert len(clean.mail_of(address)) == len(sent)


def begin(stack: Stack, number: int) -> str:
    """Begin an apply; its ID, once its journal is written."""
    set_servers(stack, number)
    operation_id: str = request(stack, watch_seconds=20).data["operation_id"]
    eventually(journal.file_of(paths_of(stack.data_dir)).exists, 60, "the journal")
    return operation_id


def test_a_probe_that_fails_after_the_rollback_too_is_a_failure(clean: Stack) -> None:
    before = used_options(clean)
    operation_id = begin(clean, 4)
    lmtp = int((run_folder(clean.data_dir) / "pids" / "lmtp.pid").read_text().split()[0])
    os.kill(lmtp, signal.SIGSTOP)
    try:
        operation = eventually(lambda: finished(clean, operation_id), 200, "the end")
    finally:
        os.kill(lmtp, signal.SIGCONT)
    assert operation["state"] == "failed", operation
    assert "Restoring the earlier configuration failed: The probe message fails." in operation["error"]
    assert (operation["steps"][-1]["name"], operation["steps"][-1]["state"]) == ("check the services", "failed")
    alert = newest_alert(clean)["data"]
    assert (alert["alert"], alert["operation_id"]) == ("apply_failed", operation_id)
    assert (used_options(clean), pending(clean)) == (before, ["filter.dns_servers"])


def test_the_database_goes_away_during_an_apply(clean: Stack) -> None:
    before = used_options(clean)
    operation_id = begin(clean, 5)
    supervisor = int((clean.data_dir / "lock").read_text())
    server = next(pid for pid in children(supervisor) if Path(f"/proc/{pid}/comm").read_text() == "postgres\n")
    os.kill(server, signal.SIGKILL)

    def ended() -> dict[str, Any] | None:
        answer = clean.ask("GET", f"/orchestrator/operations/{operation_id}")
        return answer.data if answer.status == 200 and answer.data["state"] != "running" else None

    operation = eventually(ended, 200, "the end")
    eventually(lambda: not journal.file_of(paths_of(clean.data_dir)).exists(), 60, "the end of the journal")
    is_new = operation["state"] == "succeeded"
    assert operation["state"] in ("succeeded", "rolled_back"), operation
    assert (operation["error"] is None, operation["finished_at"] is None) == (is_new, False), operation
    assert all(each["finished_at"] for each in operation["steps"]), operation
    assert is_new == (used_servers(clean) == 5)
    assert is_new or used_options(clean) == before
    assert pending(clean) == ([] if is_new else ["filter.dns_servers"])


def test_a_configuration_that_can_not_be_written_changes_nothing(clean: Stack) -> None:
    before = clean.do("GET", "/orchestrator")["generation"]["n"]

    def add_file(draft: plan.Draft) -> plan.Draft:
        rendered = {**draft.rendered, "redis": {**draft.rendered["redis"], "x" * 300: "too long a name"}}
        manifest = msgspec.structs.replace(draft.manifest, services=generations.hash_files(rendered))
        return replace(draft, rendered=rendered, manifest=manifest)

    with pytest.raises(Failure, match=r"could not be written: .* Nothing was changed"):
        asyncio.run(apply_draft(clean.data_dir, add_file))
    assert list(paths_of(clean.data_dir).generations.glob("*.new")) == []
    assert clean.do("GET", "/orchestrator")["generation"]["n"] == before


def _break_transport(main: str) -> str:
    lines = main.splitlines()
    (number,) = [at for at, line in enumerate(lines) if line.startswith("virtual_transport")]
    lines[number] = "virtual_transport = lmtp:unix:/absent.sock"
    return "\n".join(lines) + "\n"


def test_neither_a_damaged_journal_nor_a_stopped_service_stands_in_the_way(clean: Stack) -> None:
    """The journal is set aside with an alert; a service that was stopped before is no reason for a rollback."""

    def act(action: str) -> None:
        operation_id = clean.do("POST", f"/orchestrator/services/dovecot/{action}")["operation_id"]
        assert eventually(lambda: finished(clean, operation_id), 60, action)["state"] == "succeeded"

    paths = paths_of(clean.data_dir)
    journal.file_of(paths).write_text('{"operation_id": "01a2')
    os.kill(pid_of_node(clean), signal.SIGKILL)
    eventually(lambda: not journal.file_of(paths).exists(), 60, "the damaged journal to be set aside")
    alert = newest_alert(clean)
    assert (alert["data"]["alert"], "can't be read" in alert["data"]["reason"]) == ("apply_failed", True)
    act("stop")
    try:
        set_servers(clean, 2)
        operation = apply(clean)
        assert operation["state"] == "succeeded", operation
    finally:
        act("start")


def test_another_port_must_be_confirmed(clean: Stack) -> None:
    old, new = clean.ports["pop3"], free_port(ADDRESS)

    def greets(port: int) -> bool:
        try:
            with socket.create_connection((ADDRESS, port), 5) as connection:
                return connection.recv(100).startswith(b"+OK")
        except OSError:
            return False

    warnings: list[str] = []

    def look(draft: plan.Draft) -> plan.Draft:
        warnings.extend(draft.plan.warnings)
        return draft

    outcome = asyncio.run(apply_draft(clean.data_dir, look, ports={"pop3": new}, confirm_seconds=1))
    assert "120 seconds for your confirmation" in "".join(warnings)
    assert (outcome.state, outcome.error) == ("rolled_back", "The change was not confirmed within 1 seconds.")
    assert (greets(old), greets(new)) == (True, False)

    def waits() -> Any:
        operation_id = clean.do("GET", "/orchestrator")["operation_id"]
        return operation_id and clean.do("GET", f"/orchestrator/operations/{operation_id}")["confirm_until"]

    with ThreadPoolExecutor() as pool:
        applying = pool.submit(lambda: asyncio.run(apply_draft(clean.data_dir, ports={"pop3": new})))
        eventually(waits, 60, "the confirmation")
        assert (greets(old), greets(new)) == (False, True)
        command = [*PROGRAM, "orchestrator", "operations", "--limit", "1", "--data-dir", str(clean.data_dir)]
        listed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
        busy = clean.ask("POST", "/orchestrator/services/sendmail/restart").body["error"]
        assert "waits for your confirmation until" in listed, listed
        assert busy["details"]["operation_id"] in listed, (busy, listed)
        assert f"apply, ID {busy['details']['operation_id']}. It waits for a confirmation." in busy["message"]
        clean.do("POST", "/orchestrator/confirm")
        assert applying.result(timeout=60).state == "succeeded"
    back = request(clean).data["operation_id"]
    assert (eventually(lambda: finished(clean, back), 60, "the old port"))["state"] == "succeeded"
    assert (greets(old), greets(new)) == (True, False)


@pytest.fixture
def own_file(clean: Stack) -> Iterator[Path]:
    """Where root's own lines for main.cf are; none before and after the test."""
    file = clean.data_dir / "overlays" / "postfix" / "main.cf"
    file.parent.mkdir(parents=True, mode=0o755)
    yield file
    shutil.rmtree(clean.data_dir / "overlays")
    if clean.do("GET", "/orchestrator/plan")["actions"]:
        assert apply(clean)["state"] == "succeeded"


def test_a_wrong_parameter_in_an_overlay_is_rejected(clean: Stack, own_file: Path) -> None:
    main_cf = clean.data_dir / "postfix" / "conf" / "main.cf"
    before = main_cf.resolve().stat()

    def set_overlay(lines: str) -> Any:
        body = {"changes": {"overlays.postfix": lines}, "current_password": PASSWORD}
        return clean.ask("PATCH", "/config", body)

    assert set_overlay("smtpd_milters = inet:203.0.113.1:1").status == 400  # not on the allow-list
    assert set_overlay("default_process_limit = many").status == 400
    own_file.write_text("default_process_limit = many\n")
    refused = request(clean)
    assert refused.status == 409, refused
    details = refused.body["error"]["details"]
    assert (details["reason"], {each["service"] for each in details["checks"]}) == ("check_failed", {"postfix"})
    assert "many" in details["checks"][0]["output"]
    assert main_cf.resolve().stat() == before
    assert clean.do("GET", "/orchestrator")["operation_id"] is None


def test_a_value_with_which_mail_can_not_leave_is_rolled_back(clean: Stack, own_file: Path) -> None:
    """Postfix's own check does not read this parameter; the process that sends mail fails when it has some."""
    domain_id = clean.make_domain("banana.test")
    sender = clean.make_mailbox(domain_id, "ann")["address"]
    own_file.write_text("smtp_connect_timeout = banana\n")
    operation_id = request(clean, watch_seconds=60).data["operation_id"]
    main_cf = clean.data_dir / "postfix" / "conf" / "main.cf"

    def is_watched() -> bool:
        steps = clean.do("GET", f"/orchestrator/operations/{operation_id}")["steps"]
        return "watch" in {each["name"] for each in steps}

    eventually(is_watched, 60, "the watch")
    assert "banana" in main_cf.read_text()
    assert clean.send(sender, "bob@far.test").status == 200
    operation = eventually(lambda: finished(clean, operation_id), 120, "the rollback")
    assert operation["state"] == "rolled_back", operation
    assert "fatal: parameter smtp_connect_timeout: bad time value" in operation["error"]
    assert "banana" not in main_cf.read_text()
    eventually(lambda: clean.caught("bob@far.test"), 120, "the mail that waited")
