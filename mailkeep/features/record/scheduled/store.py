"""The SQL of scheduled messages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.db.pool import Conn
from mailkeep.features.record.scheduled.model import (
    ClaimedMessage,
    EndedAttempt,
    NewScheduledMessage,
    WaitingMessage,
)

_CHUNK = 1 << 20  # bytes of content in a statement


async def insert(conn: Conn, at: datetime, messages: Sequence[NewScheduledMessage]) -> None:
    """Insert messages with their contents, which take further statements."""
    await conn.execute(
        """
        INSERT INTO scheduled_messages (message_id, domain_id, admin_id, key_id, creator, scheduled_at, due_at,
                                        recipients, size, changed_at)
        SELECT r.message_id, r.domain_id, r.admin_id, r.key_id, r.creator, r.scheduled_at, r.scheduled_at, r.recipients,
               r.size, %(at)s
        FROM jsonb_to_recordset(%(rows)s) AS r (
            message_id uuid, domain_id uuid, admin_id uuid, key_id uuid, creator jsonb, scheduled_at timestamptz,
            recipients integer, size bigint)
        """,
        {"at": at, "rows": Jsonb([_row(each) for each in messages], dumps=msgspec.json.encode)},
    )
    parts = [(each.message_id, number, part) for each in messages for number, part in enumerate(each.sealed)]
    for chunk in _split(parts):
        await insert_parts(conn, chunk)


Part = tuple[UUID, int, bytes]


def _split(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """The parts in lists of at most `_CHUNK` bytes, or one part."""
    chunk: list[Part] = []
    size = 0
    for part in parts:
        if chunk and size + len(part[2]) > _CHUNK:
            yield chunk
            chunk, size = [], 0
        chunk.append(part)
        size += len(part[2])
    if chunk:
        yield chunk


async def insert_parts(conn: Conn, parts: Sequence[Part]) -> None:
    """Insert parts of contents: message, number, sealed bytes."""
    await conn.execute(
        """
        INSERT INTO scheduled_contents (message_id, number, sealed)
        SELECT * FROM unnest(%(ids)s::uuid[], %(numbers)s::integer[], %(sealed)b::bytea[])
        """,
        {
            "ids": [each[0] for each in parts],
            "numbers": [each[1] for each in parts],
            "sealed": [each[2] for each in parts],
        },
    )


def _row(message: NewScheduledMessage) -> dict[str, Any]:
    who = message.creator
    creator = {
        "label": who.label,
        "role": who.role and who.role.value,
        "actor": who.actor.value,
        "ip_address": who.ip_address,
        "user_agent": who.user_agent,
        "request_id": who.request_id,
    }
    names = ("message_id", "domain_id", "scheduled_at", "recipients", "size")
    return {name: getattr(message, name) for name in names} | {
        "admin_id": who.admin_id,
        "key_id": who.key_id,
        "creator": creator,
    }


async def claim(conn: Conn, at: datetime, until: datetime, process: UUID, limit: int) -> list[ClaimedMessage]:
    """Claim up to `limit` due messages until `until` for a process, those that have waited longest first."""
    cursor = await conn.execute(
        """
        WITH due AS (
            SELECT s.message_id FROM scheduled_messages s WHERE s.due_at <= %(at)s AND NOT s.held
            ORDER BY s.due_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
        )
        UPDATE scheduled_messages s SET due_at = %(until)s, claims = s.claims + 1, process = %(process)s
        FROM due WHERE s.message_id = due.message_id
        RETURNING s.message_id, s.claims, s.admin_id, s.key_id, s.creator, s.scheduled_at, s.failures, s.recipients,
                  s.size
        """,
        {"at": at, "until": until, "process": process, "limit": limit},
    )
    claimed = [_to_claim(row) for row in await cursor.fetchall()]
    return sorted(claimed, key=lambda each: (each.scheduled_at, each.message_id))


def _to_claim(row: dict[str, Any]) -> ClaimedMessage:
    creator = row.pop("creator")
    request_id = creator["request_id"]
    who = Principal(
        admin_id=row.pop("admin_id"),
        key_id=row.pop("key_id"),
        label=creator["label"],
        role=Role(creator["role"]) if creator["role"] else None,
        actor=ActorType(creator["actor"]),
        ip_address=creator["ip_address"],
        user_agent=creator["user_agent"],
        request_id=UUID(request_id) if request_id else None,
    )
    return ClaimedMessage(creator=who, **row)


async def read_parts(conn: Conn, message_ids: Collection[UUID]) -> dict[UUID, list[bytes]]:
    """The sealed contents of messages, in parts."""
    cursor = await conn.execute(
        """
        SELECT c.message_id, c.sealed FROM scheduled_contents c
        WHERE c.message_id = ANY(%(ids)s) ORDER BY c.message_id, c.number
        """,
        {"ids": list(message_ids)},
        binary=True,
    )
    parts: dict[UUID, list[bytes]] = {}
    for row in await cursor.fetchall():
        parts.setdefault(row["message_id"], []).append(row["sealed"])
    return parts


async def end_claims(conn: Conn, claimed: Sequence[ClaimedMessage], due_at: datetime) -> list[UUID]:
    """Make claimed messages due at `due_at`; returns those that are still claimed by this worker."""
    cursor = await conn.execute(
        """
        UPDATE scheduled_messages s SET due_at = %(due_at)s, process = NULL
        FROM unnest(%(ids)s::uuid[], %(claims)s::integer[]) AS c (id, claims)
        WHERE s.message_id = c.id AND s.claims = c.claims AND s.due_at IS NOT NULL
        RETURNING s.message_id
        """,
        {
            "due_at": due_at,
            "ids": [each.message_id for each in claimed],
            "claims": [each.claims for each in claimed],
        },
    )
    return [row["message_id"] for row in await cursor.fetchall()]


async def list_processes(conn: Conn) -> list[UUID]:
    """The processes that have claimed messages or submit them."""
    cursor = await conn.execute("SELECT DISTINCT s.process FROM scheduled_messages s WHERE s.process IS NOT NULL")
    return [row["process"] for row in await cursor.fetchall()]


async def end_process(conn: Conn, process: UUID, at: datetime, begun_before: datetime) -> int:
    """Remove a process that has ended: what it claimed is due at `at`. Its submissions are left to be ended if they
    were begun before `begun_before`; returns their number.
    """
    await conn.execute(
        """
        UPDATE scheduled_messages SET due_at = %(at)s, process = NULL
        WHERE process = %(process)s AND due_at IS NOT NULL
        """,
        {"process": process, "at": at},
    )
    cursor = await conn.execute(
        """
        UPDATE scheduled_messages SET process = NULL
        WHERE process = %(process)s AND due_at IS NULL AND changed_at <= %(before)s
        """,
        {"process": process, "before": begun_before},
    )
    return cursor.rowcount


async def find_next_due(conn: Conn) -> datetime | None:
    """When the next message is due; None if none waits."""
    cursor = await conn.execute("SELECT min(s.due_at) AS due_at FROM scheduled_messages s WHERE NOT s.held")
    row = await cursor.fetchone()
    return row["due_at"] if row else None


async def find_waiting(conn: Conn, message_id: UUID) -> WaitingMessage | None:
    """The message, if it can still be changed."""
    cursor = await conn.execute(
        """
        SELECT s.message_id, s.scheduled_at, s.changed_at FROM scheduled_messages s
        WHERE s.message_id = %(id)s AND s.due_at IS NOT NULL
        """,
        {"id": message_id},
    )
    row = await cursor.fetchone()
    return WaitingMessage(**row) if row else None


async def lock_waiting(conn: Conn, message_id: UUID) -> WaitingMessage | None:
    """`find_waiting`, locked until the end of the transaction."""
    cursor = await conn.execute(
        """
        SELECT s.message_id, s.scheduled_at, s.changed_at FROM scheduled_messages s
        WHERE s.message_id = %(id)s AND s.due_at IS NOT NULL FOR UPDATE
        """,
        {"id": message_id},
    )
    row = await cursor.fetchone()
    return WaitingMessage(**row) if row else None


async def lock_claimed(conn: Conn, claimed: ClaimedMessage) -> bool:
    """Lock a message that is still claimed by this worker; False if it is not."""
    cursor = await conn.execute(
        """
        SELECT FROM scheduled_messages s
        WHERE s.message_id = %(id)s AND s.claims = %(claims)s AND s.due_at IS NOT NULL FOR UPDATE
        """,
        {"id": claimed.message_id, "claims": claimed.claims},
    )
    return await cursor.fetchone() is not None


async def lock_of_domain(conn: Conn, domain_id: UUID) -> list[UUID]:
    """Lock the messages of a domain that can still be cancelled; returns their IDs."""
    cursor = await conn.execute(
        """
        SELECT s.message_id FROM scheduled_messages s WHERE s.domain_id = %(domain_id)s AND s.due_at IS NOT NULL
        ORDER BY s.message_id FOR UPDATE
        """,
        {"domain_id": domain_id},
    )
    return [row["message_id"] for row in await cursor.fetchall()]


async def reschedule(conn: Conn, message_id: UUID, scheduled_at: datetime, at: datetime) -> None:
    """Give a message another time; the claim of a worker ends."""
    await conn.execute(
        """
        UPDATE scheduled_messages
        SET scheduled_at = %(scheduled_at)s, due_at = %(scheduled_at)s, claims = claims + 1, process = NULL,
            failures = 0, changed_at = %(at)s
        WHERE message_id = %(id)s
        """,
        {"id": message_id, "scheduled_at": scheduled_at, "at": at},
    )
    await conn.execute(
        "UPDATE messages SET scheduled_at = %(scheduled_at)s WHERE id = %(id)s",
        {"id": message_id, "scheduled_at": scheduled_at},
    )


async def return_to_waiting(conn: Conn, at: datetime, due_at: datetime, message_ids: Collection[UUID]) -> None:
    """Make messages that the MTA did not get wait again, until `due_at`."""
    await conn.execute(
        """
        WITH waiting AS (
            UPDATE scheduled_messages
            SET due_at = %(due_at)s, process = NULL, failures = failures + 1, changed_at = %(at)s
            WHERE message_id = ANY(%(ids)s) RETURNING message_id
        )
        UPDATE messages m SET status = 'scheduled' FROM waiting WHERE m.id = waiting.message_id
        """,
        {"at": at, "due_at": due_at, "ids": list(message_ids)},
    )


async def set_recipients(
    conn: Conn, message_ids: Collection[UUID], status: str, next_attempt_at: datetime | None, diagnostic: str | None
) -> None:
    """Set the open recipients of messages; `diagnostic` None leaves theirs. Suppressions are looked up again when the
    message is sent.
    """
    await conn.execute(
        """
        UPDATE message_recipients
        SET status = %(status)s, next_attempt_at = %(next_attempt_at)s, suppression = NULL,
            diagnostic = coalesce(%(diagnostic)s, diagnostic)
        WHERE message_id = ANY(%(ids)s) AND status IN ('scheduled', 'lost', 'suppressed')
        """,
        {
            "ids": list(message_ids),
            "status": status,
            "next_attempt_at": next_attempt_at,
            "diagnostic": diagnostic,
        },
    )


async def lock_ended(conn: Conn, message_ids: Collection[UUID] | None, limit: int) -> list[EndedAttempt]:
    """Lock messages (None: all) whose submission has a result that this feature has not handled yet."""
    cursor = await conn.execute(
        """
        SELECT s.message_id, s.scheduled_at, s.failures, m.status, m.accepted_at IS NOT NULL AS accepted
        FROM scheduled_messages s JOIN messages m ON m.id = s.message_id
        WHERE s.due_at IS NULL AND (%(ids)s::uuid[] IS NULL OR s.message_id = ANY(%(ids)s))
          AND m.status NOT IN ('submitting', 'unknown') AND (m.accepted_at IS NULL OR m.answered_at IS NOT NULL)
        ORDER BY s.message_id LIMIT %(limit)s FOR UPDATE OF s SKIP LOCKED
        """,
        {"ids": None if message_ids is None else list(message_ids), "limit": limit},
    )
    return [EndedAttempt(**row) for row in await cursor.fetchall()]


async def list_unknown(conn: Conn, limit: int) -> list[UUID]:
    """Messages whose submission has an unknown result."""
    cursor = await conn.execute(
        """
        SELECT s.message_id FROM scheduled_messages s JOIN messages m ON m.id = s.message_id
        WHERE s.due_at IS NULL AND m.status = 'unknown' ORDER BY s.message_id LIMIT %(limit)s
        """,
        {"limit": limit},
    )
    return [row["message_id"] for row in await cursor.fetchall()]


async def list_of_sender(
    conn: Conn, mailbox_id: UUID | None, key_ids: Collection[UUID], admin_id: UUID | None
) -> list[UUID]:
    """The messages that can still be held: from a mailbox's address, of keys, or of an administrator."""
    cursor = await conn.execute(
        """
        SELECT s.message_id FROM scheduled_messages s
        WHERE s.due_at IS NOT NULL AND (
            s.key_id = ANY(%(keys)s) OR s.admin_id = %(admin_id)s OR (
                s.domain_id = (SELECT b.domain_id FROM mailboxes b WHERE b.id = %(mailbox_id)s)
                AND EXISTS (SELECT FROM messages m
                            CROSS JOIN LATERAL mta_mailbox_of(split_part(m.from_address, '@', 1),
                                                              split_part(m.from_address, '@', 2)) o
                            WHERE m.id = s.message_id AND o.id = %(mailbox_id)s)))
        ORDER BY s.message_id
        """,
        {"mailbox_id": mailbox_id, "keys": list(key_ids), "admin_id": admin_id},
    )
    return [row["message_id"] for row in await cursor.fetchall()]


