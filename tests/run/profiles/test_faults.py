"""Faults around a running instance: a kill, an outage of the database, hanging clients (killed databases: tests/crash).

A load runs meanwhile: everything that was answered with success must exist afterwards, and no answer may be an error of
the client.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import secrets
import select
import shutil
import smtplib
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from math import inf
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from psycopg.conninfo import conninfo_to_dict

from mailkeep.db import postgres
from mailkeep.db.postgres_cluster import FALLBACK_DIR
from tests.crash.rounds import BACK_IN_THE_SUITE
from tests.support import instance as instances
from tests.support.instance import Instance, Launch
from tests.support.processes import descendants
from tests.support.relocation import launch_as
from tests.support.scratch import new_directory

pytestmark = pytest.mark.timeout(300)

EMAIL, PASSWORD = "sue@example.test", "correct horse battery staple"
FIRST = {"MAILKEEP_ADMIN_EMAIL": EMAIL, "MAILKEEP_ADMIN_PASSWORD": PASSWORD, "MAILKEEP_LOG__LEVEL": "warning"}
ALICE = "alice@example.test"


@dataclass(frozen=True)
class Response:
    status: int
    headers: dict[str, str]
    body: Any

    @property
    def code(self) -> str | None:
        return self.body["error"] and self.body["error"]["code"]


def call(url: str, method: str, path: str, body: Any = None, cookie: str = "") -> Response:
    """One call on a connection of its own; 30 seconds at most."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=30)
    headers = {"Cookie": cookie} if cookie else {}
    if body is not None:
        headers["Content-Type"] = "application/json"
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        content = answer.read()
    finally:
        connection.close()
    shown = {name.lower(): value for name, value in answer.getheaders()}
    return Response(answer.status, shown, json.loads(content) if content.startswith(b"{") else content)


@dataclass
class House:
    """A running instance with the domain example.test, Alice's mailbox, and the super admin Sue."""

    instance: Instance
    cookie: str = ""
    domain_id: str = ""

    def __call__(self, method: str, path: str, body: Any = None) -> Response:
        return call(self.instance.http, method, f"/api/v1{path}", body, self.cookie)

    def log_in(self) -> None:
        response = self("POST", "/auth/login", {"email": EMAIL, "password": PASSWORD})
        assert response.status == 200, response
        self.cookie = response.headers["set-cookie"].partition(";")[0]

    def furnish(self) -> None:
        self.log_in()
        self.domain_id = self("POST", "/domains", {"name": "example.test"}).body["data"]["id"]
        box = {"domain_id": self.domain_id, "local_part": "alice", "password_hash": "{SHA}x"}
        assert self("POST", "/mailboxes", box).status == 201

    def deliver(self, subject: str) -> tuple[int, str]:
        """Deliver a message to Alice; the last SMTP code, and its command (connect, mail, rcpt, data)."""
        host, _, port = self.instance.smtp.rpartition(":")
        step = "connect"
        try:
            with smtplib.SMTP(host, int(port), "elsewhere.test", timeout=30) as client:
                client.ehlo()
                for step, command in (("mail", "MAIL FROM:<bob@elsewhere.test>"), ("rcpt", f"RCPT TO:<{ALICE}>")):
                    code, _ = client.docmd(command)
                    if code != 250:
                        return code, step
                step = "data"
                return client.data(f"Subject: {subject}\r\n\r\nHi.\r\n")[0], step
        except smtplib.SMTPResponseException as error:
            return error.smtp_code, step

    def subjects(self) -> set[str]:
        """The subjects of the messages in Alice's mailbox."""
        letters = (self.instance.data_dir / "mail").glob("*/Maildir/new/*")
        return {message_from_bytes(path.read_bytes())["Subject"] for path in letters}

    def sources(self) -> set[str]:
        """The local parts of all aliases."""
        found: set[str] = set()
        cursor = ""
        while True:
            response = self("GET", f"/aliases?limit=200{cursor}")
            assert response.status == 200, response
            found |= {alias["source_local_part"] for alias in response.body["data"]}
            pages = response.body["meta"]["pagination"]
            if not pages["next_cursor"]:
                return found
            cursor = f"&cursor={pages['next_cursor']}"


@dataclass(frozen=True)
class Attempt:
    """One attempt: its kind, start and end, whether it succeeded, the answer, and its token."""

    what: str
    began: float
    ended: float
    ok: bool
    answer: str
    token: str


