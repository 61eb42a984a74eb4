"""The sessions of a milter: collects each message of the logins that it is for, in a file, and asks what to do with it.

Postfix keeps a connection for as long as that of its client, and sends one message after the other. The messages of
other logins are accepted at the end of their header, so that their bodies are not sent here.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from mailkeep.mail.message.header_fields import MAX_HEAD
from mailkeep.mail.message.submission_fields import TAGS, SubmissionDigest, is_submission_field
from mailkeep.mail.milter import protocol
from mailkeep.mail.milter.protocol import Changes, ProtocolError
from mailkeep.mail.smtp.spool import ReceivedMessage, Spool

log = logging.getLogger(__name__)

_MEMORY = 64 << 10  # bytes of a message before it is written to a file
_READ_AHEAD = 256 << 10
_FIELDS = 200  # of the fields for the filter itself: more can't be valid, and removing n takes Postfix a time of n²
_EXCESSIVE = protocol.reply(550, "5.6.0", f"The message has too many {TAGS} fields")


@dataclass(slots=True)
class FilteredMessage:
    """A message at its end. `fields`: those for the filter (`submission_fields`) in order, which are not in `content`;
    `numbers` are their numbers among the fields with their names. `head` is the header without these fields; a longer
    one than `MAX_HEAD` is cut behind that. `content` is None if it could not be stored.
    """

    login: str
    client: str
    queue_id: str
    sender: str
    recipients: list[str]
    fields: list[tuple[str, str]]
    numbers: list[tuple[str, int]]
    digest: SubmissionDigest
    head: bytes
    content: ReceivedMessage | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What happens to a message: `reply` is the packet with which the exchange ends."""

    reply: bytes = protocol.ACCEPT
    changes: Changes = field(default_factory=Changes)


Decide = Callable[[FilteredMessage], Awaitable[Verdict]]
"""Decides at the end of a message. Must not raise."""


class MilterServer:
    """Serves a listening socket. `is_for`: whether a login's messages are collected for `decide`."""

    def __init__(self, decide: Decide, is_for: Callable[[str], bool], folder: Path, size_limit: int) -> None:
        self._decide = decide
        self.is_for = is_for
        self.folder = folder
        self.size_limit = size_limit
        self._tasks: dict[asyncio.Task[None], _Session] = {}
        self._server: asyncio.Server | None = None

    async def serve(self, listening: socket.socket) -> None:
        """Accept connections until `close`."""
        self._server = await asyncio.start_unix_server(self._converse, sock=listening, limit=_READ_AHEAD)

    async def close(self, grace_seconds: float) -> None:
        """End idle sessions now, and the others after their verdict, at the latest after `grace_seconds`. Postfix
        answers a message without a verdict with a temporary failure.
        """
        if self._server:
            self._server.close()
        for task, session in self._tasks.items():
            session.is_closing = True
            if not session.is_deciding:
                task.cancel()
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=grace_seconds)
        for task in self._tasks:
            task.cancel()

    async def decide(self, message: FilteredMessage) -> Verdict:
        """The verdict on a message."""
        return await self._decide(message)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        session = self._tasks[task] = _Session(self, reader, writer)
        try:
            await session.run()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # Postfix or its client has ended the connection
        except ProtocolError as error:
            log.warning("milter connection closed: %s", error)
        except asyncio.CancelledError:
            if not session.is_closing:
                raise
        except Exception:
            log.exception("milter connection closed")
        finally:
            del self._tasks[task]
            with suppress(OSError):
                writer.close()


