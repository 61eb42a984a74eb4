"""The probe: a message from port 25 to its own mailbox and a login there, by applies and for health."""

from __future__ import annotations

import asyncio
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, LiteralString, cast

import msgspec
import pytest
from psycopg.sql import SQL

from mailkeep.core.clock import utc_now
from mailkeep.db.instance import run_folder
from mailkeep.features.operations.health import service
from mailkeep.features.operations.health.model import Component
from mailkeep.mail.daemons import node_report, probe_mailbox
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.run.runtime import configuration, generations, plan, probe
from mailkeep.run.runtime.context import attach
from tests.stack.applying import apply_draft, paths_of
from tests.stack.harness import ADDRESS, Stack, eventually, letter
from tests.stack.probing import copy_environment, run_probe
from tests.support.instance import PROGRAM

pytestmark = pytest.mark.timeout(300)
STRANGER = "203.0.113.66"
MAILBOX = probe_mailbox.ADDRESS
SETTLED_SECONDS = 8.0  # more than the time between two writes of the counters


@pytest.fixture
def ours(alone: Stack, monkeypatch: pytest.MonkeyPatch) -> Stack:
    """The instance, whose environment the test has too."""
    copy_environment(alone, monkeypatch)
    return alone


def query(stack: Stack, sql: str) -> list[dict[str, Any]]:
    async def run() -> list[dict[str, Any]]:
        async with attach(stack.data_dir, "test") as app, app.db.autocommit() as conn:
            return await (await conn.execute(SQL(cast(LiteralString, sql)))).fetchall()

    return asyncio.run(run())


def rows_with_the_probe(stack: Stack) -> dict[str, int]:
    """The number of rows that contain the probe's domain, by table."""
    listing = """
        SELECT relname FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
          AND has_table_privilege(oid, 'SELECT')
    """
    names = [row["relname"] for row in query(stack, listing)]
    found = " UNION ALL ".join(
        f"SELECT '{name}' AS name, count(*) AS n FROM \"{name}\" t WHERE t::text LIKE '%{probe_mailbox.DOMAIN}%'"
        for name in names
    )
    return {row["name"]: row["n"] for row in query(stack, found)}


def wait_for_the_end_in_the_log(stack: Stack, before: Mapping[str, int]) -> None:
    """Wait until no table has more rows with the probe's domain than before."""

    def is_over() -> bool:
        return all(n <= before[name] for name, n in rows_with_the_probe(stack).items())

    eventually(is_over, 60, "the end of the probe in the log")


def read_vault(stack: Stack) -> Any:
    async def read() -> Any:
        async with attach(stack.data_dir, "test") as app:
            return app.vault

    return asyncio.run(read())


def mail_counts(stack: Stack) -> Counter[str]:
    rows = query(stack, "SELECT name, sum(count)::bigint AS n FROM counters GROUP BY name")
    return Counter({row["name"]: row["n"] for row in rows if row["name"] in ("messages_accepted", "deliveries")})


def settled_counts(stack: Stack) -> Counter[str]:
    """The counters when what other tests sent before is counted: processes write theirs every few seconds."""
    counts: list[Counter[str]] = []

    def are_settled() -> bool:
        counts.append(mail_counts(stack))
        time.sleep(SETTLED_SECONDS)
        return mail_counts(stack) == counts[-1]

    eventually(are_settled, 120, "the counters of earlier mail")
    return counts[-1]


def mail_files(stack: Stack) -> list[Path]:
    return [path for path in paths_of(stack.data_dir).probe_home.rglob("*") if path.parent.name in ("new", "cur")]


def queued(stack: Stack) -> list[str]:
    listing = asyncio.run(postfix_queue.list_queue(paths_of(stack.data_dir).postfix_conf))
    return [each.queue_id for each in listing if each.is_probe]


def finished(stack: Stack, operation_id: str) -> dict[str, Any] | None:
    operation = stack.do("GET", f"/orchestrator/operations/{operation_id}")
    return operation if operation["state"] != "running" else None


def perform(stack: Stack, action: str, service: str) -> None:
    operation_id = stack.do("POST", f"/orchestrator/services/{service}/{action}")["operation_id"]
    assert eventually(lambda: finished(stack, operation_id), 60, f"{action} {service}")["state"] == "succeeded"


def health(stack: Stack, name: str = "probe") -> dict[str, Any]:
    components = stack.do("GET", "/health/details")["components"]
    return next(each for each in components if each["component"] == name)


