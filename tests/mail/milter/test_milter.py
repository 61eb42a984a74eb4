"""The milter, called as Postfix calls it: packets, sessions, a message in pieces, and what Postfix must not send."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from mailkeep.mail.milter import protocol
from mailkeep.mail.milter.protocol import Changes, ProtocolError
from mailkeep.mail.milter.server import FilteredMessage, MilterServer, Verdict
from mailkeep.mail.smtp.unix_socket import bind_unix_socket

_POSTFIX = struct.pack("!III", 6, 0x1FF, 0x1FFFFF)


class PostfixClient:
    """A connection like that of a Postfix process."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, command: bytes, data: bytes = b"") -> None:
        self.writer.write(protocol.packet(command, data))

    async def receive(self) -> tuple[bytes, bytes]:
        async with asyncio.timeout(60):
            size = int.from_bytes(await self.reader.readexactly(4))
            content = await self.reader.readexactly(size)
        return content[:1], content[1:]

    async def negotiate(self, offer: bytes = _POSTFIX) -> None:
        self.send(b"O", offer)
        command, data = await self.receive()
        assert (command, struct.unpack("!III", data)[0]) == (b"O", 6)

    def begin(self, login: str = "key", *recipients: bytes) -> None:
        macros = b"{auth_authen}\0" + login.encode() + b"\0{client_addr}\x00192.0.2.5\0"
        self.send(b"D", b"M" + macros)
        self.send(b"M", b"<shop@x.test>\0SIZE=10\0")
        for each in recipients or (b"<a@far.test>",):
            self.send(b"R", each + b"\0")

    def fields(self, *fields: tuple[bytes, bytes]) -> None:
        for name, value in fields:
            self.send(b"L", name + b"\0" + value + b"\0")

    def end(self, queue_id: bytes = b"4jW") -> None:
        self.send(b"D", b"Ei\0" + queue_id + b"\0")
        self.send(b"E")


class Filter:
    """Keeps the messages, and gives the verdict that is set."""

    def __init__(self) -> None:
        self.messages: list[FilteredMessage] = []
        self.verdict = Verdict()
        self.proceed = asyncio.Event()
        self.proceed.set()

    async def decide(self, message: FilteredMessage) -> Verdict:
        self.messages.append(message)
        await self.proceed.wait()
        return self.verdict


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[tuple[Filter, MilterServer, Path]]:
    found = Filter()
    server = MilterServer(found.decide, lambda login: login == "key", tmp_path, 1 << 20)
    path = tmp_path / "m"
    await server.serve(bind_unix_socket(path, 0o600, -1))
    yield found, server, path
    found.proceed.set()
    await server.close(5)


@asynccontextmanager
async def connected(path: Path) -> AsyncIterator[PostfixClient]:
    client = PostfixClient(*await asyncio.open_unix_connection(path))
    await client.negotiate()
    yield client
    client.writer.close()


async def test_a_message_is_collected_and_its_fields_are_kept_apart(
    served: tuple[Filter, MilterServer, Path],
) -> None:
    found, _, path = served
    fields = [("X-Tags", 1), ("X-Tags", 2)]
    found.verdict = Verdict(changes=Changes("b+1@x.test", ["a@far.test"], fields, [("A", "b")]))
    async with connected(path) as client:
        client.begin("key", b"<a@far.test>", b"<B@far.test>")
        client.fields((b"Subject", b" one\n two"), (b"x-mailkeep-tags", b" a"), (b"X-Mailkeep-Tags", b" b"))
        client.send(b"N")
        assert await client.receive() == (b"c", b"")
        for _ in range(3):
            client.send(b"B", b"x" * 65535)
        client.end()
        replies = [await client.receive() for _ in range(6)]
    assert replies == [
        (b"m", struct.pack("!I", 2) + b"X-Tags\0\0"),
        (b"m", struct.pack("!I", 1) + b"X-Tags\0\0"),
        (b"h", b"A\0 b\0"),
        (b"-", b"<a@far.test>\0"),
        (b"e", b"<b+1@x.test>\0"),
        (b"a", b""),
    ]
    (message,) = found.messages
    assert (message.login, message.client, message.queue_id) == ("key", "192.0.2.5", "4jW")
    assert (message.sender, message.recipients) == ("shop@x.test", ["a@far.test", "B@far.test"])
    assert message.fields == [("x-mailkeep-tags", " a"), ("X-Mailkeep-Tags", " b")]
    assert message.numbers == [("x-mailkeep-tags", 1), ("X-Mailkeep-Tags", 2)]
    assert message.head == b"Subject: one\r\n two\r\n"
    assert message.content is not None
    assert not message.content.in_memory
    assert b"".join(message.content.chunks()) == b"Subject: one\r\n two\r\n\r\n" + b"x" * 65535 * 3


