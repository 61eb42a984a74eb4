"""The SQL of the record of mail."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from psycopg.sql import SQL, Identifier
from psycopg.types.json import Jsonb

from mailkeep.db.pool import Conn
from mailkeep.features.record.messages.model import DeliveryAttempt, Message, Recipient, ServerReply

_COLUMNS = [name for name in Message.__slots__ if name != "recipients"]
_SELECT = SQL("SELECT {} FROM messages m ").format(SQL(", ").join(Identifier("m", name) for name in _COLUMNS))


def _rows(rows: Sequence[dict[str, Any]]) -> Jsonb:
    return Jsonb(rows, dumps=msgspec.json.encode)


async def insert(conn: Conn, messages: Sequence[Message]) -> None:
    """Write messages with their recipients, and what they are searched by: one statement, however many."""
    sql = "SELECT insert_messages(%(messages)s, %(rows)s, %(search)s, %(tags)s)"
    await conn.execute(sql, insert_arguments(messages))


def insert_arguments(messages: Sequence[Message]) -> dict[str, Jsonb]:
    """Messages as the database's `insert_messages` takes them."""
    return {
        "messages": _rows([_message_row(message) for message in messages]),
        "rows": _rows([row for message in messages for row in _recipient_rows(message)]),
        "search": _rows([_search_row(message) for message in messages]),
        "tags": _rows([{"tag": tag, "message_id": message.id} for message in messages for tag in message.tags]),
    }


def _message_row(message: Message) -> dict[str, Any]:
    return {name: getattr(message, name) for name in _COLUMNS}


def _recipient_rows(message: Message) -> list[dict[str, Any]]:
    return [
        {
            "message_id": message.id,
            "position": position,
            "address": recipient.address,
            "status": recipient.status,
            "attempts": recipient.attempts,
            "smtp_code": recipient.reply.smtp_code,
            "enhanced_code": recipient.reply.enhanced_code,
            "diagnostic": recipient.reply.diagnostic,
            "remote_host": recipient.reply.remote_host,
            "next_attempt_at": recipient.next_attempt_at,
        }
        for position, recipient in enumerate(message.recipients)
    ]


def _search_row(message: Message) -> dict[str, Any]:
    envelope = (recipient.address for recipient in message.recipients)
    recipients = dict.fromkeys([*envelope, *message.to_addresses, *message.cc_addresses])
    return {
        "message_id": message.id,
        "domain_id": message.domain_id,
        "subject": message.subject,
        "sender": message.from_address,
        "recipients": " ".join(recipients),
    }


async def accept(
    conn: Conn, at: datetime, accepted: Sequence[dict[str, Any]], status: str, *, answered: bool
) -> list[UUID]:
    """Messages that the MTA took (answered: it told so ourselves), by the database's own function.

    Their unsettled recipients get this status; `mail.sent` is told where it is news. Answers of which this was not
    written before.
    """
    cursor = await conn.execute(
        "SELECT accept_messages(%(at)s, %(status)s, %(answered)s, %(accepted)s) AS id",
        {"at": at, "status": status, "answered": answered, "accepted": _rows(accepted)},
    )
    return [row["id"] for row in await cursor.fetchall()]


async def end_submissions(conn: Conn, ended: Sequence[tuple[UUID, str, str | None]]) -> list[UUID]:
    """End attempts that are still open, or unknown and now lost: (id, status, the MTA's words); answers which were."""
    cursor = await conn.execute(
        """
        WITH e AS (
            SELECT id, status, diagnostic FROM jsonb_to_recordset(%(ended)s) AS e(id uuid, status text, diagnostic text)
        ), m AS (
            SELECT messages.id, e.status, e.diagnostic FROM messages JOIN e ON e.id = messages.id
            WHERE messages.status = 'submitting' OR (messages.status = 'unknown' AND e.status = 'lost')
            ORDER BY messages.id FOR UPDATE OF messages
        ), u AS (
            UPDATE messages SET status = m.status FROM m WHERE messages.id = m.id
        ), r AS (
            UPDATE message_recipients SET status = m.status, diagnostic = m.diagnostic FROM m
            WHERE message_recipients.message_id = m.id AND message_recipients.status IN ('submitting', 'unknown')
        )
        SELECT id FROM m
        """,
        {"ended": _rows([{"id": i, "status": status, "diagnostic": said} for i, status, said in ended])},
    )
    return [row["id"] for row in await cursor.fetchall()]


