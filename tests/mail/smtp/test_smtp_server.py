"""Our SMTP and LMTP server with raw clients: the tests contain each byte that is sent."""

import asyncio
import contextlib
import errno
import os
import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import pytest

from mailkeep.core.errors import Unavailable
from mailkeep.mail.smtp.dialogue import SmtpDialogue
from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.mail.smtp.server import SmtpServer, serve
from mailkeep.mail.smtp.session import SmtpEnvelope, SmtpLimits, SmtpSession
from mailkeep.mail.smtp.spool import ReceivedMessage, Spool

WAIT = 60.0


@dataclass
class RecordingHandler:
    """A handler that records messages and replies according to the recipient's local part."""

    messages: list[tuple[str, list[str], bytes]] = field(default_factory=list[tuple[str, list[str], bytes]])
    rejections: list[tuple[str, str | None, int]] = field(default_factory=list[tuple[str, str | None, int]])
    in_memory: list[bool] = field(default_factory=list[bool])
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    proceed: asyncio.Event = field(default_factory=asyncio.Event)

    async def mail(self, session: SmtpSession, envelope: SmtpEnvelope) -> SmtpReply | None:
        if envelope.mail_from.startswith("crash"):
            raise RuntimeError("a bug")
        return SmtpReply(550, "5.7.1", "Not you") if envelope.mail_from.startswith("banned") else None

    async def rcpt(self, session: SmtpSession, address: str) -> SmtpReply:
        match address.partition("@")[0]:
            case "nobody":
                return SmtpReply(550, "5.1.1", "Unknown user")
            case "later":
                return SmtpReply(450, "4.2.1", "Domain is deactivated")
            case "away":
                raise Unavailable
            case "crash":
                raise RuntimeError("a bug")
            case "leave":
                return SmtpReply(421, "4.3.2", "Leave")
            case _:
                return SmtpReply(250, "2.1.5", "Ok")

    async def data(self, session: SmtpSession, message: ReceivedMessage) -> SmtpReply | Sequence[SmtpReply]:
        assert session.envelope
        to = session.envelope.rcpt_to
        if "slow@managed.test" in to:
            self.entered.set()
            await self.proceed.wait()
        if "breaks@managed.test" in to:
            raise RuntimeError("a bug")
        self.in_memory.append(message.in_memory)
        self.messages.append((session.envelope.mail_from, list(to), b"".join(message.chunks())))
        if session.protocol == "lmtp" and "one@managed.test" in to:
            return [SmtpReply(250, "2.0.0", "Ok"), SmtpReply(552, "5.2.2", "Quota exceeded")]
        return SmtpReply(250, "2.0.0", f"Ok: queued as Q{len(self.messages)}")

    def note_rejection(self, session: SmtpSession, mail_from: str, rcpt_to: str | None, reply: SmtpReply) -> None:
        self.rejections.append((mail_from, rcpt_to, reply.code))


