"""The SQL of anomalies."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.anomalies.model import MailboxSignIns


async def list_domains(conn: Conn) -> dict[UUID, str]:
    """The names of all domains."""
    cursor = await conn.execute("SELECT d.id, d.name FROM domains d")
    return {row["id"]: row["name"] for row in await cursor.fetchall()}


async def sum_forwards(
    conn: Conn, spans: Sequence[tuple[datetime, datetime]], domains: Sequence[UUID] | None
) -> list[tuple[UUID, int, int]]:
    """The copies that domains (None: all) forwarded in each span: domain, number of the span, copies."""
    cursor = await conn.execute(
        """
        SELECT o.domain_id, s.number - 1 AS number, sum(o.outcomes)::bigint AS copies
        FROM unnest(%(since)s::timestamptz[], %(until)s::timestamptz[]) WITH ORDINALITY s (since, until, number)
        JOIN sender_outcomes o ON o.slot >= s.since AND o.slot < s.until
        JOIN domains d ON d.id = o.domain_id AND o.sender = forward_subject(d.name)
        WHERE %(domains)s::uuid[] IS NULL OR o.domain_id = ANY(%(domains)s)
        GROUP BY o.domain_id, s.number
        """,
        {
            "since": [since for since, _ in spans],
            "until": [until for _, until in spans],
            "domains": None if domains is None else list(domains),
        },
    )
    return [(row["domain_id"], row["number"], row["copies"]) for row in await cursor.fetchall()]


async def list_sign_ins(conn: Conn, since: datetime) -> list[MailboxSignIns]:
    """The sign-ins since a time."""
    cursor = await conn.execute(
        """
        SELECT m.address_key AS mailbox, m.domain_id, l.ip, l.first_at, l.last_at
        FROM mailbox_logins l JOIN mailboxes m ON m.id = l.mailbox_id AND m.deleted_at IS NULL
        WHERE l.day >= %(day)s AND l.last_at >= %(since)s
        """,
        {"since": since, "day": since.astimezone(UTC).date()},
    )
    return [MailboxSignIns(**row) for row in await cursor.fetchall()]


async def list_sign_ins_after_pause(conn: Conn, at: datetime, pause: timedelta) -> list[MailboxSignIns]:
    """All sign-ins to the mailboxes that have some in the last day, none in the time before, and others earlier."""
    yesterday = (at - timedelta(days=1)).astimezone(UTC).date()
    cursor = await conn.execute(
        """
        SELECT m.address_key AS mailbox, m.domain_id, l.ip, l.first_at, l.last_at
        FROM mailbox_logins l JOIN mailboxes m ON m.id = l.mailbox_id AND m.deleted_at IS NULL
        JOIN (SELECT DISTINCT r.mailbox_id AS id FROM mailbox_logins r WHERE r.day >= %(yesterday)s) n
          ON n.id = l.mailbox_id
        WHERE NOT EXISTS (
            SELECT FROM mailbox_logins p
            WHERE p.mailbox_id = l.mailbox_id AND p.day < %(yesterday)s AND p.day > %(pause)s)
          AND EXISTS (SELECT FROM mailbox_logins p WHERE p.mailbox_id = l.mailbox_id AND p.day < %(yesterday)s)
        """,
        {"yesterday": yesterday, "pause": yesterday - pause + timedelta(days=1)},
    )
    return [MailboxSignIns(**row) for row in await cursor.fetchall()]
