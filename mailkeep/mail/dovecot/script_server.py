"""Pigeonhole's script protocol, version 4: Sieve's `pipe` passes a message on a Unix socket (Dovecot's
`src/lib-program-client`).

The client sends lines: `VERSION script 4 0` (with tabs), optional settings such as `alarm=…`, `-` or `noreply`, the
script's arguments, and an empty line; then the message, until it shuts its side down. The answer ends with `+`
(success) or `-`, and a line end; `noreply` asks for none.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import struct
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from mailkeep.mail.smtp.unix_socket import listen_unix

log = logging.getLogger(__name__)

_VERSION = "VERSION\tscript\t4\t"
_MARKS = ("-", "noreply")
_MAX_LINE, _MAX_LINES = 1024, 32
_MAX_CONNECTIONS = 64
_HEAD_SECONDS, _IDLE_SECONDS, _WHOLE_SECONDS = 5.0, 5.0, 30.0
_ALIVE_SECONDS = 3.0
_CHUNK = 1 << 16


class MalformedScriptRequest(ValueError):
    """The head is not valid in this protocol."""


@dataclass(frozen=True, slots=True)
class ScriptRequest:
    """The arguments of the script, and the message; None: it is larger than the limit."""

    arguments: Sequence[str]
    content: bytes | None


def parse_head(lines: Sequence[bytes]) -> tuple[Sequence[str], bool]:
    """The arguments, and whether an answer is wanted. Raises MalformedScriptRequest."""
    try:
        texts = [line.decode() for line in lines]
    except UnicodeDecodeError as error:
        raise MalformedScriptRequest("the head is not UTF-8") from error
    if not texts or not texts[0].startswith(_VERSION):
        raise MalformedScriptRequest("the first line is not a known version")
    mark = next((number for number, text in enumerate(texts) if text in _MARKS), None)
    if mark is None:
        raise MalformedScriptRequest("no line says whether an answer is wanted")
    return texts[mark + 1 :], texts[mark] == "-"


async def serve_scripts(
    path: Path, on_request: Callable[[ScriptRequest], None], *, accounts: Collection[int], max_bytes: int, group: int
) -> asyncio.Server:
    """Serve on a Unix socket, which replaces an existing one. `accounts`: the user IDs that may connect. OSError.

    The answer follows as soon as `on_request` returns. A larger message is read and forgotten, because Sieve would log
    an error otherwise. At most 64 connections are served at once, each for at most 30 seconds: that limits the memory.
    """
    open_connections = 0

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal open_connections
        open_connections += 1
        try:
            if open_connections > _MAX_CONNECTIONS:
                log.warning("connection of Sieve closed: %d are open", _MAX_CONNECTIONS)
            elif (account := _find_account(writer)) not in accounts:
                log.warning("connection closed: the account %s may not connect", account)
            else:
                async with asyncio.timeout(_WHOLE_SECONDS):
                    await _answer(reader, writer, on_request, max_bytes)
        except asyncio.IncompleteReadError as error:
            if error.partial:
                log.warning("connection of Sieve ended within the head of a request")
        except (OSError, TimeoutError, asyncio.LimitOverrunError, MalformedScriptRequest) as error:
            log.warning("connection of Sieve closed: %s", error or type(error).__name__)
        finally:
            open_connections -= 1
            writer.close()

    return await listen_unix(
        path, 0o660, group, lambda each: asyncio.start_unix_server(converse, each, limit=_MAX_LINE)
    )


async def is_unresponsive(path: Path) -> bool:
    """Whether a process accepts connections on this Unix socket but does not answer. False if there is no process."""
    try:
        async with asyncio.timeout(_ALIVE_SECONDS):
            reader, writer = await asyncio.open_unix_connection(path)
            try:
                writer.write_eof()
                await reader.read()
            finally:
                writer.close()
    except TimeoutError:
        return True
    except OSError:
        return False
    return False


async def _answer(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    on_request: Callable[[ScriptRequest], None],
    max_bytes: int,
) -> None:
    async with asyncio.timeout(_HEAD_SECONDS):
        lines: list[bytes] = []
        while line := (await reader.readuntil(b"\n"))[:-1]:
            lines.append(line)
            if len(lines) > _MAX_LINES:
                raise MalformedScriptRequest(f"the head has more than {_MAX_LINES} lines")
    arguments, wants_answer = parse_head(lines)
    content: bytearray | None = bytearray()
    while chunk := await asyncio.wait_for(reader.read(_CHUNK), _IDLE_SECONDS):
        if content is not None:
            content += chunk
            if len(content) > max_bytes:
                content = None
    on_request(ScriptRequest(arguments, None if content is None else bytes(content)))
    if wants_answer:
        with contextlib.suppress(ConnectionError):  # it does not wait for the answer
            writer.write(b"+\n")
            await writer.drain()


def _find_account(writer: asyncio.StreamWriter) -> int:
    """The user ID of the process at the other end."""
    credentials = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    _, user, _ = struct.unpack("3i", credentials)
    return user
