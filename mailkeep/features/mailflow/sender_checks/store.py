"""The SQL of the checks of senders."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, datetime
from typing import Any
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.sender_checks.model import (
    CheckedSender,
    RecipientDays,
    SenderCounts,
    SenderEvent,
    WindowSums,
)
from mailkeep.features.mailflow.sender_checks.rules import BITS


async def list_events(conn: Conn, tx: str, event_id: UUID, limit: int) -> list[SenderEvent]:
    """The next visible events of the feed. The author of a message is the one that `mailflow/abuse` counts it for: the
    mailbox that logged in, with its own domain; if it is deleted, the envelope sender of a mail client's mail; else
    From.
    """
    cursor = await conn.execute(
        """
        SELECT e.tx::text AS tx, e.id, e.kind, e.created_at AS at, coalesce(b.domain_id, o.id) AS domain_id,
               o.name AS domain, e.domain_id IS NULL OR o.id IS NOT NULL AS has_domain,
               coalesce(b.address_key,
                        CASE WHEN m.source = 'smtp' AND m.api_key_id IS NULL AND m.mail_from <> '' THEN m.mail_from
                        ELSE m.from_address END, '') AS author,
               coalesce(m.source = 'system', false) AS is_forwarded,
               coalesce(e.data->>'bounce_type' = 'temporary', false) AS is_temporary,
               e.kind = 'mail.bounced' AND EXISTS (
                   SELECT FROM message_attempts a
                   WHERE a.message_id = e.message_id AND a.recipient = e.data->>'to' AND a.kind = 'bounced'
                     AND a.attempt = 0) AS by_mail,
               e.data->>'class' AS bounce_class,
               CASE WHEN e.kind = 'mail.sent' THEN ARRAY(
                   SELECT (hashtextextended(r.address_key, 0) & %(mask)s)::integer FROM message_recipients r
                   WHERE r.message_id = m.id AND r.suppression IS NULL) END AS bits
        FROM (
            SELECT * FROM events e
            WHERE (e.tx, e.id) > (%(tx)s::xid8, %(id)s) AND e.tx < pg_snapshot_xmin(pg_current_snapshot())
            ORDER BY e.tx, e.id LIMIT %(limit)s
        ) e
        LEFT JOIN messages m ON m.id = e.message_id AND m.direction = 'outbound'
         AND e.kind IN ('mail.sent', 'mail.delivered', 'mail.bounced', 'mail.failed', 'mail.complained')
        LEFT JOIN submission_envelopes s ON s.queue_id = m.queue_id AND m.source = 'smtp' AND m.api_key_id IS NULL
        LEFT JOIN mailboxes b ON b.address_key = lower(s.login) AND b.deleted_at IS NULL
        LEFT JOIN domains d ON d.id = e.domain_id
        LEFT JOIN domains o ON o.id = coalesce(d.alias_of, d.id)
        ORDER BY e.tx, e.id
        """,
        {"tx": tx, "id": event_id, "limit": limit, "mask": BITS - 1},
    )
    return [SenderEvent(**row) for row in await cursor.fetchall()]


async def lock_domains(conn: Conn, domains: Collection[UUID]) -> set[UUID]:
    """Those of these domains that exist; they can't be deleted until the transaction ends."""
    cursor = await conn.execute(
        "SELECT d.id FROM domains d WHERE d.id = ANY(%(ids)s) ORDER BY d.id FOR KEY SHARE", {"ids": list(domains)}
    )
    return {row["id"] for row in await cursor.fetchall()}


async def forward_subjects(conn: Conn, domains: Collection[str]) -> dict[str, str]:
    """The sender for which a domain's forwarded copies count."""
    cursor = await conn.execute(
        "SELECT d.name, forward_subject(d.name) AS subject FROM unnest(%(names)s::text[]) d (name)",
        {"names": list(domains)},
    )
    return {row["name"]: row["subject"] for row in await cursor.fetchall()}