async def insert_attempts(conn: Conn, attempts: Sequence[DeliveryAttempt]) -> None:
    """Write down tries."""
    await conn.execute(
        """
        INSERT INTO message_attempts (message_id, id, at, kind, recipient, attempt, smtp_code, enhanced_code,
                                      diagnostic, remote_host, next_attempt_at)
        SELECT a.message_id, a.id, a.at, a.kind, a.recipient, a.attempt, a.smtp_code, a.enhanced_code,
               a.diagnostic, a.remote_host, a.next_attempt_at
        FROM jsonb_to_recordset(%(attempts)s) AS a(
            message_id uuid, id uuid, at timestamptz, kind text, recipient text, attempt integer, smtp_code integer,
            enhanced_code text, diagnostic text, remote_host text, next_attempt_at timestamptz)
        """,
        {"attempts": _rows([_attempt_row(attempt) for attempt in attempts])},
    )


def _attempt_row(attempt: DeliveryAttempt) -> dict[str, Any]:
    return {
        "message_id": attempt.message_id,
        "id": attempt.id,
        "at": attempt.at,
        "kind": attempt.kind,
        "recipient": attempt.recipient,
        "attempt": attempt.number,
        "smtp_code": attempt.reply.smtp_code,
        "enhanced_code": attempt.reply.enhanced_code,
        "diagnostic": attempt.reply.diagnostic,
        "remote_host": attempt.reply.remote_host,
        "next_attempt_at": attempt.next_attempt_at,
    }


async def set_outcomes(conn: Conn, attempts: Sequence[DeliveryAttempt]) -> dict[tuple[UUID, str], int]:
    """Write what became of recipients, each of them named once; number 0 counts one more than are on record.

    Answers the number of each try by (message, recipient), without those of which that or more is on record, or whose
    recipient is unknown.
    """
    cursor = await conn.execute(
        """
        UPDATE message_recipients r
        SET status = f.kind, attempts = coalesce(nullif(f.attempt, 0), r.attempts + 1), smtp_code = f.smtp_code,
            enhanced_code = f.enhanced_code, diagnostic = f.diagnostic, remote_host = f.remote_host,
            next_attempt_at = f.next_attempt_at
        FROM jsonb_to_recordset(%(fates)s) AS f(
            message_id uuid, kind text, recipient text, attempt integer, smtp_code integer, enhanced_code text,
            diagnostic text, remote_host text, next_attempt_at timestamptz)
        WHERE r.message_id = f.message_id AND r.address = f.recipient
          AND r.status NOT IN ('delivered', 'bounced', 'failed')
          AND (f.attempt = 0 OR r.attempts < f.attempt
               OR r.attempts = f.attempt AND r.status IS DISTINCT FROM f.kind)
        RETURNING r.message_id, r.address, r.attempts
        """,
        {"fates": _rows([_attempt_row(attempt) for attempt in attempts])},
    )
    return {(row["message_id"], row["address"]): row["attempts"] for row in await cursor.fetchall()}


async def update_statuses(conn: Conn, message_ids: Collection[UUID]) -> None:
    """Bring messages' status to what their recipients say: theirs when they agree, else `partial`."""
    await conn.execute(
        """
        UPDATE messages SET status = (
            SELECT CASE WHEN min(status) = max(status) THEN min(status) ELSE 'partial' END
            FROM message_recipients WHERE message_id = messages.id)
        WHERE id = ANY(%(ids)s)
        """,
        {"ids": list(message_ids)},
    )


async def add_recipients(conn: Conn, message_id: UUID, addresses: Sequence[str]) -> None:
    """Add queued recipients behind those that a message has."""
    await conn.execute(
        """
        INSERT INTO message_recipients (message_id, position, address, address_key, status)
        SELECT %(id)s, h.next + n.place, n.address, mailkeep_fold(n.address), 'queued'
        FROM unnest(%(addresses)s::text[]) WITH ORDINALITY AS n (address, place)
        CROSS JOIN (SELECT coalesce(max(position), -1) AS next FROM message_recipients WHERE message_id = %(id)s) h
        WHERE NOT EXISTS (SELECT FROM message_recipients r WHERE r.message_id = %(id)s AND r.address = n.address)
        """,
        {"id": message_id, "addresses": list(dict.fromkeys(addresses))},
    )


async def end_unknown(conn: Conn, message_id: UUID, said: str) -> list[str]:
    """The recipients of a message that nothing final is known of become `unknown`; answers their addresses."""
    cursor = await conn.execute(
        """
        UPDATE message_recipients SET status = 'unknown', diagnostic = %(said)s, next_attempt_at = NULL
        WHERE message_id = %(id)s AND status IN ('submitting', 'queued', 'deferred')
        RETURNING address, position
        """,
        {"id": message_id, "said": said},
    )
    rows = await cursor.fetchall()
    return [row["address"] for row in sorted(rows, key=lambda row: row["position"])]


async def clear_next_attempts(conn: Conn, message_ids: Collection[UUID]) -> None:
    """The recipients of these messages have no next attempt."""
    sql = "UPDATE message_recipients SET next_attempt_at = NULL WHERE message_id = ANY(%(ids)s)"
    await conn.execute(sql, {"ids": list(message_ids)})


