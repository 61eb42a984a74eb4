"""The process `sendmail`: a Unix socket that every account of this machine may connect to (`mailflow/sendmail`).

A connection carries one message: a frame with the options in JSON, frames of content, and an empty frame. A frame is
its length (4 octets, big-endian) and that many octets. Without the empty frame nothing is sent: the client was
interrupted. The answer is one line of JSON.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import pwd
import socket
import struct
from collections import Counter
from collections.abc import AsyncGenerator
from pathlib import Path

import msgspec
import structlog

from mailkeep.app import App
from mailkeep.core.errors import Failure
from mailkeep.features.mailflow.sendmail import service
from mailkeep.features.mailflow.sendmail.model import (
    ExitCode,
    SendmailContent,
    SendmailError,
    SendmailOptions,
    SendmailReply,
)
from mailkeep.mail.smtp.connection import Relay
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.mail.smtp.spool import Spool
from mailkeep.mail.smtp.unix_socket import listen_unix
from mailkeep.run.runtime import service_status
from mailkeep.run.runtime.process import Process

log = structlog.get_logger("mailkeep.sendmail")

_MAX_OPTIONS = 256 << 10
_MAX_FRAME = 128 << 10
_IDLE_SECONDS = 300.0
_MAX_PER_ACCOUNT, _MAX_TOTAL = 10, 100
_MEMORY_BYTES = 256 << 10


class SubmittedContent:
    """Collects content, with CRLF line ends."""

    def __init__(self, folder: Path, limit: int) -> None:
        self._spool = Spool(folder, _MEMORY_BYTES)
        self._limit = limit
        self._size = self._line_length = self._longest_line = 0
        self._ends_with_cr = self._is_8bit = False
        self._utf8_decoder = codecs.getincrementaldecoder("utf-8")()
        self._is_utf8 = True

    async def write(self, chunk: bytes) -> None:
        """Add content; CR, LF and CRLF each end a line."""
        if self._ends_with_cr and chunk.startswith(b"\n"):
            chunk, self._ends_with_cr = chunk[1:], False
        self._ends_with_cr = chunk.endswith(b"\r") if chunk else self._ends_with_cr
        self._measure(lines := chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))
        content = lines.replace(b"\n", b"\r\n")
        self._size += len(content)
        if self._size > self._limit:
            raise SendmailError(ExitCode.UNAVAILABLE, f"the message is larger than {self._limit} bytes")
        self._spool.write(content)
        if self._spool.is_full:
            await asyncio.to_thread(self._spool.spill)

    def _measure(self, text: bytes) -> None:
        lines = text.split(b"\n")
        self._line_length += len(lines[0])
        self._longest_line = max(self._longest_line, self._line_length)
        if len(lines) > 1:
            self._longest_line = max(self._longest_line, *map(len, lines[1:]))
            self._line_length = len(lines[-1])
        self._is_8bit = self._is_8bit or not text.isascii()
        if self._is_utf8:
            try:
                self._utf8_decoder.decode(text)
            except UnicodeDecodeError:
                self._is_utf8 = False

    async def finish(self) -> SendmailContent:
        """The complete content."""
        if self._line_length:
            await self.write(b"\n")
        if self._spool.has_file:
            await asyncio.to_thread(self._spool.spill)
        return SendmailContent(self._spool.finish(), self._is_8bit, self._is_utf8, self._longest_line)


class SendmailListener:
    """Serves one message on each connection."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._open: Counter[int] = Counter()

    async def handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read a message and reply."""
        uid = _peer_uid(writer.get_extra_info("socket"))
        self._open[uid] += 1
        try:
            if self._open[uid] > _MAX_PER_ACCOUNT or self._open.total() > _MAX_TOTAL:
                answer = SendmailReply(ExitCode.TEMPFAIL, "too many messages at the same time, try again later")
            else:
                answer = await self._answer(reader, uid)
            writer.write(msgspec.json.encode(answer) + b"\n")
            await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            log.info("a program disconnected before its message was complete", uid=uid)
        finally:
            self._open[uid] -= 1
            if not self._open[uid]:
                del self._open[uid]
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, uid: int) -> SendmailReply:
        try:
            try:
                account = pwd.getpwuid(uid)
            except KeyError:
                raise SendmailError(ExitCode.NOPERM, f"the user ID {uid} has no account on this machine") from None
            options = msgspec.json.decode(await _read_frame(reader, _MAX_OPTIONS), type=SendmailOptions)
            limit = self._app.settings.limits.largest_message_bytes
            content = SubmittedContent(self._app.data_dir / "tmp", limit)
            while chunk := await _read_frame(reader, _MAX_FRAME):
                await content.write(chunk)
            return SendmailReply(ExitCode.OK, await service.send(self._app, account, options, await content.finish()))
        except SendmailError as error:
            return SendmailReply(error.code, error.reason)
        except msgspec.DecodeError:
            return SendmailReply(ExitCode.USAGE, "the request is malformed; use the server's version of sendmail")
        except OSError:
            raise
        except Exception:
            log.exception("a message from a local program failed", uid=uid)
            return SendmailReply(ExitCode.TEMPFAIL, "internal error, try again later")


async def _read_frame(reader: asyncio.StreamReader, limit: int) -> bytes:
    async with asyncio.timeout(_IDLE_SECONDS):
        size = int.from_bytes(await reader.readexactly(4))
        if size > limit:
            raise SendmailError(ExitCode.DATAERR, f"a frame of the request is larger than {limit} bytes")
        return await reader.readexactly(size)


def _peer_uid(connection: socket.socket) -> int:
    """The user ID of the peer process (SO_PEERCRED, unix(7))."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return struct.unpack("3i", credentials)[1]


@contextlib.asynccontextmanager
async def listen(app: App, path: Path) -> AsyncGenerator[None]:
    """Serve on a socket that all accounts may connect to."""
    listener = SendmailListener(app)
    try:
        server = await listen_unix(
            path, 0o666, -1, lambda new: asyncio.start_unix_server(listener.handle_connection, new, limit=_MAX_FRAME)
        )
    except OSError as error:
        raise Failure(f"The socket for local programs {path} can't be opened: {error}", permanent=True) from error
    try:
        yield
    finally:
        server.close()
        with contextlib.suppress(OSError):
            path.unlink()


async def serve(app: App, process: Process) -> None:
    """Serve until stopped."""
    app.mta = SmtpPool(Relay(str(process.paths.api_smtp), 0, helo=app.settings.server.name))
    app.mta_restarts = lambda: not service_status.is_stopped(process.paths.run, "postfix")
    async with listen(app, process.paths.sendmail_socket):
        process.report_ready()
        await process.stop_requested.wait()
    await app.mta.close()
