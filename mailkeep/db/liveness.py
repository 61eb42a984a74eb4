"""Shows other processes on the same database that this process is alive."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from uuid import UUID, uuid4

import psycopg

from mailkeep.db.pool import Conn, DatabasePool, is_alive, map_transient_errors


class LivenessLock:
    """An ID of the process, held as an advisory lock by a session that ends with the process.

    If the session ends earlier (a restart of the database), the process with this ID counts as ended, and the next
    `hold` uses a new ID.
    """

    def __init__(self, db: DatabasePool) -> None:
        self._id = uuid4()  # each session has its own
        self._db = db
        self._conn: Conn | None = None
        self._holding = asyncio.Lock()

    async def hold(self) -> UUID:
        """Return the ID of this process, whose lock is held now. Raises `Unavailable` without the database."""
        async with self._holding:
            if self._conn is None or not await is_alive(self._conn):
                await self.release()
                self._conn = await self._acquire()
        return self._id

    async def _acquire(self) -> Conn:
        self._id = uuid4()
        conn = await self._db.connect_dedicated()
        try:
            with map_transient_errors():
                await conn.execute("SELECT pg_advisory_lock(hashtextextended(%(name)s, 0))", {"name": _name(self._id)})
        except BaseException:
            await self._db.close_dedicated(conn)
            raise
        return conn

    async def is_process_gone(self, conn: Conn, process: UUID) -> bool:
        """Whether the process with this ID has ended. Concurrent checks do not disturb each other."""
        cursor = await conn.execute(
            "SELECT pg_try_advisory_xact_lock_shared(hashtextextended(%(name)s, 0)) AS gone", {"name": _name(process)}
        )
        row = await cursor.fetchone()
        assert row is not None
        return row["gone"]

    async def release(self) -> None:
        """Release the lock: the process counts as ended."""
        conn, self._conn = self._conn, None
        if conn is not None:
            with suppress(psycopg.OperationalError):
                await conn.execute("SELECT pg_advisory_unlock_all()")
            await self._db.close_dedicated(conn)


def _name(process: UUID) -> str:
    return f"mailkeep.process {process}"
