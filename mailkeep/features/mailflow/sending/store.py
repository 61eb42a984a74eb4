"""The SQL of sending, which has no table of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.core.ids import uuid7_floor
from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.abuse.model import SendVerdict
from mailkeep.features.mailflow.sending.model import OpenSubmission, SenderDomain, SenderLookup
from mailkeep.features.mailflow.suppressions.model import SuppressedAddress


async def sender_domains(conn: Conn, lookup: SenderLookup) -> dict[str, SenderDomain]:
    """The managed domains among the names (domains and senders' folded addresses), by these names. A sender has the
    rank of the administrator whose address it is, and what its domain has of the suppressions and unsubscribe groups.
    An alias domain is active if its target is too.
    """
    cursor = await conn.execute(
        """
        SELECT n.name AS requested, d.id, d.name, d.active AND coalesce(t.active, true) AS active, d.sending_enabled,
               d.relay_host IS NOT NULL AS has_relay,
               CASE WHEN strpos(n.name, '@') > 0 THEN address_rank(n.name) END AS owner_rank,
               CASE WHEN strpos(n.name, '@') > 0 THEN (
                   SELECT jsonb_agg(jsonb_build_object(
                              'address_key', s.address_key, 'group_id', s.group_id, 'id', s.id, 'reason', s.reason))
                   FROM suppressions s
                   WHERE s.domain_id = d.id AND s.address_key = ANY(%(recipients)s::text[])) END AS suppressions,
               CASE WHEN strpos(n.name, '@') > 0 AND %(groups)s::uuid[] <> '{}' THEN ARRAY(
                   SELECT g.id FROM unsubscribe_groups g
                   WHERE g.domain_id = d.id AND g.id = ANY(%(groups)s::uuid[])) END
                   AS groups
        FROM unnest(%(names)s::text[]) AS n (name)
        JOIN domains d ON d.name = CASE WHEN strpos(n.name, '@') > 0 THEN split_part(n.name, '@', 2) ELSE n.name END
        LEFT JOIN domains t ON t.id = d.alias_of
        """,
        {"names": list(lookup.names), "recipients": list(lookup.recipients), "groups": list(lookup.groups)},
    )
    return {row.pop("requested"): _sender_domain(row) for row in await cursor.fetchall()}


def _sender_domain(row: dict[str, Any]) -> SenderDomain:
    suppressions = msgspec.convert(row.pop("suppressions") or (), tuple[SuppressedAddress, ...])
    groups: Sequence[UUID] = row.pop("groups") or ()
    return SenderDomain(**row, suppressions=suppressions, groups=groups)


async def begin(
    conn: Conn,
    at: datetime,
    count_arguments: Mapping[str, Any],
    ids: Sequence[UUID],
    insert_arguments: Mapping[str, Any],
) -> list[SendVerdict]:
    """Count messages and write the attempts of those that may be sent, in one commit. Nothing is written if a sender
    has to be suspended for its rate. The arguments come from the functions of these names in `abuse` and `messages`.
    """
    cursor = await conn.execute(
        """
        SELECT b.verdict AS kind, b.retry_after, b.exceeded AS "limit"
        FROM begin_sends(%(at)s, %(ids)s, %(senders)s::text[], %(recipients)s::integer[], %(sender_limit)s,
                         %(domain_limit)s, %(messages)s, %(rows)s, %(search)s, %(tags)s)
             WITH ORDINALITY b (verdict, retry_after, exceeded, position)
        ORDER BY b.position
        """,
        {"at": at, "ids": list(ids), **count_arguments, **insert_arguments},
    )
    return [SendVerdict(**row) for row in await cursor.fetchall()]


async def begin_due(
    conn: Conn,
    at: datetime,
    count_arguments: Mapping[str, Any],
    ids: Sequence[UUID],
    claims: Sequence[int],
    insert_arguments: Mapping[str, Any],
) -> list[SendVerdict | None]:
    """`begin` for scheduled messages, whose rows are there: None for one that is not claimed any more."""
    cursor = await conn.execute(
        """
        SELECT b.verdict AS kind, b.retry_after, b.exceeded AS "limit"
        FROM begin_scheduled(%(at)s, %(ids)s, %(claims)s::integer[], %(senders)s::text[], %(recipients)s::integer[],
                             %(sender_limit)s, %(domain_limit)s, %(messages)s, %(rows)s)
             WITH ORDINALITY b (verdict, retry_after, exceeded, position)
        ORDER BY b.position
        """,
        {"at": at, "ids": list(ids), "claims": list(claims), **count_arguments, **insert_arguments},
    )
    return [None if row["kind"] == "gone" else SendVerdict(**row) for row in await cursor.fetchall()]


async def mark_accepted(
    conn: Conn, at: datetime, status: str, accepted: Sequence[dict[str, Any]], calls: Sequence[dict[str, Any]]
) -> None:
    """Mark messages (`messages.acceptance_rows`) as accepted. A call (`ids` and `entry`) gets its audit entry if any of
    its messages was not yet marked. Idempotent.
    """
    await conn.execute(
        "SELECT mark_sends_accepted(%(at)s, %(status)s, %(accepted)s, %(calls)s)",
        {
            "at": at,
            "status": status,
            "accepted": Jsonb(accepted, dumps=msgspec.json.encode),
            "calls": Jsonb(calls, dumps=msgspec.json.encode),
        },
    )


async def log_read_at(conn: Conn) -> datetime | None:
    """The time up to which Postfix's log has been read; None if it was never read to its end."""
    cursor = await conn.execute(
        "SELECT CASE WHEN bool_and(caught_up_at IS NOT NULL) THEN min(caught_up_at) END AS at FROM mail_logs"
    )
    row = await cursor.fetchone()
    return row["at"] if row else None


async def open_attempts(
    conn: Conn, before: datetime, logged_before: datetime | None, limit: int, *, by_log: bool
) -> list[OpenSubmission]:
    """Attempts to end, by ID, at most `limit` (without those of Mailkeep's own mail, which is repeated as a job):

    - without a result, begun before `before`, and before `logged_before` if no MTA is known to have the message; those
      of scheduled messages as soon as their process has ended
    - `unknown`, with the message in the sandbox
    - with `by_log`: `unknown`, and Postfix's log does not show an acceptance
    - accepted according to the log, and the API did not get Postfix's answer
    """
    cursor = await conn.execute(
        """
        WITH open AS NOT MATERIALIZED (
            SELECT m.*, coalesce(m.submitted_at, m.created_at) AS begun_at, s.queue_id AS sandbox_id,
                   CASE WHEN j.message_id IS NULL THEN %(before)s::timestamptz
                        WHEN j.process IS NULL THEN 'infinity' ELSE '-infinity' END AS before
            FROM messages m
            LEFT JOIN scheduled_messages j ON j.message_id = m.id
            LEFT JOIN LATERAL (
                SELECT s.queue_id FROM sandbox_messages s
                WHERE s.message_id = m.message_id AND s.mail_from = m.mail_from ORDER BY s.id LIMIT 1
            ) s ON true
        )
        SELECT o.id, o.message_id, coalesce(o.sandbox_id, o.queue_id) AS queue_id
        FROM open o
        WHERE o.source <> 'mailkeep' AND (
           (o.status = 'submitting' AND o.begun_at <
                CASE WHEN o.sandbox_id IS NULL THEN least(o.before, %(logged)s::timestamptz) ELSE o.before END)
           OR (o.status = 'unknown' AND o.sandbox_id IS NOT NULL)
           -- Postfix did not answer; its log would show an acceptance.
           OR (o.status = 'unknown' AND %(by_log)s AND o.accepted_at IS NULL AND o.source = 'api'
               AND o.begun_at < least(o.before, %(logged)s::timestamptz))
           -- The log showed the acceptance, and the process ended before Postfix answered it.
           OR (o.answered_at IS NULL AND o.accepted_at IS NOT NULL AND coalesce(o.sandbox_id, o.queue_id) IS NOT NULL
               AND o.source = 'api' AND o.direction = 'outbound' AND o.begun_at < o.before AND o.id >= %(recent)s))
        UNION ALL
        SELECT o.id, o.message_id, coalesce(o.sandbox_id, o.queue_id) AS queue_id
        FROM scheduled_messages j JOIN open o ON o.id = j.message_id
        WHERE j.due_at IS NULL AND o.answered_at IS NULL AND o.accepted_at IS NOT NULL
          AND coalesce(o.sandbox_id, o.queue_id) IS NOT NULL AND o.begun_at < o.before AND o.id < %(recent)s
        ORDER BY id LIMIT %(limit)s
        """,
        {
            "before": before,
            "logged": logged_before,
            "by_log": by_log,
            "limit": limit,
            "recent": uuid7_floor(before - timedelta(days=2)),
        },
    )
    return [OpenSubmission(**row) for row in await cursor.fetchall()]