def test_a_probe_works_and_leaves_no_trace(ours: Stack) -> None:
    address = ours.make_mailbox(ours.make_domain("beside-the-probe.test"), "ann")["address"]
    eventually(lambda: not ours.do("GET", "/queue"), 90, "an empty queue")
    before, rows_before = settled_counts(ours), rows_with_the_probe(ours)
    for imaps in (ours.ports["imaps"], 0):
        result = run_probe(ours, imaps=imaps)
        assert (result.status, result.problem) == ("ok", None)
        assert result.latency_ms
    # Its line in the log is after those of the probes, and it is counted after them.
    ours.deliver(address)
    eventually(lambda: (mail_counts(ours) - before).keys() == {"messages_accepted", "deliveries"}, 60, "the counters")
    wait_for_the_end_in_the_log(ours, rows_before)
    assert mail_counts(ours) - before == {"messages_accepted": 1, "deliveries": 1}
    assert (mail_files(ours), queued(ours)) == ([], [])
    assert ours.do("GET", f"/routing/explain?address={MAILBOX}")["decision"] == "not_managed"
    assert ours.ask("POST", "/domains", {"name": probe_mailbox.DOMAIN}).status == 400
    eventually(lambda: (health(ours)["latency_ms"] or 0) > 0, 90, "a probe of the process node")
    assert (health(ours)["status"], health(ours)["details"]["stage"]) == ("ok", None)


def test_what_is_switched_off_is_not_checked(ours: Stack) -> None:
    assert run_probe(ours, imap=0, imaps=0).status == "not_checked"
    result = run_probe(ours, smtp=0)
    assert (result.status, result.problem) == ("not_checked", "The port smtp is off: no message was sent.")


