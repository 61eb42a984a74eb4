"""`mailkeep doctor`: each test makes one thing wrong; no instance runs."""

import asyncio
import base64
import contextlib
import json
import os
import pwd
import socket
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from mailkeep.core import kernel_clock
from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Failure
from mailkeep.db.migrate import Step, read_schema
from mailkeep.features.operations.machine import service as machine
from mailkeep.features.operations.machine.model import DiskUsage
from mailkeep.run.cli import doctor_checks, install
from mailkeep.run.cli.doctor_checks import Finding, Level, run_checks
from mailkeep.run.runtime import certificate, stored_settings
from mailkeep.run.runtime.context import open_vault
from mailkeep.settings import load_settings
from tests.access.oidc.provider import Provider
from tests.run.runtime.test_certificate import pair_of
from tests.stack import names
from tests.support.ports import free_port

SECRET = base64.b64encode(bytes(32)).decode() + "\n"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory as after the first start, without the database; all ports are free."""
    for name in [name for name in os.environ if name.startswith("MAILKEEP_")]:
        monkeypatch.delenv(name)
    for name in ("HTTP__LISTEN", "HTTP__INTERNAL", "SMTP__LISTEN"):
        monkeypatch.setenv(f"MAILKEEP_{name}", "127.0.0.1:0")
    for name in ("SMTP", "SUBMISSION", "SUBMISSIONS", "IMAP", "IMAPS", "POP3", "POP3S", "SIEVE"):
        monkeypatch.setenv(f"MAILKEEP_PORTS__{name}", str(free_port()))
    monkeypatch.setenv("MAILKEEP_SERVER__HOSTNAME", "mx.example.test")
    monkeypatch.setenv("MAILKEEP_SERVER__ADDRESSES", '["127.0.0.1"]')
    path = tmp_path / "data"
    path.mkdir(mode=0o700)
    secret = path / "secret"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    return path


@pytest.fixture
def taken() -> Iterator[int]:
    """A port in use."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen(1)
        yield other.getsockname()[1]


async def found(path: Path) -> Mapping[str, Finding]:
    return {finding.check: finding for finding in await run_checks(path)}


async def test_a_valid_data_directory_has_no_problems(data: Path):
    findings = await found(data)
    assert {name: one for name, one in findings.items() if one.level is not Level.OK} == {}
    assert {"python", "data directory", "disk", "clock", "settings", "http.listen", "smtp.listen"} <= set(findings)


async def test_before_the_first_start_it_finds_no_problem(data: Path):
    absent = data / "below/it"
    findings = dict(await found(absent))
    one = findings.pop("data directory")
    assert (one.level, one.message) == (Level.WARNING, f"{absent} is missing: there is nothing to check yet.")
    assert "--data-dir" in (one.advice or "")
    assert {one.level for one in findings.values()} == {Level.OK}
    assert not absent.exists()


async def test_a_data_directory_that_others_can_write_to(data: Path):
    data.chmod(0o770)
    one = (await found(data))["data directory"]
    assert (one.level, one.advice) == (Level.WRONG, f"chmod go-w {data}")


async def test_a_data_directory_that_is_a_file(tmp_path: Path, data: Path):
    path = tmp_path / "file"
    path.write_text("")
    assert (await found(path))["data directory"].level is Level.WRONG


async def test_a_data_directory_of_another_account(data: Path, monkeypatch: pytest.MonkeyPatch):
    owner = pwd.getpwuid(os.geteuid()).pw_name
    monkeypatch.setattr(os, "geteuid", lambda: 64_999)
    one = (await found(data))["data directory"]
    assert (one.level, one.advice) == (Level.WARNING, f"Run Mailkeep as {owner}, the owner.")


@pytest.mark.parametrize("free, level", [(50 << 30, Level.OK), (512 << 20, Level.WARNING), (10 << 20, Level.WRONG)])
async def test_the_disk(data: Path, monkeypatch: pytest.MonkeyPatch, free: int, level: Level):
    usage = DiskUsage(0, free, 100 << 30, 0, 1000, 1000)
    monkeypatch.setattr(machine, "measure_disk", lambda _: usage)
    assert (await found(data))["disk"].level is level


