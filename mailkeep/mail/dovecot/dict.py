"""Dovecot's dict protocol (2.3, version 3), the part with which a plugin writes (`src/lib-dict/dict-client.h` there).

A line is a command with arguments separated by tabs. `H3 2 type user name` opens a dict by its name; `B id`, `S id key
value`, `C id` are a transaction, and only the commit has a response: `O`. `L key` looks up; the response is always `N`
(not found). A malformed line ends the connection; Dovecot treats that as a failed write and continues.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mailkeep.mail.smtp.unix_socket import listen_unix

log = logging.getLogger(__name__)

_MAJOR_VERSION = "3"
_MAX_LINE = 8192
_MAX_ITEMS = 16  # transactions of a connection, and values of a transaction
_IDLE_SECONDS = 60.0  # Dovecot closes its connections after use
_ANSWER_SECONDS = 5.0
_ESCAPED = re.compile("\x01(.)", re.DOTALL)
_UNESCAPED = {"0": "\0", "1": "\x01", "t": "\t", "r": "\r", "n": "\n"}


class MalformedDictRequest(ValueError):
    """The line is not valid in this protocol."""


@dataclass(frozen=True, slots=True)
class DictWrite:
    """A committed transaction: the dict's name, and the values by key."""

    name: str
    values: Mapping[str, str]


@dataclass(slots=True)
class DictSession:
    """One connection: lines in, responses out."""

    on_write: Callable[[DictWrite], None]
    _name: str | None = None
    _open: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    def answer(self, line: bytes) -> bytes:
        """The response to a line (without its line end), empty if there is none. Raises MalformedDictRequest."""
        text = line.decode("utf-8", "replace")
        command, arguments = text[:1], [_unescape(part) for part in text[1:].split("\t")]
        if command == "H":
            return self._hello(arguments)
        if self._name is None:
            raise MalformedDictRequest("the first line is not the hello (H)")
        match command, arguments:
            case "B", [number, *_]:
                if len(self._open) >= _MAX_ITEMS:
                    raise MalformedDictRequest(f"more than {_MAX_ITEMS} open transactions")
                self._open[number] = {}
            case "S", [number, key, value]:
                values = self._transaction(number)
                values[key] = value
                if len(values) > _MAX_ITEMS:
                    raise MalformedDictRequest(f"more than {_MAX_ITEMS} values in a transaction")
            case "U", [number, key]:
                self._transaction(number).pop(key, None)
            case "T", [number, *_]:
                self._transaction(number)
            case "L", [_, *_]:
                return b"N\n"
            case "R", [number]:
                self._open.pop(number, None)
            case "C", [number]:
                values = self._transaction(number)
                del self._open[number]
                self.on_write(DictWrite(self._name, values))
                return b"O\n"
            case _:
                raise MalformedDictRequest(f"unexpected command: {text[:80]!r}")
        return b""

    def _hello(self, arguments: list[str]) -> bytes:
        if len(arguments) != 5 or arguments[0] != _MAJOR_VERSION:
            raise MalformedDictRequest(f"unsupported protocol version: {arguments[:2]}")
        self._name = arguments[4]
        return b""

    def _transaction(self, number: str) -> dict[str, str]:
        if number not in self._open:
            raise MalformedDictRequest(f"no open transaction {number[:20]!r}")
        return self._open[number]


def _unescape(text: str) -> str:
    """Undo Dovecot's escapes (`str_tabunescape`)."""
    return _ESCAPED.sub(lambda match: _UNESCAPED.get(match[1], match[1]), text)


async def is_unresponsive(path: Path) -> bool:
    """Whether a process accepts connections on this Unix socket but does not respond. False if there is no process."""
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            reader, writer = await asyncio.open_unix_connection(path)
            try:
                writer.write(f"H{_MAJOR_VERSION}\t2\t0\t\t\nLshared/alive\t\n".encode())
                await reader.readline()
            finally:
                writer.close()
    except TimeoutError:
        return True
    except OSError:
        return False
    return False


async def serve_dict(path: Path, on_write: Callable[[DictWrite], None], *, mode: int, group: int) -> asyncio.Server:
    """Serve writes on a Unix socket, which replaces an existing one. Raises OSError."""

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = DictSession(on_write)
        try:
            while True:
                async with asyncio.timeout(_IDLE_SECONDS):
                    line = await reader.readuntil(b"\n")
                if response := session.answer(line[:-1]):
                    writer.write(response)
                    await writer.drain()
        except (asyncio.IncompleteReadError, TimeoutError):
            pass
        except (OSError, asyncio.LimitOverrunError, MalformedDictRequest) as error:
            log.warning("connection of Dovecot's dict client closed: %s", error)
        finally:
            writer.close()

    return await listen_unix(
        path, mode, group, lambda socket: asyncio.start_unix_server(converse, socket, limit=_MAX_LINE)
    )
