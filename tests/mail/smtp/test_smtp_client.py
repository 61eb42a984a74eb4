"""Our SMTP client with our own server, aiosmtpd, and a scripted server."""

import asyncio
import contextlib
import datetime as dt
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from mailkeep.mail.smtp.client import OutgoingEnvelope, submit
from mailkeep.mail.smtp.connection import ConnectionLost, Relay, SmtpRefusal, Timeouts, connect
from mailkeep.mail.smtp.data import BareNewline
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.mail.smtp.server import serve
from mailkeep.mail.smtp.session import SmtpEnvelope, SmtpLimits, SmtpSession
from mailkeep.mail.smtp.spool import ReceivedMessage
from tests.support.ports import free_port

WAIT = 60.0
TIMEOUTS = Timeouts(connect=WAIT, greeting=WAIT, command=WAIT, body=WAIT, acceptance=WAIT)
MAIL = OutgoingEnvelope("alice@managed.test", ["bob@out.test"])


@dataclass
class Sink:
    """A handler that accepts everything except mail for `nobody` and `later`."""

    messages: list[tuple[SmtpEnvelope, bytes]] = field(default_factory=list[tuple[SmtpEnvelope, bytes]])

    async def mail(self, session: SmtpSession, envelope: SmtpEnvelope) -> SmtpReply | None:
        return None

    async def rcpt(self, session: SmtpSession, address: str) -> SmtpReply:
        if address.startswith("nobody"):
            return SmtpReply(550, "5.1.1", "Unknown user")
        if address.startswith("later"):
            return SmtpReply(450, "4.2.1", "Not now")
        return SmtpReply(250, "2.1.5", "Ok")

    async def data(self, session: SmtpSession, message: ReceivedMessage) -> SmtpReply | Sequence[SmtpReply]:
        assert session.envelope
        content = b"".join(message.chunks())
        if b"refuse me" in content:
            return SmtpReply(550, "5.7.1", "Refused")
        self.messages.append((session.envelope, content))
        return SmtpReply(250, "2.0.0", f"Ok: queued as 4jW9{len(self.messages)}")

    def note_rejection(self, session: SmtpSession, mail_from: str, rcpt_to: str | None, reply: SmtpReply) -> None:
        return


@contextlib.asynccontextmanager
async def sink_pool(limits: SmtpLimits | None = None, size: int = 2) -> AsyncIterator[tuple[Sink, SmtpPool]]:
    sink = Sink()
    server = await serve("127.0.0.1", 0, sink, limits or SmtpLimits(refused_recipients=10**6), hostname="sink.test")
    pool = SmtpPool(Relay("127.0.0.1", server.port, timeouts=TIMEOUTS), size=size)
    try:
        yield sink, pool
    finally:
        await pool.close()
        await server.close(grace=1.0)