async def test_a_clock_that_is_behind_the_newest_file(data: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kernel_clock, "read", lambda: None)
    ahead = time.time() + 86_400
    os.utime(data / "secret", (ahead, ahead))
    one = (await found(data))["clock"]
    assert one.level is Level.WRONG
    assert one.advice
    assert "files were written at" in one.advice


async def test_settings_that_are_refused(data: Path):
    (data / "mailkeep.toml").write_text("[http]\nlissten = 1\n[mta]\nport = 0\n")
    findings = await found(data)
    assert findings["settings"].level is Level.WRONG
    assert "http.lissten" in findings["settings"].message
    assert "mta.port" in findings["settings"].message
    assert findings["schema"].level is Level.WARNING
    assert "http.listen" not in findings


@pytest.mark.parametrize(
    "mode, text, level, advice",
    [
        (0o644, SECRET, Level.WRONG, "chmod 0600"),
        (0o600, "c2hvcnQ=\n", Level.WRONG, "Restore it"),
        (0o600, "no base64 at all\n", Level.WRONG, "Restore it"),
        (0o400, SECRET, Level.OK, None),
    ],
)
async def test_the_master_secret(data: Path, mode: int, text: str, level: Level, advice: str | None):
    (data / "secret").write_text(text)
    (data / "secret").chmod(mode)
    one = (await found(data))["master secret"]
    assert one.level is level
    assert (one.advice or "").startswith(advice or "")
    assert text.strip() not in one.message


