"""A log as Postfix writes it, for tests: lines are added, the file is rotated by renaming."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from tests.support.client import EXAMPLE

TIMES = "delay={:g}, delays=0.1/0/0.1/0.1"
SENT = "dsn=2.0.0, status=sent (250 2.0.0 Ok)"
DEFERRED = (
    "dsn=4.3.0, status=deferred (host mx.far.test[192.0.2.1] said: 451 4.3.0 try later (in reply to RCPT TO command))"
)
BOUNCED = (
    "dsn=5.1.1, status=bounced (host mx.far.test[192.0.2.1] said: 550 5.1.1 no such user (in reply to RCPT TO command))"
)


class LogWriter:
    """Lines with their head; queue ids count up."""

    def __init__(self, path: Path, clock: Callable[[], datetime]) -> None:
        self.path = path
        self.clock = clock
        self.path.parent.mkdir(exist_ok=True)
        self._rotations = 0

    def add(self, *texts: str) -> None:
        with self.path.open("a") as file:
            stamp = f"{self.clock().astimezone():%b %e %H:%M:%S}"
            file.writelines(f"{stamp} mx postfix/{text}\n" for text in texts)

    def rotate(self) -> None:
        self._rotations += 1
        self.path.rename(self.path.with_name(f"{self.path.name}.20261120-10000{self._rotations}"))

    def api(self, queue_id: str, message_id: str, recipients: int = 1, sender: str = "shop@example.test") -> None:
        """A message came in by the API's port and is queued."""
        self.add(
            f"api/smtpd[9]: {queue_id}: client=localhost[127.0.0.1]",
            f"cleanup[9]: {queue_id}: message-id={message_id}",
            f"qmgr[9]: {queue_id}: from=<{sender}>, size=512, nrcpt={recipients} (queue active)",
        )

    def passing(self, queue_id: str, port: str = "inbound", sender: str = "x@near.test", recipients: int = 1) -> None:
        """A message came in by the port of other servers, or by Dovecot's (`reinjection`), and is queued."""
        smtpd = "mx" if port == "inbound" else port
        about = f"from h[192.0.2.5]; from=<{sender}> to=<x@{EXAMPLE}> proto=ESMTP helo=<h>"
        self.add(
            f"{smtpd}/smtpd[9]: {queue_id}: client=h[192.0.2.5]",
            f"{port}/cleanup[9]: {queue_id}: info: header From: Alice <alice@{EXAMPLE}> {about}",
            f"{port}/cleanup[9]: {queue_id}: info: header Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?= {about}",
            f"{port}/cleanup[9]: {queue_id}: message-id=<one@near.test>",
            f"qmgr[9]: {queue_id}: from=<{sender}>, size=700, nrcpt={recipients} (queue active)",
        )

    def filed(self, queue_id: str, to: str, outcome: str = SENT, asked: str | None = None) -> None:
        """The inbox took it."""
        origin, times = f"orig_to=<{asked}>, " if asked else "", TIMES.format(0.3)
        self.add(f"lmtp[9]: {queue_id}: to=<{to}>, {origin}relay=mx[/run/mta/lmtp.sock], {times}, {outcome}")

    def tried(self, queue_id: str, to: str, outcome: str = SENT, asked: str | None = None, after: float = 0.3) -> None:
        """A delivery attempt to another server, `seconds` after the arrival of the message."""
        origin, times = f"orig_to=<{asked}>, " if asked else "", TIMES.format(after)
        self.add(f"smtp[9]: {queue_id}: to=<{to}>, {origin}relay=mx.far.test[192.0.2.1]:25, {times}, {outcome}")

    def written_at(self) -> datetime:
        """Now, as exact as a line's stamp."""
        return self.clock().replace(microsecond=0)

    def removed(self, queue_id: str, by: str = "qmgr") -> None:
        self.add(f"{by}[9]: {queue_id}: removed")
