"""Health and version: public, fast, and correct without a database."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import mailkeep
from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Unavailable
from mailkeep.features.directory.blocklists.model import BlocklistResult
from mailkeep.features.operations.certificates.model import CertificateEnd
from mailkeep.features.operations.health import rules, service
from mailkeep.features.operations.health.model import Component, HealthCheck, Status
from mailkeep.features.record.job_runs import service as job_runs
from mailkeep.jobs.repeat import repeat
from mailkeep.jobs.runs import JobRun
from mailkeep.mail.daemons.node_report import (
    Certificate,
    DnsListStatus,
    NodeReport,
    ProbeResult,
    ScannerStatus,
    SendingAddress,
)
from mailkeep.mail.smtp.connection import Relay
from mailkeep.mail.smtp.pool import SmtpPool
from tests.support.caller import Caller
from tests.support.client import Api
from tests.support.ntp import ntp_server


@pytest.mark.parametrize(
    "statuses, whole",
    [
        (["ok", "ok"], "ok"),
        (["ok", "degraded"], "degraded"),
        (["degraded", "down"], "down"),
        (["down", "degraded"], "down"),
        ([], "ok"),
    ],
)
def test_the_overall_status_is_the_worst_one(statuses: list[Status], whole: Status):
    assert rules.overall_health([HealthCheck("part", status) for status in statuses]).status == whole


async def ask(api: Api, path: str) -> Any:
    return await Caller(api.pipeline)("GET", path)


@pytest.mark.usefixtures("unhurried")
@pytest.mark.parametrize("path", ["/health", "/api/v1/health"])
async def test_health_is_public_and_lists_services(api: Api, path: str):
    answer = await ask(api, path)
    assert answer.status == 200
    assert answer.data["status"] in ("ok", "degraded")  # the disk of a machine that runs tests may be nearly full
    assert [check["component"] for check in answer.data["checks"]] == ["database", "disk"]
    assert answer.data["checks"][0]["status"] == "ok"


@pytest.mark.parametrize("path", ["/version", "/api/v1/version"])
async def test_version(api: Api, path: str):
    answer = await ask(api, path)
    assert (answer.data["version"], answer.data["api"]) == (mailkeep.__version__, "v1")
    assert (answer.data["profile"], answer.data["sandbox"]) == ("embedded", True)


@pytest.mark.usefixtures("unhurried")
async def test_liveness_and_readiness(api: Api):
    for path in ("/healthz", "/readyz"):
        assert (await ask(api, path)).data == {"status": "ok"}
        assert (await ask(api, f"/api/v1{path}")).status == 404


class Away:
    """A database that refuses connections or never answers."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    @asynccontextmanager
    async def autocommit(self) -> AsyncIterator[None]:
        try:
            await asyncio.sleep(self._seconds)
        except asyncio.CancelledError:
            await asyncio.sleep(1)  # it handles the cancellation slowly
            raise
        raise Unavailable
        yield


@pytest.mark.parametrize("seconds", [0, 60])
async def test_without_the_database_health_is_down_within_the_time_limit(api: Api, seconds: float):
    api.app.db = Away(seconds)  # pyright: ignore[reportAttributeAccessIssue]
    started = time.monotonic()
    health, ready, lives = await asyncio.gather(ask(api, "/health"), ask(api, "/readyz"), ask(api, "/healthz"))
    assert time.monotonic() - started < 30
    assert (health.status, health.code, health.headers["retry-after"]) == (503, "UNAVAILABLE", "2")
    assert health.json["error"]["message"] == "The server is down: database."
    assert "does not have the schema of this version" in ready.json["error"]["message"]
    details = health.json["error"]["details"]
    assert details["status"] == "down"
    assert {"component": "database", "status": "down"} in details["checks"]
    assert (ready.status, lives.status) == (503, 200)


async def test_a_schema_of_another_version_is_not_ready(api: Api, monkeypatch: pytest.MonkeyPatch):
    known = service.read_schema()
    later = replace(known.migrations[-1], number=len(known.migrations) + 1)
    monkeypatch.setattr(service, "_read_schema", lambda: replace(known, migrations=(*known.migrations, later)))
    assert (await ask(api, "/readyz")).status == 503
    monkeypatch.setattr("mailkeep.db.migrate.works_with", lambda *_: False)
    monkeypatch.setattr(service, "_read_schema", lambda: replace(known, migrations=known.migrations[:-1]))
    assert (await ask(api, "/readyz")).status == 503
    monkeypatch.setattr(
        service, "_read_schema", lambda: replace(known, functions=replace(known.functions, checksum="x"))
    )
    assert (await ask(api, "/readyz")).status == 503


