"""The SQL of backups and of operations on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.backup.index import IndexedMailbox
from mailkeep.backup.layout import Counts
from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn
from mailkeep.features.operations.backups.model import (
    Backup,
    BackupOperation,
    BackupState,
    OperationKind,
    OperationState,
    Verification,
)

_BACKUP = """
    SELECT b.id, b.state, b.trigger, b.created_at, b.finished_at, b.snapshot, b.size_bytes, b.added_bytes, b.domains,
        b.mailboxes, b.messages, b.verified_at, b.verified_ok, b.verified_detail, b.error, b.version
    FROM backups b
"""
_OPERATION = """
    SELECT o.id, o.kind, o.state, o.backup_id, o.author_id, o.author, o.created_at, o.argument, o.phase, o.done,
        o.total, o.cancel_requested, o.result, o.error, o.started_at, o.finished_at
    FROM backup_operations o
"""
_OPEN = "WHERE o.state IN ('waiting', 'running')"


async def insert_backup(conn: Conn, backup: Backup) -> None:
    """Insert a backup, new or found in the repository; nothing if its ID or snapshot is known."""
    counts = backup.counts
    await conn.execute(
        """
        INSERT INTO backups (id, state, trigger, created_at, finished_at, snapshot, size_bytes, added_bytes, domains,
            mailboxes, messages, error, version)
        VALUES (%(id)s, %(state)s, %(trigger)s, %(created_at)s, %(finished_at)s, %(snapshot)s, %(size_bytes)s,
            %(added_bytes)s, %(domains)s, %(mailboxes)s, %(messages)s, %(error)s, %(version)s)
        ON CONFLICT DO NOTHING
        """,
        {
            "id": backup.id,
            "state": backup.state,
            "trigger": backup.trigger,
            "created_at": backup.created_at,
            "finished_at": backup.finished_at,
            "snapshot": backup.snapshot,
            "size_bytes": backup.size_bytes,
            "added_bytes": backup.added_bytes,
            "domains": counts.domains if counts else None,
            "mailboxes": counts.mailboxes if counts else None,
            "messages": counts.messages if counts else None,
            "error": backup.error,
            "version": backup.version,
        },
    )


async def finish_backup(conn: Conn, backup: Backup) -> None:
    """Record the end of a running backup."""
    counts = backup.counts or Counts()
    await conn.execute(
        """
        UPDATE backups
        SET state = %(state)s, finished_at = %(finished_at)s, snapshot = %(snapshot)s, size_bytes = %(size_bytes)s,
            added_bytes = %(added_bytes)s, domains = %(domains)s, mailboxes = %(mailboxes)s, messages = %(messages)s,
            error = %(error)s
        WHERE id = %(id)s AND state = 'running'
        """,
        {
            "id": backup.id,
            "state": backup.state,
            "finished_at": backup.finished_at,
            "snapshot": backup.snapshot,
            "size_bytes": backup.size_bytes,
            "added_bytes": backup.added_bytes,
            "domains": counts.domains,
            "mailboxes": counts.mailboxes,
            "messages": counts.messages,
            "error": backup.error,
        },
    )


async def find_backup(conn: Conn, backup_id: UUID) -> Backup | None:
    """The backup with this ID."""
    cursor = await conn.execute(_BACKUP + "WHERE b.id = %(id)s", {"id": backup_id})
    row = await cursor.fetchone()
    return _to_backup(row) if row else None


async def find_newest(conn: Conn, state: BackupState = "succeeded") -> Backup | None:
    """The newest backup in this state."""
    cursor = await conn.execute(
        _BACKUP + "WHERE b.state = %(state)s ORDER BY b.created_at DESC, b.id DESC LIMIT 1", {"state": state}
    )
    row = await cursor.fetchone()
    return _to_backup(row) if row else None


async def list_stored(conn: Conn) -> list[Backup]:
    """The backups with a snapshot, oldest first."""
    cursor = await conn.execute(_BACKUP + "WHERE b.snapshot <> '' ORDER BY b.created_at, b.id")
    return [_to_backup(row) for row in await cursor.fetchall()]


async def page_backups(conn: Conn, page_request: PageRequest) -> Page[Backup]:
    """A page of the backups."""
    page = await fetch_page(conn, _BACKUP, [], page_request, {"created_at": "b.created_at", "id": "b.id"})
    return Page([_to_backup(row) for row in page.rows], page.next_key)


async def find_last_attempt(conn: Conn) -> Backup | None:
    """The newest backup, whatever became of it."""
    cursor = await conn.execute(_BACKUP + "ORDER BY b.created_at DESC, b.id DESC LIMIT 1")
    row = await cursor.fetchone()
    return _to_backup(row) if row else None


async def find_last_verification(conn: Conn) -> datetime | None:
    """When a backup was verified last."""
    cursor = await conn.execute("SELECT max(verified_at) AS at FROM backups")
    row = await cursor.fetchone()
    return row["at"] if row else None


async def find_last_end(conn: Conn, kind: OperationKind) -> datetime | None:
    """When an operation of this kind ended last."""
    cursor = await conn.execute(
        "SELECT max(finished_at) AS at FROM backup_operations WHERE kind = %(kind)s", {"kind": kind}
    )
    row = await cursor.fetchone()
    return row["at"] if row else None


async def set_missing(conn: Conn, backup_ids: Sequence[UUID], error: str) -> None:
    """Mark backups whose snapshot is no longer in the repository."""
    await conn.execute(
        """
        UPDATE backups SET state = 'failed', error = %(error)s
        WHERE id = ANY (%(ids)s) AND state = 'succeeded'
        """,
        {"ids": list(backup_ids), "error": error},
    )


async def set_found(conn: Conn, backup_ids: Sequence[UUID], error: str) -> None:
    """Take back `set_missing`."""
    await conn.execute(
        """
        UPDATE backups SET state = 'succeeded', error = NULL
        WHERE id = ANY (%(ids)s) AND state = 'failed' AND error = %(error)s
        """,
        {"ids": list(backup_ids), "error": error},
    )


async def list_domain_names(conn: Conn) -> list[tuple[UUID, str]]:
    """All domains, with their names."""
    cursor = await conn.execute("SELECT id, name FROM domains ORDER BY id")
    return [(row["id"], row["name"]) for row in await cursor.fetchall()]


async def list_mailbox_addresses(conn: Conn) -> list[IndexedMailbox]:
    """All mailboxes, also those in the trash."""
    cursor = await conn.execute(
        """
        SELECT m.id, m.domain_id, m.local_part || '@' || d.name AS address
        FROM mailboxes m JOIN domains d ON d.id = m.domain_id
        ORDER BY m.id
        """
    )
    return [IndexedMailbox(row["id"], row["domain_id"], row["address"]) for row in await cursor.fetchall()]


async def count_rows(conn: Conn) -> dict[str, int]:
    """The number of rows of the tables that only grow (but for pruned months). The transaction may then be idle for as
    long as it takes.
    """
    await conn.execute("SET LOCAL statement_timeout = '10min'")
    await conn.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
    cursor = await conn.execute(
        """
        SELECT (SELECT count(*) FROM messages) AS messages,
            (SELECT count(*) FROM message_recipients) AS message_recipients,
            (SELECT count(*) FROM events) AS events,
            (SELECT count(*) FROM audit_entries) AS audit_entries,
            (SELECT count(*) FROM settings_revisions) AS settings_revisions
        """
    )
    row = await cursor.fetchone()
    assert row is not None
    return dict(row)


async def list_migrations(conn: Conn) -> list[str]:
    """The migrations that the database has."""
    cursor = await conn.execute("SELECT name FROM schema_migrations ORDER BY number")
    return [row["name"] for row in await cursor.fetchall()]


async def list_forwards(conn: Conn) -> list[str]:
    """The queue IDs of messages to forward."""
    cursor = await conn.execute("SELECT DISTINCT queue_id FROM forwards")
    return [row["queue_id"] for row in await cursor.fetchall()]


async def list_sandbox_messages(conn: Conn) -> list[UUID]:
    """The messages in the sandbox's queue."""
    cursor = await conn.execute("SELECT DISTINCT message_id FROM sandbox_queue")
    return [row["message_id"] for row in await cursor.fetchall()]


