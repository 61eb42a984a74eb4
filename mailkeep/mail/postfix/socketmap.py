"""Postfix's socketmap protocol (socketmap_table(5)), server side, over a Unix socket.

A request is a netstring `TABLE KEY`; the response is `OK VALUE`, `NOTFOUND ` or `TEMP REASON`. Then, and while there is
no server, Postfix defers mail.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path

from mailkeep.mail.smtp.unix_socket import listen_unix

log = logging.getLogger(__name__)

_MAX_DIGITS = 6
_MAX_REQUEST = 100_000

Table = Callable[[str], str | Awaitable[str | None] | None]
"""Returns the value for a key, or None. Raises nothing but LookupFailed."""


class LookupFailed(Exception):
    """The value is not known now; the message, in ASCII, is logged by Postfix."""


class MalformedSocketmapRequest(ValueError):
    """The data is not a valid request."""


async def look_up(tables: Mapping[str, Table], request: bytes) -> bytes:
    """The response to a request, both without the netstring framing. Raises MalformedSocketmapRequest."""
    name, space, key = request.partition(b" ")
    table = tables.get(name.decode("ascii", "replace"))
    if not space or table is None:
        raise MalformedSocketmapRequest(f"unknown table: {name[:80]!r}")
    try:
        value = table(key.decode("utf-8"))
        if inspect.isawaitable(value):
            value = await value
    except UnicodeDecodeError:
        value = None  # the keys of the tables are UTF-8
    except LookupFailed as error:
        return f"TEMP {error}".encode("ascii", "replace")
    return b"NOTFOUND " if value is None else f"OK {value}".encode()


async def serve_tables(path: Path, tables: Mapping[str, Table], *, mode: int, group: int) -> asyncio.Server:
    """Serve on a Unix socket, which replaces an existing one. Raises OSError."""

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await _read_request(reader)) is not None:
                text = await look_up(tables, request)
                writer.write(b"%d:%s," % (len(text), text))
                await writer.drain()
        except (OSError, MalformedSocketmapRequest) as error:
            log.warning("socketmap connection closed: %s", error)
        finally:
            writer.close()

    return await listen_unix(
        path, mode, group, lambda new: asyncio.start_unix_server(converse, new, limit=_MAX_REQUEST)
    )


async def _read_request(reader: asyncio.StreamReader) -> bytes | None:
    """The next request, None at the end of the connection."""
    digits = b""
    with suppress(asyncio.IncompleteReadError):
        while (digit := await reader.readexactly(1)).isdigit() and len(digits) < _MAX_DIGITS:
            digits += digit
        if digit != b":" or not digits or int(digits) > _MAX_REQUEST:
            raise MalformedSocketmapRequest(f"invalid length of a netstring: {digits + digit!r}")
        content = await reader.readexactly(int(digits) + 1)
        if not content.endswith(b","):
            raise MalformedSocketmapRequest("a netstring does not end with a comma")
        return content[:-1]
    return None
