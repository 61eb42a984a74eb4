"""A client of clamd: whether it answers, and the version of its signatures."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

_VERSION = re.compile(r"ClamAV (?P<engine>[^/]+)(?:/(?P<number>[0-9]+)/(?P<date>.+))?")
_MAX_ANSWER = 4096


@dataclass(frozen=True, slots=True)
class ScannerVersion:
    """The version of clamd, and the number and time of its downloaded signatures (None: it has none)."""

    engine: str
    signatures: str | None
    signed_at: datetime | None


async def ask(path: Path, command: str, seconds: float) -> str:
    """The answer to a command without arguments, such as PING (clamd(8)). OSError, or TimeoutError after `seconds`."""
    async with asyncio.timeout(seconds):
        reader, writer = await asyncio.open_unix_connection(path, limit=_MAX_ANSWER)
        try:
            writer.write(f"z{command}\0".encode())
            answer = await reader.readuntil(b"\0")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            raise OSError("clamd closed the connection without an answer") from error
        finally:
            writer.close()
    return answer[:-1].decode("utf-8", "replace")


def parse_version(answer: str) -> ScannerVersion:
    """The answer to VERSION: `ClamAV 1.4.3/27456/Mon Nov 23 09:30:20 2026`, the time in UTC. ValueError for others."""
    match = _VERSION.fullmatch(answer.strip())
    if not match:
        raise ValueError(f"not a version of clamd: {answer[:100]!r}")
    signed_at = None
    if match["date"]:
        signed_at = datetime.strptime(match["date"], "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC)
    return ScannerVersion(match["engine"], match["number"], signed_at)