@pytest.mark.usefixtures("unhurried")
async def test_the_sandbox_is_checked_if_configured(api: Api):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))  # reserve the port; nothing listens there yet
        api.app.mta = SmtpPool(Relay("127.0.0.1", server.getsockname()[1]))
        answer = await ask(api, "/health")
        assert answer.status == 200
        assert {"component": "mta", "status": "degraded"} in answer.data["checks"]
        server.listen()
        assert {"component": "mta", "status": "ok"} in (await ask(api, "/health")).data["checks"]


COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_the_commit_is_read_from_any_kind_of_clone(tmp_path: Path):
    assert service.commit_of(tmp_path) is None
    git = tmp_path / ".git"
    (git / "refs/heads").mkdir(parents=True)
    (git / "HEAD").write_text(f"{COMMIT}\n")
    assert service.commit_of(tmp_path) == COMMIT
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    assert service.commit_of(tmp_path) is None
    (git / "packed-refs").write_text(f"# pack-refs with: peeled\n{COMMIT} refs/heads/main\n")
    assert service.commit_of(tmp_path) == COMMIT
    (git / "refs/heads/main").write_text(f"{COMMIT[::-1]}\n")
    assert service.commit_of(tmp_path) == COMMIT[::-1]
    tree, own = tmp_path / "tree", git / "worktrees/tree"
    tree.mkdir()
    own.mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {own}\n")
    (own / "HEAD").write_text("ref: refs/heads/main\n")
    (own / "commondir").write_text("../..\n")
    assert service.commit_of(tree) == COMMIT[::-1]


@pytest.mark.usefixtures("unhurried")
async def test_the_full_profile_lists_services_as_the_supervisor_reports(api: Api):
    api.app.running_services = lambda: {"postfix": True, "lmtp": False, "supervisor": True}
    answer = await ask(api, "/health")
    assert answer.status == 200
    assert answer.data["status"] == "degraded"
    assert answer.data["checks"][2:] == [
        {"component": "lmtp", "status": "degraded"},
        {"component": "postfix", "status": "ok"},
        {"component": "supervisor", "status": "ok"},
    ]


NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def certificate(days: float, lifetime: float = 90, problem: str | None = None) -> Certificate:
    ends = NOW + timedelta(days=days)
    return Certificate(ends - timedelta(days=lifetime), ends, False, problem)


@pytest.mark.parametrize(
    "found, status, advice",
    [
        (certificate(60), "ok", None),
        (certificate(20), "degraded", "expires at 2026-12-13"),
        (certificate(2.5, lifetime=6), "ok", None),
        (certificate(1.5, lifetime=6), "degraded", "expires at"),
        (
            certificate(60, problem="tls.key_file is not the key."),
            "degraded",
            "not the key. The previous one stays in use",
        ),
        (certificate(-1), "down", "expired at 2026-11-22"),
        (None, "degraded", "No certificate"),
    ],
)
def test_health_reports_expiry_and_failed_renewals(found: Certificate | None, status: str, advice: str | None):
    component = rules.certificates(found, NOW)
    assert component.status == status
    assert advice is None or advice in (component.advice or "")


@pytest.mark.parametrize("deferred, status", [(10, "ok"), (1000, "degraded")])
def test_health_reports_the_queue_length(deferred: int, status: str):
    component = rules.queue({"incoming": 0, "active": 1, "deferred": deferred, "hold": 5000})
    assert (component.status, component.details["messages"]) == (status, deferred + 1)


def test_health_reports_an_unset_host_name_and_wrong_ptr_records():
    assert "server.hostname" in (rules.dns("", None).advice or "")
    assert rules.dns("mx.example.test", [SendingAddress("192.0.2.1", ["mx.example.test"], "ok")]).status == "ok"
    wrong = rules.dns("mx.example.test", [SendingAddress("192.0.2.1", ["host1.isp.test"], "mismatch")])
    assert wrong.status == "degraded"
    assert "192.0.2.1 is host1.isp.test" in (wrong.advice or "")


