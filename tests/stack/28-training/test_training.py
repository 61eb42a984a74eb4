"""Moves by a mail client to Junk and out of it teach the filter; nothing that happens there delays or loses mail."""

from __future__ import annotations

import asyncio
import json
import os
import pwd
import random
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, LiteralString
from uuid import UUID

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.features.mailflow.filter_training import service
from mailkeep.features.mailflow.filter_training.model import REQUIRED_LESSONS
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.filter import controller
from mailkeep.mail.filter.controller import LearnedCounts
from mailkeep.run.runtime import service_status
from mailkeep.run.runtime.context import attach
from tests.stack.harness import Stack, eventually, letter

pytestmark = pytest.mark.timeout(300)

_SYLLABLES = ("ba", "co", "du", "fe", "gi", "ha", "lo", "mu", "ne", "pi")
PILLS = [f"{first}{second}x" for first in _SYLLABLES for second in _SYLLABLES]
CHOIR = [f"{first}{second}n" for first in _SYLLABLES for second in _SYLLABLES]


def letters(count: int) -> list[bytes]:
    """Messages that Rspamd has not seen, with enough words to learn from."""
    words = (" ".join(random.choices(_SYLLABLES, k=3)).replace(" ", "") for _ in range(30 * count))
    bodies = (" ".join(f"{next(words)}{number}" for _ in range(30)) for number in range(count))
    return [letter("a@training.test", f"Letter {number}", body=body).encode() for number, body in enumerate(bodies)]


class Client:
    """A mail client with messages of its own in each folder."""

    def __init__(self, stack: Stack, mailbox: dict[str, Any]) -> None:
        self.stack, self.mailbox = stack, mailbox
        self.imap = stack.imap(mailbox["address"])

    def put(self, folder: str, messages: Sequence[bytes]) -> None:
        self.imap.create(folder)  # which fails if it exists
        for message in messages:
            assert self.imap.append(folder, "", "", message)[0] == "OK"

    def move(self, source: str, target: str, command: str = "MOVE") -> float:
        """Move all messages in one command; returns the seconds."""
        self.imap.select(source)
        numbers = self.imap.uid("SEARCH", "ALL")[1][0].split()
        began = time.monotonic()
        assert self.imap.uid(command, b",".join(numbers).decode(), target)[0] == "OK"
        return time.monotonic() - began

    def count(self, folder: str) -> int:
        self.imap.select(folder)
        return len(self.imap.uid("SEARCH", "ALL")[1][0].split())


def paths(stack: Stack) -> InstancePaths:
    return InstancePaths(stack.data_dir, run_folder(stack.data_dir))


def learned(stack: Stack) -> LearnedCounts:
    """The number of messages learned (Rspamd's own statistics are up to a minute old)."""
    argv = ["redis-cli", "-s", str(paths(stack).redis_socket), "HMGET", "RS", "learns_spam", "learns_ham"]
    output = subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split("\n")
    return LearnedCounts(int(output[0] or 0), int(output[1] or 0))


def pid_of(stack: Stack, name: str) -> int | None:
    """The process ID of a service, None while it is down."""
    return next(
        (each.pid for each in service_status.list_services(run_folder(stack.data_dir)) if each.name == name), None
    )


def execute(stack: Stack, sql: LiteralString, *values: object) -> list[dict[str, Any]]:
    async def run() -> list[dict[str, Any]]:
        async with attach(stack.data_dir, "tests") as app, app.db.autocommit() as conn:
            cursor = await conn.execute(sql, values)
            return await cursor.fetchall() if cursor.description else []

    return asyncio.run(run())


def read_metric(stack: Stack, outcome: str) -> int:
    rows = execute(stack, "SELECT count FROM counters WHERE name = 'filter_lessons' AND labels = ARRAY[%s]", outcome)
    return rows[0]["count"] if rows else 0


def lessons(client: Client) -> tuple[int, int]:
    """Lessons accepted and dropped of the mailbox in the last hour."""

    async def run() -> tuple[int, int]:
        async with attach(client.stack.data_dir, "tests") as app, app.db.autocommit() as conn:
            counts = await service.count_lessons(app, conn, UUID(client.mailbox["id"]))
            return counts.accepted, counts.dropped

    return asyncio.run(run())


@pytest.fixture
def client(stack: Stack) -> Iterator[Client]:
    mailbox = stack.make_mailbox(stack.get_domain("training.test"), f"u{time.time_ns()}")
    made = Client(stack, mailbox)
    yield made
    made.imap.shutdown()


