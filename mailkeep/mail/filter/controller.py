"""A client of Rspamd's controller on its Unix socket (https://docs.rspamd.com/developers/protocol).

A connection for each request: on a Unix socket that costs little, and nothing is left open to a controller that
restarts.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

Kind = Literal["spam", "ham"]
Learned = Literal["taught", "known", "skipped"]
"""`known`: Rspamd has learned this message as the same kind before. `skipped`: it has too few words, or Rspamd's own
conditions reject it.
"""

_LEARN_SECONDS, _STATISTICS_SECONDS = 10.0, 1.0
_MAX_HEAD, _MAX_BODY = 16 << 10, 1 << 20
_KNOWN, _SKIPPED = 208, 204


class ControllerUnavailable(Exception):
    """The controller can't be reached, does not answer in time, or has a failure of its own: try again later."""


class LessonRefused(Exception):
    """The controller does not accept this message. Repeating it is useless."""


@dataclass(frozen=True, slots=True)
class LearnedCounts:
    """Messages that the Bayes classifier has learned."""

    spam: int
    ham: int


class _Statfile(msgspec.Struct):
    symbol: str
    revision: int = 0


class _Statistics(msgspec.Struct):
    statfiles: list[_Statfile]


async def learn(socket: Path, kind: Kind, content: bytes) -> Learned:
    """Teach one message. A message that was taught as the other kind is unlearned there first.

    `bulk`: without it, a correction is ignored if Bayes is sure of the opposite. Raises ControllerUnavailable and
    LessonRefused.
    """
    status, body = await _request(socket, "POST", f"/learn{kind}", content, _LEARN_SECONDS)
    if status == 200:
        return "taught"
    if status == _KNOWN:
        return "known"
    if status == _SKIPPED:
        return "skipped"
    reason = body[:200].decode("utf-8", "replace")
    if 400 <= status < 500:
        raise LessonRefused(f"Rspamd's controller answered {status}: {reason}")
    raise ControllerUnavailable(f"Rspamd's controller answered {status}: {reason}")


async def read_statistics(socket: Path) -> LearnedCounts:
    """How many messages are learned. Raises ControllerUnavailable, within a second."""
    status, body = await _request(socket, "GET", "/stat", b"", _STATISTICS_SECONDS)
    if status != 200:
        raise ControllerUnavailable(f"Rspamd's controller answered {status}")
    try:
        statfiles = msgspec.json.decode(body, type=_Statistics).statfiles
    except msgspec.MsgspecError as error:
        raise ControllerUnavailable(f"Rspamd's statistics can't be read: {error}") from error
    counts = {each.symbol: each.revision for each in statfiles}
    return LearnedCounts(counts.get("BAYES_SPAM", 0), counts.get("BAYES_HAM", 0))


async def _request(socket: Path, method: str, path: str, content: bytes, seconds: float) -> tuple[int, bytes]:
    """Status and body of the answer."""
    try:
        async with asyncio.timeout(seconds):
            reader, writer = await asyncio.open_unix_connection(socket, limit=_MAX_HEAD)
            try:
                head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nLearn-Type: bulk\r\n"
                writer.write(f"{head}Content-Length: {len(content)}\r\n\r\n".encode("ascii"))
                writer.write(content)
                await writer.drain()
                return await _read_answer(reader)
            finally:
                writer.close()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
    except TimeoutError as error:
        raise ControllerUnavailable(f"Rspamd's controller did not answer within {seconds:g} s") from error
    except (OSError, EOFError, asyncio.LimitOverrunError, ValueError) as error:
        raise ControllerUnavailable(f"Rspamd's controller: {error or type(error).__name__}") from error


async def _read_answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    first, *fields = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    version, _, rest = first.partition(" ")
    if not version.startswith("HTTP/1."):
        raise ValueError(f"not an HTTP answer: {first[:80]!r}")
    status = int(rest[:3])
    if status == _SKIPPED:  # it has a length, but HTTP allows no body
        return status, rest.encode("latin-1")
    lengths = [
        value for name, _, value in (field.partition(":") for field in fields) if name.lower() == "content-length"
    ]
    length = int(lengths[0]) if lengths else 0
    if not 0 <= length <= _MAX_BODY:
        raise ValueError(f"an answer of {length} bytes")
    return status, await reader.readexactly(length)