@dataclass
class Load:
    """Threads that read, write and send again and again, and their answers."""

    house: House
    tries: list[Attempt] = field(default_factory=list[Attempt])
    wrong: list[str] = field(default_factory=list[str])
    _stop: threading.Event = field(default_factory=threading.Event)
    _name: str = field(default_factory=lambda: secrets.token_hex(4))

    def read(self, token: str) -> str:
        return self._check(self.house("GET", "/domains"))

    def write(self, token: str) -> str:
        body = {"domain_id": self.house.domain_id, "source_local_part": token, "destination": "out@elsewhere.test"}
        return self._check(self.house("POST", "/aliases", body))

    def _check(self, response: Response) -> str:
        if response.status in (200, 201):
            return "ok"
        fits = (
            response.status == 503
            and response.code == "UNAVAILABLE"
            and int(response.headers.get("retry-after", 0)) > 0
        )
        if not fits:
            self.wrong.append(f"{response.status} {response.headers} {response.body}")
        return str(response.status)

    def mail(self, token: str) -> str:
        code, step = self.house.deliver(token)
        if code == 250:
            return "ok"
        if code != 451 or step not in ("rcpt", "data"):
            self.wrong.append(f"{code} at {step}")
        return str(code)

    def _go_on(self, what: str, number: int, work: Callable[[str], str]) -> None:
        turn = 0
        while not self._stop.is_set():
            turn += 1
            token, began = f"{self._name}-{what}-{number}-{turn}", time.monotonic()
            try:
                answer = work(token)
            except (OSError, ValueError, http.client.HTTPException, smtplib.SMTPException) as error:
                self.wrong.append(f"{what}: {error!r}")
                answer = repr(error)
            self.tries.append(Attempt(what, began, time.monotonic(), answer == "ok", answer, token))
            time.sleep(0.03)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run the load; the block starts after the first success of each kind."""
        works = {"read": self.read, "write": self.write, "mail": self.mail}
        threads = [
            threading.Thread(target=self._go_on, args=(what, number, work), daemon=True)
            for what, work in works.items()
            for number in range(2)
        ]
        for thread in threads:
            thread.start()
        try:
            self.wait_until_back(0)
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join(60)

    def wait_until_back(self, since: float, seconds: float = 60, quiet: float = 1.0) -> float:
        """Wait until all kinds succeed and none has failed for `quiet` seconds; the seconds from `since` to then."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            seen = [each for each in list(self.tries) if each.ended > since]
            failed = max((each.ended for each in seen if not each.ok), default=since)
            back = {each.what: each.ended for each in reversed(seen) if each.ok and each.began >= failed}
            if len(back) == 3 and time.monotonic() - max(failed, *back.values()) > quiet:
                return max(back.values()) - since
            time.sleep(0.05)
        raise AssertionError(f"not back after {seconds} s: {[each.answer for each in self.tries[-20:]]}")

    def answers(self, what: str, between: tuple[float, float]) -> set[str]:
        """The answers to attempts that began and ended in this time."""
        tries = [each for each in list(self.tries) if each.what == what]
        return {each.answer for each in tries if between[0] < each.began and each.ended < between[1]}

    def wait_until_each_is_answered(self, since: float) -> None:
        """Wait until an attempt of each kind that began after `since` has ended."""
        deadline = time.monotonic() + 60
        while not all(self.answers(what, (since, inf)) for what in ("read", "write", "mail")):
            assert time.monotonic() < deadline, [each.answer for each in self.tries[-20:]]
            time.sleep(0.05)

    def check_ledger(self) -> None:
        """Everything that was answered with success exists, and nothing that was not requested."""
        assert not self.wrong, self.wrong[:5]
        for what, there in (("write", self.house.sources()), ("mail", self.house.subjects())):
            attempted = {each.token for each in self.tries if each.what == what}
            accepted = {each.token for each in self.tries if each.what == what and each.ok}
            assert accepted <= there, f"lost: {accepted - there}"
            assert {token for token in there if token.startswith(self._name)} <= attempted


@contextmanager
def watched(pids: list[int]) -> Iterator[Callable[[float], list[int]]]:
    """A function that waits for these processes to exit; it returns those that have not after that many seconds."""
    with ExitStack() as stack:
        handles: dict[int, int] = {}
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):  # it has exited
                handles[pid] = os.pidfd_open(pid)
                stack.callback(os.close, handles[pid])

        def left(seconds: float) -> list[int]:
            deadline = time.monotonic() + seconds
            return [
                pid
                for pid, handle in handles.items()
                if not select.select([handle], [], [], max(0, deadline - time.monotonic()))[0]
            ]

        yield left


