"""Open sessions of all protocols end when their mailbox loses access, in every way."""

from __future__ import annotations

import os
import signal
import smtplib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mailkeep.db.instance import run_folder
from tests.stack.harness import Stack, eventually, letter
from tests.stack.mail_sessions import PROTOCOLS, open_sessions

NEW_PASSWORD = "a password that is new to everybody"


def patch(stack: Stack, mailbox: dict[str, Any], **changes: object) -> None:
    stack.do("PATCH", f"/mailboxes/{mailbox['id']}", changes)


WAYS: dict[str, Callable[[Stack, dict[str, Any]], object]] = {
    "password": lambda stack, mailbox: patch(stack, mailbox, password=NEW_PASSWORD),
    "deactivated": lambda stack, mailbox: patch(stack, mailbox, active=False),
    "deleted": lambda stack, mailbox: stack.do("DELETE", f"/mailboxes/{mailbox['id']}"),
    "purged": lambda stack, mailbox: stack.do("DELETE", f"/mailboxes/{mailbox['id']}?purge=true"),
    "renamed": lambda stack, mailbox: patch(stack, mailbox, local_part="other"),
    "withdrawn": lambda stack, mailbox: patch(stack, mailbox, protocols=dict.fromkeys(PROTOCOLS, False)),
    "domain": lambda stack, mailbox: stack.do("PATCH", f"/domains/{mailbox['domain_id']}", {"active": False}),
    "restored": lambda stack, mailbox: (patch(stack, mailbox, active=False), patch(stack, mailbox, active=True)),
}


def test_open_sessions_of_all_protocols_end_with_their_access(stack: Stack) -> None:
    assert stack.cookie  # one session for all threads
    with ThreadPoolExecutor(4) as pool:
        for ended in [pool.submit(_require_end, stack, way) for way in WAYS]:
            ended.result()


def _require_end(stack: Stack, way: str) -> None:
    domain = stack.make_domain(f"ends-{way}.test")
    mailbox = stack.make_mailbox(domain, "alice")
    bystander = stack.make_mailbox(stack.make_domain(f"stays-{way}.test"), "alice")
    with open_sessions(stack, mailbox["address"]) as ending, open_sessions(stack, bystander["address"]) as staying:
        WAYS[way](stack, mailbox)
        for protocol in ("imap", "pop3", "sieve"):
            ending.wait_for_end(protocol)
        code, words = ending.begin_message()
        assert (code, b"Your password or access has changed: log in again" in words) == (421, True), way
        assert ending.begin_message() == (0, b""), way
        assert [protocol for protocol in PROTOCOLS if not staying.works(protocol)] == [], way


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_protocol_that_is_withdrawn_ends_its_own_sessions_alone(stack: Stack, protocol: str) -> None:
    domain = stack.make_domain(f"withdrawn-{protocol}.test")
    mailbox = stack.make_mailbox(domain, "alice")
    with open_sessions(stack, mailbox["address"]) as sessions:
        patch(stack, mailbox, protocols={protocol: False})
        if protocol == "smtp":
            assert sessions.begin_message()[0] == 421
        else:
            sessions.wait_for_end(protocol)
        others = [each for each in ("imap", "pop3", "sieve") if each != protocol]
        assert [each for each in others if not sessions.works(each)] == []


def test_a_suspension_refuses_the_next_message_of_a_session_and_ends_none(stack: Stack) -> None:
    domain = stack.make_domain("suspended-stays.test")
    mailbox = stack.make_mailbox(domain, "alice")
    with open_sessions(stack, mailbox["address"]) as sessions:
        stack.do("POST", f"/mailboxes/{mailbox['id']}/suspend", {"reason": "A test"})
        text = letter("friend@remote.test", sender=mailbox["address"])
        sessions.smtp.rset()
        with pytest.raises(smtplib.SMTPDataError, match="Sending is suspended"):
            sessions.smtp.sendmail(mailbox["address"], ["friend@remote.test"], text)
        assert [each for each in ("imap", "pop3", "sieve") if not sessions.works(each)] == []


def test_a_message_in_transit_when_access_ends_is_refused(stack: Stack) -> None:
    domain = stack.make_domain("ends-in-data.test")
    mailbox = stack.make_mailbox(domain, "alice")
    with open_sessions(stack, mailbox["address"]) as sessions:
        assert sessions.begin_message()[0] == 250
        patch(stack, mailbox, password=NEW_PASSWORD)
        code, _ = sessions.smtp.data(letter("friend@remote.test", sender=mailbox["address"]).encode())
        assert code == 421


def test_sessions_without_access_end_when_the_node_agent_is_back(alone: Stack) -> None:
    domain = alone.make_domain("ends-later.test")
    mailbox = alone.make_mailbox(domain, "alice")
    pid_file = run_folder(alone.data_dir) / "pids" / "node.pid"

    def agent() -> int:
        return int(pid_file.read_text().split()[0])

    stopped = agent()
    with open_sessions(alone, mailbox["address"]) as sessions:
        os.kill(stopped, signal.SIGSTOP)
        try:
            patch(alone, mailbox, password=NEW_PASSWORD)
            assert sessions.works("imap")
        finally:
            os.kill(stopped, signal.SIGKILL)
        for protocol in ("imap", "pop3", "sieve"):
            sessions.wait_for_end(protocol)
    eventually(lambda: agent() != stopped and Path(f"/proc/{agent()}").exists(), what="the node's agent")


def test_a_session_opens_with_the_new_password(stack: Stack) -> None:
    domain = stack.make_domain("ends-and-begins.test")
    mailbox = stack.make_mailbox(domain, "alice")
    patch(stack, mailbox, password=NEW_PASSWORD)
    with stack.imap(mailbox["address"], NEW_PASSWORD) as client:
        assert client.noop()[0] == "OK"
    with stack.login(mailbox["address"], NEW_PASSWORD) as client:
        assert client.mail(mailbox["address"])[0] == 250
        assert client.rcpt("friend@remote.test")[0] == 250
