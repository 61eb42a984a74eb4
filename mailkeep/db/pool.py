"""The application's connection pool, and the translation of database errors.

Transient errors (the server is unreachable, starting, full, out of connections or too slow) become the refusal
`Unavailable`. All other errors leave as psycopg raised them, for the store to interpret.
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

# Keepalives end the session of an unreachable machine, with its locks, after a minute instead of two hours.
_SESSION = (
    "-c statement_timeout=30s -c idle_in_transaction_session_timeout=60s -c timezone=UTC "
    "-c tcp_keepalives_idle=30 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=3 "
    "-c client_connection_check_interval=2s"  # a cancelled call's statement does not keep waiting for its lock
)

# SQLSTATE classes and codes (PostgreSQL, appendix A) of transient errors: connection, resources (53100 is a full disk,
# 53300 too many connections), system error, and rollbacks that a retry can survive.
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
    """The pool. Connections use UTC, return rows as dicts, and cancel a statement after 30 seconds."""

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
        self._wait_limit = WaitLimit(timeout)
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
            # A connection attempt ends early, and the next caller starts a new one: the pool's own pauses double, so
            # that after an outage of a minute it would retry only after another minute.
            reconnect_timeout=2.0,
            name=application_name,
        )
        self._dedicated: set[Conn] = set()

    async def _configure(self, conn: Conn) -> None:
        assert isinstance(conn, LimitedConnection)
        conn.wait_limit = self._wait_limit

    async def open(self) -> None:
        """Start connecting. An unreachable database is an error only when a connection is requested."""
        await self._pool.open()

    async def close(self) -> None:
        """Close all connections; those in use when they are returned."""
        for conn in tuple(self._dedicated):
            await self.close_dedicated(conn)
        await self._pool.close()

    @asynccontextmanager
    async def tx(self) -> AsyncGenerator[Conn]:
        """Open a transaction on a connection: commit at the end of the block, roll back on any exception.

        `Unavailable` from the commit itself leaves open whether it was done.
        """
        with map_transient_errors():
            async with self._connection() as conn, conn.transaction():
                yield conn
                if conn.info.transaction_status == TransactionStatus.INERROR:
                    # PostgreSQL would answer COMMIT with a silent ROLLBACK.
                    raise RuntimeError("a failed statement was swallowed inside a transaction")

    @asynccontextmanager
    async def autocommit(self) -> AsyncGenerator[Conn]:
        """Take a connection from the pool, on which each statement commits by itself."""
        with map_transient_errors():
            async with self._connection() as conn:
                yield conn

    @asynccontextmanager
    async def listen(self, channel: LiteralString) -> AsyncGenerator[Conn]:
        """Open a dedicated connection in autocommit that receives the notifications of `channel` from now on."""
        conn = await self.connect_dedicated()
        try:
            with map_transient_errors():
                await conn.execute(SQL("LISTEN {}").format(Identifier(channel)))
                yield conn
        finally:
            await self.close_dedicated(conn)

    async def connect_dedicated(self) -> Conn:
        """Open a connection in autocommit outside the pool; it lasts until `close_dedicated` or `close`."""
        with map_transient_errors():
            conn = await LimitedConnection.connect(self._conninfo, autocommit=True, row_factory=dict_row)
            conn.wait_limit = self._wait_limit
        self._dedicated.add(conn)
        return conn

    async def close_dedicated(self, conn: Conn) -> None:
        """Close a connection of `connect_dedicated`."""
        self._dedicated.discard(conn)
        await conn.close()

    @asynccontextmanager
    async def _connection(self) -> AsyncGenerator[Conn]:
        conn = await self._get_live_connection()
        try:
            yield conn
        finally:
            await self._pool.putconn(conn)

    async def _get_live_connection(self) -> Conn:
        """Return a connection that the server has not closed.

        The pool's own `check` pauses for a second or more after each dead connection, and after a restart all of them
        are dead. Here they are discarded at once, and the pool opens new ones.
        """
        self._wait_limit.restart()
        remaining = self._wait_limit.remaining()
        deadline = monotonic() + min(self._pool.timeout, self._pool.timeout if remaining is None else remaining)
        while True:
            try:
                conn = await self._pool.getconn(max(0.001, deadline - monotonic()))
            except PoolTimeout:
                self._wait_limit.record_timeout()
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
    """Return the name of the violated constraint, None for any other error."""
    return error.diag.constraint_name if isinstance(error, psycopg.Error) else None


def is_transient(error: psycopg.Error) -> bool:
    """Whether the error is temporary, so that a retry may succeed."""
    if error.sqlstate is None:  # no answer from a server: connection lost or refused, no room in the pool
        return isinstance(error, psycopg.OperationalError)
    return error.sqlstate in _TRANSIENT or error.sqlstate[:2] in _TRANSIENT_CLASSES


@contextmanager
def map_transient_errors() -> Generator[None]:
    """Raise `Unavailable` for transient errors of the block."""
    try:
        yield
    except psycopg.Error as error:
        if not is_transient(error):
            raise
        is_disk_full = isinstance(error, errors.DiskFull)
        raise Unavailable(
            "The database's disk is full." if is_disk_full else "The database is not available."
        ) from error


async def is_alive(conn: Conn) -> bool:
    """Whether the server still serves this idle connection. Needs no round trip if there is nothing to read."""
    try:
        poll = select.poll()
        poll.register(conn.fileno(), select.POLLIN)
        if poll.poll(0):
            await conn.execute("")  # it was closed, or only a notice has arrived
    except psycopg.OperationalError:
        return False
    return True


def _conninfo(url: str, application_name: str) -> str:
    parameters = conninfo_to_dict(url)
    return make_conninfo(
        url,
        options=f"{parameters.get('options') or ''} {_SESSION}".strip(),
        application_name=parameters.get("application_name") or application_name,
        connect_timeout=parameters.get("connect_timeout") or 5,
    )