def test_moves_in_both_directions_teach(client: Client) -> None:
    before = learned(client.stack)
    client.put("INBOX", letters(60))
    client.put("Archive", [])
    client.move("INBOX", "Junk")
    eventually(lambda: learned(client.stack) == LearnedCounts(before.spam + 60, before.ham), what="60 lessons")
    client.move("Junk", "Archive", "COPY")
    # Taught back. Rspamd does not subtract every message that changes its kind, so the count of spam is not exact.
    eventually(lambda: lessons(client) == (100, 20), what="the corrections")
    eventually(lambda: learned(client.stack).ham == before.ham + 40, what="the corrections")
    assert learned(client.stack).spam < before.spam + 60
    assert (client.count("Junk"), client.count("Archive")) == (60, 60)


def test_what_teaches_nothing(client: Client) -> None:
    for folder in ("INBOX", "Junk", "Junk/old", "Junk/older", "Archive", '"Deleted Items"'):
        client.put(folder, letters(2))
    client.move("Junk", "Trash", "COPY")
    client.move("Junk", '"Deleted Items"', "COPY")
    client.move("Junk", "Junk/old")
    client.move("Junk/old", "Junk/older", "COPY")
    client.move("Junk/older", "Junk")
    client.move("INBOX", "Archive", "COPY")
    conf, address = client.stack.data_dir / "dovecot" / "conf" / "dovecot.conf", client.mailbox["address"]
    argv = ["doveadm", "-c", str(conf), "move", "-u", address, "Archive", "mailbox", "Junk", "1"]
    subprocess.run(argv, check=True, capture_output=True, timeout=60)
    assert client.count("Junk") == 5
    client.imap.store("1:*", "+FLAGS", r"\Deleted")
    client.imap.expunge()
    assert (client.count("Junk"), client.count("Junk/old"), client.count("Archive")) == (0, 4, 5)
    # The lessons of a mailbox are taught in their order, so nothing can come after these.
    client.move("Archive", "Junk/older")
    client.move("Junk/old", "INBOX")
    eventually(lambda: lessons(client)[0] >= 9, what="the lessons")
    assert lessons(client) == (9, 0)


def test_lesson_101_of_an_hour_is_dropped_and_counted(client: Client) -> None:
    dropped = read_metric(client.stack, "dropped")
    client.put("INBOX", letters(101))
    client.move("INBOX", "Junk")
    eventually(lambda: lessons(client) == (100, 1), what="101 lessons")
    eventually(lambda: read_metric(client.stack, "dropped") > dropped, what="the metric")
    assert client.count("Junk") == 101


def test_a_mailbox_with_learn_off_teaches_nothing(client: Client) -> None:
    stack, domain, own = client.stack, client.mailbox["domain_id"], client.mailbox["id"]
    add = "INSERT INTO filter_settings (domain_id, mailbox_id, learn, updated_at) VALUES (%s, %s, %s, '2026-01-01')"
    execute(stack, add, domain, None, False)
    try:
        client.put("INBOX", letters(3))
        client.move("INBOX", "Junk")
        client.put("INBOX", letters(2))
        client.move("INBOX", "Junk", "COPY")
        wait_for_another_lesson(client.stack)
        assert lessons(client) == (0, 0)
        execute(stack, add, None, own, True)  # the mailbox has priority
        client.move("INBOX", "Junk")
        eventually(lambda: lessons(client) == (2, 0), what="the lessons")
    finally:
        execute(stack, "DELETE FROM filter_settings WHERE domain_id = %s", domain)


def wait_for_another_lesson(stack: Stack) -> None:
    """Wait until a lesson of another mailbox, in another domain, is taught: the turn of all before has come."""
    other = Client(stack, stack.make_mailbox(stack.get_domain("training-other.test"), f"u{time.time_ns()}"))
    other.put("INBOX", letters(1))
    other.move("INBOX", "Junk")
    eventually(lambda: lessons(other) == (1, 0), what="the lesson of another mailbox")
    other.imap.shutdown()


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGSTOP])
def test_without_the_learner_moves_succeed(alone: Stack, client: Client, sent: signal.Signals) -> None:
    before = eventually(lambda: pid_of(alone, "learner"))
    client.put("INBOX", letters(8))
    os.kill(before, sent)
    seconds = client.move("INBOX", "Junk")
    # Two seconds for each message, until the supervisor has ended a process that hangs.
    assert seconds < 60
    assert client.count("Junk") == 8
    eventually(lambda: pid_of(alone, "learner") not in (None, before), 90, "the process")
    known = lessons(client)[0]
    client.move("Junk", "INBOX")
    eventually(lambda: lessons(client)[0] == known + 8, what="lessons after its return")


