"""Wakes a sleeping worker by NOTIFY, on a separate connection."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from typing import LiteralString

import psycopg

from mailkeep.core.errors import Unavailable
from mailkeep.db.pool import Conn, DatabasePool


class Wakeup:
    """The notifications of a queue, for one worker.

    Call `listen`, check the queue once more, then `wait`: a job that is committed after that check sends a
    notification, unless its transaction was already committing. No notification arrives while the database is
    unavailable.
    """

    def __init__(self, db: DatabasePool, queue: LiteralString) -> None:
        self._db = db
        self._channel: LiteralString = "mailkeep_" + queue
        self._lock = {"name": f"mailkeep.asleep {queue}"}
        self._conn: Conn | None = None
        self._open = AsyncExitStack()

    async def listen(self) -> None:
        """Register this worker as sleeping (`wake_workers`)."""
        with suppress(Unavailable):
            if self._conn is None:
                self._conn = await self._open.enter_async_context(self._db.listen(self._channel))
                self._conn.add_notify_handler(lambda _: None)  # or psycopg keeps them all
            await self._execute("SELECT pg_advisory_lock_shared(hashtextextended(%(name)s, 0))")

    async def wait(self, event: asyncio.Event, seconds: float) -> None:
        """Sleep until a notification sets `event`, somebody else does, or `seconds` pass; then stop listening."""
        loop = asyncio.get_running_loop()
        number = self._conn.fileno() if self._conn is not None else None
        if number is not None:
            loop.add_reader(number, event.set)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):  # `wait_for` can lose a cancellation
                    await event.wait()
        finally:
            if number is not None:
                loop.remove_reader(number)
        await self.stop_listening()

    async def stop_listening(self) -> None:
        """Register this worker as awake."""
        with suppress(Unavailable):
            await self._execute("SELECT pg_advisory_unlock_shared(hashtextextended(%(name)s, 0))")

    async def _execute(self, statement: LiteralString) -> None:
        if self._conn is None:
            return
        try:
            await self._conn.execute(statement, self._lock)
        except psycopg.Error:
            await self.close()

    async def close(self) -> None:
        """Close the connection."""
        self._conn = None
        opened, self._open = self._open, AsyncExitStack()
        with suppress(Unavailable, psycopg.Error):
            await opened.aclose()
