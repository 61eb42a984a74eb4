"""A full restore in the embedded profile: the machine is lost, and everything continues in a new folder."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import smtplib
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from msgspec import structs
from typer.testing import CliRunner

from mailkeep.backup import secrets
from mailkeep.backup.layout import Counts, Manifest, write_manifest
from mailkeep.backup.restic import INSTALL_COMMAND, Repository, find_program
from mailkeep.core.clock import iso, utc_now
from mailkeep.core.errors import Failure
from mailkeep.core.landlock import MIN_VERSION, find_version
from mailkeep.db.postgres_binaries import find_binaries
from mailkeep.run.cli.main import app
from mailkeep.run.runtime import full_restore
from mailkeep.run.runtime.context import UNFINISHED_RESTORE
from tests.support import instance as instances
from tests.support.backups import back_up_now
from tests.support.instance import PROGRAM, ROOT, Instance
from tests.support.restoring import restore
from tests.support.scratch import new_directory
from tests.support.webhook_sink import HERE, create_contexts, trusted_settings

if find_program() is None:
    pytest.skip(f"restic is not installed: {INSTALL_COMMAND}", allow_module_level=True)
if find_version() < MIN_VERSION:
    pytest.skip("the kernel has no Landlock", allow_module_level=True)

EMAIL, PASSWORD, ALICE = "sue@ops.example", "correct horse battery staple", "alice@example.test"
ENVIRON = {
    "MAILKEEP_ADMIN_EMAIL": EMAIL,
    "MAILKEEP_ADMIN_PASSWORD": PASSWORD,
    "MAILKEEP_WEBHOOKS__ALLOWED_NETWORKS": '["127.0.0.0/8"]',
    "MAILKEEP_WEBHOOKS__RETRY_SECONDS": "[2, 2, 2, 2, 2, 2, 2, 2]",
}


class Hook(ThreadingHTTPServer):
    """A receiver of webhooks that answers 503 until it is `open`."""

    def __init__(self) -> None:
        super().__init__((HERE, 0), _HookHandler)
        self.socket = create_contexts()["good"].wrap_socket(self.socket, server_side=True)
        self.is_open = False
        self.taken: list[str] = []


class _HookHandler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        hook = self.server
        assert isinstance(hook, Hook)
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if hook.is_open:
            hook.taken.append(body["id"])
        self.send_response(200 if hook.is_open else 503)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name in the base class
        pass


@dataclass
class House:
    """A running instance, and the session of its administrator."""

    instance: Instance
    cookie: str = ""

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any, str]:
        place = urlsplit(self.instance.http)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=60)
        headers = {"Cookie": self.cookie, "Content-Type": "application/json"}
        connection.request(method, f"/api/v1{path}", None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        content = json.loads(answer.read())
        connection.close()
        return answer.status, content, answer.getheader("Set-Cookie", "").partition(";")[0]

    def do(self, method: str, path: str, body: Any = None) -> Any:
        status, content, _ = self.call(method, path, body)
        assert status < 300, content
        return content["data"]

    def log_in(self) -> House:
        _, _, self.cookie = self.call("POST", "/auth/login", {"email": EMAIL, "password": PASSWORD})
        return self

    def receive(self, subject: str) -> None:
        host, _, port = self.instance.smtp.rpartition(":")
        with smtplib.SMTP(host, int(port), "elsewhere.test", timeout=30) as client:
            text = (
                f"From: bob@elsewhere.test\nTo: {ALICE}\nSubject: {subject}\nMessage-ID: <{subject}@x.test>\n\nHello.\n"
            )
            client.sendmail("bob@elsewhere.test", [ALICE], text)

    def send(self, **more: Any) -> Any:
        letter = {"from": {"email": ALICE}, "to": [{"email": "x@far.test"}], "subject": "Later", "text_body": "Hello."}
        return self.do("POST", "/send", letter | more)


@dataclass
class Lost:
    """The lost machine: its repository, the key, and what it had."""

    folder: Path
    repository: Path
    key: Path
    backup_id: str
    cookie: str
    scheduled: str


def launch(data_dir: Path, **environ: str) -> House:
    environ["MAILKEEP_WEBHOOKS__EXTRA_CA_FILE"] = str(trusted_settings(data_dir.parent).extra_ca_file)
    return House(instances.start(data_dir, ENVIRON | environ, seconds=120))


def command(data_dir: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *words, "--data-dir", str(data_dir)],
        cwd=ROOT,
        env=os.environ | environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=90,
    )


@pytest.fixture(scope="module")
def hook() -> Iterator[Hook]:
    server = Hook()
    Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that the database's account can reach."""
    path = new_directory("mailkeep-restore-", 0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def lost(folder: Path, hook: Hook) -> Lost:
    repository = folder / "repository"
    house = launch(folder / "data", MAILKEEP_BACKUP__REPOSITORY=str(repository))
    try:
        return lose(house.log_in(), hook, repository)
    finally:
        house.instance.stop()
        shutil.rmtree(folder / "data")


def lose(house: House, hook: Hook, repository: Path) -> Lost:
    """Make a backup, and lose the machine after it."""
    folder = repository.parent
    domain_id = house.do("POST", "/domains", {"name": "example.test"})["id"]
    house.do("POST", "/mailboxes", {"domain_id": domain_id, "local_part": "alice", "password": PASSWORD})
    house.do("POST", "/mailboxes", {"domain_id": domain_id, "local_part": "ivan", "invite": True})
    url = f"https://{HERE}:{hook.server_port}/hook"
    house.do("POST", "/webhooks", {"url": url, "events": ["mail.received"]})
    house.receive("before")
    scheduled = house.send(scheduled_at=iso(utc_now() + timedelta(seconds=40)))["id"]
    backup_id = str(back_up_now(folder / "data").id)
    house.receive("after")
    key = folder / "key"
    setting = {"MAILKEEP_BACKUP__REPOSITORY": str(repository)}
    created = command(folder / "data", "backup", "key", "create", "--json", **setting)
    assert created.returncode == 0, created.stderr
    printed: str = json.loads(created.stdout)["key"]
    key.write_text(printed.lower().replace("-", " "))  # as somebody typed it
    return Lost(folder, repository, key, backup_id, house.cookie, scheduled)


def test_the_page_about_disaster_recovery_brings_everything_back(lost: Lost, hook: Hook, folder: Path):
    """Each command of the page, in its order; in the embedded profile there is no queue to list."""
    page = Page(folder / "new", lost)
    dry = page.run(1)[0]
    assert f"Would restore the backup {lost.backup_id}" in dry
    assert "2 mailboxes and 1 messages" in dry
    assert not page.data_dir.exists()
    page.run(1)
    assert not (page.data_dir / UNFINISHED_RESTORE).exists()
    assert page.lines[0].startswith("mailkeep up ")
    house = launch(page.data_dir, MAILKEEP_BACKUP__REPOSITORY=str(lost.repository))
    try:
        expect_all_on_hold(house, lost, hook)
        page.lines = [each for each in page.lines[1:] if "queue list" not in each]
        released = page.run(2)
        text = "0 messages, 1 scheduled messages, 1 webhook deliveries."
        assert released == [f"release: would apply to {text}\n", f"release: done for {text}\n"]
        expect_all_leaves_once(house, lost, hook)
        page.run(1)  # the audit log
        assert page.lines[0].startswith("mailkeep doctor")  # what it finds is not about the restore
        newer = str(back_up_now(page.data_dir).id)  # into the same repository, with a password of its own
    finally:
        house.instance.stop()
    code, shown, _ = restore(lost.repository, folder / "third", lost.key, "--dry-run")
    assert (code, shown["backup_id"]) == (0, newer), "the recovery key opens it as before"


class Page:
    """The commands of the page that are left to be executed, for a data directory."""

    def __init__(self, data_dir: Path, lost: Lost) -> None:
        self.data_dir = data_dir
        text = (ROOT / "docs" / "howto" / "disaster-recovery.md").read_text()
        blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        self.lines = [line for block in blocks for line in block.splitlines() if line.startswith("mailkeep ")]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("MAILKEEP_")}
        self._environ = kept | {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "REPOSITORY": str(lost.repository),
            "MAILKEEP_RECOVERY_KEY": lost.key.read_text().strip(),
        }

    def run(self, number: int) -> list[str]:
        """Execute the next commands; their output."""
        found: list[str] = []
        for _ in range(number):
            line = self.lines.pop(0).replace("/var/lib/mailkeep", str(self.data_dir))
            done = subprocess.run(
                ["/bin/sh", "-c", line],
                env=self._environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
            )
            assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
            found.append(done.stdout)
        return found