async def test_an_accepted_message_has_a_queue_id_and_the_connection_is_kept(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with sink_pool() as (sink, pool):
        for number in (1, 2, 3):
            done = await pool.submit(MAIL, [b"Subject: x\r\n\r\n", b".", b".\r\n"])
            assert (done.reply.code, done.queue_id, done.rejected) == (250, f"4jW9{number}", {})
        assert len(pool._idle) == 1
        assert [content for _, content in sink.messages] == [b"Subject: x\r\n\r\n..\r\n"] * 3
    assert caplog.records == []


@pytest.mark.parametrize(
    "chunks,stuffed,content",
    [
        ([], False, b""),
        ([b""], True, b""),
        ([b"no line end"], False, b"no line end\r\n"),
        ([b"a\r", b"\n", b".b\r\n"], False, b"a\r\n.b\r\n"),
        ([b"a\r\n..b\r\n"], True, b"a\r\n.b\r\n"),
        ([b".\r\n"], False, b".\r\n"),
        ([b"x", b"\r", b"\n"], True, b"x\r\n"),
    ],
)
async def test_content_arrives_byte_for_byte(chunks: list[bytes], stuffed: bool, content: bytes) -> None:
    async with sink_pool() as (sink, pool):
        await pool.submit(MAIL, chunks, stuffed=stuffed)
        await pool.submit(MAIL, [b"next\r\n"])
        assert [received for _, received in sink.messages] == [content, b"next\r\n"]


@pytest.mark.parametrize("stuffed", [True, False])
async def test_a_large_message_is_streamed(stuffed: bool) -> None:
    pieces = 200

    def body() -> Iterator[bytes]:
        for number in range(pieces):
            yield (b"%077d\r\n" % number) * 1000

    async with sink_pool() as (sink, pool):
        await pool.submit(replace(MAIL, size=pieces * 79_000), body(), stuffed=stuffed)
        assert sink.messages[0][1] == b"".join(body())
        assert sink.messages[0][0].size == pieces * 79_000


async def test_each_rejected_recipient_has_its_reply() -> None:
    async with sink_pool() as (sink, pool):
        to = ["bob@out.test", "nobody@out.test", "carol@out.test", "later@out.test"]
        done = await pool.submit(OutgoingEnvelope("", to), [b"x\r\n"])
        assert {address: reply.code for address, reply in done.rejected.items()} == {
            "nobody@out.test": 550,
            "later@out.test": 450,
        }
        assert sink.messages[0][0].rcpt_to == ["bob@out.test", "carol@out.test"]
        assert sink.messages[0][0].mail_from == ""


async def test_a_refusal_has_its_reply_and_the_connection_is_reused() -> None:
    async with sink_pool(size=1) as (sink, pool):
        for to, code, permanent in (
            (["nobody@out.test"], 550, True),
            (["nobody@out.test", "later@out.test"], 450, False),
        ):
            with pytest.raises(SmtpRefusal) as refused:
                await pool.submit(replace(MAIL, rcpt_to=to), [b"x\r\n"])
            assert (refused.value.reply.code, refused.value.permanent) == (code, permanent)
            assert (refused.value.stage, set(refused.value.rejected)) == ("envelope", set(to))
        with pytest.raises(SmtpRefusal) as refused:
            await pool.submit(MAIL, [b"refuse me\r\n"])
        assert (refused.value.stage, str(refused.value.reply)) == ("acceptance", "550 5.7.1 Refused")
        connection = pool._idle[0]
        await pool.submit(MAIL, [b"x\r\n"])
        assert pool._idle == [connection]
        assert len(sink.messages) == 1


@pytest.mark.parametrize(
    "submission",
    [
        OutgoingEnvelope("a@b.test", []),
        OutgoingEnvelope("a@b.test", [""]),
        OutgoingEnvelope("a@b.test>\r\nRCPT TO:<x@y.test", ["bob@out.test"]),
        OutgoingEnvelope("a@b.test", ["bob@out.test> SIZE=1"]),
        OutgoingEnvelope("a@b.test", ["bob@out.test\n"]),
        OutgoingEnvelope("a@b.test", ["jörg@out.test"]),
        OutgoingEnvelope("a@b.test", ["a\u2028b@out.test"], smtputf8=True),
    ],
)
async def test_an_address_cannot_inject_commands(submission: OutgoingEnvelope) -> None:
    async with sink_pool() as (sink, pool):
        with pytest.raises(ValueError):
            await pool.submit(submission, [b"x\r\n"])
        assert sink.messages == []


async def test_utf_8_addresses_and_eight_bit_content_are_declared() -> None:
    async with sink_pool() as (sink, pool):
        to = ["用户@例え.test"]
        await pool.submit(
            OutgoingEnvelope("jörg@b.test", to, size=7, eight_bit=True, smtputf8=True), ["grüße\r\n".encode()]
        )
        envelope = sink.messages[0][0]
        assert (envelope.mail_from, envelope.rcpt_to, envelope.size) == ("jörg@b.test", to, 7)
        assert (envelope.body, envelope.smtputf8) == ("8BITMIME", True)


async def test_a_message_above_the_announced_size_is_not_sent() -> None:
    async with sink_pool(SmtpLimits(message_size=1000)) as (_, pool):
        with pytest.raises(SmtpRefusal) as refused:
            await pool.submit(replace(MAIL, size=1001), [b"x\r\n"])
        assert (refused.value.reply.code, refused.value.permanent) == (552, True)
        with pytest.raises(SmtpRefusal) as refused:
            await pool.submit(MAIL, [b"x" * 2000])
        assert refused.value.reply.code == 552
        await pool.submit(MAIL, [b"x"])


async def test_content_that_breaks_off_or_has_bare_newlines_is_not_sent() -> None:
    def broken() -> Iterator[bytes]:
        yield b"x" * 300_000
        raise RuntimeError("source failed")

    async with sink_pool() as (sink, pool):
        with pytest.raises(BareNewline):
            await pool.submit(MAIL, [b"a\r\n.\n\r\nb"])
        with pytest.raises(RuntimeError, match="source failed"):
            await pool.submit(MAIL, broken())
        await pool.submit(MAIL, [b"good\r\n"])
        assert [content for _, content in sink.messages] == [b"good\r\n"]


async def test_a_cancelled_submission_closes_its_connection() -> None:
    async with sink_pool(size=1) as (sink, pool):
        await pool.submit(MAIL, [b"one\r\n"])
        task = asyncio.create_task(pool.submit(MAIL, [b"two\r\n"]))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await pool.submit(MAIL, [b"three\r\n"])
        assert [content for _, content in sink.messages] == [b"one\r\n", b"three\r\n"]


# A scripted server: steps of the input to wait for (its end) and the response.

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]
EHLO = b"250-peer.test\r\n250-PIPELINING\r\n250-SIZE 1000000\r\n250 8BITMIME\r\n"


