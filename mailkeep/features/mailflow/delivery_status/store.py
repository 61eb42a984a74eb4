"""The SQL of log positions, tracked messages and submission envelopes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.core.ids import uuid7_floor
from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.delivery_status.model import (
    ExpandedRecipient,
    LogPosition,
    MissingMessage,
    SubmissionEnvelope,
    TrackedMessage,
)
from mailkeep.features.record.messages.model import Message


async def find_positions(conn: Conn, name: str) -> dict[int, LogPosition]:
    """The positions in the files of a log, by inode."""
    cursor = await conn.execute(
        "SELECT inode, first_line, read_to FROM mail_log_positions WHERE log = %(log)s", {"log": name}
    )
    return {
        row["inode"]: LogPosition(row["inode"], row["first_line"], row["read_to"]) for row in await cursor.fetchall()
    }


async def advance(conn: Conn, name: str, start: int, position: LogPosition, at: datetime) -> bool:
    """Advance a position from `start` (0: a new file); False if another process has advanced it."""
    cursor = await conn.execute(
        """
        INSERT INTO mail_log_positions AS p (log, inode, first_line, read_to, read_at)
        SELECT %(log)s, %(inode)s, %(first_line)s, %(read_to)s, %(at)s
        WHERE %(start)s = 0 OR EXISTS (
            SELECT FROM mail_log_positions o WHERE o.log = %(log)s AND o.inode = %(inode)s)
        ON CONFLICT (log, inode) DO UPDATE
        SET first_line = excluded.first_line, read_to = excluded.read_to, read_at = excluded.read_at
        WHERE CASE WHEN p.first_line = excluded.first_line THEN p.read_to = %(start)s ELSE %(start)s = 0 END
        """,
        {
            "log": name,
            "inode": position.inode,
            "first_line": position.first_line,
            "read_to": position.read_to,
            "at": at,
            "start": start,
        },
    )
    return cursor.rowcount == 1


async def rewind(conn: Conn, name: str, position: LogPosition, at: datetime) -> None:
    """Move a position back to the end of its file."""
    await conn.execute(
        """
        UPDATE mail_log_positions SET read_to = %(read_to)s, read_at = %(at)s
        WHERE log = %(log)s AND inode = %(inode)s AND first_line = %(first_line)s AND read_to > %(read_to)s
        """,
        {
            "log": name,
            "inode": position.inode,
            "first_line": position.first_line,
            "read_to": position.read_to,
            "at": at,
        },
    )


async def delete_positions(conn: Conn, name: str, inodes: Collection[int], before: datetime) -> None:
    """Delete old positions of files other than `inodes`."""
    await conn.execute(
        """
        DELETE FROM mail_log_positions
        WHERE log = %(log)s AND inode <> ALL(%(inodes)s) AND read_at < %(before)s
        """,
        {"log": name, "inodes": list(inodes), "before": before},
    )


async def set_caught_up(conn: Conn, name: str, at: datetime) -> None:
    """Record that the log is read to its end."""
    await conn.execute(
        """
        INSERT INTO mail_logs (name, caught_up_at) VALUES (%(name)s, %(at)s)
        ON CONFLICT (name) DO UPDATE SET caught_up_at = excluded.caught_up_at
        """,
        {"name": name, "at": at},
    )


async def find_tracked(conn: Conn, queue_ids: Collection[str]) -> dict[str, TrackedMessage]:
    """The tracked messages with these queue IDs."""
    cursor = await conn.execute(
        """
        SELECT queue_id, origin, login, header_id, head, sender, size, message_id, queue_recipients,
               original_recipients, envelope_known, expanded_recipients, decided_aliases, forwarded_messages,
               first_seen_at
        FROM queued_mail WHERE queue_id = ANY(%(ids)s)
        """,
        {"ids": list(queue_ids)},
    )
    return {row["queue_id"]: _from_row(row) for row in await cursor.fetchall()}


def _from_row(row: dict[str, Any]) -> TrackedMessage:
    row["expanded_recipients"] = msgspec.convert(row["expanded_recipients"], tuple[ExpandedRecipient, ...])
    row["decided_aliases"] = tuple(row["decided_aliases"])
    row["forwarded_messages"] = msgspec.convert(row["forwarded_messages"], dict[str, UUID])
    return TrackedMessage(**row)


async def restore_tracked(conn: Conn, queue_ids: Collection[str], at: datetime) -> dict[str, TrackedMessage]:
    """Sent messages with these queue IDs that have not ended, rebuilt from the history.

    `queue_recipients` is None with a recipient in a managed domain: an alias has several entries in the queue.
    """
    cursor = await conn.execute(
        """
        SELECT m.queue_id, m.source, m.message_id AS header_id, m.mail_from, m.size, m.id, m.accepted_at,
               (SELECT count(*) FROM message_recipients r
                WHERE r.message_id = m.id AND r.suppression IS NULL) AS recipients,
               EXISTS (SELECT FROM message_recipients r JOIN domains d ON d.name = split_part(r.address_key, '@', 2)
                       WHERE r.message_id = m.id) AS has_local
        FROM messages m
        WHERE m.queue_id = ANY(%(ids)s) AND m.direction = 'outbound' AND m.source IN ('api', 'smtp')
          AND m.status IN ('queued', 'deferred', 'partial', 'unknown')
        """,
        {"ids": list(queue_ids)},
    )
    return {
        row["queue_id"]: TrackedMessage(
            row["queue_id"],
            "api" if row["source"] == "api" else "submission",
            row["accepted_at"] or at,
            header_id=row["header_id"],
            sender=row["mail_from"],
            size=row["size"],
            message_id=row["id"],
            queue_recipients=None if row["has_local"] else row["recipients"],
            original_recipients=row["recipients"],
        )
        for row in await cursor.fetchall()
    }


async def save_tracked(conn: Conn, mails: Sequence[TrackedMessage]) -> None:
    """Insert or update tracked messages."""
    await conn.execute(
        """
        INSERT INTO queued_mail (queue_id, origin, login, header_id, head, sender, size, message_id, queue_recipients,
                                 original_recipients, envelope_known, expanded_recipients, decided_aliases,
                                 forwarded_messages, first_seen_at)
        SELECT q.queue_id, q.origin, q.login, q.header_id, q.head, q.sender, q.size, q.message_id, q.queue_recipients,
               q.original_recipients, q.envelope_known, q.expanded_recipients, q.decided_aliases, q.forwarded_messages,
               q.first_seen_at
        FROM jsonb_to_recordset(%(mails)s) AS q(
            queue_id text, origin text, login text, header_id text, head jsonb, sender text, size bigint,
            message_id uuid, queue_recipients integer, original_recipients integer, envelope_known boolean,
            expanded_recipients jsonb, decided_aliases text[], forwarded_messages jsonb, first_seen_at timestamptz)
        ON CONFLICT (queue_id) DO UPDATE
        SET header_id = excluded.header_id, head = excluded.head, sender = excluded.sender, size = excluded.size,
            message_id = excluded.message_id, queue_recipients = excluded.queue_recipients,
            original_recipients = excluded.original_recipients, envelope_known = excluded.envelope_known,
            expanded_recipients = excluded.expanded_recipients, decided_aliases = excluded.decided_aliases,
            forwarded_messages = excluded.forwarded_messages
        """,
        {"mails": Jsonb(list(mails), dumps=msgspec.json.encode)},
    )


async def delete_tracked(conn: Conn, queue_ids: Collection[str]) -> None:
    """Delete messages that have ended."""
    await conn.execute("DELETE FROM queued_mail WHERE queue_id = ANY(%(ids)s)", {"ids": list(queue_ids)})


async def delete_stale(conn: Conn, before: datetime, unqueued_before: datetime) -> None:
    """Delete mail and envelopes from before `before`, and mail from before `unqueued_before` that was never queued."""
    await conn.execute(
        """
        DELETE FROM queued_mail
        WHERE first_seen_at < %(before)s OR (queue_recipients IS NULL AND first_seen_at < %(unqueued_before)s)
        """,
        {"before": before, "unqueued_before": unqueued_before},
    )
    await conn.execute("DELETE FROM submission_envelopes WHERE created_at < %(before)s", {"before": before})


async def begin_submission(
    conn: Conn, at: datetime, since: datetime, envelope: SubmissionEnvelope, count_arguments: Mapping[str, Any]
) -> tuple[str, int | None, int | None]:
    """Count a message and store its envelope, in one commit. Returns the outcome (`Begun`, or a verdict of the limits),
    in how many seconds to try again, and the limit that it exceeds. Claims of an Idempotency-Key until `since` have
    expired.
    """
    cursor = await conn.execute(
        """
        SELECT outcome, retry_after, exceeded
        FROM begin_submission(%(at)s, %(since)s, %(envelope)s, %(senders)s::text[], %(recipients)s::integer[],
                              %(sender_limit)s, %(domain_limit)s)
        """,
        {"at": at, "since": since, "envelope": Jsonb(_envelope_row(envelope), dumps=msgspec.json.encode)}
        | dict(count_arguments),
    )
    row = await cursor.fetchone()
    assert row is not None
    return row["outcome"], row["retry_after"], row["exceeded"]


async def find_claim(
    conn: Conn, api_key_id: UUID, key: str, body_hash: bytes, since: datetime
) -> Literal["mismatch", "pending", "replayed"] | None:
    """The outcome of another submission with this Idempotency-Key that was claimed after `since`; None without one."""
    cursor = await conn.execute(
        """
        SELECT claim_outcome(e, %(body_hash)s) AS outcome FROM submission_envelopes e
        WHERE e.api_key_id = %(api_key_id)s AND e.idempotency_key = %(key)s AND e.created_at > %(since)s
        """,
        {"api_key_id": api_key_id, "key": key, "body_hash": body_hash, "since": since},
    )
    row = await cursor.fetchone()
    return row["outcome"] if row else None


def _envelope_row(envelope: SubmissionEnvelope) -> dict[str, Any]:
    row = {name: getattr(envelope, name) for name in SubmissionEnvelope.__slots__}
    # The form of bytea in JSON.
    row["body_hash"] = None if envelope.body_hash is None else "\\x" + envelope.body_hash.hex()
    return row | {"api_key_id": envelope.message.api_key_id if envelope.message else None}


def _envelope(row: dict[str, Any]) -> SubmissionEnvelope:
    message = msgspec.convert(row.pop("message"), Message | None)
    return SubmissionEnvelope(**row, message=message)


async def delete_envelopes(conn: Conn, queue_ids: Collection[str]) -> list[SubmissionEnvelope]:
    """Delete the envelopes with these queue IDs, with their claims, and return them."""
    if not queue_ids:
        return []
    cursor = await conn.execute(
        """
        DELETE FROM submission_envelopes WHERE queue_id = ANY(%(ids)s)
        RETURNING queue_id, login, sender, recipients, client, created_at, message
        """,
        {"ids": list(queue_ids)},
    )
    return [_envelope(row) for row in await cursor.fetchall()]


async def delete_unaccepted(conn: Conn, before: datetime, queued: Collection[str]) -> list[SubmissionEnvelope]:
    """Delete the envelopes from before `before` that Postfix has not accepted and does not have in its queue."""
    cursor = await conn.execute(
        """
        DELETE FROM submission_envelopes
        WHERE accepted_at IS NULL AND created_at < %(before)s AND queue_id <> ALL(%(queued)s)
        RETURNING queue_id, login, sender, recipients, client, created_at, message
        """,
        {"before": before, "queued": list(queued)},
    )
    return [_envelope(row) for row in await cursor.fetchall()]


async def accept_envelopes(conn: Conn, queue_ids: Collection[str], at: datetime) -> dict[str, SubmissionEnvelope]:
    """The envelopes with these queue IDs, which Postfix has accepted. Their rows for the history are given once."""
    cursor = await conn.execute(
        """
        WITH found AS (
            SELECT queue_id, login, sender, recipients, client, created_at, message FROM submission_envelopes
            WHERE queue_id = ANY(%(ids)s) FOR UPDATE
        ), accepted AS (
            UPDATE submission_envelopes e SET accepted_at = coalesce(e.accepted_at, %(at)s), message = NULL
            FROM found WHERE e.queue_id = found.queue_id
        )
        SELECT * FROM found
        """,
        {"ids": list(queue_ids), "at": at},
    )
    return {row["queue_id"]: _envelope(row) for row in await cursor.fetchall()}


async def find_overdue(conn: Conn, before: datetime, since: datetime, after: UUID, limit: int) -> list[MissingMessage]:
    """Sent messages accepted before `before` that have open recipients, in the order of their IDs."""
    cursor = await conn.execute(
        """
        SELECT m.id, m.queue_id FROM messages m
        WHERE m.status IN ('queued', 'deferred', 'partial') AND m.direction = 'outbound' AND m.queue_id IS NOT NULL
          AND m.accepted_at < %(before)s AND m.id > %(after)s AND m.id >= %(since)s
          AND EXISTS (SELECT FROM message_recipients r
                      WHERE r.message_id = m.id AND r.status IN ('queued', 'deferred'))
        ORDER BY m.id LIMIT %(limit)s
        """,
        {"before": before, "since": uuid7_floor(since), "after": after, "limit": limit},
    )
    return [MissingMessage(row["id"], row["queue_id"]) for row in await cursor.fetchall()]


async def find_queue_ids(conn: Conn, message_ids: Collection[UUID]) -> dict[UUID, set[str]]:
    """The queue IDs of tracked messages; a requeued one has a second."""
    cursor = await conn.execute(
        """
        SELECT coalesce(q.message_id, p.value::uuid) AS message_id, q.queue_id
        FROM queued_mail q LEFT JOIN LATERAL jsonb_each_text(q.forwarded_messages) p ON true
        WHERE q.message_id = ANY(%(ids)s) OR p.value::uuid = ANY(%(ids)s)
        """,
        {"ids": list(message_ids)},
    )
    queue_ids = defaultdict[UUID, set[str]](set)
    for row in await cursor.fetchall():
        queue_ids[row["message_id"]].add(row["queue_id"])
    return queue_ids