async def save_verification(conn: Conn, backup_id: UUID, result: Verification) -> None:
    """Record the result of a verification."""
    await conn.execute(
        """
        UPDATE backups SET verified_at = %(at)s, verified_ok = %(is_ok)s, verified_detail = %(detail)s WHERE id = %(id)s
        """,
        {"id": backup_id, "at": result.at, "is_ok": result.is_ok, "detail": result.detail},
    )


async def delete_backup(conn: Conn, backup_id: UUID) -> None:
    """Delete the row of a backup, whose snapshot is removed."""
    await conn.execute("DELETE FROM backups WHERE id = %(id)s", {"id": backup_id})


async def insert_operation(conn: Conn, operation: BackupOperation) -> bool:
    """Insert an operation that waits; False if another one waits or runs."""
    cursor = await conn.execute(
        """
        INSERT INTO backup_operations (id, kind, state, backup_id, argument, author_id, author, created_at)
        VALUES (%(id)s, %(kind)s, 'waiting', %(backup_id)s, %(argument)s, %(author_id)s, %(author)s, %(created_at)s)
        ON CONFLICT DO NOTHING
        """,
        {
            "id": operation.id,
            "kind": operation.kind,
            "backup_id": operation.backup_id,
            "argument": _json(operation.argument),
            "author_id": operation.author_id,
            "author": operation.author,
            "created_at": operation.created_at,
        },
    )
    return cursor.rowcount == 1


async def claim_operation(conn: Conn, process: UUID, at: datetime) -> BackupOperation | None:
    """Claim the operation that waits."""
    cursor = await conn.execute(
        """
        UPDATE backup_operations SET state = 'running', process = %(process)s, started_at = %(at)s
        WHERE id = (SELECT id FROM backup_operations WHERE state = 'waiting' FOR UPDATE SKIP LOCKED)
        RETURNING id
        """,
        {"process": process, "at": at},
    )
    row = await cursor.fetchone()
    return await find_operation(conn, row["id"]) if row else None