async def test_messages_of_other_logins_end_with_their_header(served: tuple[Filter, MilterServer, Path]) -> None:
    found, _, path = served
    async with connected(path) as client:
        client.begin("alice@x.test/1")
        client.fields((b"Subject", b" x"), (b"Idempotency-Keys", b" x"))
        client.send(b"N")
        assert await client.receive() == (b"a", b"")
        # In the same session, a message with a field that only this server sets, and one that is for keys.
        client.begin("alice@x.test/1")
        client.fields((b"Idempotency-Key", b" x"), (b"X-Mailkeep-Tags", b" x"))
        client.send(b"N")
        assert await client.receive() == (b"c", b"")
        client.send(b"B", b"x\r\n")
        client.end()
        assert await client.receive() == (b"m", struct.pack("!I", 1) + b"X-Mailkeep-Tags\0\0")
        assert await client.receive() == (b"a", b"")
    assert found.messages == []


async def test_mail_of_mailboxes_with_very_many_fields_for_the_filter_is_refused(
    served: tuple[Filter, MilterServer, Path],
) -> None:
    _, _, path = served
    async with connected(path) as client:
        client.begin("alice@x.test/1")
        client.fields(*[(b"X-Mailkeep-Tags", b" x")] * 2000, (b"Idempotency-Key", b" x"))
        client.send(b"N")
        command, text = await client.receive()
        assert (command, text[:9]) == (b"y", b"550 5.6.0")
        # Postfix goes on with the next message. Fields that nobody removes may be as many as the client likes.
        client.send(b"A")
        client.begin("alice@x.test/1")
        client.fields(*[(b"Idempotency-Key", b" x")] * 2000)
        client.send(b"N")
        assert await client.receive() == (b"a", b"")


async def test_an_aborted_message_leaves_nothing_in_the_next(served: tuple[Filter, MilterServer, Path]) -> None:
    found, _, path = served
    async with connected(path) as client:
        client.begin("key", b"<old@far.test>")
        client.fields((b"Idempotency-Key", b" old"))
        client.send(b"A")
        client.begin()
        client.send(b"N")
        assert (await client.receive())[0] == b"c"
        client.end()
        assert (await client.receive())[0] == b"a"
    (message,) = found.messages
    assert (message.recipients, message.fields) == (["a@far.test"], [])


async def test_content_over_the_limit_is_not_kept_and_the_message_passes(
    served: tuple[Filter, MilterServer, Path],
) -> None:
    found, _, path = served
    async with connected(path) as client:
        client.begin()
        client.send(b"N")
        await client.receive()
        for _ in range(20):
            client.send(b"B", b"x" * 65535)
        client.end()
        assert (await client.receive())[0] == b"a"
    assert found.messages[0].content is None


@pytest.mark.parametrize(
    "sent",
    [
        struct.pack("!I", 0),
        struct.pack("!I", 1 << 24) + b"B",
        protocol.packet(b"B", b"body before MAIL"),
        protocol.packet(b"M", b"<a@x.test>\0") + protocol.packet(b"?"),
        protocol.packet(b"M", b"<a@x.test>\0") + protocol.packet(b"L", b"no value"),
    ],
)
async def test_what_is_no_milter_protocol_ends_the_connection(
    served: tuple[Filter, MilterServer, Path], sent: bytes
) -> None:
    async with connected(served[2]) as client:
        client.writer.write(sent)
        async with asyncio.timeout(60):
            assert await client.reader.read() == b""


@pytest.mark.parametrize(
    "offer", [b"", struct.pack("!III", 2, 0x1FF, 0x1FFFFF), struct.pack("!III", 6, 0x3F, 0x1FFFFF)]
)
def test_a_mail_server_that_offers_too_little_is_refused(offer: bytes) -> None:
    with pytest.raises(ProtocolError):
        protocol.negotiate(offer)


@given(st.binary(max_size=200))
def test_no_data_breaks_the_parsers(data: bytes) -> None:
    protocol.read_macros(data)
    protocol.read_address(data)
    try:
        name, _ = protocol.read_header(data)
        assert name
    except ProtocolError:
        pass


def test_a_reply_is_one_line_of_ascii() -> None:
    packet = protocol.reply(550, "5.7.1", "über\r\n250 ok\0" + "x" * 1000)
    assert packet[4:].startswith(b"y550 5.7.1 ?ber 250 ok?xx")
    assert packet.endswith(b"x\0")
    assert len(packet) < 450


async def test_closing_ends_idle_sessions_at_once_and_lets_a_verdict_out(
    served: tuple[Filter, MilterServer, Path],
) -> None:
    found, server, path = served
    async with connected(path) as idle, connected(path) as busy:
        found.proceed.clear()
        busy.begin()
        busy.send(b"N")
        await busy.receive()
        busy.end()
        while not found.messages:
            await asyncio.sleep(0.01)
        closing = asyncio.create_task(server.close(60))
        async with asyncio.timeout(60):
            assert await idle.reader.read() == b""
        found.proceed.set()
        assert (await busy.receive())[0] == b"a"
        await asyncio.wait_for(closing, 60)
