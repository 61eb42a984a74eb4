"""Mail that our own services held up is tried again as soon as they work; what a remote server deferred is not.

By itself Postfix would try again after an hour here.
"""

from __future__ import annotations

import asyncio
import contextlib
import imaplib
import json
import os
import signal
import smtplib
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.run.runtime import child, control, service_status
from mailkeep.run.runtime.context import attach
from mailkeep.run.runtime.recovery import retry_deferred
from tests.stack.harness import Stack, eventually, letter
from tests.support.processes import children

WITHIN = 40
HOUR = (
    "minimal_backoff_time=3600s",
    "maximal_backoff_time=3600s",
    "queue_run_delay=3600s",
    "maximal_queue_lifetime=1d",
)


def places(stack: Stack) -> InstancePaths:
    return InstancePaths(stack.data_dir, run_folder(stack.data_dir))


def postfix(stack: Stack, command: str, *words: str, **more: Any) -> str:
    argv = [command, "-c", str(places(stack).postfix_conf), *words]
    return subprocess.run(argv, check=True, timeout=30, capture_output=True, text=True, **more).stdout


def queue(stack: Stack) -> dict[str, dict[str, Any]]:
    """What is in the queue, by recipient."""
    lines = map(json.loads, postfix(stack, "postqueue", "-j").splitlines())
    return {each["recipients"][0]["address"]: each for each in lines if each["recipients"]}


def is_deferred(stack: Stack, recipient: str) -> bool:
    return queue(stack).get(recipient, {}).get("queue_name") == "deferred"


def pid_of(stack: Stack, name: str) -> int:
    service = eventually(
        lambda: next((p for p in service_status.list_services(places(stack).run) if p.name == name and p.pid), None)
    )
    assert service.pid
    return service.pid