@dataclass
class Peer:
    """Each connection runs the next of `scripts`; the last one is repeated. `heard` has the input."""

    scripts: list[Script]
    port: int = 0
    connections: int = 0
    heard: bytes = b""
    server: asyncio.Server | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        script = self.scripts[min(self.connections, len(self.scripts) - 1)]
        self.connections += 1
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await script(reader, writer)
        writer.close()

    def script(self, *steps: bytes | None) -> Script:
        """Greet, reply to EHLO, then alternate: wait for input with this end, respond (None: close)."""

        async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            for wait, answer in ((b"", b"220 peer\r\n"), (b"\r\n", EHLO), *zip(steps[::2], steps[1::2], strict=True)):
                if wait:
                    self.heard += await asyncio.wait_for(reader.readuntil(wait), WAIT)
                if answer is None:
                    return
                writer.write(answer)
                await writer.drain()
            while data := await asyncio.wait_for(reader.read(65536), WAIT):
                self.heard += data

        return run


@contextlib.asynccontextmanager
async def scripted(timeouts: Timeouts = TIMEOUTS, **relay: Any) -> AsyncIterator[tuple[Peer, SmtpPool]]:
    peer = Peer([])
    peer.server = await asyncio.start_server(peer.serve, "127.0.0.1", 0, limit=2**24)
    peer.port = peer.server.sockets[0].getsockname()[1]
    pool = SmtpPool(Relay("127.0.0.1", peer.port, timeouts=timeouts, **relay), size=1)
    try:
        yield peer, pool
    finally:
        await pool.close()
        peer.server.close()
        await asyncio.sleep(0.02)


DATA = b"DATA\r\n"
GO = b"250 ok\r\n250 ok\r\n354 go\r\n"
DOT = b"\r\n.\r\n"


async def test_the_envelope_is_one_write_and_nothing_follows_data() -> None:
    async with scripted() as (peer, pool):
        waited = asyncio.Event()

        async def serve_slowly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"220 peer\r\n")
            await reader.readuntil(b"\r\n")
            writer.write(EHLO)
            peer.heard = await reader.read(65536)
            with contextlib.suppress(TimeoutError):
                peer.heard += await asyncio.wait_for(reader.read(65536), 0.05)
            waited.set()
            writer.write(GO)
            await reader.readuntil(DOT)
            writer.write(b"250 2.0.0 Ok: queued as ABC\r\n")

        peer.scripts = [serve_slowly]
        done = await pool.submit(replace(MAIL, size=3), [b"x\r\n"])
        assert waited.is_set()
        assert peer.heard == b"MAIL FROM:<alice@managed.test> SIZE=3\r\nRCPT TO:<bob@out.test>\r\nDATA\r\n"
        assert done.queue_id == "ABC"


async def test_a_354_without_recipients_gets_empty_content() -> None:
    async with scripted() as (peer, pool):
        peer.scripts = [peer.script(DATA, b"250 ok\r\n550 no\r\n354 go\r\n", b".\r\n", b"554 none\r\n")]
        with pytest.raises(SmtpRefusal) as refused:
            await pool.submit(MAIL, [b"secret\r\n"])
        assert refused.value.reply.code == 550
        assert peer.heard.endswith(b"DATA\r\n.\r\n")