async def lock_all(conn: Conn, message_ids: Collection[UUID]) -> dict[UUID, Message]:
    """Messages without their recipients, their rows locked, so that their fates are written one after the other."""
    sql = _SELECT + SQL("WHERE m.id = ANY(%(ids)s) ORDER BY m.id FOR UPDATE")
    cursor = await conn.execute(sql, {"ids": list(message_ids)})
    return {row["id"]: Message(**row, recipients=[]) for row in await cursor.fetchall()}


async def delete_claims(conn: Conn, before: datetime) -> None:
    """Let go of the claims made before an instant."""
    await conn.execute("DELETE FROM inbound_claims WHERE claimed_at < %(before)s", {"before": before})


async def file_all(conn: Conn, found: Sequence[Message], told: Sequence[dict[str, Any]], at: datetime) -> set[UUID]:
    """Claim (queue id, mailbox, received or not) for messages, write those that were not filed before, and what is told
    of them; answers their ids.
    """
    cursor = await conn.execute(
        """
        SELECT file_messages(%(at)s, %(claims)s, %(messages)s, %(rows)s, %(search)s, %(tags)s, %(events)s) AS id
        """,
        {
            "at": at,
            "claims": _rows([_claim(message) for message in found]),
            "events": _rows(told),
            **insert_arguments(found),
        },
    )
    return {row["id"] for row in await cursor.fetchall()}


def _claim(message: Message) -> dict[str, Any]:
    claimed = str(message.mailbox_id) if message.status == "received" else f"{message.mailbox_id} {message.status}"
    return {"queue_id": message.queue_id, "recipient": claimed, "message_id": message.id}


async def find(conn: Conn, message_id: UUID) -> Message | None:
    """The message with this id, with its recipients."""
    cursor = await conn.execute(_SELECT + SQL("WHERE m.id = %(id)s"), {"id": message_id})
    row = await cursor.fetchone()
    recipients = await recipients_of(conn, [message_id]) if row else {}
    return Message(**row, recipients=recipients.get(message_id, [])) if row else None


async def is_sent(conn: Conn, message_id: UUID, header_id: str) -> bool:
    """Whether the message with this id was sent from here, under this Message-ID."""
    cursor = await conn.execute(
        "SELECT FROM messages WHERE id = %(id)s AND direction = 'outbound' AND message_id = %(header_id)s",
        {"id": message_id, "header_id": header_id},
    )
    return await cursor.fetchone() is not None


async def find_all(conn: Conn, message_ids: Sequence[UUID]) -> dict[UUID, Message]:
    """The messages with these ids, with their recipients."""
    cursor = await conn.execute(_SELECT + SQL("WHERE m.id = ANY(%(ids)s)"), {"ids": list(message_ids)})
    rows = await cursor.fetchall()
    recipients = await recipients_of(conn, message_ids)
    return {row["id"]: Message(**row, recipients=recipients.get(row["id"], [])) for row in rows}


async def find_by_request(conn: Conn, request_id: UUID) -> list[UUID]:
    """The messages that were sent with a request, in its order."""
    cursor = await conn.execute(
        "SELECT id FROM messages WHERE request_id = %(request_id)s ORDER BY batch_index, id",
        {"request_id": request_id},
    )
    return [row["id"] for row in await cursor.fetchall()]


async def knows_domain(conn: Conn, domain_id: UUID) -> bool:
    """Whether there is such a domain, or was one that mail is told of."""
    cursor = await conn.execute(
        """
        SELECT EXISTS (SELECT FROM domains d WHERE d.id = %(id)s)
               OR EXISTS (SELECT FROM messages m WHERE m.domain_id = %(id)s) AS known
        """,
        {"id": domain_id},
    )
    row = await cursor.fetchone()
    return bool(row and row["known"])


async def recipients_of(conn: Conn, message_ids: Collection[UUID]) -> dict[UUID, list[Recipient]]:
    """The recipients of messages, in their order."""
    cursor = await conn.execute(
        """
        SELECT message_id, address, status, attempts, smtp_code, enhanced_code, diagnostic, remote_host, next_attempt_at
        FROM message_recipients WHERE message_id = ANY(%(ids)s) ORDER BY message_id, position
        """,
        {"ids": list(message_ids)},
    )
    found: dict[UUID, list[Recipient]] = {}
    for row in await cursor.fetchall():
        reply = ServerReply(row["smtp_code"], row["enhanced_code"], row["diagnostic"], row["remote_host"])
        recipient = Recipient(row["address"], row["status"], row["attempts"], reply, row["next_attempt_at"])
        found.setdefault(row["message_id"], []).append(recipient)
    return found
