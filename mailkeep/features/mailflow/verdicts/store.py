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
from mailkeep.features.mailflow.filtering.model import DecidedBy, Policy, Subject
from mailkeep.features.mailflow.receiving.model import Denial
from mailkeep.features.mailflow.verdicts.model import RefusedMail


async def find_destinations(
    conn: Conn, lookups: Sequence[tuple[Sequence[str], Sequence[str]]]
) -> list[tuple[list[Filters], dict[Subject, Policy]]]:
    """For each message, given by its recipients (domains in A-labels) and the values of list entries that can match it:
    whose filters apply to each recipient, and their policies. Neither may contain LF or TAB.
    """
    asked = [
        (number, place, each, "\t".join(values))
        for number, (recipients, values) in enumerate(lookups)
        for place, each in enumerate(recipients)
    ]
    cursor = await conn.execute(
        """
        SELECT a.row, f.is_forwarded, f.forwarding_id, s.domain_id, s.mailbox_id, p.*
        FROM unnest(string_to_array(%(recipients)s, E'\\n'), string_to_array(%(values)s, E'\\n')) WITH ORDINALITY
             AS a(recipient, values, row)
        CROSS JOIN LATERAL route_filters(a.recipient) f
        LEFT JOIN LATERAL unnest(
            CASE WHEN f.is_forwarded THEN f.domain_ids || f.forwarding_id ELSE f.domain_ids END,
            CASE WHEN f.is_forwarded THEN f.mailbox_ids || NULL::uuid ELSE f.mailbox_ids END
        ) AS s(domain_id, mailbox_id) ON true
        LEFT JOIN LATERAL filter_policy(s.domain_id, s.mailbox_id, string_to_array(a.values, E'\\t')) p ON true
        """,
        # As text: arrays take psycopg a quarter of the time of the whole query.
        {"recipients": "\n".join(each[2] for each in asked), "values": "\n".join(each[3] for each in asked)},
    )
    mailboxes: list[dict[UUID, UUID]] = [{} for _ in asked]
    found: list[tuple[list[Filters], dict[Subject, Policy]]] = [
        ([Filters({}, is_forwarded=False, forwarding_id=None) for _ in recipients], {}) for recipients, _ in lookups
    ]
    for row in await cursor.fetchall():
        index: int = row["row"] - 1
        number, place, _, _ = asked[index]
        subject = Subject(row["domain_id"], row["mailbox_id"])
        if subject.mailbox_id and subject.domain_id:
            mailboxes[index][subject.mailbox_id] = subject.domain_id
        filters, policies = found[number]
        filters[place] = Filters(mailboxes[index], row["is_forwarded"], row["forwarding_id"])
        policies[subject] = filtering.read_policy(row)
    return found


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


async def insert_denial(conn: Conn, key: str, denial: Denial, at: datetime) -> None:
    """Store why a recipient is about to be refused at RCPT."""
    await conn.execute(
        """
        INSERT INTO denials (key, mailbox_id, decided_by, denied_at)
        VALUES (%(key)s, %(mailbox_id)s, %(decided_by)s, %(at)s)
        """,
        {
            "key": key,
            "mailbox_id": denial.mailbox_id,
            "decided_by": Jsonb(denial.decided_by, dumps=msgspec.json.encode),
            "at": at,
        },
    )


async def take_denials(conn: Conn, keys: Sequence[str]) -> dict[str, list[Denial]]:
    """Delete and return the oldest denials with these keys: for each key as many as it is in `keys`, oldest first."""
    cursor = await conn.execute(
        """
        WITH wanted AS (
            SELECT k.key, count(*) AS number FROM unnest(%(keys)s::text[]) AS k(key) GROUP BY k.key
        ), numbered AS (
            SELECT d.id, row_number() OVER (PARTITION BY d.key ORDER BY d.id) AS place, w.number
            FROM denials d JOIN wanted w ON w.key = d.key
        ), taken AS (
            DELETE FROM denials d USING numbered n WHERE d.id = n.id AND n.place <= n.number
            RETURNING d.id, d.key, d.mailbox_id, d.decided_by
        )
        SELECT key, mailbox_id, decided_by FROM taken ORDER BY id
        """,
        {"keys": list(keys)},
    )
    found: dict[str, list[Denial]] = {}
    for row in await cursor.fetchall():
        denial = Denial(msgspec.convert(row["decided_by"], DecidedBy), row["mailbox_id"])
        found.setdefault(row["key"], []).append(denial)
    return found


async def delete_denials(conn: Conn, before: datetime) -> None:
    """Delete denials from before `before`."""
    await conn.execute("DELETE FROM denials WHERE denied_at < %(before)s", {"before": before})


async def delete_refused(conn: Conn, before: datetime) -> None:
    """Delete what was refused before `before`."""
    await conn.execute("DELETE FROM refused_mail WHERE refused_at < %(before)s", {"before": before})