def test_a_silent_node_is_degraded():
    report = NodeReport(NOW - timedelta(minutes=2), {"deferred": 0}, certificate(60), [])
    assert {each.status for each in rules.node_components(report, "mx.example.test", NOW)} == {"degraded"}


@pytest.mark.parametrize(
    "result, status, advice",
    [
        (None, "ok", "not arrived yet"),
        (ProbeResult(NOW, "ok", latency_ms=120.5), "ok", None),
        (
            ProbeResult(NOW, "failed", "content", "Port 25 (smtp) refused the message: 554."),
            "down",
            "refused the message",
        ),
        (ProbeResult(NOW, "not_checked", problem="The port smtp is off."), "disabled", "is off"),
        (ProbeResult(NOW - timedelta(minutes=6), "ok"), "degraded", "five minutes"),
    ],
)
def test_health_reports_the_probe_message(result: ProbeResult | None, status: str, advice: str | None):
    component = rules.probe(result, NOW)
    assert component.status == status
    assert (component.advice is None) if advice is None else (advice in (component.advice or ""))
    assert component.latency_ms == (result.latency_ms if result else None)


def test_health_reports_the_virus_scanner_and_dns_lists():
    assert rules.antivirus(None).status == rules.dns_lists([]).status == "disabled"
    working = ScannerStatus("1.4.6", "27456", NOW)
    assert rules.antivirus(working).status == "ok"
    old = ScannerStatus("1.4.6", "27456", NOW, advice="The virus signatures are 9 days old.")
    assert rules.antivirus(old).status == "degraded"
    assert rules.antivirus(ScannerStatus(problem="The virus scanner does not answer.")).status == "down"
    lists = [DnsListStatus("a.example", NOW), DnsListStatus("b.example", NOW, "It contains every address.")]
    component = rules.dns_lists(lists)
    assert (component.status, component.advice) == ("degraded", "b.example: It contains every address.")


async def test_health_details_explain_each_component(api: Api):
    answer = await api.sue.get("/health/details")
    assert answer.status == 200
    found = {each["component"]: each for each in answer.data["components"]}
    names = {"database", "mta", "filter", "mailboxes", "queue", "disk", "certificates", "dns", "probe", "backups"}
    more = {"antivirus", "dns_lists", "clock", "workers", "blocklists", "replication"}
    assert len(answer.data["components"]) == len(found)
    assert set(found) == names | more
    assert found["database"]["status"] == "ok"
    assert found["database"]["latency_ms"] >= 0
    assert found["database"]["version"]
    assert found["queue"]["status"] == "disabled"
    assert found["disk"]["details"]["free_bytes"] > 0
    assert found["clock"]["details"]["database_offset_seconds"] is not None
    assert found["workers"]["status"] == "ok"
    assert found["replication"]["status"] == "disabled"


async def test_since_is_stored_and_changes_with_the_status(api: Api, monkeypatch: pytest.MonkeyPatch):
    began, clock = utc_now(), api.app.clock

    async def since(at: datetime) -> dict[str, datetime | None]:
        monkeypatch.setattr(api.app, "clock", lambda: at)
        return {each.name: each.since for each in await service.details(api.app)}

    monkeypatch.setattr(api.app, "clock", lambda: began)
    await service.record(api.app)
    later = began + timedelta(seconds=3)
    assert set((await since(later)).values()) == {began}
    wrong = began + timedelta(hours=1)
    assert (await since(wrong))["clock"] == wrong
    await service.record(api.app)
    found = await since(wrong + timedelta(minutes=1))
    assert (found["clock"], found["database"]) == (wrong, began)
    monkeypatch.setattr(api.app, "clock", clock)
    api.app.db = Away(0)  # pyright: ignore[reportAttributeAccessIssue]
    away = {each.name: each for each in await service.details(api.app)}
    assert away["database"].status == "down"
    assert {away[name].status for name in ("workers", "blocklists", "backups")} == {"degraded"}
    assert {each.since for each in away.values()} == {None}