def expect_all_on_hold(house: House, lost: Lost, hook: Hook) -> None:
    assert "until `mailkeep queue act release --all`" in house.instance.log
    house.cookie = lost.cookie
    assert house.call("GET", "/auth/me")[0] == 401, "sessions have ended"
    house.log_in()
    subjects = [each["subject"] for each in house.do("GET", "/messages?direction=inbound")]
    assert subjects == ["before"]
    assert len(list((house.instance.data_dir / "mail").rglob("new/*"))) == 1
    held = house.do("GET", "/queue/held")
    assert (held["scheduled_messages"], held["webhook_deliveries"]) == (1, 1)
    assert held["restored"]["backup_id"] == lost.backup_id
    hook.is_open = True
    time.sleep(4)
    assert house.do("GET", f"/messages/{lost.scheduled}")["status"] == "scheduled"
    assert hook.taken == []
    house.receive("new")
    wait_for(lambda: len(hook.taken) == 1, "the delivery of a new event")


def expect_all_leaves_once(house: House, lost: Lost, hook: Hook) -> None:
    wait_for(lambda: len(hook.taken) == 2, "the released delivery")
    wait_for(
        lambda: house.do("GET", f"/messages/{lost.scheduled}")["status"] == "delivered", "the scheduled message", 90
    )
    assert len(set(hook.taken)) == 2
    actions = [each["action"] for each in house.do("GET", "/audit?action=backup.restore_all")]
    assert actions == ["backup.restore_all"]


