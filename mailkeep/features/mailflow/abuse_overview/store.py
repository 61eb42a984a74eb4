"""The SQL of the usage of limits."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.abuse_overview.model import LimitUsage


async def list_usage(
    conn: Conn, at: datetime, domains: list[UUID] | None, settings: Mapping[str, float], share: float, limit: int
) -> list[LimitUsage]:
    """Those in `domains` (None: in all) that have used at least `share` of a threshold in the hour before `at`, the
    nearest first, or if `share` is 0 those with the most recipients. `settings`: the thresholds of all, by name.
    """
    cursor = await conn.execute(
        # `n.lowest`, or the limit, leaves out most subjects before their own thresholds are looked up.
        """
        WITH used AS MATERIALIZED (
            SELECT c.subject, sum(c.recipients) AS recipients,
                   CASE WHEN c.subject LIKE '%%@%%' THEN 'sender_per_hour'
                        WHEN c.subject LIKE 'forwards %%' THEN 'forward_per_hour' ELSE 'domain_per_hour' END AS name,
                   split_part(split_part(c.subject, '@', -1), ' ', -1) AS domain
            FROM send_counts c
            WHERE c.minute > lower(send_minutes(%(at)s)) AND c.minute < upper(send_minutes(%(at)s))
            GROUP BY c.subject HAVING sum(c.recipients) > 0
        )
        SELECT u.name, CASE WHEN u.name = 'sender_per_hour' THEN u.subject ELSE u.domain END AS subject,
               u.domain_id, m.id AS mailbox_id, u.recipients::bigint AS used, t.value::bigint AS "limit"
        FROM (
            SELECT u.*, d.id AS domain_id, n.value
            FROM used u
            JOIN (SELECT s.name, s.value,
                         least(s.value, (SELECT min(o.value) FROM thresholds o WHERE o.name = s.name)) AS lowest
                  FROM unnest(%(names)s::text[], %(values)s::double precision[]) s (name, value)) n
              ON n.name = u.name AND u.recipients >= n.lowest * %(share)s
            LEFT JOIN domains d ON d.name = u.domain
            WHERE %(domains)s::uuid[] IS NULL OR d.id = ANY(%(domains)s)
            ORDER BY u.recipients DESC, u.subject
            LIMIT CASE WHEN %(share)s > 0 THEN NULL ELSE %(limit)s END
        ) u
        LEFT JOIN mailboxes m ON m.address_key = u.subject AND m.deleted_at IS NULL
        CROSS JOIN LATERAL effective_thresholds(u.subject, u.domain, ARRAY[u.name], ARRAY[u.value]) t
        WHERE u.recipients >= t.value * %(share)s
        ORDER BY CASE WHEN %(share)s > 0 THEN u.recipients / t.value ELSE u.recipients END DESC, u.subject
        LIMIT %(limit)s
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
    return [LimitUsage(**row) for row in await cursor.fetchall()]
