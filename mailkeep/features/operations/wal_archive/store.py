"""The SQL of the archive of the write-ahead log."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from mailkeep.backup.wal import SLOT
from mailkeep.db.pool import Conn
from mailkeep.features.operations.wal_archive.model import WalArchive


async def find(conn: Conn) -> WalArchive | None:
    """The chain in progress, or the last one."""
    cursor = await conn.execute(
        """
        SELECT w.chain, w.repository, w.began_at, w.stored_to, w.next_segment, w.spool_bytes, w.error, w.ended
        FROM wal_archive w
        """
    )
    row = await cursor.fetchone()
    return WalArchive(**row) if row else None


async def begin(conn: Conn, archive: WalArchive) -> None:
    """Store a chain that begins, in place of the last one."""
    await conn.execute(
        """
        INSERT INTO wal_archive AS w (chain, repository, began_at, ended)
        VALUES (%(chain)s, %(repository)s, %(began_at)s, %(ended)s)
        ON CONFLICT (only_row) DO UPDATE
        SET chain = excluded.chain, repository = excluded.repository, began_at = excluded.began_at,
            ended = excluded.ended, stored_to = NULL, next_segment = '', spool_bytes = 0, error = NULL
        """,
        {
            "chain": archive.chain,
            "repository": archive.repository,
            "began_at": archive.began_at,
            "ended": archive.ended,
        },
    )


async def save_progress(conn: Conn, archive: WalArchive) -> None:
    """Record what is stored, or why not; nothing if this chain has ended."""
    await conn.execute(
        """
        UPDATE wal_archive
        SET stored_to = %(stored_to)s, next_segment = %(next_segment)s, spool_bytes = %(spool_bytes)s, error = %(error)s
        WHERE chain = %(chain)s AND ended IS NULL
        """,
        {
            "chain": archive.chain,
            "stored_to": archive.stored_to,
            "next_segment": archive.next_segment,
            "spool_bytes": archive.spool_bytes,
            "error": archive.error,
        },
    )


async def end(conn: Conn, chain: UUID, reason: str) -> bool:
    """Record that a chain has ended; False if that is recorded."""
    cursor = await conn.execute(
        "UPDATE wal_archive SET ended = %(reason)s, spool_bytes = 0 WHERE chain = %(chain)s AND ended IS NULL",
        {"chain": chain, "reason": reason},
    )
    return cursor.rowcount == 1


async def delete(conn: Conn) -> None:
    """Forget the last chain."""
    await conn.execute("DELETE FROM wal_archive")


async def find_slot(conn: Conn) -> str | None:
    """The state of the replication slot, None if there is no slot. `lost`: WAL was removed that was not received, or
    none was received yet.
    """
    cursor = await conn.execute(
        "SELECT coalesce(wal_status, 'lost') AS status FROM pg_replication_slots WHERE slot_name = %(slot)s",
        {"slot": SLOT},
    )
    row = await cursor.fetchone()
    return row["status"] if row else None


async def mark(conn: Conn) -> str:
    """Commit two transactions, and return the position in the write-ahead log between them: recovery finds a commit
    that is later than this moment, and pg_receivewal something after the position. `conn` is in autocommit mode.
    """
    emit = "SELECT pg_logical_emit_message(true, 'mailkeep', '')"
    await conn.execute(emit)
    cursor = await conn.execute("SELECT pg_current_wal_lsn()::text AS lsn")
    row = await cursor.fetchone()
    assert row is not None
    await conn.execute(emit)
    return row["lsn"]


async def find_first_backup(conn: Conn, since: datetime) -> datetime | None:
    """When the first backup was made that began then or later and is stored."""
    cursor = await conn.execute(
        """
        SELECT min(b.finished_at) AS at FROM backups b
        WHERE b.state = 'succeeded' AND b.snapshot <> '' AND b.created_at >= %(since)s
        """,
        {"since": since},
    )
    row = await cursor.fetchone()
    return row["at"] if row else None
