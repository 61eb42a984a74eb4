"""The SQL of a full restore and its holds."""

from __future__ import annotations

from datetime import datetime

from mailkeep.db.pool import Conn
from mailkeep.features.record.holds.model import EndedAccess, HeldRows, RestoredBackup


async def find(conn: Conn) -> RestoredBackup | None:
    """The last full restore, None if there was none."""
    cursor = await conn.execute("SELECT r.backup_id, r.began_at, r.restored_at, r.released_at FROM restored_backup r")
    row = await cursor.fetchone()
    return RestoredBackup(**row) if row else None


async def save(conn: Conn, restored: RestoredBackup) -> None:
    """Store a full restore as the last one."""
    await conn.execute(
        """
        INSERT INTO restored_backup (backup_id, began_at, restored_at)
        VALUES (%(backup_id)s, %(began_at)s, %(restored_at)s)
        ON CONFLICT (only_row) DO UPDATE
        SET backup_id = excluded.backup_id, began_at = excluded.began_at, restored_at = excluded.restored_at,
            released_at = NULL
        """,
        {"backup_id": restored.backup_id, "began_at": restored.began_at, "restored_at": restored.restored_at},
    )


async def set_released(conn: Conn, at: datetime) -> None:
    """Record that what the last restore held is released."""
    await conn.execute("UPDATE restored_backup SET released_at = %(at)s WHERE released_at IS NULL", {"at": at})


async def end_access(conn: Conn) -> EndedAccess:
    """End all sessions, invitations, also those whose mail waits, and unfinished sign-ins."""
    cursor = await conn.execute(
        """
        WITH admins AS (DELETE FROM sessions RETURNING 1),
             owners AS (DELETE FROM owner_sessions RETURNING 1),
             keys AS (DELETE FROM key_sessions RETURNING 1),
             links AS (DELETE FROM invitations RETURNING 1),
             mails AS (
            UPDATE system_mail SET next_attempt_at = NULL
             WHERE kind = 'invitation' AND next_attempt_at IS NOT NULL RETURNING 1),
             pending AS (DELETE FROM pending_logins RETURNING 1),
             providers AS (DELETE FROM oidc_logins RETURNING 1),
             challenges AS (DELETE FROM passkey_challenges RETURNING 1)
        SELECT (SELECT count(*) FROM admins) + (SELECT count(*) FROM owners) + (SELECT count(*) FROM keys) AS sessions,
               (SELECT count(*) FROM links) AS invitations,
               (SELECT count(*) FROM pending) + (SELECT count(*) FROM providers) + (SELECT count(*) FROM challenges)
                   AS sign_ins
        """
    )
    row = await cursor.fetchone()
    assert row is not None
    return EndedAccess(**row)


async def hold(conn: Conn) -> HeldRows:
    """Hold all scheduled messages, also those whose submission was in progress, all pending deliveries, and mail of
    Mailkeep itself, which takes no further items.
    """
    cursor = await conn.execute(
        """
        WITH messages AS (UPDATE scheduled_messages SET held = true WHERE NOT held RETURNING 1),
             deliveries AS (
            UPDATE webhook_deliveries SET held = true WHERE next_attempt_at IS NOT NULL AND NOT held RETURNING 1),
             mails AS (
            UPDATE system_mail SET held = true, collects = false
             WHERE next_attempt_at IS NOT NULL AND NOT held RETURNING 1)
        SELECT (SELECT count(*) FROM messages) AS scheduled_messages,
               (SELECT count(*) FROM deliveries) AS webhook_deliveries,
               (SELECT count(*) FROM mails) AS system_mails
        """
    )
    row = await cursor.fetchone()
    assert row is not None
    return HeldRows(**row)


async def release(conn: Conn) -> HeldRows:
    """Release what is held, except what an incident holds: workers are woken by the commit."""
    cursor = await conn.execute(
        """
        WITH messages AS (
            UPDATE scheduled_messages s SET held = false
             WHERE s.held AND NOT is_restricted('scheduled_message', s.message_id) RETURNING 1),
             deliveries AS (UPDATE webhook_deliveries SET held = false WHERE held RETURNING 1),
             mails AS (UPDATE system_mail SET held = false WHERE held RETURNING 1)
        SELECT (SELECT count(*) FROM messages) AS scheduled_messages,
               (SELECT count(*) FROM deliveries) AS webhook_deliveries,
               (SELECT count(*) FROM mails) AS system_mails
        """
    )
    row = await cursor.fetchone()
    assert row is not None
    await conn.execute("SELECT wake_workers('scheduled'), wake_workers('webhooks'), wake_workers('system_mail')")
    return HeldRows(**row)


async def count(conn: Conn) -> HeldRows:
    """Count what is held."""
    cursor = await conn.execute(
        """
        SELECT (SELECT count(*) FROM scheduled_messages s
                 WHERE s.held AND NOT is_restricted('scheduled_message', s.message_id)) AS scheduled_messages,
               (SELECT count(*) FROM webhook_deliveries d WHERE d.held) AS webhook_deliveries,
               (SELECT count(*) FROM system_mail s WHERE s.held) AS system_mails
        """
    )
    row = await cursor.fetchone()
    assert row is not None
    return HeldRows(**row)