class _Session:
    """A connection of Postfix."""

    def __init__(self, server: MilterServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server = server
        self._reader = reader
        self._writer = writer
        self._macros: dict[str, str] = {}
        self._message: _Collector | None = None
        self.is_deciding = self.is_closing = False

    async def run(self) -> None:
        """Answer until the connection ends."""
        while not self.is_closing:
            command, data = await self._read()
            match command:
                case protocol.NEGOTIATE:
                    await self._send(protocol.negotiate(data))
                case protocol.MACROS:
                    self._macros.update(protocol.read_macros(data))
                case protocol.MAIL:
                    self._message = _Collector(self._macros, protocol.read_address(data), self._server)
                case protocol.ABORT:
                    self._message, self._macros = None, {}
                case protocol.QUIT_NEW:
                    self._message, self._macros = None, {}
                case protocol.QUIT:
                    return
                case _:
                    await self._pass_to_message(command, data)

    async def _read(self) -> tuple[bytes, bytes]:
        size = int.from_bytes(await self._reader.readexactly(4))
        if not 1 <= size <= protocol.MAX_PACKET:
            raise ProtocolError(f"a packet of {size} bytes")
        content = await self._reader.readexactly(size)
        return content[:1], content[1:]

    async def _send(self, *packets: bytes) -> None:
        self._writer.write(b"".join(packets))
        await self._writer.drain()

    async def _pass_to_message(self, command: bytes, data: bytes) -> None:
        message = self._message
        if message is None:
            raise ProtocolError(f"{command!r} before MAIL")
        match command:
            case protocol.RECIPIENT:
                message.recipients.append(protocol.read_address(data))
            case protocol.HEADER:
                await message.add_field(*protocol.read_header(data))
            case protocol.END_OF_HEADER:
                message.end_header()
                if message.is_collected:
                    await self._send(protocol.CONTINUE)
                elif message.is_excessive:
                    self._message = None
                    await self._send(_EXCESSIVE)
                else:
                    await self._send(protocol.CONTINUE if message.numbers else protocol.ACCEPT)
            case protocol.BODY:
                await message.add_body(data)
            case protocol.END_OF_MESSAGE:
                await self._end(message, data)
            case _:
                raise ProtocolError(f"unknown command {command!r}")

    async def _end(self, message: _Collector, last: bytes) -> None:
        self._message = None
        if not message.is_collected:
            # Mail of a mail client: only this server sets the field.
            await self._send(*Changes(removed_fields=message.numbers).packets(), protocol.ACCEPT)
            return
        if last:
            await message.add_body(last)
        self.is_deciding = True
        try:
            verdict = await self._server.decide(await message.finish(self._macros))
            await self._send(*verdict.changes.packets(), verdict.reply)
        finally:
            self.is_deciding = False


class _Collector:
    """A message that arrives."""

    def __init__(self, macros: Mapping[str, str], sender: str, server: MilterServer) -> None:
        self._login = macros.get("auth_authen", "")
        self._client = macros.get("client_addr", "")
        self._sender = sender
        self._spool = Spool(server.folder, _MEMORY)
        self._size_limit = server.size_limit
        self._size = 0
        self._is_stored = True
        self._head = bytearray()
        self._counts: dict[str, int] = {}
        self._fields: list[tuple[str, str]] = []
        self._digest = SubmissionDigest()
        self.is_collected = server.is_for(self._login)
        self.recipients: list[str] = []
        self.numbers: list[tuple[str, int]] = []

    async def add_field(self, name: str, value: bytes) -> None:
        """Add a header field."""
        if is_submission_field(name):
            number = self._counts[name.lower()] = self._counts.get(name.lower(), 0) + 1
            if len(self.numbers) < _FIELDS and (self.is_collected or name.lower() == TAGS.lower()):
                self.numbers.append((name, number))
                self._fields.append((name, value.decode("utf-8", "replace")))
            return
        if not self.is_collected:
            return
        self._digest.add_field(name, value)
        content = name.encode("utf-8", "surrogateescape") + b":" + value.replace(b"\n", b"\r\n") + b"\r\n"
        if len(self._head) <= MAX_HEAD:
            self._head += content
        await self._write(content)

    @property
    def is_excessive(self) -> bool:
        """Whether there may be more fields for the filter than it removes."""
        return len(self.numbers) >= _FIELDS

    def end_header(self) -> None:
        """The end of the header."""
        if self.is_collected:
            self._spool.write(b"\r\n")

    async def add_body(self, piece: bytes) -> None:
        """Add a piece of the body."""
        if self.is_collected:
            self._digest.add_body(piece)
            await self._write(piece)

    async def _write(self, content: bytes) -> None:
        self._size += len(content)
        if not self._is_stored:
            return
        try:
            if self._size > self._size_limit:
                raise OSError(f"it is larger than {self._size_limit} bytes")
            self._spool.write(content)
            if self._spool.is_full:
                await asyncio.to_thread(self._spool.spill)
        except OSError as error:
            log.warning("the content of a message is not kept: %s", error)
            self._is_stored = False

    async def finish(self, macros: Mapping[str, str]) -> FilteredMessage:
        """The complete message."""
        self._digest.add_envelope(self._sender, self.recipients)
        content: ReceivedMessage | None = None
        if self._is_stored:
            try:
                if self._spool.has_file:
                    await asyncio.to_thread(self._spool.spill)
                content = self._spool.finish()
            except OSError as error:
                log.warning("the content of a message is not kept: %s", error)
        return FilteredMessage(
            self._login,
            self._client,
            macros.get("i", ""),
            self._sender,
            self.recipients,
            self._fields,
            self.numbers,
            self._digest,
            bytes(self._head),
            content,
        )