async def add(conn: Conn, counts: SenderCounts) -> None:
    """Add to the counters of senders."""
    rows = [
        (sender, slot, counts.domains[sender], each.outcomes, each.unknown, each.delivered, each.complaints)
        for (sender, slot), each in sorted(counts.slots.items())
    ]
    if not rows:
        return
    columns = list(map(list, zip(*rows, strict=True)))
    names = ("senders", "slots", "domains", "outcomes", "unknown", "delivered", "complaints")
    await conn.execute(
        """
        INSERT INTO sender_outcomes AS s (sender, slot, domain_id, outcomes, unknown, delivered, complaints)
        SELECT * FROM unnest(%(senders)s::text[], %(slots)s::timestamptz[], %(domains)s::uuid[], %(outcomes)s::bigint[],
                             %(unknown)s::bigint[], %(delivered)s::bigint[], %(complaints)s::bigint[])
        ON CONFLICT ON CONSTRAINT sender_outcomes_pkey DO UPDATE
        SET outcomes = s.outcomes + excluded.outcomes, unknown = s.unknown + excluded.unknown,
            delivered = s.delivered + excluded.delivered, complaints = s.complaints + excluded.complaints
        """,
        dict(zip(names, columns, strict=True)),
    )


async def add_recipients(conn: Conn, counts: SenderCounts) -> None:
    """Add to the bitmaps of recipients."""
    days = sorted(counts.recipients)
    if not days:
        return
    await conn.execute(
        """
        INSERT INTO sender_recipients AS r (sender, day, domain_id, seen)
        SELECT k.sender, k.day, k.domain_id, ('x' || encode(k.seen, 'hex'))::bit(2048)
        FROM unnest(%(senders)s::text[], %(days)s::date[], %(domains)s::uuid[], %(seen)s::bytea[])
             k (sender, day, domain_id, seen)
        ON CONFLICT ON CONSTRAINT sender_recipients_pkey DO UPDATE SET seen = r.seen | excluded.seen
        WHERE r.seen | excluded.seen <> r.seen
        """,
        {
            "senders": [sender for sender, _ in days],
            "days": [day for _, day in days],
            "domains": [counts.domains[sender] for sender, _ in days],
            "seen": [counts.recipients[each].to_bytes(BITS // 8, "big") for each in days],
        },
    )


async def read_sums(
    conn: Conn, senders: Collection[str], starts: dict[int, datetime], until: datetime
) -> list[CheckedSender]:
    """The sums of senders over windows, which end at `until`: the beginning of each by its hours, the longest last."""
    hours, begin = list(starts), list(starts.values())
    cursor = await conn.execute(
        """
        SELECT s.sender, w.hours, (array_agg(s.domain_id))[1] AS domain_id, sum(s.outcomes)::bigint AS outcomes,
               sum(s.unknown)::bigint AS unknown, sum(s.delivered)::bigint AS delivered,
               sum(s.complaints)::bigint AS complaints
        FROM sender_outcomes s
        JOIN unnest(%(hours)s::integer[], %(begin)s::timestamptz[]) w (hours, begin) ON s.slot >= w.begin
        WHERE s.sender = ANY(%(senders)s) AND s.slot >= %(since)s AND s.slot < %(until)s
        GROUP BY s.sender, w.hours ORDER BY s.sender, w.hours
        """,
        {"senders": list(senders), "hours": hours, "begin": begin, "since": min(begin), "until": until},
    )
    windows: dict[str, list[WindowSums]] = {}
    domains: dict[str, UUID | None] = {}
    for row in await cursor.fetchall():
        sender = row.pop("sender")
        domains[sender] = row.pop("domain_id")
        windows.setdefault(sender, []).append(WindowSums(**row))
    return [CheckedSender(sender, domains[sender], sums) for sender, sums in windows.items()]


async def sum_small_senders(
    conn: Conn, hours: int, since: datetime, until: datetime, minimum: int
) -> list[CheckedSender]:
    """The sums between two times, by domain (name), of the senders that have less than `minimum` outcomes each, where
    they have as many together.
    """
    cursor = await conn.execute(
        """
        SELECT d.name AS sender, d.id AS domain_id, sum(t.outcomes)::bigint AS outcomes,
               sum(t.unknown)::bigint AS unknown, sum(t.delivered)::bigint AS delivered
        FROM (
            SELECT s.domain_id, sum(s.outcomes) AS outcomes, sum(s.unknown) AS unknown, sum(s.delivered) AS delivered
            FROM sender_outcomes s
            WHERE s.slot >= %(since)s AND s.slot < %(until)s AND NOT starts_with(s.sender, forward_subject(''))
            GROUP BY s.domain_id, s.sender HAVING sum(s.outcomes) < %(minimum)s
        ) t
        JOIN domains d ON d.id = t.domain_id
        GROUP BY d.id, d.name HAVING sum(t.outcomes) >= %(minimum)s AND sum(t.unknown) > 0
        """,
        {"since": since, "until": until, "minimum": minimum},
    )
    return _to_senders(await cursor.fetchall(), hours)


async def sum_forwarded(conn: Conn, hours: int, since: datetime, until: datetime, minimum: int) -> list[CheckedSender]:
    """The sums between two times of the copies that a domain (name) forwarded, of domains with at least `minimum`."""
    cursor = await conn.execute(
        """
        SELECT d.name AS sender, d.id AS domain_id, sum(s.outcomes)::bigint AS outcomes,
               sum(s.unknown)::bigint AS unknown, sum(s.delivered)::bigint AS delivered
        FROM domains d JOIN sender_outcomes s ON s.sender = forward_subject(d.name) AND s.domain_id = d.id
        WHERE s.slot >= %(since)s AND s.slot < %(until)s
        GROUP BY d.id, d.name HAVING sum(s.outcomes) >= %(minimum)s AND sum(s.unknown) > 0
        """,
        {"since": since, "until": until, "minimum": minimum},
    )
    return _to_senders(await cursor.fetchall(), hours)


async def find_busy_days(conn: Conn, day: date, since: date, least_bits: int) -> list[RecipientDays]:
    """The senders that have at least `least_bits` bits on this day, with the bits of the days since `since` before it.
    The database combines the bitmaps: to fetch those of 10,000 senders takes seconds.
    """
    cursor = await conn.execute(
        """
        SELECT r.sender, r.domain_id, bit_count(r.seen) AS seen, bit_count(bit_or(b.seen)) AS before,
               bit_count(bit_or(b.seen) | r.seen) AS both, count(*) AS days
        FROM sender_recipients r
        JOIN sender_recipients b ON b.sender = r.sender AND b.day >= %(since)s AND b.day < %(day)s
        WHERE r.day = %(day)s AND bit_count(r.seen) >= %(least)s
        GROUP BY r.sender, r.day
        """,
        {"day": day, "since": since, "least": least_bits},
    )
    return [RecipientDays(**row) for row in await cursor.fetchall()]


async def delete_before(conn: Conn, before: datetime, forwards_before: datetime) -> None:
    """Delete the counters of slots before `before`, those of forwarded copies before `forwards_before`, and as old
    bitmaps.
    """
    await conn.execute(
        "DELETE FROM sender_outcomes WHERE slot < %(before)s "
        "AND (slot < %(forwards)s OR NOT starts_with(sender, forward_subject('')))",
        {"before": before, "forwards": forwards_before},
    )
    await conn.execute("DELETE FROM sender_recipients WHERE day < %(day)s", {"day": forwards_before.date()})


def _to_senders(rows: list[dict[str, Any]], hours: int) -> list[CheckedSender]:
    return [
        CheckedSender(row.pop("sender"), row.pop("domain_id"), [WindowSums(hours=hours, complaints=0, **row)])
        for row in rows
    ]
