"""The process lmtp between a client like Postfix and a stub of Dovecot with the given replies."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import UUID

from mailkeep.features.mailflow.local_delivery.journal import Journal
from mailkeep.mail.smtp.connection import Relay, SmtpConnection, Timeouts
from mailkeep.mail.smtp.lmtp_client import TIMEOUTS, LmtpClient
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.mail.smtp.server import SmtpServer
from mailkeep.mail.smtp.session import SmtpEnvelope, SmtpLimits, SmtpSession
from mailkeep.mail.smtp.spool import ReceivedMessage
from mailkeep.run.processes.lmtp import LmtpHandler
from tests.support.client import Api

SETTLING = 0.05
SMTP_TIMEOUTS = Timeouts()
LETTER = (
    b"Received: from far.test by mx.test; Fri, 01 Jan 2100 00:00:00 +0000\r\n"
    b"From: Someone <someone@far.test>\r\nSubject: Hello\r\nMessage-ID: <1@far.test>\r\n\r\nHi.\r\n"
)


@dataclass
class Mailboxes:
    """Dovecot's part: keeps what it takes, but of what may have come before, as the field says, no second copy.

    `gone` is how many deliveries it takes without an answer, `ending` how many with the answer that it is ending.
    """

    copies: list[bytes] = field(default_factory=list[bytes])
    has: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    doubts: list[bool] = field(default_factory=list[bool])
    gone: int = 0
    ending: int = 0
    taken: asyncio.Event = field(default_factory=asyncio.Event)
    senders: list[str] = field(default_factory=list[str])
    originals: list[str] = field(default_factory=list[str])
    says: dict[str, SmtpReply] = field(default_factory=dict[str, SmtpReply])

    async def mail(self, session: SmtpSession, envelope: SmtpEnvelope) -> SmtpReply | None:
        return None

    async def rcpt(self, session: SmtpSession, address: str) -> SmtpReply:
        self.originals.append(session.original_recipient or address)
        return SmtpReply(250, "2.1.5", "Ok")

    async def data(self, session: SmtpSession, message: ReceivedMessage) -> Sequence[SmtpReply]:
        envelope = session.envelope
        assert envelope is not None
        content = b"".join(message.chunks())
        delivery, since, _ = content.split(b"\r\n", 1)[0].decode().partition(" since ")
        self.senders.append(envelope.mail_from)
        assert delivery.startswith("X-Mailkeep-Delivery: ")
        self.doubts.append(bool(since))
        replies: list[SmtpReply] = []
        for address in envelope.rcpt_to:
            reply = self.says.get(address, SmtpReply(250, "2.0.0", "Saved"))
            if reply.is_positive:
                if not since or (address, delivery) not in self.has:
                    self.copies.append(content)
                self.has.add((address, delivery))
            replies.append(reply)
        if self.ending:
            self.ending -= 1
            return [SmtpReply(421, "4.3.2", "Shutting down") for _ in replies]
        if self.gone:
            self.gone -= 1
            self.taken.set()
            await asyncio.Event().wait()
        return replies

    def note_rejection(self, session: SmtpSession, mail_from: str, rcpt_to: str | None, reply: SmtpReply) -> None:
        pass


@dataclass
class Postfix:
    """Postfix's service for returned copies: keeps what it accepts. `refuses`: its reply for a recipient. `silent`: it
    takes that many messages without an answer.
    """

    accepted: list[tuple[str, list[str], bytes]] = field(default_factory=list[tuple[str, list[str], bytes]])
    refuses: dict[str, SmtpReply] = field(default_factory=dict[str, SmtpReply])
    silent: int = 0

    async def mail(self, session: SmtpSession, envelope: SmtpEnvelope) -> SmtpReply | None:
        return None

    async def rcpt(self, session: SmtpSession, address: str) -> SmtpReply:
        return self.refuses.get(address, SmtpReply(250, "2.1.5", "Ok"))

    async def data(self, session: SmtpSession, message: ReceivedMessage) -> SmtpReply:
        envelope = session.envelope
        assert envelope is not None
        self.accepted.append((envelope.mail_from, list(envelope.rcpt_to), b"".join(message.chunks())))
        if self.silent:
            self.silent -= 1
            await asyncio.Event().wait()
        return SmtpReply(250, "2.0.0", f"Ok: queued as {self.queue_id}")

    @property
    def queue_id(self) -> str:
        """Of the last message."""
        return f"4kBCDFGHJK{len(self.accepted)}"

    @property
    def marker(self) -> str:
        """Of the last message."""
        first, _, _ = self.accepted[-1][2].partition(b"\r\n")
        assert first.startswith(b"X-Mailkeep-Copy: ")
        return first.decode().partition(": ")[2]

    def note_rejection(self, session: SmtpSession, mail_from: str, rcpt_to: str | None, reply: SmtpReply) -> None:
        pass


class Client(LmtpClient):
    """The agent's, which waits long for an answer that is to come, and a second for one that is not, from when the
    message is there on: however long the machine stands still meanwhile, nothing else ends before its time.
    """

    def __init__(self, path: Path, dovecot: Mailboxes) -> None:
        super().__init__(path, "localhost")
        self._dovecot = dovecot

    async def _transaction(
        self, connection: SmtpConnection, mail_from: str, rcpts: Sequence[tuple[str, str | None]], body: Iterable[bytes]
    ) -> list[SmtpReply]:
        self._timeouts = replace(TIMEOUTS, acceptance=1.0 if self._dovecot.gone else 60.0)
        return await super()._transaction(connection, mail_from, rcpts, body)

    async def _send(self, connection: SmtpConnection, body: Iterable[bytes]) -> None:
        await super()._send(connection, body)
        if self._dovecot.gone:
            await self._dovecot.taken.wait()


@dataclass
class Agent:
    """A running agent; `bring` speaks to it as Postfix does."""

    api: Api
    path: Path
    dovecot: Mailboxes
    client: LmtpClient
    came: list[tuple[UUID, int]]
    journal: Path
    postfix: Postfix = field(default_factory=Postfix)
    server: SmtpServer = field(init=False)
    handler: LmtpHandler = field(init=False)
    pool: SmtpPool = field(init=False)
    postfix_server: SmtpServer = field(init=False)
    dovecot_server: SmtpServer = field(init=False)

    async def start_dovecot(self) -> None:
        """Start the stand-in, or start it again after its end."""
        limits = SmtpLimits(mta_extensions=True, recipients=5000, sessions_per_source=0)
        self.dovecot_server = SmtpServer(self.dovecot, limits, "lmtp", "dovecot")
        await self.dovecot_server.listen_unix(self.path.with_name("dovecot"), 0o600, os.getgid())

    async def start_postfix(self) -> None:
        """Start Postfix's service for returned copies."""
        self.postfix_server = SmtpServer(self.postfix, SmtpLimits(sessions_per_source=0), "smtp", "postfix")
        await self.postfix_server.listen_unix(self.path.with_name("postfix"), 0o600, os.getgid())

    async def start(self) -> None:
        """Start it, or start it again as one that was killed: it knows what stands in its journal."""
        if hasattr(self, "server"):
            await self.server.close(0.1)
        journal = Journal(self.journal, self.api.app.clock, settling=SETTLING)
        timeouts = replace(SMTP_TIMEOUTS, acceptance=1.0 if self.postfix.silent else 60.0)
        if hasattr(self, "pool"):
            await self.pool.close()
        self.pool = SmtpPool(Relay(str(self.path.with_name("postfix")), 0, timeouts=timeouts))
        handler = LmtpHandler(
            self.api.app, self.client, self.client, self.pool, lambda *usage: self.came.append(usage), journal
        )
        self.handler = handler
        self.server = SmtpServer(handler, SmtpLimits(mta_extensions=True, sessions_per_source=0), "lmtp", "agent")
        await self.server.listen_unix(self.path, 0o600, os.getgid())

    async def bring(
        self,
        *pairs: str,
        queue_id: str = "4jW9T1xz0bz1",
        content: bytes = LETTER,
        asked: dict[str, str] | None = None,
        forwarded: str | None = None,
        sender: str = "someone@far.test",
    ) -> list[str]:
        """A message in a session of its own; the reply for each recipient. One may be given with its original, after
        a space.
        """
        reader, writer = await asyncio.open_unix_connection(self.path)
        known = forwarded or f"NAME=far.test ADDR=192.0.2.1 PORT=4711 IDENT={queue_id} SOURCE=REMOTE"
        lines = ["LHLO mx.test", f"XFORWARD {known}"]
        recipients = tuple(each.partition(" ")[0] for each in pairs)
        lines.append(f"MAIL FROM:<{sender}> SIZE=100 RET=HDRS ENVID=x+2By")
        for pair in pairs:
            each, _, original = pair.partition(" ")
            original = original or (asked or {}).get(each)
            lines.append(f"RCPT TO:<{each}>" + (f" ORCPT=rfc822;{original} NOTIFY=FAILURE" if original else ""))
        lines.append("DATA")
        answers: list[str] = []
        try:
            async with asyncio.timeout(90):
                await reader.readline()
                for line in lines:
                    writer.write(f"{line}\r\n".encode())
                    answers.append(await _reply(reader))
                    if answers[-1][0] in "45":
                        return answers[-1:]
                writer.write(content + b".\r\n")
                return [await _reply(reader) for _ in recipients]
        finally:
            writer.close()


async def _reply(reader: asyncio.StreamReader) -> str:
    while True:
        line = (await reader.readline()).decode()
        if not line:
            raise ConnectionError("the agent closed the connection")
        if line[3:4] != "-":
            return line.strip()


@asynccontextmanager
async def running(api: Api, folder: Path) -> AsyncIterator[Agent]:
    """An agent and its Dovecot on sockets in `folder`."""
    (api.app.data_dir / "tmp").mkdir(exist_ok=True)
    api.app.db._pool.timeout = 60  # each of many has its turn
    dovecot = Mailboxes()
    client = Client(folder / "dovecot", dovecot)
    agent = Agent(api, folder / "agent", dovecot, client, [], folder / "journal")
    await agent.start_dovecot()
    await agent.start_postfix()
    await agent.start()
    try:
        yield agent
    finally:
        await agent.server.close(1)
        await client.close()
        await agent.pool.close()
        await agent.dovecot_server.close(1)
        await agent.postfix_server.close(1)
        await api.app.parser.close()