def kill(stack: Stack, name: str) -> None:
    for pid in child.list_session(pid_of(stack, name)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def nothing_restarted(stack: Stack) -> Iterator[int]:
    """The supervisor is stopped: what is killed meanwhile stays away."""
    up = int((stack.data_dir / "lock").read_text())
    os.kill(up, signal.SIGSTOP)
    try:
        yield up
    finally:
        os.kill(up, signal.SIGCONT)


def arrives(stack: Stack, address: str, subject: str) -> bool:
    with contextlib.suppress(OSError, imaplib.IMAP4.error):  # Dovecot is just starting
        return any(f"Subject: {subject}\r\n".encode() in mail for mail in stack.mail_of(address))
    return False


def due_at(stack: Stack, recipient: str) -> float:
    queue_id = queue(stack)[recipient]["queue_id"]
    return postfix_queue.next_attempts(places(stack).postfix_queue, [queue_id])[queue_id].timestamp()


@pytest.fixture
def patient(alone: Stack) -> Iterator[Stack]:
    """The instance with a Postfix that tries deferred mail again after an hour."""
    stack = alone
    main = places(stack).postfix_conf / "main.cf"
    before = main.read_text()
    postfix(stack, "postconf", "-e", *HOUR)
    postfix(stack, "postfix", "reload")
    try:
        yield stack
    finally:
        main.write_text(before)
        postfix(stack, "postfix", "reload")
        postfix(stack, "postsuper", "-d", "ALL")


@pytest.fixture
def alice(patient: Stack) -> str:
    if not patient.do("GET", "/domains?name=outage.test"):
        patient.make_mailbox(patient.make_domain("outage.test"), "alice")
    return "alice@outage.test"


def defer_at_remote_server(stack: Stack, name: str) -> str:
    """A message that a remote server deferred; the recipient."""
    recipient = f"fail+{name}@remote.test"
    # A busy machine may not have signed it in time; then it is refused for now.
    eventually(lambda: stack.send("shop@outage.test", recipient).status == 200, what="the send")
    eventually(lambda: is_deferred(stack, recipient), what="the deferral by the remote server")
    return recipient


@pytest.mark.parametrize("killed", [["dovecot"], ["lmtp"], ["lmtp", "node"]], ids="-".join)
def test_mail_does_not_wait_for_minutes_after_a_short_outage(patient: Stack, alice: str, killed: list[str]) -> None:
    subject = f"While {' and '.join(killed)} was away"
    remote = defer_at_remote_server(patient, "-".join(killed))
    due = due_at(patient, remote)
    with nothing_restarted(patient):
        for name in killed:
            kill(patient, name)
        patient.deliver(alice, subject)
        eventually(lambda: is_deferred(patient, alice), what="the deferral")
    began = time.monotonic()
    eventually(lambda: arrives(patient, alice, subject), WITHIN, "the mail")
    print(f"{subject}: delivered {time.monotonic() - began:.1f} s after the supervisor could restart it")
    assert due_at(patient, remote) == due, "what a remote server deferred was tried again"


def test_mail_is_retried_after_an_operation_on_a_service(patient: Stack, alice: str) -> None:
    """Also mail that `Recovery` would not retry, because it has tried often: here the process `node` is away."""
    paths, remote = places(patient), defer_at_remote_server(patient, "operation")
    due = due_at(patient, remote)

    async def start_again() -> None:
        await control.ask(paths.control_socket, "start", "dovecot")
        async with attach(patient.data_dir, "test") as app:
            await retry_deferred(app, paths)

    node = pid_of(patient, "node")
    os.kill(node, signal.SIGSTOP)
    try:
        asyncio.run(control.ask(paths.control_socket, "stop", "dovecot"))
        patient.deliver(alice, "While it was stopped")
        eventually(lambda: is_deferred(patient, alice), what="the deferral")
        asyncio.run(start_again())
        eventually(lambda: arrives(patient, alice, "While it was stopped"), WITHIN, "the mail")
    finally:
        os.kill(node, signal.SIGCONT)
    assert due_at(patient, remote) == due, "what a remote server deferred was tried again"


def test_a_dead_filter_leaves_nothing_behind_in_the_queue(patient: Stack, alice: str) -> None:
    with nothing_restarted(patient):
        kill(patient, "rspamd")
        with pytest.raises(smtplib.SMTPException) as refused:
            patient.deliver(alice, "Deferred by the filter")
        assert "451" in str(refused.value) or "421" in str(refused.value)
        assert patient.send("shop@outage.test", "friend@remote.test").status >= 500
        assert alice not in queue(patient)
        assert "friend@remote.test" not in queue(patient)
    pid_of(patient, "rspamd")

    def taken() -> bool:
        with contextlib.suppress(smtplib.SMTPException):
            patient.deliver(alice, "After the filter was away")
            return True
        return False

    eventually(taken, WITHIN, "a filter that answers")
    eventually(lambda: arrives(patient, alice, "After the filter was away"), WITHIN, "the mail")


def test_mail_that_waited_for_the_database_leaves_when_it_is_back(patient: Stack, alice: str) -> None:
    remote = defer_at_remote_server(patient, "database")
    due = due_at(patient, remote)
    outside = "friend+later@remote.test"
    agent = pid_of(patient, "lmtp")
    with nothing_restarted(patient) as up:
        os.kill(agent, signal.SIGSTOP)
        try:
            patient.deliver(alice, "The agent asks the database")
            eventually(lambda: alice in queue(patient))
            queue_id = queue(patient)[remote]["queue_id"]
            held = outside.replace("later", "held")  # right after its start, Rspamd may be too slow for Postfix (451)
            eventually(lambda: patient.send("shop@outage.test", held).status == 200, WITHIN, "a send")
            server = next(p for p in children(up) if Path(f"/proc/{p}/comm").read_text() == "postgres\n")
            os.kill(server, signal.SIGKILL)
        finally:
            os.kill(agent, signal.SIGCONT)
        eventually(lambda: is_deferred(patient, alice), what="the deferral by the agent")
        # The queue manager asks where mail for the remote server goes, and gets no answer: not the remote's deferral.
        postfix(patient, "postqueue", "-i", queue_id)
        reasons = eventually(
            lambda: [
                each["delay_reason"]
                for each in queue(patient)[remote]["recipients"]
                if "address resolver failure" in each.get("delay_reason", "")
            ],
            what="the deferral by the queue manager",
        )
        assert reasons
    began = time.monotonic()
    eventually(lambda: arrives(patient, alice, "The agent asks the database"), WITHIN, "the mail")
    print(f"the database: delivered {time.monotonic() - began:.1f} s after the supervisor could restart it")
    try:
        eventually(
            lambda: "come back later" in queue(patient)[remote]["recipients"][0].get("delay_reason", ""),
            WITHIN,
            "the try",
        )
    except AssertionError:
        lines = places(patient).mail_log.read_text(errors="replace").splitlines()
        raise AssertionError(
            "\n".join(
                [
                    str(queue(patient)[remote]),
                    *(x for x in lines if queue_id in x or "reload" in x or "warning" in x),
                    "NODE",
                    (places(patient).log / "node.log").read_text(),
                ]
            )
        ) from None
    assert due_at(patient, remote) >= due


def letters(stack: Stack, address: str, count: int) -> None:
    with stack.smtp() as client:
        for number in range(count):
            client.sendmail("someone@remote.test", [address], letter(address, f"Of many {number}"))


def test_a_message_that_nobody_can_deliver_is_not_tried_without_end(patient: Stack, alice: str) -> None:
    """Dovecot answers but refuses this mailbox: each try waits twice as long as the one before."""
    patient.make_mailbox(patient.do("GET", "/domains?name=outage.test")[0]["id"], "blocked")
    [mailbox] = patient.do("GET", "/mailboxes?q=blocked")
    folder = places(patient).mail_root / mailbox["id"]
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("no folder")

    def tries() -> list[str]:
        lines = places(patient).mail_log.read_text(errors="replace").splitlines()
        return [line for line in lines if "to=<blocked@outage.test>" in line and "status=" in line]

    try:
        patient.deliver("blocked@outage.test", "Never")
        eventually(lambda: is_deferred(patient, "blocked@outage.test"), what="the deferral")
        eventually(lambda: len(tries()) >= 2, what="the second attempt")
        time.sleep(10)
        count = len(tries())
    finally:
        folder.unlink()
    # An attempt a second would be more than 12; a service that does not answer in time starts the intervals again.
    assert count <= 8, tries()
    eventually(lambda: arrives(patient, "blocked@outage.test", "Never"), 60, "the mail")
