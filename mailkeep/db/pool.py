"""The application's connections: a pool, the two ways to use it, and what a failing database is to callers.

Whatever says "not now" (the server is away, starting, full, out of connections, or too slow) leaves here as
the refusal `Unavailable`; all else leaves as psycopg raised it, for the store that knows what it means.
"""

from __future__ import annotations

import select
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from time import monotonic
from typing import Any, LiteralString

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from mailkeep.core.errors import Unavailable
from mailkeep.db.wait_limits import LimitedConnection, WaitLimit

Conn = psycopg.AsyncConnection[dict[str, Any]]

# The keepalives end the session of a machine that is gone, and what it holds, after a minute instead of two hours.
_SESSION = (
    "-c statement_timeout=30s -c idle_in_transaction_session_timeout=60s -c timezone=UTC "
    "-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3 "
    "-c client_connection_check_interval=2s"  # a statement that a call gave up does not wait on for its lock
)

# SQLSTATE classes and codes (PostgreSQL, appendix A) that pass by themselves: connection, resources (53100 is
# the full disk, 53300 too many connections), system error, and rollbacks that another try survives.
_TRANSIENT_CLASSES = ("08", "40", "53", "58")
_TRANSIENT = frozenset(
    {
        "25006",  # read-only: the primary has just moved
        "25P03",  # idle in transaction for too long
        "57014",  # statement timeout
        "57P01",  # admin shutdown
        "57P02",  # crash shutdown
        "57P03",  # cannot connect now
        "57P05",  # idle session timeout
    }
)


class DatabasePool:
    """The pool. Connections speak UTC, give rows as dicts, and end a statement after 30 seconds."""

    def __init__(
        self,
        url: str,
        *,
        min_size: int = 2,
        max_size: int = 20,
        timeout: float = 5.0,
        application_name: str = "mailkeep",
    ) -> None:
        """`timeout`: seconds that a caller waits for a connection before `Unavailable`."""
        self._conninfo = _conninfo(url, application_name)
        self._patience = WaitLimit(timeout)
        self._pool: AsyncConnectionPool[Conn] = AsyncConnectionPool(
            self._conninfo,
            connection_class=LimitedConnection,
            configure=self._configure,
            # Autocommit, so that a transaction is always an explicit block, and a nested one a savepoint.
            kwargs={"autocommit": True, "row_factory": dict_row},
            min_size=min(min_size, max_size),
            max_size=max_size,
            open=False,
            timeout=timeout,
            # An attempt gives up early, and the next caller starts a new one: the pool's own pauses double,
            # so that after an outage of a minute it would try again only when another minute is over.
            reconnect_timeout=2.0,
            name=application_name,
        )
        self._standing: set[Conn] = set()

    async def _configure(self, conn: Conn) -> None:
        assert isinstance(conn, LimitedConnection)
        conn.patience = self._patience

    async def open(self) -> None:
        """Begins to connect. A database that is away is no error here, but for who asks for a connection."""
        await self._pool.open()

    async def close(self) -> None:
        """Closes all connections; those in use when they come back."""
        for conn in tuple(self._standing):
            await self.close_dedicated(conn)
        await self._pool.close()

    @asynccontextmanager
    async def tx(self) -> AsyncGenerator[Conn]:
        """A connection in one transaction: committed at the end of the block, rolled back on any exception.

        `Unavailable` out of the commit itself leaves open whether it was done.
        """
        with map_transient_errors():
            async with self._connection() as conn, conn.transaction():
                yield conn
                if conn.info.transaction_status == TransactionStatus.INERROR:
                    # PostgreSQL would answer COMMIT with a silent ROLLBACK.
                    raise RuntimeError("a failed statement was swallowed inside a transaction")

    @asynccontextmanager
    async def autocommit(self) -> AsyncGenerator[Conn]:
        """A connection on which each statement commits by itself."""
        with map_transient_errors():
            async with self._connection() as conn:
                yield conn

    @asynccontextmanager
    async def listen(self, channel: LiteralString) -> AsyncGenerator[Conn]:
        """A connection in autocommit beside the pool's, on which what is notified on `channel` is heard from now on."""
        conn = await self.connect_dedicated()
        try:
            with map_transient_errors():
                await conn.execute(SQL("LISTEN {}").format(Identifier(channel)))
                yield conn
        finally:
            await self.close_dedicated(conn)

    async def connect_dedicated(self) -> Conn:
        """A connection in autocommit beside the pool's, for as long as this is open or until `dismiss`."""
        with map_transient_errors():
            conn = await LimitedConnection.connect(self._conninfo, autocommit=True, row_factory=dict_row)
            conn.patience = self._patience
        self._standing.add(conn)
        return conn

    async def close_dedicated(self, conn: Conn) -> None:
        """Close a connection of `standing`."""
        self._standing.discard(conn)
        await conn.close()

    @asynccontextmanager
    async def _connection(self) -> AsyncGenerator[Conn]:
        conn = await self._get_live_connection()
        try:
            yield conn
        finally:
            await self._pool.putconn(conn)

    async def _get_live_connection(self) -> Conn:
        """A connection that the server has not closed.

        The pool's own `check` pauses for a second or more after each dead connection, and after a restart all
        of them are dead. Here they are cast off at once, and the pool makes new ones.
        """
        self._patience.restart()
        left = self._patience.remaining()
        deadline = monotonic() + min(self._pool.timeout, self._pool.timeout if left is None else left)
        while True:
            try:
                conn = await self._pool.getconn(max(0.001, deadline - monotonic()))
            except PoolTimeout:
                self._patience.record_timeout()
                raise
            try:
                if await is_alive(conn):
                    return conn
                await conn.close()
            except BaseException:
                await self._pool.putconn(conn)
                raise
            await self._pool.putconn(conn)


def constraint_of(error: BaseException) -> str | None:
    """The name of the constraint that a statement ran into, None for any other error."""
    return error.diag.constraint_name if isinstance(error, psycopg.Error) else None


def is_transient(error: psycopg.Error) -> bool:
    """Whether the database's trouble is temporary: asking again later may well succeed."""
    if error.sqlstate is None:  # no answer from a server: connection lost or refused, no room in the pool
        return isinstance(error, psycopg.OperationalError)
    return error.sqlstate in _TRANSIENT or error.sqlstate[:2] in _TRANSIENT_CLASSES


@contextmanager
def map_transient_errors() -> Generator[None]:
    """Raises `Unavailable` for what is temporary."""
    try:
        yield
    except psycopg.Error as error:
        if not is_transient(error):
            raise
        full = isinstance(error, errors.DiskFull)
        raise Unavailable("The disk is full." if full else "The database is not available.") from error


async def is_alive(conn: Conn) -> bool:
    """Whether the server still serves this idle connection; costs no round trip while there is nothing to read."""
    try:
        poll = select.poll()
        poll.register(conn.fileno(), select.POLLIN)
        if poll.poll(0):
            await conn.execute("")  # it was closed, or the server has only said something
    except psycopg.OperationalError:
        return False
    return True


def _conninfo(url: str, application_name: str) -> str:
    given = conninfo_to_dict(url)
    return make_conninfo(
        url,
        options=f"{given.get('options') or ''} {_SESSION}".strip(),
        application_name=given.get("application_name") or application_name,
        connect_timeout=given.get("connect_timeout") or 5,
    )