async def test_after_a_refusal_rset_is_sent_with_the_next_envelope() -> None:
    async with scripted() as (peer, pool):
        refuse, take = b"250 ok\r\n550 no\r\n554 no\r\n", b"250 reset\r\n" + GO
        peer.scripts = [peer.script(DATA, refuse, DATA, take, DOT, b"250 ok\r\n")]
        with pytest.raises(SmtpRefusal):
            await pool.submit(MAIL, [b"x\r\n"])
        assert (await pool.submit(MAIL, [b"x\r\n"])).queue_id is None
        assert peer.heard.count(b"RSET\r\nMAIL") == 1
        assert peer.connections == 1


@pytest.mark.parametrize(
    "script,stage,submitted,connections",
    [
        ([DATA, None], "envelope", "no", 1),
        ([DATA, b"250 ok\r\n250 ok\r\n", b"", None], "envelope", "no", 1),
        ([DATA, GO, DOT, None], "acceptance", "unknown", 1),
        ([DATA, GO, DOT, b"garbage\r\n"], "acceptance", "unknown", 1),
        ([DATA, GO, DOT, b"250-a\r\n251 b\r\n"], "acceptance", "unknown", 1),
        ([DATA, b"250-" + b"x" * 100_000], "envelope", "no", 1),
        ([DATA, b"\r\n"], "envelope", "no", 1),
        ([DATA, GO + b"250 too early\r\n"], "body", "refused", 1),
    ],
)
async def test_a_lost_connection_says_whether_the_message_may_be_accepted(
    script: list[bytes | None], stage: str, submitted: str, connections: int
) -> None:
    async with scripted() as (peer, pool):
        peer.scripts = [peer.script(*script)]
        with pytest.raises((ConnectionLost, SmtpRefusal)) as lost:
            await pool.submit(MAIL, [b"x\r\n"])
        found = lost.value.submitted if isinstance(lost.value, ConnectionLost) else "refused"
        assert (lost.value.stage, found, lost.value.permanent) == (stage, submitted, False)
        assert peer.connections == connections
        assert pool._idle == []


@pytest.mark.parametrize(
    "script,step,stage,submitted",
    [
        ([DATA, b"250 ok\r\n"], "command", "envelope", "no"),
        ([DATA, b"250 ok\r\n250 ok\r\n"], "command", "envelope", "no"),
        ([DATA, GO], "acceptance", "acceptance", "unknown"),
    ],
)
async def test_a_silent_server_exceeds_the_timeout_of_the_step(
    script: list[bytes | None], step: str, stage: str, submitted: str
) -> None:
    async with scripted() as (peer, pool):
        peer.scripts = [peer.script(DATA, GO, DOT, b"250 ok\r\n", *script)]
        await pool.submit(MAIL, [b"x\r\n"])
        # Timed from here: the steps before take longer on a busy machine.
        pool.relay = replace(pool.relay, timeouts=replace(TIMEOUTS, **{step: 0.1}))
        with pytest.raises(ConnectionLost) as lost:
            await pool.submit(MAIL, [b"x\r\n"])
        assert (lost.value.stage, lost.value.submitted, lost.value.timed_out) == (stage, submitted, True)
        assert peer.connections == 1


async def test_a_server_that_reads_no_content_exceeds_the_timeout() -> None:
    async with scripted(replace(TIMEOUTS, body=0.2)) as (peer, pool):
        done = asyncio.Event()

        async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            cast(Any, reader)._limit = 1000
            writer.write(b"220 peer\r\n")
            await reader.readuntil(b"\r\n")
            writer.write(EHLO)
            await reader.readuntil(DATA)
            writer.write(GO)
            await done.wait()

        peer.scripts = [deaf]
        with pytest.raises(ConnectionLost) as lost:
            await pool.submit(MAIL, iter([b"x" * 2**20] * 100))
        assert (lost.value.stage, lost.value.submitted) == ("body", "no")
        done.set()


async def test_a_refusal_during_the_content_ends_it_without_a_dot() -> None:
    async with scripted() as (peer, pool):
        consumed = 0

        def body() -> Iterator[bytes]:
            nonlocal consumed
            for _ in range(1000):
                consumed += 1
                yield b"x" * 2**20

        peer.scripts = [peer.script(DATA, GO, b"x" * 2**19, b"552 5.3.4 too much\r\n")]
        with pytest.raises(SmtpRefusal) as refused:
            await pool.submit(MAIL, body(), stuffed=True)
        assert (refused.value.reply.code, refused.value.stage) == (552, "body")
        assert consumed < 200
        assert pool._idle == []