def test_a_killed_restore_starts_nowhere_and_is_repeated(lost: Lost, folder: Path):
    data_dir = folder / "again"
    killed = (sys.executable, "-m", "tests.crash.killed_at", "restore.cluster_noted")
    assert restore(lost.repository, data_dir, lost.key, program=killed)[0] == -9
    refused = command(data_dir, "up")
    assert refused.returncode == 1
    assert "is not complete" in refused.stderr
    code, done, errors = restore(lost.repository, data_dir, lost.key)
    assert code == 0, errors
    assert done["counts"]["mailboxes"] == 2
    names = {each.name for each in data_dir.iterdir()}
    assert {"mail", "pg", "secret", "restored.json"} <= names
    assert UNFINISHED_RESTORE not in names


def test_what_cannot_be_restored_is_refused_with_the_reason(lost: Lost, tmp_path: Path):
    full = tmp_path / "full"
    full.mkdir()
    (full / "file").touch()
    wrong, empty = tmp_path / "wrong", tmp_path / "empty"
    wrong.write_text("no such key\n")
    empty.write_text("\n")
    cases = [
        ((lost.repository, full, lost.key), "is not empty"),
        ((lost.repository, tmp_path / "n", wrong), "The key does not open the repository"),
        ((lost.repository, tmp_path / "n", empty), "No recovery key was given"),
        ((lost.repository, tmp_path / "n", None), "No recovery key was given"),
        ((tmp_path / "nowhere", tmp_path / "n", lost.key), "There is no repository"),
        (("ftp://x", tmp_path / "n", lost.key), "backup.repository"),
    ]
    for (repository, data_dir, key), text in cases:
        done = refused(str(repository), data_dir, ["--key-file", str(key)] if key else [])
        assert (text in done, done) == (True, done)
    unknown = refused(str(lost.repository), tmp_path / "n", ["--key-file", str(lost.key), "--backup", "ffff"])
    assert "no backup whose ID begins with ffff" in unknown
    assert not (tmp_path / "n").exists()
    assert [each.name for each in full.iterdir()] == ["file"]


async def test_a_backup_that_this_program_cannot_read_is_refused_before_anything_is_restored(tmp_path: Path):
    folder = tmp_path / "repository"
    secrets.write_password(tmp_path / "password", secrets.new_password())
    repository = Repository(str(folder), tmp_path / "password", tmp_path / "cache")
    await repository.create()
    stage = tmp_path / "stage"
    stage.mkdir()
    good = Manifest(
        backup_id=uuid4(),
        instance_id="0123456789ab",
        profile="embedded",
        mailkeep_version="9.9",
        postgresql_major=find_binaries().major,
        migrations=[],
        began_at=utc_now(),
        counts=Counts(),
        rows={},
        mail_bytes=0,
        lsn="0/1",
        timeline=1,
    )
    cases = {
        "reads up to 1": structs.replace(good, format=2),
        "The backup is of Mailkeep 9.9": structs.replace(good, migrations=[str(number) for number in range(999)]),
        "PostgreSQL 99": structs.replace(good, postgresql_major=99),
        "that of another backup": structs.replace(good, backup_id=uuid4()),
        "MiB free": structs.replace(good, mail_bytes=1 << 60),
    }
    for text, manifest in cases.items():
        tag = f"id={good.backup_id}"
        write_manifest(stage, manifest)
        await repository.backup(stage, [full_restore.TAG, tag], manifest.instance_id)
        with pytest.raises(Failure, match=text):
            await full_restore.make_plan(repository, tmp_path, tmp_path / "data", None, None)
    assert not (tmp_path / "data").exists()


def refused(repository: str, data_dir: Path, options: list[str]) -> str:
    """The message of a restore that is refused; in this process, because starting one takes seconds."""
    arguments = ["restore", repository, "--data-dir", str(data_dir), *options, "--json"]
    done = CliRunner().invoke(app, arguments, input="\n", env={"MAILKEEP_RECOVERY_KEY": None})
    assert done.exit_code == 1, done.output
    return str(json.loads(done.stdout)["error"]["message"])


def wait_for(look: Any, what: str, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < deadline, f"{what} did not come within {seconds} s"
        time.sleep(0.1)
