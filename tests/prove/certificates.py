"""`make prove-certificates`: certificates are replaced while 200 IMAP and 50 SMTP sessions and 20 streams are open.

An instance orders its certificate from Pebble, and replaces it three times, the last time after a revocation. Every
session must work afterwards, and new connections get the new certificate. It takes two minutes and needs root.
"""

from __future__ import annotations

import contextlib
import imaplib
import shutil
import smtplib
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from http.client import HTTPResponse
from pathlib import Path

from tests.prove.checks import Checks
from tests.prove.circumstances import circumstances
from tests.stack import harness
from tests.stack.certifying import DOMAIN, certified, find, lead_here, renew, wait_until_presented
from tests.stack.harness import Stack, eventually
from tests.support.pebble import Pebble

IMAP, SMTP, STREAMS, REPLACEMENTS = 200, 50, 20, 2
MAILBOXES = 25  # Dovecot limits the sessions of a user and address
STREAM_CALLERS = 2  # an account may have ten streams
PORTS = ("smtp", "submission", "submissions", "imaps", "pop3s")


class Sessions:
    """Open sessions of all kinds."""

    def __init__(self, stack: Stack, held: contextlib.ExitStack) -> None:
        self.stack = stack
        addresses = [f"user{number}@{DOMAIN}" for number in range(MAILBOXES)]
        self.imap: list[imaplib.IMAP4_SSL] = [
            held.enter_context(stack.imap(addresses[number % MAILBOXES])) for number in range(IMAP)
        ]
        self.smtp: list[smtplib.SMTP] = []
        for number in range(SMTP):
            client = stack.login(addresses[number % MAILBOXES])
            held.callback(client.close)
            self.smtp.append(client)
        self.streams = [held.enter_context(self._open_stream(key)) for key in self._keys() for _ in range(10)]

    def _keys(self) -> list[str]:
        return [self.stack.do("POST", "/api-keys", {"name": f"stream {n}"})["key"] for n in range(STREAM_CALLERS)]

    def _open_stream(self, key: str) -> HTTPResponse:
        headers = {"Authorization": f"Bearer {key}"}
        return urllib.request.urlopen(
            urllib.request.Request(f"{self.stack.api}/api/v1/events/stream", headers=headers), timeout=60
        )

    def count_working(self) -> tuple[int, int, int]:
        """How many of each kind still work: an answer to NOOP, and an event that arrives on the stream."""
        imap = sum(_works(lambda client=client: client.noop()[0] == "OK") for client in self.imap)
        smtp = sum(_works(lambda client=client: client.noop()[0] == 250) for client in self.smtp)
        subject = f"event {time.time_ns()}"
        self.stack.send(f"user0@{DOMAIN}", f"user1@{DOMAIN}", subject=subject)
        streams = sum(_works(lambda stream=stream: _reads_event(stream, subject)) for stream in self.streams)
        return imap, smtp, streams


def _works(look: Callable[[], object]) -> bool:
    try:
        return bool(look())
    except (OSError, imaplib.IMAP4.error, smtplib.SMTPException):
        return False


def _reads_event(stream: HTTPResponse, subject: str) -> bool:
    """Whether the stream brings an event about the message with this subject."""
    return any(subject.encode() in stream.readline() for _ in range(1000))


def prove(stack: Stack, pebble: Pebble, checks: Checks) -> None:
    domain = stack.make_domain(DOMAIN)
    for number in range(MAILBOXES):
        stack.make_mailbox(domain, f"user{number}")
    lead_here(stack)
    serial = renew(stack, "server")
    wait_until_presented(stack, serial, PORTS)
    checks.check("the first certificate is on all ports", True, serial)
    with contextlib.ExitStack() as held:
        sessions = Sessions(stack, held)
        expected = (IMAP, SMTP, STREAMS)
        checks.check("sessions before", (before := sessions.count_working()) == expected, str(before))
        for number in range(REPLACEMENTS):
            begun = time.monotonic()
            serial = renew(stack, "server")
            wait_until_presented(stack, serial, PORTS)
            took = time.monotonic() - begun
            checks.check(f"replacement {number + 1} is on all ports", True, f"{took:.1f} s after the request")
            found = sessions.count_working()
            checks.check("no session was dropped (IMAP, SMTP, streams)", found == expected, str(found))
        certificate = find(stack, "server")
        body = {"reason": "key_compromise", "at_once": True}
        stack.do("POST", f"/certificates/{certificate['id']}/revoke", body)
        eventually(lambda: not find(stack, "server")["being_revoked"], 60, "the revocation")
        new = eventually(lambda: now if (now := str(find(stack, "server")["serial"])) != serial else None, 60)
        checks.check("the revoked one is revoked", pebble.status_of(serial) == "Revoked")
        wait_until_presented(stack, new, PORTS)
        found = sessions.count_working()
        checks.check("no session was dropped after the revocation", found == expected, str(found))


def main() -> int:
    print(circumstances("certificates"))
    folder = Path(tempfile.mkdtemp(prefix="mailkeep-prove-"))
    folder.chmod(0o755)
    checks = Checks()
    try:
        with certified(folder) as (stack, pebble):
            prove(stack, pebble, checks)
    finally:
        harness.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"\n{checks.passed} checks passed, {len(checks.failed)} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