@pytest.mark.parametrize("farewell", [b"", b"421 4.4.2 idle\r\n"])
async def test_a_connection_closed_while_idle_is_replaced(farewell: bytes) -> None:
    async with scripted() as (peer, pool):

        async def one_message(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await peer.script(DATA, GO, DOT, b"250 ok\r\n" + farewell, b"", None)(reader, writer)

        peer.scripts = [one_message]
        for _ in range(3):
            await pool.submit(MAIL, [b"x\r\n"])
            await asyncio.sleep(0.02)
        assert peer.connections == 3


async def test_a_connection_that_refuses_rset_is_replaced() -> None:
    async with scripted() as (peer, pool):
        refuse = b"250 ok\r\n550 no\r\n554 no\r\n"
        peer.scripts = [
            peer.script(DATA, refuse, DATA, b"500 what\r\n" + GO),
            peer.script(DATA, GO, DOT, b"250 2.0.0 queued as NEW\r\n"),
        ]
        with pytest.raises(SmtpRefusal):
            await pool.submit(MAIL, [b"x\r\n"])
        assert (await pool.submit(MAIL, [b"x\r\n"])).queue_id == "NEW"
        assert peer.connections == 2


@pytest.mark.parametrize("last", [None, b"421 4.3.2 restarting\r\n"])
async def test_a_reused_connection_that_fails_at_the_envelope_is_replaced_once(last: bytes | None) -> None:
    async with scripted() as (peer, pool):
        closing = peer.script(DATA, GO, DOT, b"250 ok\r\n", DATA, last, b"", None)
        if last is None:
            closing = peer.script(DATA, GO, DOT, b"250 ok\r\n", DATA, None)
        peer.scripts = [closing, peer.script(DATA, GO, DOT, b"250 2.0.0 queued as NEW\r\n")]
        await pool.submit(MAIL, [b"x\r\n"])
        body = iter([b"y\r\n"])
        assert (await pool.submit(MAIL, body)).queue_id == "NEW"
        assert peer.connections == 2


async def test_there_is_no_retry_once_content_was_sent() -> None:
    async with scripted() as (peer, pool):
        peer.scripts = [peer.script(DATA, GO, DOT, b"250 ok\r\n", DATA, GO, DOT, None), peer.script()]
        await pool.submit(MAIL, [b"x\r\n"])
        with pytest.raises(ConnectionLost) as lost:
            await pool.submit(MAIL, [b"y\r\n"])
        assert lost.value.submitted == "unknown"
        assert (peer.connections, peer.heard.count(b"y\r\n")) == (1, 1)


@pytest.mark.parametrize(
    "greeting,ehlo,stage,code",
    [
        (b"554 go away\r\n", EHLO, "greeting", 554),
        (b"421 busy\r\n", EHLO, "greeting", 421),
        (b"250 odd\r\n", EHLO, "greeting", 451),
        (b"220 peer\r\n", b"550 not you\r\n", "ehlo", 550),
    ],
)
async def test_a_server_that_refuses_the_connection(greeting: bytes, ehlo: bytes, stage: str, code: int) -> None:
    async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting)
        await reader.readuntil(b"\r\n")
        writer.write(ehlo)
        await reader.read()

    async with scripted() as (peer, pool):
        peer.scripts = [run]
        with pytest.raises(SmtpRefusal) as refused:
            await pool.submit(MAIL, [b"x\r\n"])
        assert (refused.value.stage, refused.value.reply.code) == (stage, code)


async def test_a_missing_server() -> None:
    with socket.socket() as held:  # keeps the port reserved
        held.bind(("127.0.0.1", 0))
        pool = SmtpPool(Relay("127.0.0.1", held.getsockname()[1], timeouts=TIMEOUTS))
        with pytest.raises(ConnectionLost) as lost:
            await pool.submit(MAIL, [b"x\r\n"])
        assert (lost.value.stage, lost.value.submitted) == ("connect", "no")
        await pool.close()