@pytest.fixture(scope="module")
def furnished() -> Iterator[House]:
    """The data directory of a stopped instance with its records; the database's account can reach it."""
    folder = new_directory("mailkeep-faults-", 0o755)
    data_dir = folder / "data"
    data_dir.mkdir()
    data_dir.chmod(0o711)
    try:
        house = House(instances.start(data_dir, FIRST))
        house.furnish()
        assert house.instance.stop() == 0, house.instance.log
        yield house
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def house(furnished: House) -> Iterator[House]:
    """The instance, started again; the test may stop it."""
    running = instances.start(furnished.instance.data_dir, FIRST)
    yield House(running, furnished.cookie, furnished.domain_id)
    if running.process.poll() is None:
        assert running.stop() == 0, running.log


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Path]:
    """A folder that no other account may enter; the database folder outside it is removed, too."""
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o700)
    yield folder
    if os.geteuid() == 0:
        shutil.rmtree(shelter_of(folder / "data"), ignore_errors=True)


def shelter_of(data_dir: Path) -> Path:
    return FALLBACK_DIR / (data_dir / "instance-id").read_text().strip()


async def test_during_a_database_outage_errors_are_temporary():
    folder = new_directory("mailkeep-outage-", 0o755)
    (folder / "pg").mkdir()
    server = await postgres.start(folder / "pg")
    urls = {"MAILKEEP_DATABASE__URL": server.urls.app, "MAILKEEP_DATABASE__OWNER_URL": server.urls.owner}
    environ = FIRST | {name: _as_url(info) for name, info in urls.items()}
    try:
        house = House(await asyncio.to_thread(instances.start, folder / "data", environ))
    except BaseException:
        await server.stop()
        shutil.rmtree(folder)
        raise
    try:
        await asyncio.to_thread(house.furnish)
        load = Load(house)
        with load.running():
            await server.stop()
            away_at = time.monotonic()
            answers = await asyncio.to_thread(_get_answers, house.instance)
            await asyncio.sleep(6.5 - (time.monotonic() - away_at))
            await asyncio.to_thread(load.wait_until_each_is_answered, away_at)
            back_at = time.monotonic()
            server = await postgres.start(folder / "pg")
            back = await asyncio.to_thread(load.wait_until_back, back_at)
            print(f"after an outage of {back_at - away_at:.1f} s: back in {back:.2f} s")
        await asyncio.to_thread(load.check_ledger)
        outage = (away_at, back_at)
        assert [load.answers(what, outage) for what in ("read", "write", "mail")] == [{"503"}, {"503"}, {"451"}]
        assert answers == {
            "/api/v1/health": (503, "UNAVAILABLE"),
            "/readyz": (503, "UNAVAILABLE"),
            "/healthz": (200, None),
            "/version": (200, None),
            "/api/v1/domains": (401, "AUTH_REQUIRED"),
            "/api/v1/nowhere": (404, "NOT_FOUND"),
        }
        assert back < BACK_IN_THE_SUITE
    finally:
        code = await asyncio.to_thread(house.instance.stop)
        await server.stop()
        shutil.rmtree(folder)
    assert code == 0, house.instance.log


def _as_url(conninfo: str) -> str:
    given = conninfo_to_dict(conninfo)
    return (
        f"postgresql://{given['user']}@/{given['dbname']}?{urlencode({'host': given['host'], 'port': given['port']})}"
    )


def _get_answers(instance: Instance) -> dict[str, tuple[int, str | None]]:
    paths = ("/api/v1/health", "/readyz", "/healthz", "/version", "/api/v1/domains", "/api/v1/nowhere")
    return {path: ((response := call(instance.http, "GET", path)).status, response.code) for path in paths}


def wait_for_text(client: socket.socket, words: bytes, times: int = 1) -> None:
    """Wait until this text has arrived this many times; it stays unread."""
    deadline = time.monotonic() + 60
    while (text := client.recv(65536, socket.MSG_PEEK)).count(words) < times:
        assert time.monotonic() < deadline, text
        time.sleep(0.02)


