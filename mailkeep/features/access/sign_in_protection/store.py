"""SQL of failed sign-ins, blocks and known sources."""

from __future__ import annotations

from datetime import datetime
from typing import LiteralString
from uuid import UUID

from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn
from mailkeep.features.access.sign_in_protection.model import (
    Attempt,
    FailureKey,
    NewBlock,
    SignInBlock,
    SignInFailures,
    SignInHistory,
)

_SELECT = "SELECT b.id, b.account, b.source, b.failures, b.created_at, b.until FROM sign_in_blocks b"


async def lock_history(conn: Conn, attempt: Attempt, at: datetime) -> SignInHistory:
    """What is known about an attempt; attempts that count together wait until the transaction ends."""
    cursor = await conn.execute(
        """
        SELECT h.is_known AS known_source, h.blocked_until, h.repeated, h.account_failures, h.source_failures,
               h.source_accounts
        FROM sign_in_history(%(account)s, %(source)s, %(tag)s, %(at)s) h
        """,
        {"account": attempt.account, "source": attempt.source, "tag": attempt.tag, "at": at},
    )
    row = await cursor.fetchone()
    assert row is not None
    return SignInHistory(**row)


async def insert_failure(conn: Conn, failure_id: UUID, attempt: Attempt, at: datetime, *, known_source: bool) -> None:
    """Count an attempt; replaces the same one if it has expired."""
    await conn.execute(
        """
        INSERT INTO sign_in_failures (account, source, tag, known_source, id, at)
        VALUES (%(account)s, %(source)s, %(tag)s, %(known_source)s, %(id)s, %(at)s)
        ON CONFLICT (account, source, tag) DO UPDATE
        SET known_source = excluded.known_source, id = excluded.id, at = excluded.at
        """,
        {
            "account": attempt.account,
            "source": attempt.source,
            "tag": attempt.tag,
            "known_source": known_source,
            "id": failure_id,
            "at": at,
        },
    )


async def upsert_block(conn: Conn, block_id: UUID, block: NewBlock, failure_id: UUID, at: datetime) -> None:
    """Begin a block; replaces one of the same account and source."""
    await conn.execute(
        """
        INSERT INTO sign_in_blocks (id, account, source, failures, failure_id, created_at, until)
        VALUES (%(id)s, %(account)s, %(source)s, %(failures)s, %(failure_id)s, %(at)s, %(until)s)
        ON CONFLICT ON CONSTRAINT sign_in_blocks_unique DO UPDATE
        SET id = excluded.id, failures = excluded.failures, failure_id = excluded.failure_id,
            created_at = excluded.created_at, until = excluded.until
        """,
        {
            "id": block_id,
            "account": block.account,
            "source": block.source,
            "failures": block.failures,
            "failure_id": failure_id,
            "at": at,
            "until": block.until,
        },
    )


async def delete_failure(conn: Conn, attempt: Attempt) -> None:
    """Uncount an attempt that was right, with the blocks that began with it."""
    await conn.execute(
        """
        WITH uncounted AS (
            DELETE FROM sign_in_failures
            WHERE account = %(account)s AND source = %(source)s AND tag = %(tag)s RETURNING id
        )
        DELETE FROM sign_in_blocks b USING uncounted u WHERE b.failure_id = u.id
        """,
        {"account": attempt.account, "source": attempt.source, "tag": attempt.tag},
    )


async def record_mailbox_source(conn: Conn, mailbox_id: UUID, source: str, at: datetime, seen_before: datetime) -> None:
    """Record a sign-in to a mailbox, unless the last one from the source is newer than `seen_before`."""
    await conn.execute(
        """
        INSERT INTO mailbox_sources (mailbox_id, source, seen_at)
        SELECT m.id, %(source)s, %(at)s FROM mailboxes m WHERE m.id = %(mailbox_id)s
        ON CONFLICT (mailbox_id, source) DO UPDATE SET seen_at = excluded.seen_at
        WHERE mailbox_sources.seen_at < %(seen_before)s
        """,
        {"mailbox_id": mailbox_id, "source": source, "at": at, "seen_before": seen_before},
    )


async def count_failures(
    conn: Conn, at: datetime, since: datetime, by: FailureKey, domain_ids: list[UUID] | None, limit: int
) -> list[SignInFailures]:
    """The failures after `since` by source, or by account with an address; most first. With `domain_ids` those to
    mailboxes of these domains, without blocks of sources.
    """
    cursor = await conn.execute(
        """
        SELECT f.name, count(*) AS failures, count(DISTINCT f.other) AS others, max(f.at) AS last_at,
               (SELECT max(b.until) FROM sign_in_blocks b
                WHERE b.until > %(at)s
                  AND CASE WHEN %(by)s = 'account' THEN b.account = f.name AND b.source IS NULL
                           ELSE b.source = f.name AND b.account IS NULL AND %(domains)s::uuid[] IS NULL END
               ) AS blocked_until
        FROM (SELECT f.at, CASE WHEN %(by)s = 'account' THEN f.account ELSE f.source END AS name,
                     CASE WHEN %(by)s = 'account' THEN f.source ELSE f.account END AS other
              FROM sign_in_failures f
              WHERE f.at > %(since)s AND (%(by)s = 'source' OR f.account LIKE '%%@%%')
                AND (%(domains)s::uuid[] IS NULL
                     OR f.account LIKE 'mailbox:%%' AND split_part(f.account, '@', 2) IN
                        (SELECT d.name FROM domains d WHERE d.id = ANY(%(domains)s)))) f
        GROUP BY f.name ORDER BY count(*) DESC, f.name LIMIT %(limit)s
        """,
        {"at": at, "since": since, "by": by, "domains": domain_ids, "limit": limit},
    )
    return [SignInFailures(**row) for row in await cursor.fetchall()]


async def page(conn: Conn, at: datetime, page_request: PageRequest) -> Page[SignInBlock]:
    """A page of the blocks that have not ended."""
    columns: dict[str, LiteralString] = {"created_at": "b.id", "id": "b.id"}
    result = await fetch_page(conn, _SELECT, [("b.until > %(at)s", "at", at)], page_request, columns)
    return Page([SignInBlock(**row) for row in result.rows], result.next_key)


async def delete_block(conn: Conn, block_id: UUID, at: datetime) -> SignInBlock | None:
    """Delete a block that has not ended, with the failures behind it; None if there is none."""
    cursor = await conn.execute(
        """
        DELETE FROM sign_in_blocks WHERE id = %(id)s AND until > %(at)s
        RETURNING id, account, source, failures, created_at, until
        """,
        {"id": block_id, "at": at},
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    await conn.execute(
        """
        DELETE FROM sign_in_failures f
        WHERE (%(account)s::text IS NULL OR f.account = %(account)s)
          AND (%(source)s::text IS NULL OR f.source = %(source)s)
          AND (%(source)s::text IS NOT NULL OR NOT f.known_source)
        """,
        {"account": row["account"], "source": row["source"]},
    )
    return SignInBlock(**row)


async def prune(conn: Conn, at: datetime, failed_before: datetime, seen_before: datetime) -> None:
    """Delete blocks that have ended, and failures and sources that no longer count."""
    await conn.execute("DELETE FROM sign_in_blocks WHERE until <= %(at)s", {"at": at})
    await conn.execute("DELETE FROM sign_in_failures WHERE at < %(before)s", {"before": failed_before})
    await conn.execute("DELETE FROM mailbox_sources WHERE seen_at < %(before)s", {"before": seen_before})
