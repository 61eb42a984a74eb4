"""A delivery is repeated after an unknown outcome: Dovecot looks for the first copy."""

from __future__ import annotations

import base64
import os
import signal
import smtplib
import socket
import time
from pathlib import Path
from typing import IO

import psycopg
import pytest

from mailkeep.db.instance import run_folder
from mailkeep.db.postgres import socket_urls
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import service_status
from tests.stack.harness import ADDRESS, PASSWORD, Stack, eventually, letter, trusting


def places_of(stack: Stack) -> InstancePaths:
    return InstancePaths(stack.data_dir, run_folder(stack.data_dir))


def hand_over(stack: Stack, recipient: str, delivery: str, subject: str, headers: str = "", body: str = "Hi.") -> str:
    """Deliver a message like the agent, with its delivery field."""
    with smtplib.LMTP(str(places_of(stack).dovecot_lmtp)) as client:
        content = f"X-Mailkeep-Delivery: {delivery}\r\n" + letter(recipient, subject, headers, body)
        assert client.sendmail("someone@remote.test", [recipient], content) == {}
    return subject


def subjects(stack: Stack, address: str, folder: str = "INBOX") -> list[str]:
    lines = [line for mail in stack.mail_of(address, folder) for line in mail.decode().splitlines()]
    return [line.removeprefix("Subject: ") for line in lines if line.startswith("Subject: ")]


def test_a_second_copy_is_discarded_wherever_the_first_is(stack: Stack) -> None:
    address = "alice@again.test"
    stack.make_mailbox(stack.make_domain("again.test"), "alice")
    since = int(time.time()) - 60
    hand_over(stack, address, "4kAgain0001", "first")
    hand_over(stack, address, f"4kAgain0001 since {since}", "dropped")
    hand_over(stack, address, f"4kAgain000 since {since}", "another's")
    hand_over(stack, address, f"4kAgain0001 since {int(time.time()) + 3600}", "since later")
    assert subjects(stack, address) == ["first", "another's", "since later"]
    with stack.imap(address) as client:
        client.select("INBOX")
        client.create("Old")
        client.copy("1", "Old")
        client.store("1:3", "+FLAGS", "\\Deleted")
        client.expunge()
    hand_over(stack, address, f"4kAgain0001 since {since}", "dropped")
    assert (subjects(stack, address), subjects(stack, address, "Old")) == ([], ["first"])
    hand_over(stack, address, f"4kAgain0002 since {since}", "in Junk", "X-Spam: Yes\r\n")
    hand_over(stack, address, f"4kAgain0002 since {since}", "dropped")
    assert (subjects(stack, address), subjects(stack, address, "Junk")) == ([], ["in Junk"])


@pytest.mark.parametrize(
    "name, headers, body",
    [
        ("body", "", "X-Mailkeep-Delivery: 4kForged001"),
        ("folded", "X-Long: a\r\n X-Mailkeep-Delivery: 4kForged001\r\n", "Hi."),
        ("longer", "X-X-Mailkeep-Delivery: 4kForged001\r\n", "Hi."),
    ],
)
def test_a_delivery_field_from_the_sender_is_ignored(stack: Stack, name: str, headers: str, body: str) -> None:
    domain = f"{name}.forged.test"
    address = f"alice@{domain}"
    stack.make_mailbox(stack.make_domain(domain), "alice")
    hand_over(stack, address, "4kForged000", "first", headers, body)
    hand_over(stack, address, f"4kForged001 since {int(time.time()) - 60}", "second")
    hand_over(stack, address, f"*' {int(time.time())} since {int(time.time()) - 60}", "no id")
    assert subjects(stack, address) == ["first", "second", "no id"]


@pytest.mark.parametrize(
    "script, taken",
    [
        ('require ["fileinto"]; fileinto "Junk";', b"OK"),
        ('require ["vnd.dovecot.execute"]; execute "delivered";', b"NO"),
        ('require ["vnd.dovecot.pipe"]; pipe "learn";', b"NO"),
        ('require ["vnd.dovecot.filter"]; filter "delivered";', b"NO"),
    ],
)
def test_user_scripts_can_not_run_programs(stack: Stack, script: str, taken: bytes) -> None:
    domain = stack.do("GET", "/domains?name=programs.test")
    if not domain:
        stack.make_mailbox(stack.make_domain("programs.test"), "alice")
    said = base64.b64encode(f"\0alice@programs.test\0{PASSWORD}".encode()).decode()
    with socket.create_connection((ADDRESS, stack.ports["sieve"]), timeout=30) as plain:
        lines = plain.makefile("rb")
        reply_of(lines)
        plain.sendall(b"STARTTLS\r\n")
        assert reply_of(lines).startswith(b"OK")
        with trusting().wrap_socket(plain) as wire:
            lines = wire.makefile("rb")
            reply_of(lines)  # the capabilities again
            wire.sendall(f'AUTHENTICATE "PLAIN" "{said}"\r\n'.encode())
            assert reply_of(lines).startswith(b"OK")
            wire.sendall(f"CHECKSCRIPT {{{len(script)}+}}\r\n{script}\r\n".encode())
            assert reply_of(lines).startswith(taken)


def reply_of(lines: IO[bytes]) -> bytes:
    """A reply's last line (RFC 5804 §1.2)."""
    while not (line := lines.readline()).startswith((b"OK", b"NO", b"BYE")):
        assert line, "the connection ended"
    return line


def test_an_agent_killed_before_filing_makes_one_copy_and_one_row(alone: Stack) -> None:
    address = "alice@killed-agent.test"
    alone.make_mailbox(alone.make_domain("killed-agent.test"), "alice")
    places = places_of(alone)
    pid = pid_of(alone, "lmtp")
    with psycopg.connect(socket_urls(places.run).owner) as conn:
        conn.execute("LOCK TABLE inbound_claims IN SHARE MODE")  # read and not written
        alone.deliver(address, "Once")
        assert eventually(lambda: subjects(alone, address) == ["Once"], what="Dovecot's copy")
        assert open_lines(places.lmtp_journal) == 1
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: pid_of(alone, "lmtp") not in (0, pid), 90, "the agent")
        assert open_lines(places.lmtp_journal) == 1
    rows = eventually(lambda: alone.do("GET", f"/messages?direction=inbound&to={address}"), 120, "the history")
    assert [row["status"] for row in rows] == ["received"]
    assert subjects(alone, address) == ["Once"]
    assert eventually(lambda: open_lines(places.lmtp_journal) == 0, what="the end")


def pid_of(stack: Stack, name: str) -> int:
    """The process ID of a service, 0 while it is down."""
    return next(
        (
            service.pid or 0
            for service in service_status.list_services(run_folder(stack.data_dir))
            if service.name == name
        ),
        0,
    )


def open_lines(journal: Path) -> int:
    """How many deliveries have begun in the journal, and not ended."""
    found: set[tuple[str, str]] = set()
    for line in journal.read_text().splitlines():
        if line:
            sign, _, queue_id, mailbox_id = line.split()
            (found.add if sign == "+" else found.discard)((queue_id, mailbox_id))
    return len(found)
