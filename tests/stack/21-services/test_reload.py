"""Reloads of all daemons while people use them: no session ends, no sender must try again, nothing is lost."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import smtplib
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import pytest

from mailkeep.run.runtime import child
from tests.stack.harness import Stack, eventually, letter
from tests.support.instance import ROOT

SESSIONS, MAILBOXES = 50, 5
DOMAIN, NAME, FAR = "reload.test", "reader", "far-away@remote.test"
_NUMBER = re.compile(rb"^Subject: Number (\d+)\r$", re.MULTILINE)


def services(stack: Stack) -> dict[str, Any]:
    return {each["name"]: each for each in stack.do("GET", "/orchestrator")["services"]}


def perform(stack: Stack, service: str, action: str) -> None:
    operation_id = stack.ask("POST", f"/orchestrator/services/{service}/{action}").data["operation_id"]

    def finished() -> Any:
        operation = stack.do("GET", f"/orchestrator/operations/{operation_id}")
        return operation if operation["state"] != "running" else None

    operation = eventually(finished, 60, f"{action} {service}")
    assert operation["state"] == "succeeded", operation


class Clients:
    """The process with the IMAP sessions."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def count_working(self) -> int:
        """How many sessions answer."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@contextlib.contextmanager
def open_sessions(stack: Stack, addresses: list[str], number: int) -> Iterator[Clients]:
    command = [sys.executable, str(Path(__file__).with_name("imap_sessions.py")), str(stack.ports["imaps"])]
    with subprocess.Popen(
        [*command, str(number), *addresses], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    ) as process:  # fmt: skip
        try:
            assert process.stdout
            assert process.stdout.readline() == "open\n"
            yield Clients(process)
        finally:
            process.kill()


class Stream:
    """Messages one after another until it is stopped. `send` sends the one with a number; `refused` are its errors."""

    def __init__(self, send: Callable[[int], None]) -> None:
        self._send = send
        self.sent = 0
        self.refused: list[str] = []
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._ends.wait(0.1):
            try:
                self._send(self.sent)
            except (AssertionError, OSError, smtplib.SMTPException) as error:
                self.refused.append(repr(error))
                return
            self.sent += 1

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join(60)


@pytest.fixture
def addresses(alone: Stack) -> list[str]:
    if not (found := alone.do("GET", f"/domains?name={DOMAIN}")):
        domain_id = alone.make_domain(DOMAIN)
        for number in range(MAILBOXES):
            alone.make_mailbox(domain_id, f"{NAME}{number}")
    assert len(found) <= 1
    return [f"{NAME}{number}@{DOMAIN}" for number in range(MAILBOXES)]


def count(letters: list[bytes]) -> Counter[int]:
    """How often each number was delivered."""
    return Counter(int(found[1]) for each in letters if (found := _NUMBER.search(each)))


@pytest.mark.timeout(300)
def test_nobody_notices_the_reloads_of_all_daemons(alone: Stack, addresses: list[str]) -> None:
    reader, writer = addresses[:2]
    log = alone.data_dir / "log" / "mail.log"
    offset = log.stat().st_size
    client = alone.smtp()

    def deliver(number: int) -> None:
        alone.deliver(reader, f"Number {number}")

    def deliver_in_one_session(number: int) -> None:
        client.sendmail("friend@remote.test", [writer], letter(writer, f"Number {number}"))

    def send(number: int) -> None:
        answer = alone.send(writer, FAR, subject=f"Number {number}")
        assert answer.status == 200, answer.body

    pids = {name: each["pid"] for name, each in services(alone).items()}
    with open_sessions(alone, addresses, SESSIONS) as clients:
        with Stream(deliver) as inbound, Stream(deliver_in_one_session) as session, Stream(send) as outbound:
            for daemon in ("rspamd", "dovecot", "postfix"):
                perform(alone, daemon, "reload")
                assert clients.count_working() == SESSIONS, daemon
                before = inbound.sent, session.sent, outbound.sent
                eventually(
                    lambda then=before: all(
                        now > earlier or each.refused
                        for each, now, earlier in zip(
                            (inbound, session, outbound), (inbound.sent, session.sent, outbound.sent), then, strict=True
                        )
                    ),
                    30,
                    f"more mail after the reload of {daemon}",
                )
        assert (inbound.refused, session.refused, outbound.refused) == ([], [], [])
        expected = [Counter(range(each.sent)) for each in (inbound, session, outbound)]
        eventually(lambda: len(alone.caught(FAR)) >= outbound.sent, 30, "the outbound mail")
        eventually(lambda: len(alone.mail_of(reader)) >= inbound.sent, 30, "the inbound mail")
        eventually(lambda: len(alone.mail_of(writer)) >= session.sent, 30, "the mail of one session")
        assert [count(alone.mail_of(reader)), count(alone.mail_of(writer)), count(alone.caught(FAR))] == expected
        assert clients.count_working() == SESSIONS
    with contextlib.suppress(smtplib.SMTPException):
        client.quit()
    lines = log.read_bytes()[offset:].splitlines()
    deferrals = [each for each in lines if b"status=deferred" in each or b"NOQUEUE: reject: " in each]
    assert deferrals == [], (alone.data_dir / "log" / "lmtp.log").read_text()[-4000:]
    assert {name: each["pid"] for name, each in services(alone).items()} == pids


@pytest.mark.timeout(300)
def test_sessions_from_before_a_reload_end_with_their_access_and_with_dovecot(
    alone: Stack, addresses: list[str]
) -> None:
    address = addresses[-1]
    (mailbox,) = [each for each in alone.do("GET", f"/mailboxes?q={address}") if each["address"] == address]
    with open_sessions(alone, addresses[-2:], 6) as clients:
        perform(alone, "dovecot", "reload")
        alone.do("PATCH", f"/mailboxes/{mailbox['id']}", {"active": False})
        eventually(lambda: clients.count_working() == 3, 30, "the end of the sessions without access")
        alone.do("PATCH", f"/mailboxes/{mailbox['id']}", {"active": True})
        pid = services(alone)["dovecot"]["pid"]
        perform(alone, "dovecot", "restart")
        assert (clients.count_working(), child.list_session(pid)) == (0, [])
    with open_sessions(alone, addresses[-2:], 4) as clients:
        perform(alone, "dovecot", "reload")
        pid = services(alone)["dovecot"]["pid"]
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: services(alone)["dovecot"]["pid"] not in (pid, None), 60, "the next Dovecot")
        assert (clients.count_working(), child.list_session(pid)) == (0, [])
