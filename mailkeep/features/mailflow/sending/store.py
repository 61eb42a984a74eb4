"""What sending reads of other tables, and the statements for what others write; it has no table of its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.core.ids import uuid7_floor
from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.abuse.model import SendVerdict
from mailkeep.features.mailflow.sending.model import OpenSubmission, SenderDomain


async def sender_domains(conn: Conn, names: Collection[str]) -> dict[str, SenderDomain]:
    """The managed ones among these domains, and the domains of these senders (folded addresses), by name; a sender's
    with the rank of the administrator whose address it is.
    """
    cursor = await conn.execute(
        """
        SELECT n.name AS asked, d.id, d.name, d.active, d.sending_enabled, d.relay_host IS NOT NULL AS has_relay,
               CASE WHEN strpos(n.name, '@') > 0 THEN address_rank(n.name) END AS owner_rank
        FROM unnest(%(names)s::text[]) AS n (name)
        JOIN domains d ON d.name = CASE WHEN strpos(n.name, '@') > 0 THEN split_part(n.name, '@', 2) ELSE n.name END
        """,
        {"names": list(names)},
    )
    return {row.pop("asked"): SenderDomain(**row) for row in await cursor.fetchall()}


async def begin(
    conn: Conn, at: datetime, counted: Mapping[str, Any], ids: Sequence[UUID], attempts: Mapping[str, Any]
) -> list[SendVerdict]:
    """Count messages, and write the attempts of those that may go out: all of it committed at once. Nothing is done
    where a sender is to be suspended for its rate. The arguments are of `abuse.counted` and `messages.attempted`.
    """
    cursor = await conn.execute(
        """
        SELECT b.verdict AS kind, b.retry_after
        FROM begin_sends(%(at)s, %(ids)s, %(senders)s::text[], %(recipients)s::integer[], %(sender_limit)s,
                         %(domain_limit)s, %(messages)s, %(rows)s, %(search)s, %(tags)s)
             WITH ORDINALITY b (verdict, retry_after, place)
        ORDER BY b.place
        """,
        {"at": at, "ids": list(ids), **counted, **attempts},
    )
    return [SendVerdict(**row) for row in await cursor.fetchall()]


async def settle(
    conn: Conn, at: datetime, status: str, accepted: Sequence[dict[str, Any]], calls: Sequence[dict[str, Any]]
) -> None:
    """The MTA took these messages (`messages.acceptances`): they are accepted. The calls that they are of (`ids` and
    `entry`) are written in the audit log where that is news of any of theirs. Done again, it does nothing.
    """
    await conn.execute(
        "SELECT settle_sends(%(at)s, %(status)s, %(accepted)s, %(calls)s)",
        {
            "at": at,
            "status": status,
            "accepted": Jsonb(accepted, dumps=msgspec.json.encode),
            "calls": Jsonb(calls, dumps=msgspec.json.encode),
        },
    )


async def log_read_at(conn: Conn) -> datetime | None:
    """The instant up to which our own MTA's log is known; None where it was never read to its end."""
    cursor = await conn.execute(
        "SELECT CASE WHEN bool_and(caught_up_at IS NOT NULL) THEN min(caught_up_at) END AS at FROM mail_logs"
    )
    row = await cursor.fetchone()
    return row["at"] if row else None


async def open_attempts(
    conn: Conn, before: datetime, untaken_before: datetime, most: int, *, told_by_log: bool
) -> list[OpenSubmission]:
    """Attempts begun before an instant that nobody ended or answered, and those called unknown that the sandbox has
    after all. Of those that nobody took only the ones begun before `untaken_before`, and with `told_by_log` also those
    called unknown.
    """
    cursor = await conn.execute(
        """
        SELECT m.id, m.message_id, coalesce(s.queue_id, m.queue_id) AS queue_id
        FROM messages m
        LEFT JOIN LATERAL (
            SELECT s.queue_id FROM sandbox_messages s
            WHERE s.message_id = m.message_id AND s.mail_from = m.mail_from ORDER BY s.id LIMIT 1
        ) s ON true
        WHERE (m.status = 'submitting' AND m.created_at < CASE WHEN s.queue_id IS NULL THEN %(untaken_before)s
                                                               ELSE %(before)s END)
           OR (m.status = 'unknown' AND s.queue_id IS NOT NULL)
           -- Of what our own MTA was asked and did not answer, its log would have told.
           OR (m.status = 'unknown' AND %(told_by_log)s AND m.accepted_at IS NULL AND m.source = 'api'
               AND m.created_at < %(untaken_before)s)
           -- The fate of a recipient told of its acceptance, and whoever sent it was cut off before the answer.
           OR (m.answered_at IS NULL AND m.accepted_at IS NOT NULL AND coalesce(s.queue_id, m.queue_id) IS NOT NULL
               AND m.source = 'api' AND m.direction = 'outbound' AND m.created_at < %(before)s AND m.id >= %(lately)s)
        ORDER BY m.id LIMIT %(most)s
        """,
        {
            "before": before,
            "untaken_before": untaken_before,
            "told_by_log": told_by_log,
            "most": most,
            "lately": uuid7_floor(before - timedelta(days=2)),
        },
    )
    return [OpenSubmission(**row) for row in await cursor.fetchall()]