async def test_a_wrong_clock_is_found_by_the_database_and_by_ntp(api: Api, monkeypatch: pytest.MonkeyPatch):
    async def clock() -> Component:
        return next(each for each in await service.details(api.app) if each.name == "clock")

    monkeypatch.setattr(api.app, "clock", lambda: utc_now() - timedelta(minutes=10))
    found = await clock()
    assert found.status == "down"
    assert found.advice
    assert found.advice.startswith("The clock is 600 seconds behind the database's. Set the clock")
    monkeypatch.setattr(api.app, "clock", utc_now)
    async with ntp_server(ahead=20) as server:
        set_ntp_server(api, server)
        found = await clock()
    assert found.status == "degraded"
    assert found.advice
    assert found.advice.startswith(f"The clock is 20 seconds behind that of {server}.")


def set_ntp_server(api: Api, server: str) -> None:
    settings = api.app.settings
    api.app.settings = replace(settings, server=replace(settings.server, ntp_server=server))


@pytest.mark.parametrize(
    "seconds, every, status", [(60, 10, "ok"), (400, 10, "degraded"), (400, 600, "ok"), (2200, 600, "degraded")]
)
def test_health_reports_jobs_that_do_not_succeed(seconds: int, every: int, status: str):
    jobs = [JobRun("sealing", 5, NOW), JobRun("digests of Junk", every, NOW - timedelta(seconds=seconds))]
    component = rules.workers(jobs, NOW, {"worker": True})
    assert component.status == status
    assert ("digests of Junk" in (component.advice or "")) == (status == "degraded")
    assert rules.workers(jobs, NOW, {"worker": True, "node": False}).status == "down"


async def test_the_runs_of_jobs_are_those_since_the_start(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(api.app, "clock", utc_now)

    async def work() -> None:
        if failing:
            raise Unavailable

    failing = True
    task = asyncio.create_task(repeat(0.01, "a job of a test", work))
    await asyncio.sleep(0.05)

    async def read() -> datetime:
        await job_runs.flush(api.app)
        async with api.app.db.autocommit() as conn:
            return next(each.succeeded_at for each in await job_runs.list_all(conn) if each.job == "a job of a test")

    started = await read()
    assert await read() - started < timedelta(milliseconds=10)
    failing = False
    await asyncio.sleep(0.1)
    assert await read() - started > timedelta(milliseconds=50)
    task.cancel()
    await job_runs.forget(api.app)
    async with api.app.db.autocommit() as conn:
        assert await job_runs.list_all(conn) == []
    await job_runs.flush(api.app)
    async with api.app.db.tx() as conn:
        await job_runs.begin(conn)
        assert await job_runs.list_all(conn) == []


def test_health_reports_blocklists_with_the_way_off():
    listed = BlocklistResult("bl.example", "192.0.2.1", "listed", advice="Stop it.", removal_url="https://bl.example/x")
    quiet = BlocklistResult("other.example", "192.0.2.1", "unavailable", problem="No answer.")
    assert rules.blocklists([], None, wanted=False).status == "disabled"
    assert rules.blocklists([quiet], NOW, wanted=True).status == "ok"
    component = rules.blocklists([listed, quiet], NOW, wanted=True)
    assert component.status == "degraded"
    assert component.advice == "192.0.2.1 is on bl.example (https://bl.example/x). Stop it."
    assert component.details["unavailable"] == ["other.example"]


def test_health_reports_certificates_of_domains_that_have_expired():
    ends = [CertificateEnd("a.example", NOW - timedelta(days=90), NOW - timedelta(days=1))]
    component = rules.certificates(certificate(60), NOW, None, ends)
    assert component.status == "degraded"
    assert "The certificate of a.example has expired" in (component.advice or "")
    early = Certificate(NOW + timedelta(days=1), NOW + timedelta(days=90), False, None)
    assert rules.certificates(early, NOW).status == "down"


def test_versions_and_times_come_from_the_node():
    probed = ProbeResult(NOW, "ok", latency_ms=50.0, accepted_ms=20.0, login_ms=7.0)
    report = NodeReport(NOW, {}, certificate(60), [], probe=probed, versions={"postfix": "3.7", "dovecot": "2.4"})
    mta = rules.with_report(Component("mta", "ok"), report)
    mailboxes = rules.with_report(Component("mailboxes", "ok"), report)
    assert (mta.version, mta.latency_ms, mailboxes.version, mailboxes.latency_ms) == ("3.7", 20.0, "2.4", 7.0)
