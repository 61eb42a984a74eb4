"""A program that submits with an API key, and the log that Postfix writes about it."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from mailkeep.features.mailflow.key_submission.service import decide
from mailkeep.mail.message.submission_fields import SubmissionDigest
from mailkeep.mail.milter.server import FilteredMessage, Verdict
from mailkeep.mail.smtp.spool import Spool
from mailkeep.run.processes.logs_agent import LogFollower
from tests.mailflow.delivery_status.log_writer import LogWriter
from tests.support.client import EXAMPLE, Api

SHOP = f"shop@{EXAMPLE}"
HEAD = f"From: Shop <{SHOP}>\r\nTo: A <a@far.test>\r\nSubject: Hello\r\n"
FULL = HEAD + "Date: Thu, 26 Nov 2026 12:00:00 +0000\r\nMessage-ID: <1@client.test>\r\n"


class Log(LogWriter):
    """A log and what follows it."""

    def __init__(self, api: Api, path: Path) -> None:
        super().__init__(path, api.clock)
        self.follower = LogFollower(api.app, path)

    async def read(self, *, record: bool = True) -> None:
        """Read it to its end; with `record` also write that it is read so far."""
        self.follower._caught_up_at = -1e9 if record else 1e9
        while await self.follower.read_next():
            pass

    async def accept(self, queue_id: str, *, record: bool = True) -> None:
        """Postfix has accepted the message."""
        self.add(
            f"submission/smtpd[9]: {queue_id}: client=h[192.0.2.5], sasl_method=PLAIN, sasl_username=key:x",
            f"cleanup[9]: {queue_id}: message-id=<1@client.test>",
            f"qmgr[9]: {queue_id}: from=<{SHOP}>, size=700, nrcpt=1 (queue active)",
        )
        await self.read(record=record)

    async def refuse(self, queue_id: str) -> None:
        """The filter behind the milter has refused it."""
        self.add(
            f"cleanup[9]: {queue_id}: milter-reject: END-OF-MESSAGE from h[192.0.2.5]: 4.7.1 Try again later; "
            f"from=<{SHOP}> to=<a@far.test> proto=ESMTP helo=<h>"
        )
        await self.read()


class Program:
    """A program with a key, behind Postfix."""

    def __init__(self, api: Api, key_id: UUID, numbers: Iterator[int] | None = None) -> None:
        self.api, self.key_id = api, key_id
        self.numbers = numbers or itertools.count(1)
        self.queue_id = ""

    async def submit(
        self,
        *to: str,
        key: str = "",
        tags: str = "",
        head: str = FULL,
        body: bytes = b"Hello.\r\n",
        sender: str = SHOP,
    ) -> Verdict:
        """The verdict on a message."""
        self.queue_id = f"4jW9T1xz0bz{next(self.numbers)}"
        to = to or ("a@far.test",)
        spool, digest = Spool(None, 1 << 20), SubmissionDigest()
        spool.write(head.encode() + b"\r\n" + body)
        digest.add_field("From", hashlib.sha256(head.encode()).digest())
        digest.add_body(body)
        digest.add_envelope(SHOP, to)
        names = [("X-Mailkeep-Tags", tags), ("Idempotency-Key", key)]
        fields = [(name, value) for name, value in names if value]
        message = FilteredMessage(
            f"key:{self.key_id}", "192.0.2.5", self.queue_id, SHOP, list(to), fields, [(name, 1) for name, _ in fields],
            digest, head.encode(), spool.finish(),
        )  # fmt: skip
        return await decide(self.api.app, message)

    async def replies(self, *to: str, **more: Any) -> str:
        """The text of a verdict that is a reply."""
        reply = (await self.submit(*to, **more)).reply
        assert reply[4:5] == b"y", reply
        return reply[5:-1].decode()
