"""The SQL of local delivery."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg.types.json import Jsonb

from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.filtering import service as filtering
from mailkeep.features.mailflow.local_delivery.model import LocalMailbox
from mailkeep.features.mailflow.receiving.model import TargetMailbox

MailboxLookup = tuple[str, Sequence[tuple[str, str]], Sequence[str]]
"""A queue ID, the addresses (local part, domain) of its message, and the values of list entries that can match it."""


async def find_mailboxes(
    conn: Conn, lookups: Sequence[MailboxLookup], *, always_full: bool
) -> list[dict[tuple[str, str], LocalMailbox]]:
    """For each lookup, the mailboxes by address, with their policies. Addresses may have a tag; those without a mailbox
    are missing.
    """
    addresses = [(number, queue_id, *pair) for number, (queue_id, pairs, _) in enumerate(lookups) for pair in pairs]
    cursor = await conn.execute(
        """
        SELECT a.number, a.local, a.domain, m.id AS mailbox_id, d.id AS domain_id, d.name AS domain_name, m.quota_bytes,
               m.used_bytes, publishes_full_mail(d.id, %(always_full)s) AS publishes_full_mail, d.active,
               s.queue_id IS NOT NULL AS recorded, p.*
        FROM unnest(%(numbers)s::integer[], %(queue_ids)s::text[], %(locals)s::text[], %(domains)s::text[])
             AS a (number, queue_id, local, domain)
        CROSS JOIN LATERAL mta_mailbox_of(a.local, a.domain) m
        JOIN domains d ON d.id = m.domain_id
        CROSS JOIN LATERAL filter_policy(
            d.id, m.id, ARRAY(SELECT jsonb_array_elements_text(%(values)s::jsonb -> a.number))) p
        LEFT JOIN inbound_claims s ON s.queue_id = a.queue_id AND s.recipient = m.id::text
        """,
        {
            "numbers": [number for number, *_ in addresses],
            "queue_ids": [queue_id for _, queue_id, *_ in addresses],
            "locals": [local for *_, local, _ in addresses],
            "domains": [domain for *_, domain in addresses],
            "values": Jsonb([list(values) for *_, values in lookups]),
            "always_full": always_full,
        },
    )
    mailboxes: list[dict[tuple[str, str], LocalMailbox]] = [{} for _ in lookups]
    for row in await cursor.fetchall():
        target = TargetMailbox(**{name: row[name] for name in TargetMailbox.__slots__})
        mailbox = LocalMailbox(target, row["active"], row["recorded"], filtering.read_policy(row))
        mailboxes[row["number"]][row["local"], row["domain"]] = mailbox
    return mailboxes
