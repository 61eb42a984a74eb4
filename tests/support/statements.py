"""Which statements really go over the wire: libpq's own trace of the connections that a block of code used.

A statement is named after the function that asked for it (`messages.insert`: `insert` in the feature messages, or in
a module of that name); statements between BEGIN and COMMIT carry the number of their transaction. What the built-in
MTA does in the same process is another's: recognized by the caller that took the connection.
"""

from __future__ import annotations

import itertools
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, Any

import psycopg
import pytest
from psycopg import pq

from mailkeep.db.pool import Conn, DatabasePool

_SENT = re.compile(
    r'^F\t\d+\t(?:Query\t "(?P<word>\w+)"$|Parse\t "" "(?P<sql>.*?)"(?: \d+)+$)', re.DOTALL | re.MULTILINE
)
_PRODUCT = Path("mailkeep")
_SANDBOX = ("mailkeep/features/mailflow/sandbox/", "mailkeep/run/processes/sandbox.py")
_PASSED_OVER = {"mailkeep/db/listing.py"}


@dataclass(frozen=True, order=True)
class Statement:
    """`transaction` counts from 1 over all of them; 0 where the statement commits by itself."""

    name: str
    transaction: int = 0


@dataclass
class Statements:
    """What was sent, in order: the product's own statements, and those of the built-in MTA."""

    own: list[Statement] = field(default_factory=list)
    sandbox: list[Statement] = field(default_factory=list)


@contextmanager
def trace_statements(monkeypatch: pytest.MonkeyPatch) -> Iterator[Statements]:
    """Records the statements of the block; complete when the block ends."""
    found, names = Statements(), dict[str, str]()
    uses: list[_Use] = []
    with ExitStack() as traces:
        with monkeypatch.context() as patch:
            patch.setattr(DatabasePool, "_connection", _tracing(DatabasePool._connection, uses, traces))
            patch.setattr(psycopg.AsyncCursor, "execute", _naming(psycopg.AsyncCursor.execute, names))
            yield found
        transactions = {True: itertools.count(1), False: itertools.count(1)}
        for use in uses:
            use.trace.seek(0)
            text = use.trace.read().decode("utf-8", "replace")
            (found.sandbox if use.by_sandbox else found.own).extend(_read(text, names, transactions[use.by_sandbox]))


@dataclass(frozen=True)
class _Use:
    """A connection between its acquisition and release."""

    by_sandbox: bool
    trace: IO[bytes]


def _tracing(real: Any, uses: list[_Use], traces: ExitStack) -> Any:
    @asynccontextmanager
    async def connection(self: DatabasePool) -> AsyncIterator[Conn]:
        by_sandbox = any(path.startswith(_SANDBOX) for path, _ in _callers())
        async with real(self) as conn:
            use = _Use(by_sandbox, traces.enter_context(tempfile.TemporaryFile()))  # noqa: SIM115
            uses.append(use)
            conn.prepare_threshold = None  # so that each statement is sent in words
            conn.pgconn.trace(use.trace.fileno())
            conn.pgconn.set_trace_flags(pq.Trace.SUPPRESS_TIMESTAMPS)
            try:
                yield conn
            finally:
                conn.pgconn.untrace()

    return connection


def _naming(real: Any, names: dict[str, str]) -> Any:
    async def execute(self: Any, *args: Any, **kwargs: Any) -> Any:
        path, function = next((path, name) for path, name in _callers() if path not in _PASSED_OVER)
        place = Path(path)
        module = place.parent.name if place.parts[1] == "features" else place.stem
        answer = await real(self, *args, **kwargs)
        names[self._query.query.decode()] = f"{module}.{function.lstrip('_')}"
        return answer

    return execute


def _callers() -> Iterator[tuple[str, str]]:
    """The product's functions on the call stack, nearest first: path in the project, name."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        _, found, rest = frame.f_code.co_filename.rpartition(f"/{_PRODUCT}/")
        if found:
            yield f"{_PRODUCT}/{rest}", frame.f_code.co_name
        frame = frame.f_back


def _read(trace: str, names: dict[str, str], numbers: Iterator[int]) -> list[Statement]:
    found: list[Statement] = []
    transaction = 0
    for sent in _SENT.finditer(trace):
        match sent["word"]:
            case "BEGIN":
                transaction = next(numbers)
            case "COMMIT":
                transaction = 0
            case None:
                found.append(Statement(names[sent["sql"]], transaction))
            case word:
                raise AssertionError(f"{word} was sent")
    return found