def test_it_stops_in_order_despite_hanging_clients(house: House):
    address = house.instance.http.removeprefix("http://").split(":")
    smtp_address = house.instance.smtp.split(":")
    half_a_body = b"POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    # One command at a time: a client that sends before the greeting is refused.
    dialogue = (b"EHLO x\r\n", b"MAIL FROM:<a@b.test>\r\n", f"RCPT TO:<{ALICE}>\r\n".encode(), b"DATA\r\n")
    wanted = [
        (address, half_a_body + b'Content-Length: 100\r\n\r\n{"email": '),
        (address, b"GET /api/v1/health HTTP/1.1\r\nHo"),
        (address, b""),
        (address, b"GET /api/v1/health HTTP/1.1\r\nHost: x\r\n\r\n"),
        (smtp_address, b""),
        (smtp_address, b""),
        (smtp_address, b""),
    ]
    with ExitStack() as stack:
        hanging: list[socket.socket] = []
        for (host, port), sent in wanted:
            hanging.append(stack.enter_context(socket.create_connection((host, int(port)), timeout=30)))
            hanging[-1].sendall(sent)
        # The last HTTP request is answered, so the connections before it are accepted.
        wait_for_text(hanging[3], b"HTTP/1.1 200 ")
        for client, lines in zip(hanging[4:], ((), dialogue[:1], dialogue), strict=True):
            wait_for_text(client, b"220 ")
            for number, line in enumerate(lines, 1):
                client.sendall(line)
                wait_for_text(client, *((b"\r\n354 ", 1) if line == b"DATA\r\n" else (b"\r\n250 ", number)))
        hanging[6].sendall(b"Subject: half\r\n\r\n")
        with watched(descendants(house.instance.process.pid)) as left:
            began = time.monotonic()
            assert house.instance.stop() == 0, house.instance.log
            took = time.monotonic() - began
            print(f"ended in {took:.2f} s")
            assert left(30) == []
        assert hanging[0].recv(65536).startswith(b"HTTP/1.1 503 ")
    assert took < 25  # clients may be silent for 30 s, or rest for 75 s
    assert not (house.instance.data_dir / "run.json").exists()
    assert "Traceback" not in house.instance.log
    assert "half" not in house.subjects()


def test_after_a_kill_no_process_stays_and_the_next_start_works(house: House):
    load = Load(house)
    with load.running(), watched(descendants(house.instance.process.pid)) as left:
        house.instance.process.kill()
        house.instance.process.wait(60)
        load._stop.set()
        assert left(40) == []
    again = House(instances.start(house.instance.data_dir), house.cookie, house.domain_id)
    try:
        assert again("GET", "/health").body["data"]["status"] == "ok"
        # Only answered requests count: the others were cut off.
        load.wrong, load.house = [wrong for wrong in load.wrong if wrong[0].isdigit()], again
        load.check_ledger()
        assert again.deliver("after the kill")[0] == 250
    finally:
        assert again.instance.stop() == 0, again.instance.log


def test_a_second_instance_on_the_same_data_is_refused(house: House):
    launch = Launch()
    second = subprocess.run(
        launch.command(house.instance.data_dir),
        cwd=launch.folder,
        env=launch.environment,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert second.returncode == 1
    assert f"already runs on {house.instance.data_dir} (process {house.instance.process.pid})" in second.stderr
    assert "Traceback" not in second.stderr
    assert house("GET", "/health").body["data"]["status"] == "ok"
    assert house.deliver("beside the second")[0] == 250


def test_it_runs_below_a_closed_folder(closed: Path):
    """As root: the database can't enter, so it is elsewhere and a line says so; no folder is opened for it."""
    house = House(instances.start(closed / "data", FIRST))
    house.furnish()
    assert house.deliver("hello")[0] == 250
    assert house.instance.stop() == 0, house.instance.log
    assert house.subjects() == {"hello"}
    assert closed.stat().st_mode & 0o777 == 0o700
    assert house.instance.data_dir.stat().st_mode & 0o066 == 0
    elsewhere = shelter_of(house.instance.data_dir)
    assert elsewhere.exists() == (os.geteuid() == 0)
    assert (str(elsewhere) in house.instance.log) == (os.geteuid() == 0)


def test_it_runs_without_being_root():
    """As nobody if the tests run as root, else as the current account."""
    user = "nobody" if os.geteuid() == 0 else None
    folder = new_directory("mailkeep-nobody-", 0o755, programs=True)
    (folder / "home").mkdir(mode=0o700)
    (folder / "product").mkdir()
    try:
        if user:
            shutil.chown(folder / "home", user)
        launch = launch_as(user, folder / "product", FIRST) if user else Launch(environ=FIRST)
        house = House(instances.start(folder / "home" / "data", launch=launch))
        house.furnish()
        assert house.deliver("hello")[0] == 250
        assert house.subjects() == {"hello"}
        owners: set[int] = set()
        for pid in descendants(house.instance.process.pid):
            with contextlib.suppress(FileNotFoundError):  # it has just exited
                owners.add(Path(f"/proc/{pid}").stat().st_uid)
        assert owners == {(folder / "home").stat().st_uid}
        assert house.instance.stop() == 0, house.instance.log
    finally:
        shutil.rmtree(folder)