async def test_a_secret_file_outside_the_data_directory(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    given = tmp_path / "given"
    monkeypatch.setenv("MAILKEEP_SECRET_FILE", str(given))
    assert (await found(data))["master secret"].level is Level.WRONG
    given.write_text(SECRET)
    given.chmod(0o444)
    assert (await found(data))["master secret"].level is Level.WARNING


async def test_a_database_whose_secret_is_gone(data: Path):
    (data / "secret").unlink()
    (data / "pg").mkdir()
    one = (await found(data))["master secret"]
    assert one.level is Level.WRONG
    assert one.advice
    assert "backup" in one.advice


async def test_a_database_of_another_version(data: Path):
    (data / "pg").mkdir()
    (data / "pg/PG_VERSION").write_text("9\n")
    findings = await found(data)
    assert findings["postgresql"].level is Level.WRONG
    assert "was created by PostgreSQL 9" in findings["postgresql"].message
    assert findings["schema"].level is Level.WRONG


async def test_no_postgresql_at_all(data: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(doctor_checks, "find_installed", list)
    one = (await found(data))["postgresql"]
    assert one.level is Level.WRONG
    assert "apt install postgresql" in one.message


async def test_a_database_elsewhere_needs_no_binaries_but_must_answer(data: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MAILKEEP_DATABASE__URL", "postgresql://127.0.0.1:1/mailkeep")
    findings = await found(data)
    assert findings["postgresql"].level is Level.OK
    assert (findings["schema"].level, findings["schema"].advice) == (Level.WRONG, "Check database.url.")


async def test_migrations_that_wait(data: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MAILKEEP_DATABASE__URL", "postgresql://unused/mailkeep")

    async def pending(_: Path) -> list[Step]:
        return [read_schema().functions]

    monkeypatch.setattr(doctor_checks, "list_pending", pending)
    one = (await found(data))["schema"]
    assert one.level is Level.WARNING
    assert one.advice
    assert "mailkeep migrate" in one.advice


async def test_a_database_of_a_newer_version(data: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MAILKEEP_DATABASE__URL", "postgresql://unused/mailkeep")

    async def pending(_: Path) -> list[Step]:
        raise Failure("The database was migrated by Mailkeep 9.0.", permanent=True)

    monkeypatch.setattr(doctor_checks, "list_pending", pending)
    one = (await found(data))["schema"]
    assert (one.level, one.message) == (Level.WRONG, "The database was migrated by Mailkeep 9.0.")


async def test_a_port_in_use(data: Path, monkeypatch: pytest.MonkeyPatch, taken: int):
    monkeypatch.setenv("MAILKEEP_SMTP__LISTEN", f"127.0.0.1:{taken}")
    monkeypatch.setenv("MAILKEEP_HTTP__LISTEN", "192.0.2.1:80")
    findings = await found(data)
    assert findings["smtp.listen"].message.startswith(f"127.0.0.1:{taken}: Address already in use, by ")
    assert findings["http.listen"].message == "192.0.2.1:80: Cannot assign requested address."
    assert findings["http.internal"].level is Level.OK


async def test_the_default_internal_port_may_be_in_use(data: Path, monkeypatch: pytest.MonkeyPatch, taken: int):
    monkeypatch.delenv("MAILKEEP_HTTP__INTERNAL")
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):  # another instance may use it
            other.bind(("127.0.0.1", 8081))
            other.listen(1)
        one = (await found(data))["http.internal"]
    assert one.level is Level.OK
    assert one.message.endswith("`mailkeep up` uses a free port instead.")
    monkeypatch.setenv("MAILKEEP_HTTP__INTERNAL", f"127.0.0.1:{taken}")
    assert (await found(data))["http.internal"].level is Level.WRONG


async def test_a_mail_port_in_use(data: Path, monkeypatch: pytest.MonkeyPatch, taken: int):
    monkeypatch.setenv("MAILKEEP_SERVER__ADDRESSES", '["127.0.0.1"]')
    monkeypatch.setenv("MAILKEEP_PORTS__IMAPS", str(taken))
    monkeypatch.setattr(install, "make_plan", lambda: install.Plan((), ()))
    one = (await found(data))["mail ports"]
    assert one.level is Level.WRONG  # exit code 1
    assert one.message.startswith(f"ports.imaps: 127.0.0.1:{taken}: used by ")
    monkeypatch.setattr(install, "make_plan", lambda: install.Plan(("postfix",), ()))
    assert "mail ports" not in await found(data), "this machine has no full profile"


async def test_the_file_with_the_first_password(data: Path):
    (data / "initial-admin").write_text("secret word\n")
    one = (await found(data))["first administrator"]
    assert one.level is Level.WARNING
    assert "secret word" not in one.message


async def test_an_identity_provider_that_is_not_available(data: Path, monkeypatch: pytest.MonkeyPatch):
    provider = {"id": "acme", "issuer": "https://10.0.0.1", "client_id": "mailkeep"}
    monkeypatch.setenv("MAILKEEP_OIDC__PROVIDERS", json.dumps([provider]))
    one = (await found(data))["provider acme"]
    assert one.level is Level.WRONG
    assert "10.0.0.1" in one.message
    assert "oidc.allowed_networks" in (one.advice or "")


async def test_an_identity_provider_that_answers(data: Path, monkeypatch: pytest.MonkeyPatch):
    provider = Provider()
    await provider.start()
    settings = {"id": "acme", "issuer": provider.issuer, "client_id": "mailkeep"}
    monkeypatch.setenv("MAILKEEP_OIDC__PROVIDERS", json.dumps([settings]))
    monkeypatch.setenv("MAILKEEP_OIDC__ALLOWED_NETWORKS", '["127.0.0.0/8"]')
    one = (await found(data))["provider acme"]
    await provider.stop()
    assert (one.level, one.message) == (Level.OK, f"{provider.issuer} answers; published keys: 1.")
    assert "http://localhost:8080/api/v1/auth/oidc/callback/acme" in (one.advice or "")


@pytest.fixture
async def name_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Path]:
    """A name server on loopback; the folder of its zones."""
    zones = tmp_path / "zones"
    zones.mkdir()
    port = free_port()
    serving = asyncio.create_task(names.serve("127.0.0.1", port, zones))
    monkeypatch.setenv("MAILKEEP_DNS__SERVERS", f'["127.0.0.1:{port}"]')
    try:
        yield zones
    finally:
        serving.cancel()
        await asyncio.wait([serving])
        await asyncio.sleep(0)  # lets the loop close its transports


@pytest.mark.parametrize(
    "ptr, forward, level, expected",
    [
        ("mx.example.test.", "192.0.2.10", Level.OK, "resolve to each other"),
        (None, "192.0.2.10", Level.WARNING, "has no PTR record"),
        ("host-10.isp.test.", "192.0.2.10", Level.WARNING, "is host-10.isp.test, not server.hostname"),
        ("mx.example.test.", "192.0.2.99", Level.WARNING, "does not resolve to 192.0.2.10"),
    ],
)
async def test_the_doctor_reports_the_ptr_record_of_the_sending_host(
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
    name_server: Path,
    ptr: str | None,
    forward: str,
    level: Level,
    expected: str,
):
    monkeypatch.setattr(install, "make_plan", lambda: install.Plan((), ()))
    monkeypatch.setenv("MAILKEEP_SERVER__HOSTNAME", "mx.example.test")
    monkeypatch.setenv("MAILKEEP_SERVER__ADDRESSES", '["192.0.2.10"]')
    names.publish(name_server, "example.test", f"mx A {forward}")
    names.publish(name_server, "2.0.192.in-addr.arpa", *([f"10 PTR {ptr}"] if ptr else []))
    one = (await found(data))["PTR of 192.0.2.10"]
    assert one.level is level
    assert expected in one.message


async def test_the_doctor_reports_host_name_certificate_and_queue(data: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(install, "make_plan", lambda: install.Plan((), ()))
    monkeypatch.delenv("MAILKEEP_SERVER__HOSTNAME")
    findings = await found(data)
    assert findings["host name"].level is Level.WARNING
    assert "certificate" not in findings
    deferred = data / "postfix" / "queue" / "deferred" / "A"
    deferred.mkdir(parents=True)
    for number in range(1000):
        (deferred / f"4jY7K401ksz1{number:04d}").touch()
    ours = data / "tls"
    ours.mkdir(mode=0o700)
    at = utc_now()
    settings = load_settings(data).settings
    certificate.install(settings, ours, "mx.example.test", at)
    findings = await found(data)
    assert findings["queue"].level is Level.WARNING
    assert "1000 deferred" in findings["queue"].message
    assert findings["certificate"].level is Level.OK
    (ours / "self-signed.pem").unlink()
    certificate.install(settings, ours, "mx.example.test", at - timedelta(days=3651))
    assert (await found(data))["certificate"].level is Level.WRONG


async def test_the_doctor_uses_stored_settings(data: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(install, "make_plan", lambda: install.Plan((), ()))
    (data / "postfix" / "queue").mkdir(parents=True)
    stored_settings.save_copy(data, open_vault(data, load_settings(data)), {"edge.enabled": True})
    one = (await found(data))["https"]
    assert one.level is Level.WARNING
    assert "nginx serves https://mx.example.test." in one.message


async def test_the_doctor_reads_the_certificate_before_the_first_start(data: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(install, "make_plan", lambda: install.Plan((), ()))
    monkeypatch.setenv("MAILKEEP_TLS__CERTIFICATE_FILE", str(data / "their.pem"))
    monkeypatch.setenv("MAILKEEP_TLS__KEY_FILE", str(data / "their.key"))
    assert (await found(data))["certificate"].level is Level.WRONG  # absent
    pair = pair_of("mx.example.test")
    (data / "their.pem").write_bytes(pair.certificate)
    (data / "their.key").write_bytes(pair.key)
    assert (await found(data))["certificate"].level is Level.OK
    now = utc_now()
    for begins, ends, words in ((-400, -10, "expired"), (5, 90, "only from")):
        pair = pair_of("mx.example.test", now + timedelta(days=begins), now + timedelta(days=ends))
        (data / "their.pem").write_bytes(pair.certificate)
        (data / "their.key").write_bytes(pair.key)
        one = (await found(data))["certificate"]
        assert one.level is Level.WRONG
        assert words in f"{one.message} {one.advice}"


async def test_the_doctor_reports_a_failed_renewal(data: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(install, "make_plan", lambda: install.Plan((), ()))
    pair = pair_of("mx.example.test")
    (data / "their.pem").write_bytes(pair.certificate)
    (data / "their.key").write_bytes(pair.key)
    monkeypatch.setenv("MAILKEEP_TLS__CERTIFICATE_FILE", str(data / "their.pem"))
    monkeypatch.setenv("MAILKEEP_TLS__KEY_FILE", str(data / "their.key"))
    (data / "postfix").mkdir()
    (data / "tls").mkdir(mode=0o700)
    certificate.install(load_settings(data).settings, data / "tls", "mx.example.test", utc_now())
    (data / "their.pem").write_bytes(pair_of("mx.example.test").certificate)  # of another key
    one = (await found(data))["certificate"]
    assert one.level is Level.WARNING
    assert one.advice
    assert "tls.key_file is not the key" in one.advice
