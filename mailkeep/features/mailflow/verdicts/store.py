"""SQL of decisions while mail is received."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.db.pool import Conn
from mailkeep.features.directory.routing.model import Filters
from mailkeep.features.mailflow.filtering import service as filtering
from mailkeep.features.mailflow.filtering.model import Policy, Subject
from mailkeep.features.mailflow.verdicts.model import RefusedMail


async def find_destinations(
    conn: Conn, recipients: Sequence[str], values: Sequence[str]
) -> tuple[list[Filters], dict[Subject, Policy]]:
    """Whose filters apply to each recipient (domains in A-labels), and their policies with the entries that have one of
    these values.
    """
    cursor = await conn.execute(
        """
        SELECT f.mailbox_ids, f.domain_ids, f.is_forwarded, f.forwarding_id, p.policies
        FROM unnest(%(recipients)s::text[]) WITH ORDINALITY AS a(recipient, number)
        CROSS JOIN LATERAL route_filters(a.recipient) f
        CROSS JOIN LATERAL (
            SELECT jsonb_agg(to_jsonb(p) || jsonb_build_object('domain_id', s.domain_id, 'mailbox_id', s.mailbox_id))
                   AS policies
            FROM (SELECT u.domain_id, u.mailbox_id FROM unnest(f.domain_ids, f.mailbox_ids) AS u(domain_id, mailbox_id)
                  UNION ALL SELECT f.forwarding_id, NULL WHERE f.is_forwarded) s
            CROSS JOIN LATERAL filter_policy(s.domain_id, s.mailbox_id, %(values)s::text[]) p
        ) p
        ORDER BY a.number
        """,
        {"recipients": list(recipients), "values": list(values)},
    )
    found: list[Filters] = []
    policies: dict[Subject, Policy] = {}
    for row in await cursor.fetchall():
        mailboxes = dict(zip(row["mailbox_ids"], row["domain_ids"], strict=True))
        found.append(Filters(mailboxes, row["is_forwarded"], row["forwarding_id"]))
        for each in row["policies"] or ():
            ids = [UUID(each[name]) if each[name] else None for name in ("domain_id", "mailbox_id")]
            policies[Subject(*ids)] = filtering.read_policy(each)
    return found, policies


async def insert_refused(conn: Conn, mail: RefusedMail) -> None:
    """Store what is known of a message that is about to be refused."""
    await conn.execute(
        """
        INSERT INTO refused_mail (queue_id, verdict, refused_at) VALUES (%(queue_id)s, %(verdict)s, %(at)s)
        ON CONFLICT (queue_id) DO UPDATE SET verdict = excluded.verdict, refused_at = excluded.refused_at
        """,
        {"queue_id": mail.queue_id, "verdict": Jsonb(mail, dumps=msgspec.json.encode), "at": mail.refused_at},
    )


async def take_refused(conn: Conn, queue_ids: Collection[str]) -> Sequence[RefusedMail]:
    """Delete and return the refused messages with these queue IDs."""
    cursor = await conn.execute(
        "DELETE FROM refused_mail WHERE queue_id = ANY(%(ids)s) RETURNING verdict", {"ids": list(queue_ids)}
    )
    return [msgspec.convert(row["verdict"], RefusedMail) for row in await cursor.fetchall()]


async def delete_refused(conn: Conn, before: datetime) -> None:
    """Delete what was refused before `before`."""
    await conn.execute("DELETE FROM refused_mail WHERE refused_at < %(before)s", {"before": before})
