"""The SQL of the usage of limits."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.abuse_overview.model import LimitUsage


async def list_usage(
    conn: Conn, at: datetime, domains: list[UUID] | None, settings: Mapping[str, float], share: float, limit: int
) -> tuple[list[LimitUsage], list[LimitUsage]]:
    """Those in `domains` (None: in all) that have used at least `share` of a threshold in the hour before `at`, the
    nearest first; and the senders with the most recipients. `settings`: the thresholds of all, by name.
    """
    cursor = await conn.execute(
        # `@>` uses no index: reading all counts takes half as long as finding them by that of subjects. `n.lowest`, or
        # the limit, leaves out most subjects before their own thresholds are looked up.
        """
        WITH used AS MATERIALIZED (
            SELECT c.subject, sum(c.recipients) AS recipients
            FROM send_counts c WHERE (SELECT send_minutes(%(at)s)) @> c.minute
            GROUP BY c.subject HAVING sum(c.recipients) > 0
        ), named AS MATERIALIZED (
            SELECT u.*,
                   CASE WHEN u.subject LIKE '%%@%%' THEN 'sender_per_hour'
                        WHEN u.subject LIKE 'forwards %%' THEN 'forward_per_hour' ELSE 'domain_per_hour' END AS name,
                   split_part(split_part(u.subject, '@', -1), ' ', -1) AS domain
            FROM used u
        ), limits AS MATERIALIZED (
            SELECT s.name, s.value,
                   least(s.value, (SELECT min(o.value) FROM thresholds o WHERE o.name = s.name)) AS lowest
            FROM unnest(%(names)s::text[], %(values)s::double precision[]) s (name, value)
        ), picked AS (
            SELECT u.*, d.id AS domain_id, n.value, true AS is_near
            FROM named u
            JOIN limits n ON n.name = u.name AND u.recipients >= n.lowest * %(share)s
            LEFT JOIN domains d ON d.name = u.domain
            WHERE %(domains)s::uuid[] IS NULL OR d.id = ANY(%(domains)s)
            UNION ALL (
                SELECT u.*, d.id, n.value, false
                FROM named u
                JOIN limits n ON n.name = u.name
                LEFT JOIN domains d ON d.name = u.domain
                WHERE u.name = 'sender_per_hour' AND (%(domains)s::uuid[] IS NULL OR d.id = ANY(%(domains)s))
                ORDER BY u.recipients DESC, u.subject LIMIT %(limit)s)
        ), ranked AS (
            SELECT u.*, t.value AS threshold,
                   row_number() OVER (
                       PARTITION BY u.is_near
                       ORDER BY u.recipients / CASE WHEN u.is_near THEN t.value ELSE 1 END DESC, u.subject) AS position
            FROM picked u
            CROSS JOIN LATERAL effective_thresholds(u.subject, u.domain, ARRAY[u.name], ARRAY[u.value]) t
            WHERE NOT u.is_near OR u.recipients >= t.value * %(share)s
        )
        SELECT u.is_near, u.name, CASE WHEN u.name = 'sender_per_hour' THEN u.subject ELSE u.domain END AS subject,
               u.domain_id, m.id AS mailbox_id, u.recipients::bigint AS used, u.threshold::bigint AS "limit"
        FROM ranked u
        LEFT JOIN mailboxes m ON m.address_key = u.subject AND m.deleted_at IS NULL
        WHERE u.position <= %(limit)s
        ORDER BY u.position
        """,
        {
            "at": at,
            "domains": domains,
            "names": list(settings),
            "values": list(settings.values()),
            "share": share,
            "limit": limit,
        },
    )
    near: list[LimitUsage] = []
    top: list[LimitUsage] = []
    for row in await cursor.fetchall():
        (near if row.pop("is_near") else top).append(LimitUsage(**row))
    return near, top
