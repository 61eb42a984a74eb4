"""The statements that a block of code sends to PostgreSQL, from libpq's trace of its connections.

A statement has the name of the function that executes it (`messages.insert`: `insert` in the feature messages, or in a
module of that name) and, between BEGIN and COMMIT, the number of its transaction. Statements of the sandbox in the same
process are separate; the caller that acquires the connection shows which they are.
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
_PACKAGE = Path("mailkeep")
_SANDBOX = ("mailkeep/features/mailflow/sandbox/", "mailkeep/run/processes/sandbox.py")
_IGNORED_CALLERS = {"mailkeep/db/listing.py"}


@dataclass(frozen=True, order=True)
class Statement:
    """`transaction`: its number, from 1; 0 if the statement commits by itself."""

    name: str
    transaction: int = 0


@dataclass
class Statements:
    """The statements in order: those of the sandbox (the built-in MTA), and all others (`own`)."""

    own: list[Statement] = field(default_factory=list)
    sandbox: list[Statement] = field(default_factory=list)


@contextmanager
def trace_statements(monkeypatch: pytest.MonkeyPatch) -> Iterator[Statements]:
    """Records the statements of the block; complete when the block ends."""
    statements, names = Statements(), dict[str, str]()
    uses: list[_Use] = []
    with ExitStack() as traces:
        with monkeypatch.context() as patch:
            patch.setattr(DatabasePool, "_connection", _tracing(DatabasePool._connection, uses, traces))
            patch.setattr(psycopg.AsyncCursor, "execute", _naming(psycopg.AsyncCursor.execute, names))
            yield statements
        transactions = {True: itertools.count(1), False: itertools.count(1)}
        for use in uses:
            use.trace.seek(0)
            text = use.trace.read().decode("utf-8", "replace")
            (statements.sandbox if use.by_sandbox else statements.own).extend(
                _read(text, names, transactions[use.by_sandbox])
            )


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
            conn.prepare_threshold = None  # so that each statement is sent as text
            conn.pgconn.trace(use.trace.fileno())
            conn.pgconn.set_trace_flags(pq.Trace.SUPPRESS_TIMESTAMPS)
            try:
                yield conn
            finally:
                conn.pgconn.untrace()

    return connection


def _naming(real: Any, names: dict[str, str]) -> Any:
    async def execute(self: Any, *args: Any, **kwargs: Any) -> Any:
        path, function = next((path, name) for path, name in _callers() if path not in _IGNORED_CALLERS)
        module_path = Path(path)
        module = module_path.parent.name if module_path.parts[1] == "features" else module_path.stem
        result = await real(self, *args, **kwargs)
        names[self._query.query.decode()] = f"{module}.{function.lstrip('_')}"
        return result

    return execute


def _callers() -> Iterator[tuple[str, str]]:
    """The product's functions on the call stack, nearest first: path in the project, name."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        _, separator, path = frame.f_code.co_filename.rpartition(f"/{_PACKAGE}/")
        if separator:
            yield f"{_PACKAGE}/{path}", frame.f_code.co_name
        frame = frame.f_back


def _read(trace: str, names: dict[str, str], numbers: Iterator[int]) -> list[Statement]:
    statements: list[Statement] = []
    transaction = 0
    for sent in _SENT.finditer(trace):
        match sent["word"]:
            case "BEGIN":
                transaction = next(numbers)
            case "COMMIT":
                transaction = 0
            case None:
                statements.append(Statement(names[sent["sql"]], transaction))
            case word:
                raise AssertionError(f"{word} was sent")
    return statements