def test_mail_that_probes_left_is_deleted(ours: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    with ours.smtp() as client:
        client.ehlo(configuration.make_probe_helo(read_vault(ours)))
        client.sendmail("", [MAILBOX], letter(MAILBOX))
    eventually(lambda: mail_files(ours), 30, "the message")
    monkeypatch.setattr(probe, "_LEFTOVER_SECONDS", 1)
    time.sleep(2.1)  # the times of messages have a resolution of a second
    assert run_probe(ours).status == "ok"
    assert mail_files(ours) == []


def test_an_undelivered_probe_leaves_the_queue(ours: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    before = rows_with_the_probe(ours)
    perform(ours, "stop", "lmtp")
    try:
        monkeypatch.setattr(probe, "SECONDS", 4.0)
        result = run_probe(ours)
        assert (result.status, result.stage) == ("failed", "delivery"), result
        assert queued(ours) == []
    finally:
        perform(ours, "start", "lmtp")
    assert run_probe(ours).status == "ok"
    wait_for_the_end_in_the_log(ours, before)


def _reject_all(rspamd: Mapping[str, str]) -> dict[str, str]:
    return {**rspamd, "local.d/actions.conf": "reject = -50;\n"}


def _break_password_query(dovecot: Mapping[str, str]) -> dict[str, str]:
    return {**dovecot, "sql.conf": dovecot["sql.conf"].replace("FROM mta_login(", "FROM mta_no_login(")}


@pytest.mark.parametrize(
    "service, change, stage",
    [("rspamd", _reject_all, "refused the message"), ("dovecot", _break_password_query, "The login on port")],
    ids=["the filter rejects everything", "nobody can log in"],
)
def test_a_change_that_only_the_probe_notices_is_rolled_back(
    ours: Stack, service: str, change: Callable[[Mapping[str, str]], dict[str, str]], stage: str
) -> None:
    def break_it(draft: plan.Draft) -> plan.Draft:
        rendered = {**draft.rendered, service: change(draft.rendered[service])}
        manifest = msgspec.structs.replace(draft.manifest, services=generations.hash_files(rendered))
        action = plan.PlannedAction(service, "reload", ["broken"], None)
        return replace(draft, rendered=rendered, manifest=manifest, plan=replace(draft.plan, actions=[action]))

    outcome = asyncio.run(apply_draft(ours.data_dir, break_it))
    assert outcome.state == "rolled_back", outcome
    assert str(outcome.error).startswith("The probe message failed.")
    assert stage in str(outcome.error)
    assert run_probe(ours).status == "ok"


def test_a_probe_that_failed_before_does_not_undo_an_apply(ours: Stack) -> None:
    perform(ours, "stop", "rspamd")
    try:
        perform(ours, "restart", "node")  # it probes at its start
        failed = eventually(lambda: health(ours)["status"] == "down" and health(ours), 60, "the failure in health")
        assert failed["details"]["stage"] == "envelope"
        assert "refused the sender or recipient: 451" in failed["advice"]
        assert health(ours, "filter")["status"] == "down"
        assert health(ours, "filter")["advice"].startswith("Not running: rspamd.")
        doctor = [*PROGRAM, "doctor", "--data-dir", str(ours.data_dir)]
        found = subprocess.run(doctor, capture_output=True, text=True, timeout=120, check=False)
        assert "A message from port 25 did not arrive in a mailbox." in found.stdout
        assert re.search(r"wrong +health: Not in order: .*rspamd \(degraded\)", found.stdout), found.stdout
        outcome = asyncio.run(apply_draft(ours.data_dir))
        assert outcome.state == "succeeded", outcome
        (operation,) = ours.do("GET", "/orchestrator/operations?limit=1")
        (watching,) = [each for each in operation["steps"] if each["name"] == "watch"]
        assert watching["output"].startswith("The probe message failed before the change too.")
    finally:
        perform(ours, "start", "rspamd")
    eventually(lambda: health(ours)["status"] == "ok", 60, "the probe in health")


def test_a_stopped_dovecot_is_found_by_the_login(ours: Stack) -> None:
    perform(ours, "stop", "dovecot")
    try:
        result = run_probe(ours)
        assert (result.status, result.stage) == ("failed", "login"), result
        assert health(ours, "mailboxes")["status"] == "down"
        assert health(ours, "mailboxes")["advice"].startswith("Not running: dovecot.")
    finally:
        perform(ours, "start", "dovecot")
    assert run_probe(ours).status == "ok"


def test_an_expired_certificate_and_a_wrong_clock_are_reported(ours: Stack) -> None:
    async def look(ahead: timedelta) -> dict[str, Component]:
        """The components for a clock that is ahead by this."""
        async with attach(ours.data_dir, "test") as app:
            report = node_report.load(run_folder(ours.data_dir))
            assert report
            app.clock = lambda: utc_now() + ahead
            app.node_report = lambda: msgspec.structs.replace(report, created_at=app.clock())
            return {each.name: each for each in await service.details(app)}

    found = asyncio.run(look(timedelta(0)))
    assert (found["clock"].status, found["certificates"].status) == ("ok", "ok"), found
    found = asyncio.run(look(timedelta(days=4000)))
    assert found["certificates"].status == "down"
    assert "renew it, or replace the files in tls.certificate_file" in (found["certificates"].advice or "")
    assert found["clock"].status == "down"
    found = asyncio.run(look(timedelta(minutes=-10)))
    assert (found["clock"].status, found["certificates"].status) == ("down", "ok")
    assert (found["clock"].advice or "").startswith("The clock is 600 seconds behind the database's. Set the clock")


def test_only_the_probe_reaches_the_mailbox(ours: Stack) -> None:
    vault = read_vault(ours)
    helo = configuration.make_probe_helo(vault)

    def reply_to(client: Any, recipient: str) -> tuple[int, str]:
        client.mail("someone@remote.test")
        code, text = client.rcpt(recipient)
        client.rset()
        return code, text.decode().replace(recipient, "…")

    with ours.afar(STRANGER) as client:  # this is in the history, like any attempt to relay
        refused = reply_to(client, MAILBOX)
        assert refused == reply_to(client, "probe@unknown.invalid")
        assert refused[0] == 554
        client.ehlo(helo)
        assert reply_to(client, MAILBOX) == refused
    with ours.smtp() as client:
        # No local account: a filled mailbox would roll back every apply.
        for name in (probe_mailbox.DOMAIN, f"{'0' * 16}.{probe_mailbox.DOMAIN}"):
            client.ehlo(name)
            assert reply_to(client, MAILBOX) == refused
        client.ehlo(helo)
        assert reply_to(client, MAILBOX)[0] == 250
    assert plan.mask(f"helo {helo}", configuration.list_secrets(vault)) == f"helo ********.{probe_mailbox.DOMAIN}"

    conf = str(paths_of(ours.data_dir).dovecot_conf / "dovecot.conf")

    def may_log_in(
        remote: str, service: str = "imap", password: str = configuration.make_probe_password(vault)
    ) -> bool:
        command = ["doveadm", "-c", conf, "auth", "test", "-x", f"service={service}", "-x", f"rip={remote}", MAILBOX]
        done = subprocess.run([*command, password], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0 or "auth failed" in done.stdout + done.stderr, done
        return done.returncode == 0

    assert may_log_in(probe_mailbox.IMAP_CLIENTS[4])
    assert not may_log_in(STRANGER)
    assert not may_log_in(ADDRESS, "smtp")
    assert not may_log_in(ADDRESS, password="another password")
