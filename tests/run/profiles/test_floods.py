"""Many large requests, and a full disk, with the real command; `bench/flood.py` has the full size."""

from __future__ import annotations

import contextlib
import http.client
import json
import shutil
import smtplib
import subprocess
import time
from collections.abc import Callable, Iterator
from email import message_from_bytes
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bench.flood import ALICE, LoadedInstance, flood, set_up
from bench.login_flood import SETTINGS
from tests.support import instance as instances
from tests.support.scratch import new_directory

pytestmark = pytest.mark.timeout(400)

MIB = 1 << 20
# The answers while the disk is full.
FULL = {("send", "503 UNAVAILABLE"), ("mail", "452")}


@contextlib.contextmanager
def started(data_dir: Path, **settings: str) -> Iterator[LoadedInstance]:
    data_dir.mkdir()
    data_dir.chmod(0o711)  # so that the database's account can enter
    running = instances.start(data_dir, SETTINGS | settings)
    try:
        yield set_up(running)
    finally:
        code = running.stop()
    assert code == 0, running.log


@pytest.fixture
def folder() -> Iterator[Path]:
    path = new_directory("mailkeep-floods-", 0o755)
    yield path
    shutil.rmtree(path)


def test_large_sends_beside_slow_connections_stay_within_the_budget(folder: Path):
    with started(folder / "data", MAILKEEP_LIMITS__BODY_BUDGET_MB="48") as house:
        result = flood(house, sends=8, size=20 * MIB, connections=300, seconds=150)
        assert house.running.process.poll() is None
        print(result.rest, result.peak, result.p95, result.sends)
    assert set(result.sends) <= {"200", "503"}
    assert result.sends["200"] == result.delivered == 8
    # 115 to 130 MiB; 235 without a limit.
    assert result.peak - result.rest < 48 + 112
    assert result.p95 < 10  # generous: other tests may be running


@pytest.fixture
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of 160 MiB."""
    disk = folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160m,mode=755", "tmpfs", str(disk)], check=True, timeout=60)
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True, timeout=60)


class Client:
    """Sends, delivers and creates aliases, and records what was accepted."""

    def __init__(self, house: LoadedInstance) -> None:
        self.house = house
        self.domain_id = self._call("GET", "/domains")[1]["data"][0]["id"]
        self.accepted: dict[str, set[str]] = {"send": set(), "mail": set(), "alias": set()}
        self.refusals: set[tuple[str, str]] = set()

    def _call(self, method: str, path: str, body: object = None) -> tuple[int, dict, str | None]:
        connection = http.client.HTTPConnection(urlsplit(self.house.running.http).netloc, timeout=60)
        headers = {"content-type": "application/json", "authorization": f"Bearer {self.house.key}"}
        try:
            connection.request(method, f"/api/v1{path}", None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read()), answer.headers["retry-after"]
        finally:
            connection.close()

    def _record(self, what: str, token: str, answer: tuple[int, dict, str | None]) -> bool:
        status, content, retry_after = answer
        if status in (200, 201):
            self.accepted[what].add(token)
            return True
        assert retry_after, content
        self.refusals.add((what, f"{status} {content['error']['code']}"))
        return False

    def send(self, token: str, size: int) -> bool:
        file = {"filename": "a.bin", "content_type": "application/octet-stream", "content": "QUJD" * (size // 4)}
        letter = {"from": {"email": "shop@example.test"}, "to": [{"email": ALICE}], "subject": token}
        return self._record(
            "send", token, self._call("POST", "/send", letter | {"attachments": [file], "text_body": "a"})
        )

    def alias(self, token: str, size: int) -> bool:
        body = {"domain_id": self.domain_id, "source_local_part": token, "destination": "out@elsewhere.test"}
        return self._record("alias", token, self._call("POST", "/aliases", body))

    def mail(self, token: str, size: int) -> bool:
        host, _, port = self.house.running.smtp.rpartition(":")
        try:
            with smtplib.SMTP(host, int(port), "elsewhere.test", timeout=60) as client:
                client.sendmail(
                    "bob@elsewhere.test", [ALICE], f"Subject: {token}\r\n\r\n{'a' * 70}\r\n" + "b\r\n" * size
                )
        except smtplib.SMTPRecipientsRefused as refused:
            ((code, _),) = refused.recipients.values()
            self.refusals.add(("mail", str(code)))
            return False
        except smtplib.SMTPResponseException as refused:
            self.refusals.add(("mail", str(refused.smtp_code)))
            return False
        self.accepted["mail"].add(token)
        return True

    def try_all(self, name: str) -> bool:
        works: list[Callable[[str, int], bool]] = [self.send, self.mail, self.alias]
        done = [work(f"{name}-{work.__name__}", 100_000) for work in works]
        return all(done)

    def subjects(self) -> set[str]:
        return {message_from_bytes(path.read_bytes())["Subject"] for path in self.house.delivered_messages}

    def sources(self) -> set[str]:
        found: set[str] = set()
        cursor = ""
        while True:
            page = self._call("GET", f"/aliases?limit=200{cursor}")[1]
            found |= {each["source_local_part"] for each in page["data"]}
            if not (following := page["meta"]["pagination"]["next_cursor"]):
                return found
            cursor = f"&cursor={following}"


def fill(disk: Path) -> Path:
    path = disk / "filler"
    deadline = time.monotonic() + 30
    with path.open("wb", buffering=0) as file:
        while True:  # the instance may remove files meanwhile
            for piece in (1 << 20, 1 << 12, 1):
                with contextlib.suppress(OSError):
                    while True:
                        file.write(b"\0" * piece)
            if shutil.disk_usage(disk).free < 4096:
                return path
            assert time.monotonic() < deadline


@pytest.mark.root
def test_a_full_disk_is_reported_and_nothing_accepted_is_lost(small_disk: Path):
    """It holds database, sandbox, mailboxes and the log."""
    with started(small_disk / "data") as house:
        client = Client(house)
        assert client.try_all("before")
        for turn in range(2):
            filler = fill(small_disk)
            ends, deadline = time.monotonic() + 4, time.monotonic() + 60
            number = 0
            while time.monotonic() < ends or not (client.refusals >= FULL or time.monotonic() > deadline):
                number += 1
                client.try_all(f"full-{turn}-{number}")
            filler.unlink()
            deadline, number = time.monotonic() + 60, 0
            while not client.try_all(f"after-{turn}-{number}"):
                number += 1
                assert time.monotonic() < deadline, client.refusals
                time.sleep(0.2)
        assert house.running.process.poll() is None
        print(client.refusals, {what: len(tokens) for what, tokens in client.accepted.items()})
        assert FULL <= client.refusals <= FULL | {("alias", "503 UNAVAILABLE"), ("mail", "451")}
        deadline = time.monotonic() + 60
        wanted = client.accepted["send"] | client.accepted["mail"]
        while not wanted <= client.subjects() and time.monotonic() < deadline:
            time.sleep(0.2)
        assert wanted <= client.subjects()
        assert client.accepted["alias"] <= client.sources()