def test_lessons_wait_for_the_filter(alone: Stack, client: Client) -> None:
    eventually(lambda: pid_of(alone, "learner"))
    before = learned(alone)
    client.put("INBOX", letters(20))
    perform(alone, "rspamd", "stop")
    try:
        client.move("INBOX", "Junk")
        assert client.count("Junk") == 20
        eventually(lambda: lessons(client) == (10, 0), what="the first lessons")
    finally:
        perform(alone, "rspamd", "start")
    eventually(lambda: learned(alone) == LearnedCounts(before.spam + 20, before.ham), what="all lessons")


def perform(stack: Stack, service: str, action: str) -> None:
    """Stop or start a service, and wait for it."""
    operation = stack.do("POST", f"/orchestrator/services/{service}/{action}")["operation_id"]
    path = f"/orchestrator/operations/{operation}"
    eventually(lambda: stack.do("GET", path)["state"] != "running", 120, f"{action} {service}")
    assert stack.do("GET", path)["state"] == "succeeded"


def test_sockets_are_closed_to_other_accounts(stack: Stack) -> None:
    learn, filtering = paths(stack).learn_socket, paths(stack).controller_socket
    eventually(learn.exists)
    allowed = [(account, each.name) for account in ("mailkeep-mail", "mailkeep", "postfix", "nobody")
               for each in (learn, filtering) if can_connect(account, each)]  # fmt: skip
    assert allowed == [("mailkeep-mail", "learn"), ("mailkeep", "learn"), ("mailkeep", "controller.sock")]


def can_connect(account: str, path: Path) -> bool:
    argv = ["setpriv", f"--reuid={account}", f"--regid={pwd.getpwnam(account).pw_gid}", "--clear-groups"]
    program = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
    done = subprocess.run([*argv, "/usr/bin/python3", "-c", program, str(path)], capture_output=True, check=False)
    assert done.returncode == 0 or b"PermissionError" in done.stderr, done.stderr
    return done.returncode == 0


def test_the_classifier_is_silent_until_it_has_learned_200_of_each_kind(alone: Stack) -> None:
    """It then knows new messages of both kinds. Teaches what is missing through the controller."""

    async def run() -> None:
        socket = paths(alone).controller_socket
        if min(learned(alone).spam, learned(alone).ham) < REQUIRED_LESSONS:
            assert await list_bayes(socket, spam(0)) == []
        for number in range(1, REQUIRED_LESSONS + 40):
            assert await controller.learn(socket, "spam", spam(number)) == "taught"
            assert await controller.learn(socket, "ham", ham(number)) == "taught"
        assert await controller.learn(socket, "ham", ham(1)) == "known"
        assert await controller.learn(socket, "ham", b"Subject: x\r\n\r\nNo.\r\n") == "skipped"
        assert await list_bayes(socket, spam(1000)) == ["BAYES_SPAM"]
        assert await list_bayes(socket, ham(1000)) == ["BAYES_HAM"]
        async with attach(alone.data_dir, "tests") as app:
            app.filter_controller = socket
            deadline = time.monotonic() + 150
            while (status := await service.read_status(app)).state != "active" and time.monotonic() < deadline:
                await asyncio.sleep(1)
            assert (status.state, min(status.spam_learned, status.ham_learned) >= status.required) == ("active", True)

    asyncio.run(run())


def spam(number: int) -> bytes:
    return letter(
        "a@training.test", f"Offer {number}", body=f"{random.Random(number).sample(PILLS, 40)} {number}"
    ).encode()


def ham(number: int) -> bytes:
    return letter(
        "a@training.test", f"Choir {number}", body=f"{random.Random(number).sample(CHOIR, 40)} {number}"
    ).encode()


async def list_bayes(socket: Path, message: bytes) -> list[str]:
    argv = ["curl", "-sS", "--max-time", "60", "--unix-socket", str(socket), "--data-binary", "@-", "http://x/checkv2"]
    done = await asyncio.to_thread(subprocess.run, argv, input=message, capture_output=True, check=True)
    return [name for name in json.loads(done.stdout)["symbols"] if name.startswith("BAYES")]
