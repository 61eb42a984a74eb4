"""SQL of filter settings and list entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.filtering.model import Entry, Policy, Subject, Threshold


async def find_policies(
    conn: Conn, lookups: Sequence[tuple[Sequence[Subject], Sequence[str]]]
) -> list[dict[Subject, Policy]]:
    """The policies of the subjects of each message, with the entries that have one of the message's values."""
    values = [{"number": number, "keys": keys} for number, (_, keys) in enumerate(lookups)]
    subjects = [
        {"number": number, "domain_id": each.domain_id, "mailbox_id": each.mailbox_id}
        for number, (of_message, _) in enumerate(lookups)
        for each in of_message
    ]
    # Each part of `entries` reads the unique index of filter_entries, however many entries there are.
    cursor = await conn.execute(
        """
        SELECT s.number, s.domain_id, s.mailbox_id,
               coalesce(m.junk_score, d.junk_score, g.junk_score) AS junk_score,
               CASE WHEN m.junk_score IS NOT NULL THEN 'mailbox' WHEN d.junk_score IS NOT NULL THEN 'domain'
                    ELSE 'server' END AS junk_scope,
               coalesce(m.reject_score, d.reject_score, g.reject_score) AS reject_score,
               CASE WHEN m.reject_score IS NOT NULL THEN 'mailbox' WHEN d.reject_score IS NOT NULL THEN 'domain'
                    ELSE 'server' END AS reject_scope,
               coalesce(entries.list, '[]') AS entries
        FROM jsonb_to_recordset(%(subjects)s) AS s(number integer, domain_id uuid, mailbox_id uuid)
        JOIN jsonb_to_recordset(%(values)s) AS v(number integer, keys text[]) ON v.number = s.number
        JOIN filter_settings g ON g.domain_id IS NULL AND g.mailbox_id IS NULL
        LEFT JOIN filter_settings d ON d.domain_id = s.domain_id AND d.mailbox_id IS NULL
        LEFT JOIN filter_settings m ON m.mailbox_id = s.mailbox_id AND m.domain_id IS NULL
        LEFT JOIN LATERAL (
            SELECT jsonb_agg(jsonb_build_array(e.id, e.scope, e.list, e.kind, e.value, e.enforced)) AS list FROM (
                SELECT id, 'server' AS scope, list, kind, value, enforced FROM filter_entries
                WHERE mailbox_id IS NULL AND domain_id IS NULL AND value = ANY(v.keys)
                UNION ALL
                SELECT id, 'domain', list, kind, value, enforced FROM filter_entries
                WHERE mailbox_id IS NULL AND domain_id = s.domain_id AND value = ANY(v.keys)
                UNION ALL
                SELECT id, 'mailbox', list, kind, value, enforced FROM filter_entries
                WHERE mailbox_id = s.mailbox_id AND domain_id IS NULL AND value = ANY(v.keys)
            ) e
        ) entries ON true
        """,
        {"subjects": _json(subjects), "values": _json(values)},
    )
    found: list[dict[Subject, Policy]] = [{} for _ in lookups]
    for row in await cursor.fetchall():
        found[row["number"]][Subject(row["domain_id"], row["mailbox_id"])] = _policy(row)
    return found


def _policy(row: Mapping[str, Any]) -> Policy:
    entries = tuple(Entry(UUID(entry_id), *rest) for entry_id, *rest in row["entries"])
    junk, reject = (Threshold(row[f"{name}_score"], row[f"{name}_scope"]) for name in ("junk", "reject"))
    return Policy(junk, reject, entries)


async def write_server(conn: Conn, at: datetime, values: Mapping[str, Any]) -> None:
    """Write the server's values."""
    await conn.execute(
        """
        UPDATE filter_settings
        SET junk_score = %(junk_score)s, reject_score = %(reject_score)s, digest = %(digest)s, learn = %(learn)s,
            updated_at = %(at)s
        WHERE domain_id IS NULL AND mailbox_id IS NULL
        """,
        {**values, "at": at},
    )


async def add_hits(conn: Conn, hits: Mapping[UUID, tuple[int, datetime]]) -> None:
    """Count matches of entries, each with their number and the time of the last."""
    rows = [{"id": entry_id, "number": number, "at": at} for entry_id, (number, at) in hits.items()]
    # Locked in one order, so that two processes can't deadlock.
    await conn.execute(
        """
        WITH locked AS (
            SELECT e.id, h.number, h.at FROM jsonb_to_recordset(%(rows)s) AS h(id uuid, number bigint, at timestamptz)
            JOIN filter_entries e ON e.id = h.id
            ORDER BY e.id FOR NO KEY UPDATE OF e
        )
        UPDATE filter_entries e SET hits = e.hits + l.number, last_hit_at = greatest(e.last_hit_at, l.at)
        FROM locked l WHERE e.id = l.id
        """,
        {"rows": _json(rows)},
    )


def _json(value: Any) -> Jsonb:
    return Jsonb(value, dumps=msgspec.json.encode)
