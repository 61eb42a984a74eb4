"""The SQL of the inbox."""

from __future__ import annotations

from collections.abc import Sequence

from mailkeep.db.pool import Conn
from mailkeep.features.inbox.model import Place
from mailkeep.features.receiving.model import Home


async def places(
    conn: Conn, queue_id: str, addresses: Sequence[tuple[str, str]], *, always_full: bool
) -> dict[tuple[str, str], Place]:
    """The mailboxes of addresses (local part, domain) that have one, with or without a tag."""
    cursor = await conn.execute(
        """
        SELECT a.local, a.domain, m.id AS mailbox_id, d.id AS domain_id, d.name AS domain_name, m.quota_bytes,
               m.used_bytes, wants_full(d.id, %(always_full)s) AS wants_full, d.active,
               s.queue_id IS NOT NULL AS filed
        FROM unnest(%(locals)s::text[], %(domains)s::text[]) AS a (local, domain)
        CROSS JOIN LATERAL mta_mailbox_of(a.local, a.domain) m
        JOIN domains d ON d.id = m.domain_id
        LEFT JOIN inbound_seen s ON s.queue_id = %(queue_id)s AND s.recipient = m.id::text
        """,
        {
            "locals": [local for local, _ in addresses],
            "domains": [domain for _, domain in addresses],
            "queue_id": queue_id,
            "always_full": always_full,
        },
    )
    return {
        (row["local"], row["domain"]): Place(
            Home(
                row["mailbox_id"],
                row["domain_id"],
                row["domain_name"],
                row["quota_bytes"],
                row["used_bytes"],
                row["wants_full"],
            ),
            row["active"],
            row["filed"],
        )
        for row in await cursor.fetchall()
    }