async def hold(conn: Conn, message_ids: Collection[UUID]) -> None:
    """Hold messages: no worker claims them."""
    await conn.execute(
        "UPDATE scheduled_messages SET held = true WHERE message_id = ANY(%(ids)s)", {"ids": list(message_ids)}
    )


async def release(conn: Conn, message_ids: Collection[UUID]) -> None:
    """Release messages, unless a full restore holds them."""
    await conn.execute(
        """
        UPDATE scheduled_messages SET held = false
        WHERE message_id = ANY(%(ids)s) AND NOT EXISTS (SELECT FROM restored_backup r WHERE r.released_at IS NULL)
        """,
        {"ids": list(message_ids)},
    )
    await conn.execute("SELECT wake_workers('scheduled')")


async def delete(conn: Conn, message_ids: Collection[UUID]) -> None:
    """Delete messages with their contents."""
    await conn.execute("DELETE FROM scheduled_messages WHERE message_id = ANY(%(ids)s)", {"ids": list(message_ids)})


async def count_of_domain(conn: Conn, domain_id: UUID) -> int:
    """The number of messages of a domain that wait."""
    cursor = await conn.execute(
        "SELECT count(*) AS messages FROM scheduled_messages s WHERE s.domain_id = %(id)s AND s.due_at IS NOT NULL",
        {"id": domain_id},
    )
    row = await cursor.fetchone()
    return row["messages"] if row else 0


async def count_of_keys(conn: Conn, key_ids: Collection[UUID]) -> int:
    """The number of messages scheduled with these API keys that wait."""
    cursor = await conn.execute(
        "SELECT count(*) AS messages FROM scheduled_messages s WHERE s.key_id = ANY(%(ids)s) AND s.due_at IS NOT NULL",
        {"ids": list(key_ids)},
    )
    row = await cursor.fetchone()
    return row["messages"] if row else 0
