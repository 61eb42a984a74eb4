"""SQL of sign-ins to mailboxes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import LiteralString
from uuid import UUID

from mailkeep.core.ids import uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import ListFilter, fetch_page
from mailkeep.db.pool import Conn
from mailkeep.features.directory.login_history.model import MAX_PROGRAM, MailboxSignIn, SignInDay

_SELECT = "SELECT l.id, l.protocol, l.ip, l.program, l.first_at, l.last_at FROM mailbox_logins l"


async def upsert(conn: Conn, sign_ins: Sequence[MailboxSignIn]) -> set[UUID]:
    """Write sign-ins; ignores deleted mailboxes. Rows are locked in one order.

    Returns the mailboxes that another transaction has locked; their sign-ins are not written.
    """
    cursor = await conn.execute(
        """
        WITH free AS (
            SELECT m.id FROM mailboxes m WHERE m.id = ANY(%(mailboxes)s) FOR KEY SHARE SKIP LOCKED
        ), sign_ins AS (
            SELECT s.id, f.id AS mailbox_id, s.day, s.protocol, s.ip, s.at,
                   left(coalesce(p.name, s.program), %(max)s) AS program
              FROM unnest(%(ids)s::uuid[], %(mailboxes)s::uuid[], %(days)s::date[], %(protocols)s::text[],
                          %(ips)s::text[], %(programs)s::text[], %(numbers)s::bigint[], %(times)s::timestamptz[])
                   AS s (id, mailbox_id, day, protocol, ip, program, number, at)
              JOIN free f ON f.id = s.mailbox_id
              LEFT JOIN app_passwords p ON p.mailbox_id = f.id AND p.number = s.number
        ), written AS (
            INSERT INTO mailbox_logins AS l (id, mailbox_id, day, protocol, ip, program, first_at, last_at)
            SELECT DISTINCT ON (s.mailbox_id, s.day, s.protocol, s.ip, s.program)
                   s.id, s.mailbox_id, s.day, s.protocol, s.ip, s.program, s.at, s.at
              FROM sign_ins s ORDER BY s.mailbox_id, s.day, s.protocol, s.ip, s.program, s.at DESC
            ON CONFLICT ON CONSTRAINT mailbox_logins_unique DO UPDATE
            SET last_at = greatest(l.last_at, excluded.last_at)
        )
        SELECT m.id FROM mailboxes m
        WHERE m.id = ANY(%(mailboxes)s) AND NOT EXISTS (SELECT FROM free f WHERE f.id = m.id)
        """,
        {
            "ids": [uuid7(each.at) for each in sign_ins],
            "mailboxes": [each.mailbox_id for each in sign_ins],
            "days": [each.at.astimezone(UTC).date() for each in sign_ins],
            "protocols": [each.protocol for each in sign_ins],
            "ips": [each.ip for each in sign_ins],
            "programs": [each.program for each in sign_ins],
            "numbers": [each.number for each in sign_ins],
            "times": [each.at for each in sign_ins],
            "max": MAX_PROGRAM,
        },
    )
    return {row["id"] for row in await cursor.fetchall()}


async def page(conn: Conn, mailbox_id: UUID, since: datetime, page_request: PageRequest) -> Page[SignInDay]:
    """A page of the sign-ins to a mailbox on the day of `since` and later."""
    columns: dict[str, LiteralString] = {"created_at": "l.id", "id": "l.id"}
    conditions: list[ListFilter] = [
        ("l.mailbox_id = %(mailbox_id)s", "mailbox_id", mailbox_id),
        ("l.day >= %(day)s", "day", since.astimezone(UTC).date()),
    ]
    result = await fetch_page(conn, _SELECT, conditions, page_request, columns)
    return Page([SignInDay(**row) for row in result.rows], result.next_key)


async def delete_before(conn: Conn, day: date) -> None:
    """Delete the rows of earlier days."""
    await conn.execute("DELETE FROM mailbox_logins WHERE day < %(day)s", {"day": day})