async def find_operation(conn: Conn, operation_id: UUID) -> BackupOperation | None:
    """The operation with this ID."""
    cursor = await conn.execute(_OPERATION + "WHERE o.id = %(id)s", {"id": operation_id})
    row = await cursor.fetchone()
    return _to_operation(row) if row else None


async def find_open_operation(conn: Conn) -> BackupOperation | None:
    """The operation that waits or runs."""
    cursor = await conn.execute(_OPERATION + _OPEN)
    row = await cursor.fetchone()
    return _to_operation(row) if row else None


async def list_failed(conn: Conn, after: UUID | None) -> list[Backup]:
    """The failed backups that began after this one; without one, the newest. Oldest first."""
    if after is None:
        newest = await find_newest(conn, "failed")
        return [newest] if newest else []
    cursor = await conn.execute(
        _BACKUP + "WHERE b.state = 'failed' AND b.id > %(after)s ORDER BY b.id", {"after": after}
    )
    return [_to_backup(row) for row in await cursor.fetchall()]


async def find_open_process(conn: Conn) -> tuple[UUID, UUID] | None:
    """The operation that runs, and the liveness lock of its process."""
    cursor = await conn.execute("SELECT id, process FROM backup_operations WHERE state = 'running'")
    row = await cursor.fetchone()
    return (row["id"], row["process"]) if row else None


async def save_progress(conn: Conn, operation: BackupOperation) -> bool:
    """Record phase and progress of a running operation; returns whether it is to be cancelled."""
    cursor = await conn.execute(
        """
        UPDATE backup_operations SET phase = %(phase)s, done = %(done)s, total = %(total)s
        WHERE id = %(id)s AND state = 'running'
        RETURNING cancel_requested
        """,
        {"id": operation.id, "phase": operation.phase, "done": operation.done, "total": operation.total},
    )
    row = await cursor.fetchone()
    return row is None or bool(row["cancel_requested"])


async def request_cancel(conn: Conn, operation_or_backup_id: UUID, at: datetime) -> bool:
    """Request that the open operation with this ID, or on the backup with this ID, ends; one that waits ends at once.
    False if there is none.
    """
    cursor = await conn.execute(
        """
        UPDATE backup_operations
        SET cancel_requested = true,
            state = CASE WHEN state = 'waiting' THEN 'cancelled' ELSE state END,
            finished_at = CASE WHEN state = 'waiting' THEN %(at)s ELSE finished_at END
        WHERE %(id)s IN (id, backup_id) AND state IN ('waiting', 'running')
        """,
        {"id": operation_or_backup_id, "at": at},
    )
    return cursor.rowcount == 1


async def finish_operation(
    conn: Conn,
    operation_id: UUID,
    state: OperationState,
    at: datetime,
    *,
    error: str | None = None,
    result: Mapping[str, Any] | None = None,
) -> bool:
    """Record the end of an open operation; False if it has ended already."""
    cursor = await conn.execute(
        """
        UPDATE backup_operations SET state = %(state)s, finished_at = %(at)s, error = %(error)s, result = %(result)s
        WHERE id = %(id)s AND state IN ('waiting', 'running')
        """,
        {
            "id": operation_id,
            "state": state,
            "at": at,
            "error": error,
            "result": None if result is None else _json(result),
        },
    )
    return cursor.rowcount == 1


async def cancel_waiting_backup(conn: Conn, backup_id: UUID, at: datetime) -> None:
    """Record that a backup, whose operation had not begun, was cancelled."""
    await conn.execute(
        "UPDATE backups SET state = 'cancelled', finished_at = %(at)s WHERE id = %(id)s AND state = 'running'",
        {"id": backup_id, "at": at},
    )


def _json(value: Mapping[str, Any]) -> Jsonb:
    return Jsonb(value, dumps=msgspec.json.encode)


def _to_backup(row: Mapping[str, Any]) -> Backup:
    has_counts = row["messages"] is not None
    has_result = row["verified_at"] is not None
    return Backup(
        id=row["id"],
        state=row["state"],
        trigger=row["trigger"],
        created_at=row["created_at"],
        finished_at=row["finished_at"],
        snapshot=row["snapshot"],
        size_bytes=row["size_bytes"],
        added_bytes=row["added_bytes"],
        counts=Counts(row["domains"], row["mailboxes"], row["messages"]) if has_counts else None,
        verification=Verification(row["verified_at"], row["verified_ok"], row["verified_detail"])
        if has_result
        else None,
        error=row["error"],
        version=row["version"],
    )


def _to_operation(row: Mapping[str, Any]) -> BackupOperation:
    named = {name: value for name, value in row.items() if name != "cancel_requested"}
    return BackupOperation(**named, is_cancel_requested=row["cancel_requested"])