async def test_a_server_without_extensions_gets_one_command_at_a_time() -> None:
    asked: list[bytes] = []

    async def old(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 old\r\n")
        while line := await reader.readline():
            await asyncio.sleep(0)
            assert not cast(Any, reader)._buffer, "pipelined"
            asked.append(line)
            if line == DATA:
                writer.write(b"354 go\r\n")
                asked.append(await reader.readuntil(b".\r\n"))
                writer.write(b"250 ok\r\n")
            else:
                codes = {b"EHLO": b"502 what\r\n", b"RCPT": b"550 no\r\n" if b"nobody" in line else b"250 ok\r\n"}
                writer.write(codes.get(line[:4], b"250 ok\r\n"))

    async with scripted() as (peer, pool):
        peer.scripts = [old]
        done = await pool.submit(replace(MAIL, rcpt_to=["bob@out.test", "nobody@out.test"]), [b"x\r\n"])
        assert list(done.rejected) == ["nobody@out.test"]
        with pytest.raises(SmtpRefusal):
            await pool.submit(replace(MAIL, rcpt_to=["nobody@out.test"]), [b"x\r\n"])
        await pool.submit(MAIL, [b"y\r\n"])
        assert [line[:4].strip() for line in asked] == [
            b"EHLO", b"HELO", b"MAIL", b"RCPT", b"RCPT", b"DATA", b"x\r\n.",
            b"MAIL", b"RCPT", b"RSET", b"MAIL", b"RCPT", b"DATA", b"y\r\n.",
        ]  # fmt: skip
        for submission in (replace(MAIL, smtputf8=True), replace(MAIL, eight_bit=True)):
            with pytest.raises(SmtpRefusal) as refused:
                await pool.submit(submission, [b"x\r\n"])
            assert refused.value.permanent


async def test_idle_connections_are_closed_with_quit() -> None:
    async with scripted() as (peer, pool):
        pool._idle_seconds = 0.05
        peer.scripts = [peer.script(DATA, GO, DOT, b"250 ok\r\n")]
        await pool.submit(MAIL, [b"x\r\n"])
        async with asyncio.timeout(WAIT):
            while not peer.heard.endswith(b"QUIT\r\n"):
                await asyncio.sleep(0.01)
        assert pool._idle == []


async def test_connections_are_limited_and_waiting_times_out() -> None:
    async with sink_pool(size=3) as (sink, pool):
        await asyncio.gather(*(pool.submit(MAIL, [b"%d\r\n" % number]) for number in range(50)))
        assert len(sink.messages) == 50
        assert len(pool._idle) <= 3
    async with scripted() as (peer, pool):
        peer.scripts = [peer.script(DATA, b"250 ok\r\n")]
        pool._wait_seconds = 0.05
        first = asyncio.create_task(pool.submit(MAIL, [b"x\r\n"]))
        await asyncio.sleep(0.02)
        with pytest.raises(ConnectionLost, match="no free connection"):
            await pool.submit(MAIL, [b"x\r\n"])
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first


# TLS and login, with a certificate of our own for `localhost`.


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Contexts of a server called `localhost` and of a client that trusts its issuer."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + pem
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(path)
    return server, ssl.create_default_context(cadata=pem.decode())


class Box:
    """aiosmtpd's handler: records messages."""

    def __init__(self) -> None:
        self.contents: list[bytes] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.contents.append(envelope.content)
        return "250 2.0.0 OK: queued as PEER1"


def authenticate(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
    assert isinstance(data, LoginPassword)
    return AuthResult(success=(data.login, data.password) == (b"smart", "gehéim".encode()), handled=False)


@contextlib.contextmanager
def aiosmtpd_peer(**options: Any) -> Iterator[tuple[Box, int]]:
    box = Box()
    port = free_port()
    controller = Controller(box, hostname="127.0.0.1", port=port, ready_timeout=WAIT, **options)
    controller.start()
    try:
        yield box, port
    finally:
        controller.stop()


async def test_aiosmtpd_accepts_our_messages() -> None:
    with aiosmtpd_peer(enable_SMTPUTF8=True) as (box, port):
        pool = SmtpPool(Relay("127.0.0.1", port, timeouts=TIMEOUTS))
        large = b"".join(b"%060d\r\n" % number for number in range(20_000))
        for content in (b"Subject: x\r\n\r\n.\r\n..\r\n", large, "ü\r\n".encode()):
            done = await pool.submit(
                OutgoingEnvelope("jörg@b.test", ["bob@out.test"], len(content), eight_bit=True, smtputf8=True),
                [content],
            )
            assert done.queue_id == "PEER1"
        await pool.close()
        assert box.contents == [b"Subject: x\r\n\r\n.\r\n..\r\n", large, "ü\r\n".encode()]


@pytest.mark.parametrize("exclude", [[], ["PLAIN"]])
async def test_starttls_and_login_at_aiosmtpd(tls: tuple[ssl.SSLContext, ssl.SSLContext], exclude: list[str]) -> None:
    with aiosmtpd_peer(tls_context=tls[0], authenticator=authenticate, auth_exclude_mechanism=exclude) as (box, port):
        relay = Relay(
            "127.0.0.1",
            port,
            tls="starttls",
            ssl_context=tls[1],
            server_name="localhost",
            username="smart",
            password="gehéim",
            timeouts=TIMEOUTS,
        )
        pool = SmtpPool(relay)
        for _ in range(2):
            done = await pool.submit(replace(MAIL, size=10), [b"Subject: x\r\n\r\n.dot\r\n"])
            assert done.queue_id == "PEER1"
        await pool.close()
        with pytest.raises(SmtpRefusal) as refused:
            await connect(replace(relay, password="wrong"))
        assert (refused.value.stage, refused.value.reply.code) == ("login", 535)
        assert "gehéim" not in repr(relay)
        with pytest.raises(ConnectionLost) as lost:
            await connect(replace(relay, server_name="other.test"))
        assert (lost.value.stage, lost.value.submitted) == ("tls", "no")
        assert box.contents == [b"Subject: x\r\n\r\n.dot\r\n"] * 2


async def test_tls_from_the_first_byte(tls: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    async with scripted() as (peer, _):
        peer.scripts = [peer.script(DATA, GO, DOT, b"250 ok\r\n")]
        server = await asyncio.start_server(peer.serve, "127.0.0.1", 0, ssl=tls[0])
        relay = Relay(
            "127.0.0.1",
            server.sockets[0].getsockname()[1],
            tls="tls",
            ssl_context=tls[1],
            server_name="localhost",
            timeouts=TIMEOUTS,
        )
        pool = SmtpPool(relay)
        assert (await pool.submit(MAIL, [b"x\r\n"])).reply.code == 250
        await pool.close()
        with pytest.raises(ConnectionLost) as lost:
            await connect(replace(relay, ssl_context=None))
        assert lost.value.stage == "tls"
        server.close()
        await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    "relay,steps,stage,code",
    [
        ({"tls": "starttls"}, [], "tls", 454),
        ({"username": "u", "password": "p"}, [], "login", 504),
    ],
)
async def test_required_tls_or_login_that_is_not_offered_is_a_refusal(
    relay: dict[str, Any], steps: list[bytes | None], stage: str, code: int
) -> None:
    async with scripted(**relay) as (peer, pool):
        peer.scripts = [peer.script(*steps)]
        with pytest.raises(SmtpRefusal) as refused:
            await pool.submit(MAIL, [b"x\r\n"])
        assert (refused.value.stage, refused.value.reply.code) == (stage, code)
        assert peer.heard == b"EHLO localhost\r\n"


async def test_replies_injected_before_tls_are_rejected(tls: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 peer\r\n")
        await reader.readuntil(b"\r\n")
        writer.write(b"250-peer\r\n250 STARTTLS\r\n")
        await reader.readuntil(b"\r\n")
        writer.write(b"220 go\r\n250-injected\r\n250 AUTH PLAIN\r\n")
        await reader.read()

    async with scripted(tls="starttls", ssl_context=tls[1]) as (peer, pool):
        peer.scripts = [run]
        with pytest.raises(ConnectionLost, match="unencrypted"):
            await pool.submit(MAIL, [b"x\r\n"])


async def test_a_closed_pool_accepts_nothing() -> None:
    async with sink_pool() as (_, pool):
        await pool.close()
        with pytest.raises(ConnectionLost, match="closed"):
            await pool.submit(MAIL, [b"x\r\n"])


async def test_a_connection_can_be_used_without_a_pool() -> None:
    async with sink_pool() as (sink, pool):
        connection = await connect(pool.relay)
        await submit(connection, MAIL, [b"x\r\n"], stuffed=True, timeouts=TIMEOUTS)
        connection.quit()
        assert len(sink.messages) == 1
