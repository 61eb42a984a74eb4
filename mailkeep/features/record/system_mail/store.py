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
_INVITATIONS_PER_RECIPIENT, _INVITATIONS_PER_DOMAIN = 3, 20


async def list_super_admins(conn: Conn) -> list[str]:
    """The emails of all active super_admins."""
    cursor = await conn.execute("SELECT email FROM admins WHERE role = 'super_admin' AND active")
    return [row["email"] for row in await cursor.fetchall()]


async def queue(
    conn: Conn, at: datetime, kind: SystemMailKind, recipients: Sequence[str], item: SystemMailItem
) -> None:
    """Queue a mail for each recipient, or add the item to the one that collects."""
    await queue_items(conn, at, kind, [(recipient, item) for recipient in recipients])


async def queue_items(
    conn: Conn, at: datetime, kind: SystemMailKind, items: Sequence[tuple[str, SystemMailItem]]
) -> None:
    """Queue a mail for each recipient about its item, or add that to the one that collects."""
    mails = [{"id": uuid7(at), "recipient": recipient, "item": item} for recipient, item in items]
    await conn.execute(
        "SELECT queue_system_mail(%(at)s, %(kind)s, %(mails)s, %(limit)s, %(delay)s, %(max_items)s)",
        {
            "at": at,
            "kind": kind,
            "mails": Jsonb(mails, dumps=msgspec.json.encode),
            "limit": _MAX_PER_HOUR,
            "delay": _COLLECTING,
            "max_items": _MAX_ITEMS,
        },
    )


async def lock_invitations(conn: Conn) -> None:
    """Serialize the mailing of invitations until the transaction ends, so that counts stay correct."""
    await conn.execute("SELECT pg_advisory_xact_lock(hashtext('mailkeep.invitation_mail'))")


async def find_invitation_limit(conn: Conn, at: datetime, recipient_key: str, domain: str) -> datetime | None:
    """When the next invitation may be mailed to this recipient, for an account of this domain; None: now."""
    cursor = await conn.execute(
        """
        SELECT greatest(
            (SELECT s.created_at + interval '1 day' FROM system_mail s
              WHERE s.kind = 'invitation' AND s.items -> 0 ->> 'recipient_key' = %(recipient_key)s
                AND s.created_at > %(at)s - interval '1 day'
              ORDER BY s.created_at DESC OFFSET %(per_recipient)s LIMIT 1),
            (SELECT s.created_at + interval '1 hour' FROM system_mail s
              WHERE s.kind = 'invitation' AND s.items -> 0 ->> 'domain' = %(domain)s
                AND s.created_at > %(at)s - interval '1 hour'
              ORDER BY s.created_at DESC OFFSET %(per_domain)s LIMIT 1)) AS until
        """,
        {
            "at": at,
            "recipient_key": recipient_key,
            "domain": domain,
            "per_recipient": _INVITATIONS_PER_RECIPIENT - 1,
            "per_domain": _INVITATIONS_PER_DOMAIN - 1,
        },
    )
    row = await cursor.fetchone()
    return row["until"] if row else None


async def claim(conn: Conn, at: datetime, until: datetime, limit: int) -> list[SystemMail]:
    """Claim due mails until `until`, the longest due first."""
    cursor = await conn.execute(
        """
        UPDATE system_mail s SET claims = s.claims + 1, next_attempt_at = %(until)s
        FROM (SELECT d.id FROM system_mail d WHERE d.next_attempt_at <= %(at)s AND NOT d.held
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
