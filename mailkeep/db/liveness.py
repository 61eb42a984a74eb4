"""That a process lives, for others on the same database to see."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from uuid import UUID, uuid4

import psycopg

from mailkeep.db.pool import Conn, DatabasePool, is_alive, map_transient_errors


class LivenessLock:
    """An id of its own, held as an advisory lock by a session that ends with the process.

    Where the session ends before (a restart of the database), the process is gone under this id, and seen under
    another one from the next `show` on.
    """

    def __init__(self, db: DatabasePool) -> None:
        self._id = uuid4()  # of each session another
        self._db = db
        self._conn: Conn | None = None
        self._showing = asyncio.Lock()

    async def hold(self) -> UUID:
        """The id under which the process is seen to live now. `Unavailable` without the database."""
        async with self._showing:
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

    async def is_process_gone(self, conn: Conn, other: UUID) -> bool:
        """Whether the process of that id is seen no more. Who asks at the same moment does not disturb."""
        cursor = await conn.execute(
            "SELECT pg_try_advisory_xact_lock_shared(hashtextextended(%(name)s, 0)) AS gone", {"name": _name(other)}
        )
        row = await cursor.fetchone()
        assert row is not None
        return row["gone"]

    async def release(self) -> None:
        """Be seen no more."""
        conn, self._conn = self._conn, None
        if conn is not None:
            with suppress(psycopg.OperationalError):
                await conn.execute("SELECT pg_advisory_unlock_all()")
            await self._db.close_dedicated(conn)


def _name(process: UUID) -> str:
    return f"mailkeep.process {process}"
