"""SQL of suppressions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
import psycopg
from psycopg.types.json import Jsonb

from mailkeep.core.errors import invalid_field
from mailkeep.core.ids import uuid7, uuid7_floor
from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn, constraint_of
from mailkeep.features.mailflow.suppressions.model import (
    NewSuppression,
    Suppression,
    SuppressionCandidate,
    SuppressionFilter,
)
from mailkeep.features.record.messages.model import ServerReply

_SELECT = """
    SELECT s.id, s.domain_id, d.name AS domain_name, s.address, s.reason, s.group_id, s.source_message_id, s.created_at
    FROM suppressions s JOIN domains d ON d.id = s.domain_id
"""


async def insert(conn: Conn, at: datetime, new: Sequence[NewSuppression]) -> list[tuple[UUID, bool]]:
    """Add suppressions. Returns the ID of each, and whether it is new: an existing one does not change.

    INVALID_FIELD if a group does not exist in its domain; nothing is added then.
    """
    ids = [uuid7(at) for _ in new]
    rows: list[dict[str, Any]] = [
        {
            "id": suppression_id,
            "domain_id": each.domain_id,
            "address": each.address.text,
            "address_key": each.address.key,
            "reason": each.reason,
            "group_id": each.group_id,
            "source_message_id": each.source_message_id,
        }
        for suppression_id, each in zip(ids, new, strict=True)
    ]
    try:
        # Sorted, so that two calls with the same addresses can't deadlock.
        cursor = await conn.execute(
            """
            INSERT INTO suppressions (id, domain_id, address, address_key, reason, group_id, source_message_id,
                                      created_at)
            SELECT r.id, r.domain_id, r.address, r.address_key, r.reason, r.group_id, r.source_message_id, %(at)s
            FROM jsonb_to_recordset(%(rows)s) AS r(id uuid, domain_id uuid, address text, address_key text,
                                                   reason text, group_id uuid, source_message_id uuid)
            ORDER BY r.domain_id, r.address_key, r.group_id
            ON CONFLICT ON CONSTRAINT suppressions_unique DO NOTHING
            RETURNING id
            """,
            {"rows": Jsonb(rows, dumps=msgspec.json.encode), "at": at},
        )
    except psycopg.errors.ForeignKeyViolation as error:
        if constraint_of(error) == "suppressions_group":
            raise invalid_field("group_id", "is not the ID of an unsubscribe group of this domain") from None
        raise
    added = {row["id"] for row in await cursor.fetchall()}
    if len(added) == len(rows):
        return [(each, True) for each in ids]
    cursor = await conn.execute(
        """
        SELECT r.number, s.id FROM jsonb_to_recordset(%(keys)s)
               AS r(number integer, domain_id uuid, address_key text, group_id uuid)
        JOIN suppressions s ON s.domain_id = r.domain_id AND s.address_key = r.address_key
                               AND s.group_id IS NOT DISTINCT FROM r.group_id
        """,
        {
            "keys": Jsonb(
                [
                    {"number": number} | {name: row[name] for name in ("domain_id", "address_key", "group_id")}
                    for number, row in enumerate(rows)
                ],
                dumps=msgspec.json.encode,
            )
        },
    )
    existing = {row["number"]: row["id"] for row in await cursor.fetchall()}
    return [(existing.get(number, each), each in added) for number, each in enumerate(ids)]


async def insert_bounced(conn: Conn, at: datetime, candidates: Collection[SuppressionCandidate]) -> None:
    """Add suppressions for recipients of messages that were sent by API or by a mail client, each for the domain of its
    message, if that still exists.
    """
    rows = [{"id": uuid7(at), "message_id": each.message_id, "address": each.address} for each in candidates]
    await conn.execute(
        """
        INSERT INTO suppressions (id, domain_id, address, address_key, reason, source_message_id, created_at)
        SELECT DISTINCT ON (m.domain_id, r.address_key)
               c.id, m.domain_id, r.address, r.address_key, 'hard_bounce', m.id, %(at)s
        FROM jsonb_to_recordset(%(rows)s) AS c(id uuid, message_id uuid, address text)
        JOIN messages m ON m.id = c.message_id AND m.source IN ('api', 'smtp')
        JOIN message_recipients r ON r.message_id = m.id AND r.address = c.address
        JOIN domains d ON d.id = m.domain_id
        ORDER BY m.domain_id, r.address_key, c.id
        ON CONFLICT ON CONSTRAINT suppressions_unique DO NOTHING
        """,
        {"rows": Jsonb(rows, dumps=msgspec.json.encode), "at": at},
    )


async def list_failures(
    conn: Conn, candidate: SuppressionCandidate, since: datetime, limit: int
) -> list[tuple[str, ServerReply]]:
    """Status and last reply of the recipients with the address of the candidate in messages since then that failed,
    newest first: of messages of the same domain that were sent by API or by a mail client.
    """
    cursor = await conn.execute(
        """
        SELECT f.status, f.smtp_code, f.enhanced_code, f.diagnostic, f.remote_host
        FROM messages c
        JOIN message_recipients r ON r.message_id = c.id AND r.address = %(address)s
        JOIN message_recipients f ON f.address_key = r.address_key AND f.message_id >= %(since)s
        JOIN messages m ON m.id = f.message_id
        WHERE c.id = %(message_id)s AND m.domain_id = c.domain_id AND m.source IN ('api', 'smtp')
          AND f.status IN ('bounced', 'failed')
        ORDER BY f.message_id DESC LIMIT %(limit)s
        """,
        {
            "message_id": candidate.message_id,
            "address": candidate.address,
            "since": uuid7_floor(since),
            "limit": limit,
        },
    )
    return [
        (
            row["status"],
            ServerReply(row["smtp_code"], row["enhanced_code"], row["diagnostic"], row["remote_host"]),
        )
        for row in await cursor.fetchall()
    ]


async def find(conn: Conn, suppression_id: UUID) -> Suppression | None:
    """The suppression with this ID."""
    cursor = await conn.execute(_SELECT + " WHERE s.id = %(id)s", {"id": suppression_id})
    row = await cursor.fetchone()
    return Suppression(**row) if row else None


async def delete(conn: Conn, suppression_id: UUID) -> bool:
    """Delete a suppression; False if it does not exist."""
    cursor = await conn.execute("DELETE FROM suppressions WHERE id = %(id)s", {"id": suppression_id})
    return cursor.rowcount > 0


async def page(conn: Conn, filters: SuppressionFilter, page_request: PageRequest) -> Page[Suppression]:
    """A page of suppressions; `filters.address` is a pattern of LIKE for the folded address."""
    result = await fetch_page(
        conn,
        _SELECT,
        [
            ("s.domain_id = ANY(%(domains)s)", "domains", filters.domains if filters.domain_id is None else None),
            ("s.domain_id = %(domain_id)s", "domain_id", filters.domain_id),
            ("s.address_key LIKE %(address)s", "address", filters.address),
            ("s.reason = %(reason)s", "reason", filters.reason),
            ("s.group_id = %(group_id)s", "group_id", filters.group_id),
        ],
        page_request,
        {"created_at": "s.id", "address": "s.address", "id": "s.id"},
    )
    return Page([Suppression(**row) for row in result.rows], result.next_key)
