"""Limits how long a call waits for a database that does not answer: a few seconds in all, for any number of statements.

A database that fails returns an error at once. A database that hangs (stopped backends, a lock that is never released)
returns nothing, and no timeout of the server helps against stopped backends. So each wait of a call
(`limit_database_waits`) is limited from the last answer that it received. Slow answers shorten the limit of the call's
later waits, because a call may wait for several locks. After a timeout, further waits of the call fail at once, and
waits of other calls are short until the database answers any of them. Work outside calls has no limit.
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
_SLOW = 0.3  # of the same time: a slower answer shortens the limit of later waits
_CANCEL_SECONDS = 1.0


class _Call:
    """The waits of one call."""

    __slots__ = ("answered_at", "has_ended", "slow", "timed_out")

    def __init__(self) -> None:
        self.answered_at: float | None = None  # or when the wait began
        self.timed_out = self.has_ended = False
        self.slow = 0.0  # seconds spent on slow answers


_call: ContextVar[_Call | None] = ContextVar("database_call", default=None)


@contextmanager
def limit_database_waits() -> Generator[None]:
    """Limit the waits for the database in this block, which is one call."""
    call = _Call()
    token = _call.set(call)
    try:
        yield
    finally:
        call.has_ended = True  # also for tasks that the call started and that outlive it
        _call.reset(token)


class WaitLimit:
    """The limit that the connections of one database share."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._hangs = False

    def remaining(self) -> float | None:
        """Return how many seconds the call may still wait; None outside a call. Raises OperationalError after a
        timeout.
        """
        call = _call.get()
        if call is None or call.has_ended:
            return None
        if call.timed_out:
            raise psycopg.OperationalError("the database does not answer")
        now = monotonic()
        if call.answered_at is None:
            call.answered_at = now
        least = self._seconds * min(_SHARE, _SHARE_WHILE_HANGING)
        most = least if self._hangs else max(least, self._seconds * _SHARE - call.slow)
        return max(0.001, call.answered_at + most - now)

    def restart(self) -> None:
        """Start a new wait: the call was busy with something else."""
        call = _call.get()
        if call is not None:
            call.answered_at = monotonic()

    def record_answer(self) -> None:
        """Record that the database answered."""
        self._hangs = False
        call = _call.get()
        if call is not None and call.answered_at is not None:
            waited = monotonic() - call.answered_at
            call.slow += waited if waited > self._seconds * _SLOW else 0.0
        self.restart()

    def record_timeout(self) -> None:
        """Record that the database did not answer within the limit."""
        self._hangs = True
        call = _call.get()
        if call is not None:
            call.timed_out = True


class LimitedConnection(psycopg.AsyncConnection[dict[str, Any]]):
    """A connection that is closed if the server does not answer a call in time."""

    wait_limit: WaitLimit | None = None

    async def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        """Like psycopg's method, but with the limit. Every answer of the server passes through here."""
        seconds = self.wait_limit.remaining() if self.wait_limit else None
        if seconds is None or self.wait_limit is None:
            return await super().wait(gen, interval, timeout)
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                result = await waiting.wait_async(gen, self.pgconn.socket, interval=interval, timeout=timeout)
        except TimeoutError as error:
            if not limit.expired():
                raise
            self.wait_limit.record_timeout()
            self.pgconn.finish()
            raise psycopg.OperationalError("the database does not answer") from error
        except asyncio.CancelledError:
            await self._stop(gen, interval)
            raise
        self.wait_limit.record_answer()
        return result

    async def _stop(self, gen: Any, interval: float) -> None:
        """Cancel the statement of a cancelled caller, or close the connection if the server does not cancel."""
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
