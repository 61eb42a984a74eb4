"""The SQL of the mail for mailboxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

from psycopg.sql import SQL, Composed

from mailkeep.core.ids import uuid7_floor
from mailkeep.db.pool import Conn
from mailkeep.features.record.history.model import MailboxMail, MailSelection, Slice


async def list_of_mailboxes(
    conn: Conn, mails: Sequence[MailboxMail], selection: MailSelection, window: Slice
) -> list[list[UUID]]:
    """The first messages of the mail for each mailbox. The window applies to each of them."""
    cursor = await conn.execute(
        SQL(
            """
            SELECT w.number, m.id
            FROM unnest(%(mailbox_ids)s::uuid[], %(address_keys)s::text[], %(domain_ids)s::uuid[], %(since)s::uuid[],
                        %(address_since)s::uuid[])
                 WITH ORDINALITY AS w (mailbox_id, address_key, domain_id, since, address_since, number)
            CROSS JOIN LATERAL (
                (SELECT m.id FROM messages m
                 WHERE m.mailbox_id = w.mailbox_id AND m.direction = 'inbound' AND {bounds}
                   AND (%(result)s::text IS NULL OR %(result)s = CASE
                        WHEN m.status = 'rejected' THEN 'rejected' WHEN m.spam_action = 'add header' THEN 'junk'
                        ELSE 'received' END)
                   AND {selected}
                 ORDER BY m.id {order} LIMIT %(limit)s)
                UNION ALL
                (SELECT m.id FROM message_recipients r JOIN messages m ON m.id = r.message_id
                 WHERE r.address_key = w.address_key AND {recipient_bounds} AND m.domain_id = w.domain_id
                   AND r.message_id >= w.address_since
                   AND m.mailbox_id IS NULL AND m.direction = 'inbound' AND m.status = 'rejected'
                   AND (%(result)s::text IS NULL OR %(result)s = 'rejected')
                   AND {selected}
                 ORDER BY r.message_id {order} LIMIT %(limit)s)
                ORDER BY id {order} LIMIT %(limit)s
            ) m ORDER BY w.number, m.id {order}
            """
        ).format(
            bounds=_all(_bounds("m.id", window)),
            recipient_bounds=_all(_bounds("r.message_id", window)),
            selected=_all(_selection_conditions(selection)),
            order=SQL("DESC") if window.descending else SQL("ASC"),
        ),
        {
            "mailbox_ids": [each.mailbox_id for each in mails],
            "address_keys": [each.address_key for each in mails],
            "domain_ids": [each.domain_id for each in mails],
            "since": [uuid7_floor(each.since) for each in mails],
            "address_since": [uuid7_floor(each.address_since) for each in mails],
            "result": selection.result,
            "after": window.after,
            "limit": window.limit,
        },
    )
    found = [list[UUID]() for _ in mails]
    for row in await cursor.fetchall():
        number: int = row["number"]
        found[number - 1].append(row["id"])
    return found


def _bounds(column: LiteralString, window: Slice) -> list[LiteralString]:
    bounds: list[LiteralString] = [f"{column} >= w.since"]
    if window.after is not None:
        bounds.append(f"{column} < %(after)s" if window.descending else f"{column} > %(after)s")
    return bounds


def _selection_conditions(selection: MailSelection) -> list[LiteralString]:
    conditions: list[tuple[bool, LiteralString]] = [
        # The condition of the index messages_by_spam, and the two results of the filter.
        (selection.filtered, "m.spam_action IN ('add header', 'reject')"),
        (selection.filtered, "(m.spam_action = 'reject') = (m.status = 'rejected')"),
        (selection.without_denied, "m.spam_decided_by ->> 'rule' IS DISTINCT FROM 'deny_entry'"),
    ]
    return [condition for is_wanted, condition in conditions if is_wanted]


def _all(conditions: Sequence[LiteralString]) -> Composed:
    return SQL(" AND ").join(map(SQL, conditions or ["TRUE"]))