class Wire:
    """A raw client: sends bytes, reads the codes of replies."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.last = ""

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        with contextlib.suppress(ConnectionError):
            await asyncio.wait_for(self.writer.drain(), WAIT)

    async def codes(self, count: int = 1) -> list[int]:
        """Return the codes of the next replies, fewer if the connection ends."""
        codes: list[int] = []
        while len(codes) < count:
            try:
                line = await asyncio.wait_for(self.reader.readline(), WAIT)
            except ConnectionError:
                break
            if not line:
                break
            assert re.fullmatch(rb"\d{3}[ -][ -~]*\r\n", line), line
            self.last += line.decode()
            if line[3:4] == b" ":
                codes.append(int(line[:3]))
        return codes

    async def ask(self, data: bytes, count: int = 1) -> list[int]:
        await self.send(data)
        return await self.codes(count)

    async def rest(self) -> list[int]:
        """Return all codes until the end of the connection."""
        return await self.codes(1000)


@dataclass
class RunningServer:
    """A running server, its handler, and a way to connect to it."""

    server: SmtpServer
    handler: RecordingHandler
    wires: list[Wire] = field(default_factory=list[Wire])

    async def connect(self) -> Wire:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        self.wires.append(Wire(reader, writer))
        return self.wires[-1]

    async def greeted(self, hello: bytes = b"EHLO client.test\r\n") -> Wire:
        wire = await self.connect()
        assert await wire.codes() == [220]
        assert await wire.ask(hello) == [250]
        return wire


async def connect_and_greet(running: RunningServer) -> Wire:
    """Connect and greet, with retries: sessions end so soon that a slow client may not get there."""
    while True:
        wire = await running.connect()
        if await wire.codes() == [220] and await wire.ask(b"EHLO client.test\r\n") == [250]:
            return wire


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT):
        while not condition():
            await asyncio.sleep(0.01)


LIMITS = SmtpLimits(message_size=5000, drain_size=20_000, linger_seconds=30.0, idle_seconds=WAIT)
ENVELOPE = b"MAIL FROM:<sender@out.test>\r\nRCPT TO:<alice@managed.test>\r\nDATA\r\n"


@contextlib.asynccontextmanager
async def run_server(limits: SmtpLimits = LIMITS, protocol: str = "smtp") -> AsyncIterator[RunningServer]:
    handler = RecordingHandler()
    kind = "lmtp" if protocol == "lmtp" else "smtp"
    server = await serve("127.0.0.1", 0, handler, limits, kind, hostname="mx.managed.test")
    running = RunningServer(server, handler)
    try:
        yield running
    finally:
        await server.close(grace=0.1)
        for wire in running.wires:
            wire.writer.transport.abort()
            with contextlib.suppress(OSError):
                await wire.writer.wait_closed()
        assert server.sessions == 0


async def test_pipelined_messages_are_accepted_on_one_connection() -> None:
    async with run_server() as running:
        wire = await running.greeted()
        for keyword in ("PIPELINING", "SIZE 5000", "8BITMIME", "SMTPUTF8", "ENHANCEDSTATUSCODES"):
            assert f"{keyword}\r\n" in wire.last
        assert await wire.ask(ENVELOPE, 3) == [250, 250, 354]
        assert await wire.ask(b"Subject: x\r\n\r\n..dot\r\n.\r\nNOOP\r\n", 2) == [250, 250]
        assert await wire.ask(b"MAIL FROM:<>\r\nRCPT TO:<PostMaster>\r\nDATA\r\n", 3) == [250, 250, 354]
        assert await wire.ask(b".\r\n") == [250]
        assert await wire.ask(b"QUIT\r\n", 2) == [221]
        assert running.handler.messages == [
            ("sender@out.test", ["alice@managed.test"], b"Subject: x\r\n\r\n.dot\r\n"),
            ("", ["postmaster"], b""),
        ]


async def test_input_may_arrive_byte_by_byte() -> None:
    async with run_server() as running:
        wire = await running.greeted()
        for part, codes in ((ENVELOPE, [250, 250, 354]), (b"a\r\n..\r\n.\r\n", [250]), (b"QUIT\r\n", [221])):
            for byte in part:
                wire.writer.write(bytes([byte]))
                await asyncio.sleep(0)
            assert await wire.codes(len(codes)) == codes
        assert running.handler.messages[0][2] == b"a\r\n.\r\n"


@pytest.mark.parametrize(
    "dialogue",
    [
        [(b"MAIL FROM:<a@b.test>", 503), (b"RCPT TO:<a@b.test>", 503), (b"DATA", 503)],
        [(b"NOOP", 250), (b"RSET", 250), (b"VRFY alice", 252), (b"HELO c.test", 250), (b"QUIT", 221)],
        [(b"LHLO c.test", 500), (b"EHLO", 501), (b"EHLO c.test", 250), (b"BOGUS", 500), (b"EXPN a", 502)],
        [(b"EHLO c.test", 250), (b"RCPT TO:<alice@managed.test>", 503), (b"DATA", 503)],
        [(b"EHLO c.test", 250), (b"MAIL FROM:<a@b.test>", 250), (b"MAIL FROM:<a@b.test>", 503)],
        [
            (b"EHLO c.test", 250),
            (b"MAIL FROM:<a@b.test>", 250),
            (b"DATA", 554),
            (b"RSET", 250),
            (b"DATA", 503),
        ],
        [(b"EHLO c.test", 250), (b"MAIL FROM:<a@b.test>", 250), (b"EHLO c.test", 250), (b"DATA", 503)],
        [(b"EHLO c.test", 250), (b"MAIL FROM:<a@b.test> SIZE=5001", 552), (b"MAIL FROM:<> SIZE=5000", 250)],
        [
            (b"EHLO c.test", 250),
            (b"MAIL FROM:<a@b.test> RET=FULL", 555),
            (b"MAIL FROM:<@r.test:a@b.test>", 553),
        ],
        [(b"EHLO c.test", 250), (b"MAIL FROM:<banned@b.test>", 550), (b"RCPT TO:<alice@managed.test>", 503)],
        [(b"EHLO c.test", 250), (b"MAIL FROM:<crash@b.test>", 451), (b"MAIL FROM:<a@b.test>", 250)],
        [
            (b"EHLO c.test", 250),
            (b"MAIL FROM:<a@b.test>", 250),
            (b"RCPT TO:<nobody@managed.test>", 550),
            (b"RCPT TO:<later@managed.test>", 450),
            (b"RCPT TO:<away@managed.test>", 451),
            (b"RCPT TO:<crash@managed.test>", 451),
            (b"RCPT TO:<no address>", 501),
            ("RCPT TO:<jörg@managed.test>".encode(), 553),
            (b'RCPT TO:<"a b"@managed.test>', 250),
            (b"DATA", 354),
        ],
        [
            (b"EHLO c.test", 250),
            ("MAIL FROM:<ü@b.test> SMTPUTF8".encode(), 250),
            ("RCPT TO:<ö@x.test>".encode(), 250),
        ],
        [(b"EHLO c.test", 250), (b"NOOP " + b"x" * 505, 250), (b"NOOP " + b"x" * 506, 500), (b"NOOP", 250)],
        [(b"EHLO c.test", 250), (b"X" * 60_000, 500), (b"NOOP", 250)],
        [(b"EHLO c.test", 250), (b"MAIL FROM:<" + b"a" * 250 + b"@" + b"b" * 250 + b">", 250)],
        [(b"POST / HTTP/1.1", 521)],
    ],
)
async def test_commands_are_answered_in_order(dialogue: list[tuple[bytes, int]]) -> None:
    async with run_server() as running:
        wire = await running.connect()
        assert await wire.codes() == [220]
        for line, code in dialogue:
            assert (line[:70], await wire.ask(line + b"\r\n")) == (line[:70], [code])
        await wire.send(b".\r\n")


async def test_lmtp_answers_once_for_each_recipient() -> None:
    async with run_server(protocol="lmtp") as running:
        wire = await running.connect()
        assert await wire.codes() == [220]
        assert await wire.ask(b"EHLO c.test\r\n") == [500]
        assert await wire.ask(b"LHLO c.test\r\n") == [250]
        assert await wire.ask(b"MAIL FROM:<a@b.test>\r\nDATA\r\n", 2) == [250, 503]
        to = b"RCPT TO:<one@managed.test>\r\nRCPT TO:<nobody@managed.test>\r\nRCPT TO:<two@managed.test>\r\n"
        assert await wire.ask(to + b"DATA\r\n", 4) == [250, 550, 250, 354]
        assert await wire.ask(b"x\r\n.\r\nNOOP\r\n", 3) == [250, 552, 250]
        envelope = b"MAIL FROM:<a@b.test>\r\n" + b"RCPT TO:<alice@managed.test>\r\n" * 2 + b"DATA\r\n"
        assert await wire.ask(envelope, 4) == [250, 250, 250, 354]
        assert await wire.ask(b"x\r\n.\r\n", 2) == [250, 250]
        assert await wire.ask(envelope, 4) == [250, 250, 250, 354]
        assert await wire.ask(b"x" * 6000 + b"\r\n.\r\n", 2) == [552, 552]
        envelope = envelope.replace(b"alice", b"one") + b""
        await wire.ask(envelope.replace(b"DATA", b"RCPT TO:<c@managed.test>\r\nDATA"), 5)
        assert await wire.ask(b"x\r\n.\r\n", 3) == [451, 451, 451]
        assert running.handler.rejections == [
            ("a@b.test", "nobody@managed.test", 550),
            ("a@b.test", "two@managed.test", 552),
            *[("a@b.test", "alice@managed.test", 552)] * 2,
            *[("a@b.test", "one@managed.test", 451)] * 2,
            ("a@b.test", "c@managed.test", 451),
        ]


END_OF_DATA_VARIANTS = [
    b"\n.\n",
    b"\r.\r",
    b"\r\n.\n",
    b"\n.\r\n",
    b"\r\n.\r",
    b"\r.\r\n",
    b"\r\n\0.\r\n",
    b"\r\n..\r\n",
    b"\r\n.\r\r\n",
]
SMUGGLED = b"MAIL FROM:<evil@out.test>\r\nRCPT TO:<victim@managed.test>\r\nDATA\r\nSubject: smuggled\r\n\r\nhi\r\n"


@pytest.mark.parametrize("protocol", ["smtp", "lmtp"])
@pytest.mark.parametrize("padding", [10, 4_990, 6_000, 30_000], ids=["small", "at limit", "over limit", "endless"])
@pytest.mark.parametrize("variant", END_OF_DATA_VARIANTS, ids=repr)
async def test_no_variant_of_the_end_of_data_makes_two_messages(variant: bytes, padding: int, protocol: str) -> None:
    hello = b"LHLO c.test\r\n" if protocol == "lmtp" else b"EHLO c.test\r\n"
    for one_write in (True, False):
        async with run_server(protocol=protocol) as running:
            wire = await running.greeted(hello)
            assert await wire.ask(ENVELOPE, 3) == [250, 250, 354]
            pieces = [b"x" * padding, variant, SMUGGLED, b".\r\n"]
            for piece in [b"".join(pieces)] if one_write else pieces:
                await wire.send(piece)
                await asyncio.sleep(0.01)
            await wire.send(b"QUIT\r\n")
            codes = await wire.rest()
            # A rejected message is not stored. An accepted one is a single message from the first sender.
            assert codes in ([250, 221], [521], [552, 221], [552])
            assert len(running.handler.messages) == codes.count(250)
            assert all(sender == "sender@out.test" for sender, _, _ in running.handler.messages)


async def test_a_client_that_keeps_sending_after_bare_newlines_gets_the_reply() -> None:
    async with run_server(replace(LIMITS, message_size=2**24, drain_size=2**25)) as running:
        wire = await running.greeted()
        assert await wire.ask(ENVELOPE, 3) == [250, 250, 354]
        await wire.send(b"bare\nnewline\r\n" + b"x" * 2**23 + b"\r\n.\r\n")
        assert await wire.rest() == [521]
        assert running.handler.rejections == [("sender@out.test", "alice@managed.test", 521)]


@pytest.mark.parametrize("line", [b"NOOP\n", b"MAIL FROM:<a@b.test>\nRCPT TO:<c@d.test>\r\n", b"\n"])
async def test_bare_newlines_in_commands_end_the_session(line: bytes) -> None:
    async with run_server() as running:
        wire = await running.greeted()
        assert await wire.ask(line, 5) == [521]


@pytest.mark.parametrize(
    "hello,sent,codes",
    [
        (b"EHLO c.test\r\n", ENVELOPE + b"Subject: early\r\n\r\n.\r\n", [250, 250, 554]),
        (b"EHLO c.test\r\n", b"MAIL FROM:<a@b.test>\r\nDATA\r\nNOOP\r\n", [250, 554]),
        (b"EHLO c.test\r\n", b"EHLO c.test\r\nNOOP\r\n", [554]),
        (b"HELO c.test\r\n", b"MAIL FROM:<a@b.test>\r\nNOOP\r\n", [554]),
        (None, b"EHLO c.test\r\nMAIL FROM:<a@b.test>\r\n", [554]),
        (None, b"POST / HTTP/1.1\r\nHost: mx\r\n\r\nEHLO c.test\r\n", [554]),
    ],
)
async def test_input_sent_before_a_required_reply_ends_the_session(
    hello: bytes | None, sent: bytes, codes: list[int]
) -> None:
    async with run_server() as running:
        wire = await (running.greeted(hello) if hello else running.connect())
        assert await wire.ask(sent, 10) == ([220] if hello is None else []) + codes
        assert running.handler.messages == []


async def test_an_oversized_message_gets_one_reply_and_the_session_continues() -> None:
    async with run_server() as running:
        wire = await running.greeted()
        assert await wire.ask(ENVELOPE, 3) == [250, 250, 354]
        for _ in range(10):
            await wire.send(b"x" * 998 + b"\r\n")
        assert await wire.ask(b".\r\nNOOP\r\n", 2) == [552, 250]
        assert await wire.ask(ENVELOPE, 3) == [250, 250, 354]
        assert await wire.ask(b"x" * 4998 + b"\r\n.\r\n") == [250]
        assert running.handler.rejections == [("sender@out.test", "alice@managed.test", 552)]
        assert [len(content) for _, _, content in running.handler.messages] == [5000]


async def test_an_endless_message_ends_the_session() -> None:
    async with run_server() as running:
        wire = await running.greeted()
        assert await wire.ask(ENVELOPE, 3) == [250, 250, 354]
        await wire.send(b"x" * 100_000)
        assert await wire.rest() == [552]


async def test_a_large_message_is_spooled_to_a_file(tmp_path: Path) -> None:
    limits = replace(LIMITS, message_size=2**24, memory=1000, spool_folder=tmp_path)
    content = b"".join(b"%d " % number * 10 + b"\r\n.line\r\n" for number in range(30_000))
    async with run_server(limits) as running:
        wire = await running.greeted()
        assert await wire.ask(ENVELOPE, 3) == [250, 250, 354]
        assert await wire.ask(content.replace(b"\r\n.", b"\r\n..") + b".\r\n") == [250]
        assert running.handler.messages[0][2] == content
        assert running.handler.in_memory == [False]
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error, code", [(errno.ENOSPC, 452), (errno.EDQUOT, 452), (errno.EIO, 451)])
async def test_a_failed_write_is_a_temporary_rejection(monkeypatch: pytest.MonkeyPatch, error: int, code: int) -> None:
    def fail(spool: Spool) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(Spool, "spill", fail)
    limits = replace(LIMITS, memory=1000)
    async with run_server(limits) as running:
        wire = await running.greeted()
        assert await wire.ask(ENVELOPE, 3) == [250, 250, 354]
        assert await wire.ask(b"x" * 3000 + b"\r\n.\r\nNOOP\r\n", 2) == [code, 250]
        assert running.handler.messages == []


async def test_an_error_in_the_handler_is_a_temporary_rejection() -> None:
    async with run_server() as running:
        wire = await running.greeted()
        assert await wire.ask(ENVELOPE.replace(b"alice", b"breaks"), 3) == [250, 250, 354]
        assert await wire.ask(b"x\r\n.\r\n") == [451]
        assert await wire.ask(ENVELOPE, 3) == [250, 250, 354]
        assert await wire.ask(b"x\r\n.\r\n") == [250]


async def test_the_length_of_header_lines_is_limited() -> None:
    async with run_server(replace(LIMITS, header_line=100)) as running:
        wire = await running.greeted()
        assert await wire.ask(ENVELOPE, 3) == [250, 250, 354]
        assert await wire.ask(b"Subject: " + b"x" * 100 + b"\r\n\r\nx\r\n.\r\n") == [554]
        assert await wire.ask(ENVELOPE, 3) == [250, 250, 354]
        assert await wire.ask(b"Subject: y\r\n\r\n" + b"x" * 200 + b"\r\n.\r\n") == [250]


async def test_limits_on_recipients_errors_refusals_and_idle_commands() -> None:
    limits = replace(LIMITS, recipients=2, errors=3, refused_recipients=3, idle_commands=5)
    async with run_server(limits) as running:
        wire = await running.greeted()
        await wire.ask(b"MAIL FROM:<a@b.test>\r\n")
        assert await wire.ask(b"RCPT TO:<alice@managed.test>\r\n" * 4, 4) == [250, 250, 452, 452]
        assert running.handler.rejections == [("a@b.test", "alice@managed.test", 452)] * 2
        wire = await running.greeted()
        assert await wire.ask(b"BOGUS\r\n" * 9, 9) == [500, 500, 500, 421]
        wire = await running.greeted()
        await wire.ask(b"MAIL FROM:<a@b.test>\r\n")
        assert await wire.ask(b"RCPT TO:<nobody@managed.test>\r\n" * 9, 9) == [550, 550, 550, 421]
        wire = await running.greeted()
        assert await wire.ask(b"NOOP\r\n" * 9, 9) == [250, 250, 250, 250, 421]
        wire = await running.greeted()
        await wire.ask(b"MAIL FROM:<a@b.test>\r\n")
        assert await wire.ask(b"RCPT TO:<leave@managed.test>\r\nNOOP\r\n", 2) == [421]


async def test_an_accepted_message_resets_the_counters() -> None:
    async with run_server(replace(LIMITS, errors=1, idle_commands=3)) as running:
        wire = await running.greeted()
        for _ in range(4):
            assert await wire.ask(b"BOGUS\r\n") == [500]
            assert await wire.ask(ENVELOPE, 3) == [250, 250, 354]
            assert await wire.ask(b"x\r\n.\r\n") == [250]


async def test_idle_sessions_and_slow_messages_are_ended() -> None:
    async with run_server(replace(LIMITS, idle_seconds=0.1)) as running:
        wire = await connect_and_greet(running)
        assert await wire.rest() == [421]
        while (codes := await (await connect_and_greet(running)).ask(ENVELOPE, 9)) == [421]:
            pass  # it was idle before
        assert codes == [250, 250, 354, 421]
        assert running.handler.messages == []


async def test_a_session_that_is_never_idle_is_ended_too() -> None:
    async with run_server(replace(LIMITS, session_seconds=0.3)) as running:
        wire = await connect_and_greet(running)
        codes = asyncio.create_task(wire.rest())
        while not codes.done():
            await wire.send(b"N")
            await asyncio.sleep(0.01)
        assert await codes == [421]


async def test_concurrent_sessions_are_limited_in_total_and_per_source() -> None:
    async with run_server(replace(LIMITS, sessions=2)) as running:
        first, second = await running.greeted(), await running.greeted()
        assert await (await running.connect()).rest() == [421]
        assert await first.ask(b"QUIT\r\n") == [221]
        first.writer.close()
        await until(lambda: running.server.sessions == 1)
        third = await running.greeted()
        assert await second.ask(b"NOOP\r\n") + await third.ask(b"NOOP\r\n") == [250, 250]
    async with run_server(replace(LIMITS, sessions_per_source=1)) as running:
        await running.greeted()
        assert await (await running.connect()).rest() == [421]


async def test_a_client_that_reads_no_replies_is_disconnected() -> None:
    async with run_server(replace(LIMITS, idle_seconds=0.3, idle_commands=10**9)) as running:
        wire = await connect_and_greet(running)
        transport = cast(asyncio.Transport, wire.writer.transport)
        transport.pause_reading()
        with contextlib.suppress(ConnectionError, TimeoutError):
            for _ in range(400):
                wire.writer.write(b"NOOP\r\n" * 5000)
                await asyncio.wait_for(wire.writer.drain(), 0.5)
        await until(lambda: running.server.sessions == 0)
        transport.abort()


async def test_closing_ends_idle_sessions_and_finishes_messages() -> None:
    async with run_server() as running:
        idle, receiving, storing = [await running.greeted() for _ in range(3)]
        assert await idle.ask(b"MAIL FROM:<a@b.test>\r\n") == [250]
        assert await receiving.ask(ENVELOPE, 3) == [250, 250, 354]
        assert await storing.ask(ENVELOPE.replace(b"alice", b"slow"), 3) == [250, 250, 354]
        await storing.send(b"x\r\n.\r\n")
        await asyncio.wait_for(running.handler.entered.wait(), WAIT)
        closing = asyncio.create_task(running.server.close(grace=WAIT))
        assert await idle.rest() == [421]
        assert await receiving.ask(b"x\r\n.\r\n", 9) == [250, 421]
        running.handler.proceed.set()
        assert await storing.rest() == [250, 421]
        await asyncio.wait_for(closing, WAIT)
        assert len(running.handler.messages) == 2
        with pytest.raises(OSError):
            await running.connect()


async def test_after_the_grace_period_sessions_end_without_a_reply() -> None:
    async with run_server() as running:
        wire = await running.greeted()
        assert await wire.ask(ENVELOPE.replace(b"alice", b"slow"), 3) == [250, 250, 354]
        await wire.send(b"x\r\n.\r\n")
        await asyncio.wait_for(running.handler.entered.wait(), WAIT)
        await asyncio.wait_for(running.server.close(grace=0.05), WAIT)
        assert await wire.rest() == []
        assert running.handler.messages == []


async def test_a_client_that_disconnects_during_a_message_leaves_nothing() -> None:
    async with run_server() as running:
        for sent in (b"", b"MAIL FROM", ENVELOPE, ENVELOPE[:-6]):
            wire = await running.greeted()
            await wire.ask(sent, sent.count(b"\r\n"))
            wire.writer.transport.abort()
        wire = await running.greeted()
        await wire.ask(ENVELOPE, 3)
        await wire.send(b"half a message")
        wire.writer.transport.abort()
        await until(lambda: running.server.sessions == 0)
        assert running.handler.messages == []


async def test_a_client_that_half_closes_gets_its_replies() -> None:
    async with run_server() as running:
        wire = await running.greeted()
        await wire.send(b"NOOP\r\nRSET\r\n")
        wire.writer.write_eof()
        assert await wire.rest() == [250, 250]


async def test_a_bug_in_the_dialogue_is_a_temporary_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(SmtpDialogue, "_hello", broken)
    async with run_server() as running:
        wire = await running.connect()
        assert await wire.ask(b"EHLO c.test\r\n", 9) == [220, 421]
