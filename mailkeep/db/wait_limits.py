"""How long a call waits for a database that does not answer: a few seconds in all, however many statements it has.

A database that fails says so at once. One that hangs (stopped backends, a lock held for ever) says nothing, and no
timeout of the server's helps against the first. So each wait of a call (`patient`) is limited from the last time that
the database answered it, less what the call has waited for slow answers before (who stands in a queue of locks waits
several times); once a wait was in vain, every further one of the same call is refused at once, and those of other calls
are short until the database answers somebody. Work beside the calls waits as long as it takes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Any, TypeVar

import psycopg
from psycopg import waiting
from psycopg.pq import TransactionStatus

R = TypeVar("R")

_SHARE, _SHARE_WHILE_HANGING = 0.7, 0.1  # of the time that a caller waits for a connection
_SLOW = 0.3  # of it too: an answer that took longer lessens what the call may still wait
_CANCEL_SECONDS = 1.0


class _Call:
    """What a call has waited for."""

    __slots__ = ("answered_at", "in_vain", "over", "slow")

    def __init__(self) -> None:
        self.answered_at: float | None = None  # or when it began to wait
        self.in_vain = self.over = False
        self.slow = 0.0  # seconds, of answers that came slowly


_call: ContextVar[_Call | None] = ContextVar("database_call", default=None)


@contextmanager
def limit_database_waits() -> Generator[None]:
    """A call whose waits for the database are limited, for as long as the block lasts."""
    call = _Call()
    token = _call.set(call)
    try:
        yield
    finally:
        call.over = True  # also for tasks that it started, and that live on
        _call.reset(token)


class WaitLimit:
    """What the connections of one database know of it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._hangs = False

    def remaining(self) -> float | None:
        """Seconds that the call may wait now, at most; None: no call, no limit. OperationalError where it has waited
        in vain already.
        """
        call = _call.get()
        if call is None or call.over:
            return None
        if call.in_vain:
            raise psycopg.OperationalError("the database does not answer")
        now = monotonic()
        if call.answered_at is None:
            call.answered_at = now
        least = self._seconds * min(_SHARE, _SHARE_WHILE_HANGING)
        most = least if self._hangs else max(least, self._seconds * _SHARE - call.slow)
        return max(0.001, call.answered_at + most - now)

    def restart(self) -> None:
        """The call was busy with something else; from now on it waits."""
        call = _call.get()
        if call is not None:
            call.answered_at = monotonic()

    def record_answer(self) -> None:
        """The database has answered."""
        self._hangs = False
        call = _call.get()
        if call is not None and call.answered_at is not None:
            waited = monotonic() - call.answered_at
            call.slow += waited if waited > self._seconds * _SLOW else 0.0
        self.restart()

    def record_timeout(self) -> None:
        """It has not, for as long as a call may wait."""
        self._hangs = True
        call = _call.get()
        if call is not None:
            call.in_vain = True


class LimitedConnection(psycopg.AsyncConnection[dict[str, Any]]):
    """A connection that is closed where the server does not answer a call in time."""

    patience: WaitLimit | None = None

    async def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        """As psycopg's, which waits for ever. Every answer of the server passes here."""
        left = self.patience.remaining() if self.patience else None
        if left is None or self.patience is None:
            return await super().wait(gen, interval, timeout)
        limit = asyncio.timeout(left)
        try:
            async with limit:
                result = await waiting.wait_async(gen, self.pgconn.socket, interval=interval, timeout=timeout)
        except TimeoutError as hanging:
            if not limit.expired():
                raise
            self.patience.record_timeout()
            self.pgconn.finish()
            raise psycopg.OperationalError("the database does not answer") from hanging
        except asyncio.CancelledError:
            await self._stop(gen, interval)
            raise
        self.patience.record_answer()
        return result

    async def _stop(self, gen: Any, interval: float) -> None:
        """The caller is gone: end its statement, or the connection where the server does not."""
        if self.pgconn.transaction_status != TransactionStatus.ACTIVE:
            return
        try:
            await self.cancel_safe(timeout=_CANCEL_SECONDS)
            await waiting.wait_async(gen, self.pgconn.socket, interval=interval, timeout=_CANCEL_SECONDS)
        except psycopg.errors.QueryCanceled:
            pass
        except BaseException:
            self.pgconn.finish()
            raise
