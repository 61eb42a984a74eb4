"""The SQL that describes the database for a backup: names, numbers of rows, and what it has files of."""

from __future__ import annotations

from uuid import UUID

from mailkeep.backup.index import IndexedMailbox
from mailkeep.db.pool import Conn


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


async def find_address(conn: Conn, domain_id: UUID | None, mailbox_id: UUID | None) -> str | None:
    """The name of a domain or the address of a mailbox, if it exists now."""
    cursor = await conn.execute(
        """
        SELECT coalesce(m.local_part || '@', '') || d.name AS address
        FROM domains d LEFT JOIN mailboxes m ON m.domain_id = d.id AND m.id = %(mailbox_id)s
        WHERE d.id = %(domain_id)s OR m.id = %(mailbox_id)s
        """,
        {"domain_id": domain_id, "mailbox_id": mailbox_id},
    )
    row = await cursor.fetchone()
    return row["address"] if row else None
