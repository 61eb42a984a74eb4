"""SQL of the mail that Mailkeep itself writes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.core.ids import uuid7
from mailkeep.db.pool import Conn
from mailkeep.features.record.system_mail.model import SystemMail, SystemMailItem, SystemMailKind

_MAX_PER_HOUR = 5
_COLLECTING = timedelta(minutes=10)
_MAX_ITEMS = 50


async def list_super_admins(conn: Conn) -> list[str]:
    """The emails of all super_admins."""
    cursor = await conn.execute("SELECT email FROM admins WHERE role = 'super_admin'")
    return [row["email"] for row in await cursor.fetchall()]


async def queue(
    conn: Conn, at: datetime, kind: SystemMailKind, recipients: Sequence[str], item: SystemMailItem
) -> None:
    """Queue a mail for each recipient, or add the item to the one that collects."""
    mails = [{"id": uuid7(at), "recipient": recipient} for recipient in recipients]
    await conn.execute(
        "SELECT queue_system_mail(%(at)s, %(kind)s, %(mails)s, %(item)s, %(limit)s, %(delay)s, %(max_items)s)",
        {
            "at": at,
            "kind": kind,
            "mails": Jsonb(mails, dumps=msgspec.json.encode),
            "item": Jsonb(item, dumps=msgspec.json.encode),
            "limit": _MAX_PER_HOUR,
            "delay": _COLLECTING,
            "max_items": _MAX_ITEMS,
        },
    )


async def claim(conn: Conn, at: datetime, until: datetime, limit: int) -> list[SystemMail]:
    """Claim due mails until `until`, the longest due first."""
    cursor = await conn.execute(
        """
        UPDATE system_mail s SET claims = s.claims + 1, next_attempt_at = %(until)s
        FROM (SELECT d.id FROM system_mail d WHERE d.next_attempt_at <= %(at)s
              ORDER BY d.next_attempt_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED) due
        WHERE s.id = due.id
        RETURNING s.id, s.kind, s.recipient, s.items, s.item_count, s.created_at, s.claims
        """,
        {"at": at, "until": until, "limit": limit},
    )
    return [SystemMail(**row) for row in await cursor.fetchall()]


async def set_next_attempt(conn: Conn, mail: SystemMail, next_attempt_at: datetime | None) -> None:
    """Set the time of the next attempt (None: none), unless another worker has claimed the mail since."""
    await conn.execute(
        "UPDATE system_mail SET next_attempt_at = %(next)s WHERE id = %(id)s AND claims = %(claims)s",
        {"id": mail.id, "claims": mail.claims, "next": next_attempt_at},
    )


async def delete_before(conn: Conn, before: datetime) -> None:
    """Delete the mails that were queued before `before` and are finished."""
    await conn.execute(
        "DELETE FROM system_mail WHERE created_at < %(before)s AND next_attempt_at IS NULL", {"before": before}
    )
