"""The SQL of mailbox usage and last logins. No statement waits for a mailbox that another transaction has locked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.directory.mailbox_usage.model import (
    Arrivals,
    MailboxLogin,
    MailboxUsage,
    QuotaChange,
    TrackedMailbox,
)

_MAX_WAIT = timedelta(seconds=10)  # a mailbox due for longer gets its count written even if a report is newer

# Active mailboxes of active domains.
_SELECT_TRACKED = """
    SELECT m.id, m.address_key, m.used_bytes > 0 OR m.message_count > 0 AS has_mail, m.usage_reported_at,
           m.usage_counted_at
    FROM mailboxes m JOIN domains d ON d.id = m.domain_id
    WHERE m.deleted_at IS NULL AND m.active AND d.active
"""


async def report(conn: Conn, reports: Sequence[MailboxUsage]) -> list[UUID]:
    """Write reported usage, one report for each mailbox, unless something newer is known.

    A report that may be stale makes its mailbox due for a count. Returns the mailboxes that are locked; they are
    unchanged. Deleted mailboxes are skipped.
    """
    cursor = await conn.execute(
        """
        WITH reports AS (
            SELECT t.id, t.at, t.bytes, t.messages, t.stale
            FROM unnest(%(ids)s::uuid[], %(times)s::timestamptz[], %(bytes)s::bigint[], %(messages)s::bigint[],
                        %(stale)s::boolean[]) AS t (id, at, bytes, messages, stale)
        ), free AS (
            SELECT m.id FROM mailboxes m WHERE m.id = ANY(%(ids)s) FOR NO KEY UPDATE SKIP LOCKED
        ), written AS (
            UPDATE mailboxes m
            SET used_bytes = t.bytes, message_count = t.messages, usage_reported_at = t.at,
                usage_count_due_at = CASE WHEN t.stale THEN coalesce(m.usage_count_due_at, t.at)
                                          ELSE m.usage_count_due_at END
            FROM reports t JOIN free f ON f.id = t.id
            WHERE m.id = t.id
              AND (m.usage_reported_at IS NULL OR m.usage_reported_at <= t.at)
              AND (m.usage_counted_at IS NULL OR m.usage_counted_at <= t.at)
        )
        SELECT m.id FROM mailboxes m
        WHERE m.id = ANY(%(ids)s) AND NOT EXISTS (SELECT FROM free f WHERE f.id = m.id)
        """,
        {
            "ids": [each.mailbox_id for each in reports],
            "times": [each.at for each in reports],
            "bytes": [each.used_bytes for each in reports],
            "messages": [each.message_count for each in reports],
            "stale": [each.may_be_stale for each in reports],
        },
    )
    return [row["id"] for row in await cursor.fetchall()]


async def add_arrivals(conn: Conn, arrivals: Sequence[Arrivals]) -> list[UUID]:
    """Add delivered messages to mailboxes, each mailbox once, unless they were counted since, and make them due for a
    count. Returns the mailboxes that are locked; they are unchanged.
    """
    cursor = await conn.execute(
        """
        WITH arrivals AS (
            SELECT c.id, c.at, c.bytes, c.messages
            FROM unnest(%(ids)s::uuid[], %(times)s::timestamptz[], %(bytes)s::bigint[], %(messages)s::bigint[])
                 AS c (id, at, bytes, messages)
        ), free AS (
            SELECT m.id FROM mailboxes m WHERE m.id = ANY(%(ids)s) FOR NO KEY UPDATE SKIP LOCKED
        ), written AS (
            UPDATE mailboxes m
            SET used_bytes = m.used_bytes + c.bytes, message_count = m.message_count + c.messages,
                usage_reported_at = greatest(m.usage_reported_at, c.at),
                usage_count_due_at = coalesce(m.usage_count_due_at, c.at)
            FROM arrivals c JOIN free f ON f.id = c.id
            WHERE m.id = c.id AND (m.usage_counted_at IS NULL OR m.usage_counted_at <= c.at)
        )
        SELECT m.id FROM mailboxes m
        WHERE m.id = ANY(%(ids)s) AND NOT EXISTS (SELECT FROM free f WHERE f.id = m.id)
        """,
        {
            "ids": [each.mailbox_id for each in arrivals],
            "times": [each.at for each in arrivals],
            "bytes": [each.size for each in arrivals],
            "messages": [each.messages for each in arrivals],
        },
    )
    return [row["id"] for row in await cursor.fetchall()]


async def write_counts(conn: Conn, counted: Sequence[MailboxUsage]) -> None:
    """Write counted usage (`at`: when the count began), except for locked mailboxes and for those with a newer report.

    If a mailbox has been due for ten seconds, its count is written even so, and it stays due.
    """
    await conn.execute(
        """
        WITH counted AS (
            SELECT c.id, c.at, c.bytes, c.messages
            FROM unnest(%(ids)s::uuid[], %(times)s::timestamptz[], %(bytes)s::bigint[], %(messages)s::bigint[])
                 AS c (id, at, bytes, messages)
        ), free AS (
            SELECT m.id FROM mailboxes m WHERE m.id = ANY(%(ids)s) FOR NO KEY UPDATE SKIP LOCKED
        )
        UPDATE mailboxes m
        SET used_bytes = c.bytes, message_count = c.messages, usage_counted_at = c.at,
            usage_count_due_at = CASE WHEN m.usage_reported_at >= c.at THEN m.usage_reported_at END
        FROM counted c JOIN free f ON f.id = c.id
        WHERE m.id = c.id AND (m.usage_reported_at IS NULL OR m.usage_reported_at < c.at
                               OR m.usage_count_due_at <= c.at - %(max_wait)s::interval)
        """,
        {
            "max_wait": _MAX_WAIT,
            "ids": [each.mailbox_id for each in counted],
            "times": [each.at for each in counted],
            "bytes": [each.used_bytes for each in counted],
            "messages": [each.message_count for each in counted],
        },
    )


async def set_logins(conn: Conn, logins: Sequence[MailboxLogin]) -> list[UUID]:
    """Write the last login of each mailbox, unless a newer one is known.

    Returns the mailboxes that are locked; they are unchanged.
    """
    cursor = await conn.execute(
        """
        WITH reports AS (
            SELECT t.id, t.at, t.protocol, t.ip
            FROM unnest(%(ids)s::uuid[], %(times)s::timestamptz[], %(protocols)s::text[], %(ips)s::text[])
                 AS t (id, at, protocol, ip)
        ), free AS (
            SELECT m.id FROM mailboxes m WHERE m.id = ANY(%(ids)s) FOR NO KEY UPDATE SKIP LOCKED
        ), written AS (
            UPDATE mailboxes m
            SET last_login_at = t.at, last_login_protocol = t.protocol, last_login_ip = t.ip
            FROM reports t JOIN free f ON f.id = t.id
            WHERE m.id = t.id AND (m.last_login_at IS NULL OR m.last_login_at < t.at)
        )
        SELECT m.id FROM mailboxes m
        WHERE m.id = ANY(%(ids)s) AND NOT EXISTS (SELECT FROM free f WHERE f.id = m.id)
        """,
        {
            "ids": [each.mailbox_id for each in logins],
            "times": [each.at for each in logins],
            "protocols": [each.protocol for each in logins],
            "ips": [each.ip for each in logins],
        },
    )
    return [row["id"] for row in await cursor.fetchall()]


async def list_tracked(conn: Conn, after: UUID | None, limit: int) -> list[TrackedMailbox]:
    """Active mailboxes with an ID above `after`, in order of ID, at most `limit`."""
    cursor = await conn.execute(
        _SELECT_TRACKED
        + """
        AND (%(after)s::uuid IS NULL OR m.id > %(after)s) ORDER BY m.id LIMIT %(limit)s
        """,
        {"after": after, "limit": limit},
    )
    return [_read_tracked(row) for row in await cursor.fetchall()]


async def list_due(conn: Conn, at: datetime, limit: int) -> list[TrackedMailbox]:
    """Active mailboxes that are due for a count at `at`, the longest due first, at most `limit`."""
    cursor = await conn.execute(
        _SELECT_TRACKED
        + """
        AND m.usage_count_due_at <= %(at)s ORDER BY m.usage_count_due_at LIMIT %(limit)s
        """,
        {"at": at, "limit": limit},
    )
    return [_read_tracked(row) for row in await cursor.fetchall()]


async def defer_count(conn: Conn, mailbox_ids: Sequence[UUID], until: datetime) -> None:
    """Make those of these mailboxes that are due for a count due at `until` instead; locked ones are skipped."""
    await conn.execute(
        """
        WITH free AS (
            SELECT m.id FROM mailboxes m
            WHERE m.id = ANY(%(ids)s) AND m.usage_count_due_at IS NOT NULL FOR NO KEY UPDATE SKIP LOCKED
        )
        UPDATE mailboxes m SET usage_count_due_at = %(until)s FROM free f WHERE m.id = f.id
        """,
        {"ids": list(mailbox_ids), "until": until},
    )


async def find_login(conn: Conn, mailbox_id: UUID) -> str | None:
    """The address by which Dovecot knows a mailbox; None if it does not know it: it or its domain is inactive."""
    cursor = await conn.execute(_SELECT_TRACKED + " AND m.id = %(id)s", {"id": mailbox_id})
    row = await cursor.fetchone()
    return row["address_key"] if row else None


async def take_quota_changes(conn: Conn, limit: int) -> list[QuotaChange]:
    """At most `limit` mailboxes whose usage has passed a level, which they have from now on; by address. Locked ones
    are left for later.
    """
    cursor = await conn.execute(
        """
        WITH changed AS (
            SELECT m.id, m.quota_level FROM mailboxes m
            WHERE m.quota_level_changed ORDER BY m.id LIMIT %(limit)s FOR NO KEY UPDATE SKIP LOCKED
        ), taken AS (
            UPDATE mailboxes m
            SET quota_level = quota_level_of(m.used_bytes, m.quota_bytes, m.quota_level), quota_level_changed = false
            FROM changed c WHERE m.id = c.id
            RETURNING m.id AS mailbox_id, m.domain_id, m.address_key AS address, c.quota_level AS before,
                      m.quota_level AS level, m.used_bytes, m.quota_bytes, m.active AND m.deleted_at IS NULL AS in_use
        )
        SELECT t.*, d.name AS domain_name FROM taken t JOIN domains d ON d.id = t.domain_id ORDER BY t.address
        """,
        {"limit": limit},
    )
    return [QuotaChange(**row) for row in await cursor.fetchall()]


async def set_usage(conn: Conn, usage: MailboxUsage) -> None:
    """Set the usage of a mailbox, in the embedded profile."""
    await conn.execute(
        """
        UPDATE mailboxes SET used_bytes = %(bytes)s, message_count = %(messages)s, usage_counted_at = %(at)s
        WHERE id = %(id)s
        """,
        {"id": usage.mailbox_id, "bytes": usage.used_bytes, "messages": usage.message_count, "at": usage.at},
    )


def _read_tracked(row: dict[str, Any]) -> TrackedMailbox:
    return TrackedMailbox(
        row["id"], row["address_key"], row["has_mail"], row["usage_reported_at"], row["usage_counted_at"]
    )
