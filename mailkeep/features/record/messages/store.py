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
from mailkeep.features.record.messages.model import (
    DeliveryAttempt,
    Message,
    OutboundMessage,
    Recipient,
    RecipientSuppression,
    ServerReply,
)

_COLUMNS = [name for name in Message.__slots__ if name != "recipients"]
_SELECT = SQL("SELECT {} FROM messages m ").format(SQL(", ").join(Identifier("m", name) for name in _COLUMNS))


def _to_jsonb(rows: Sequence[dict[str, Any]]) -> Jsonb:
    return Jsonb(rows, dumps=msgspec.json.encode)


async def insert(conn: Conn, messages: Sequence[Message]) -> None:
    """Insert messages with their recipients and search columns, in one statement."""
    sql = "SELECT insert_messages(%(messages)s, %(rows)s, %(search)s, %(tags)s)"
    await conn.execute(sql, insert_arguments(messages))


def insert_arguments(messages: Sequence[Message]) -> dict[str, Jsonb]:
    """The arguments of the SQL function `insert_messages`."""
    return {
        "messages": _to_jsonb([_message_row(message) for message in messages]),
        "rows": _to_jsonb([row for message in messages for row in _recipient_rows(message)]),
        "search": _to_jsonb([_search_row(message) for message in messages]),
        "tags": _to_jsonb([{"tag": tag, "message_id": message.id} for message in messages for tag in message.tags]),
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
            "suppression": recipient.suppression,
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
    """Record messages that the MTA accepted: by its reply (`answered`), else by its log.

    Their recipients without an outcome get this status, and `mail.sent` is emitted if the acceptance is new. Returns
    the IDs of the messages whose acceptance was not recorded before in this way.
    """
    cursor = await conn.execute(
        "SELECT accept_messages(%(at)s, %(status)s, %(answered)s, %(accepted)s) AS id",
        {"at": at, "status": status, "answered": answered, "accepted": _to_jsonb(accepted)},
    )
    return [row["id"] for row in await cursor.fetchall()]


async def end_submissions(conn: Conn, ended: Sequence[tuple[UUID, str, str | None]]) -> list[UUID]:
    """Set the status of submissions: (id, status, MTA's reply). Only `submitting` ones change, and `unknown` to `lost`.

    Returns the IDs of the changed messages.
    """
    cursor = await conn.execute(
        """
        WITH ended AS (
            SELECT id, status, diagnostic FROM jsonb_to_recordset(%(ended)s) AS e(id uuid, status text, diagnostic text)
        ), changed AS (
            SELECT m.id, ended.status, ended.diagnostic FROM messages m JOIN ended ON ended.id = m.id
            WHERE m.status = 'submitting' OR (m.status = 'unknown' AND ended.status = 'lost')
            ORDER BY m.id FOR UPDATE OF m
        ), updated_messages AS (
            UPDATE messages m SET status = changed.status FROM changed WHERE m.id = changed.id
        ), updated_recipients AS (
            UPDATE message_recipients r SET status = changed.status, diagnostic = changed.diagnostic FROM changed
            WHERE r.message_id = changed.id AND r.status IN ('submitting', 'unknown')
        )
        SELECT id FROM changed
        """,
        {"ended": _to_jsonb([{"id": i, "status": status, "diagnostic": reply} for i, status, reply in ended])},
    )
    return [row["id"] for row in await cursor.fetchall()]


async def insert_attempts(conn: Conn, attempts: Sequence[DeliveryAttempt]) -> None:
    """Insert delivery attempts."""
    await conn.execute(
        """
        INSERT INTO message_attempts (message_id, id, at, kind, recipient, attempt, smtp_code, enhanced_code,
                                      diagnostic, remote_host, next_attempt_at, domain_id, provider, bounce_class)
        SELECT a.message_id, a.id, a.at, a.kind, a.recipient, a.attempt, a.smtp_code, a.enhanced_code,
               a.diagnostic, a.remote_host, a.next_attempt_at,
               CASE WHEN coalesce(a.provider, a.bounce_class) IS NOT NULL
                    THEN (SELECT m.domain_id FROM messages m WHERE m.id = a.message_id) END,
               a.provider, a.bounce_class
        FROM jsonb_to_recordset(%(attempts)s) AS a(
            message_id uuid, id uuid, at timestamptz, kind text, recipient text, attempt integer, smtp_code integer,
            enhanced_code text, diagnostic text, remote_host text, next_attempt_at timestamptz, provider text,
            bounce_class text)
        """,
        {
            "attempts": _to_jsonb(
                [
                    _attempt_row(each) | {"provider": each.provider, "bounce_class": each.bounce_class}
                    for each in attempts
                ]
            )
        },
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
    """Update recipients with the outcomes of attempts, at most one for each; number 0 means the next number.

    Returns the number of each attempt by (message, recipient), except attempts that are recorded already and those to
    unknown recipients.
    """
    cursor = await conn.execute(
        """
        UPDATE message_recipients r
        SET status = a.kind, attempts = coalesce(nullif(a.attempt, 0), r.attempts + 1), smtp_code = a.smtp_code,
            enhanced_code = a.enhanced_code, diagnostic = a.diagnostic, remote_host = a.remote_host,
            next_attempt_at = a.next_attempt_at
        FROM jsonb_to_recordset(%(attempts)s) AS a(
            message_id uuid, kind text, recipient text, attempt integer, smtp_code integer, enhanced_code text,
            diagnostic text, remote_host text, next_attempt_at timestamptz)
        WHERE r.message_id = a.message_id AND r.address = a.recipient
          AND r.status NOT IN ('delivered', 'bounced', 'failed')
          AND (a.attempt = 0 OR r.attempts < a.attempt
               OR r.attempts = a.attempt AND r.status IS DISTINCT FROM a.kind)
        RETURNING r.message_id, r.address, r.attempts
        """,
        {"attempts": _to_jsonb([_attempt_row(attempt) for attempt in attempts])},
    )
    return {(row["message_id"], row["address"]): row["attempts"] for row in await cursor.fetchall()}


async def bounce_late(conn: Conn, attempt: DeliveryAttempt) -> bool:
    """Set a recipient that is `delivered` or `relayed` to `bounced`; False if it is neither."""
    cursor = await conn.execute(
        """
        UPDATE message_recipients
        SET status = 'bounced', smtp_code = %(smtp_code)s, enhanced_code = %(enhanced_code)s,
            diagnostic = %(diagnostic)s, remote_host = %(remote_host)s
        WHERE message_id = %(message_id)s AND address = %(recipient)s AND status IN ('delivered', 'relayed')
        """,
        _attempt_row(attempt),
    )
    return cursor.rowcount > 0


async def has_complaint(conn: Conn, message_id: UUID, address: str) -> bool:
    """Whether the timeline of a message has a complaint of this recipient."""
    cursor = await conn.execute(
        """
        SELECT FROM message_attempts
        WHERE message_id = %(message_id)s AND recipient = %(recipient)s AND kind = 'complained'
        """,
        {"message_id": message_id, "recipient": address},
    )
    return await cursor.fetchone() is not None


async def update_statuses(conn: Conn, message_ids: Collection[UUID]) -> None:
    """Set each message's status to the one that all its recipients have, else to `partial`."""
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
    """Add recipients, with status `queued`, after those that a message has."""
    await conn.execute(
        """
        INSERT INTO message_recipients (message_id, position, address, address_key, status)
        SELECT %(id)s, existing.last + n.number, n.address, mailkeep_fold(n.address), 'queued'
        FROM unnest(%(addresses)s::text[]) WITH ORDINALITY AS n (address, number)
        CROSS JOIN (
            SELECT coalesce(max(position), -1) AS last FROM message_recipients WHERE message_id = %(id)s
        ) existing
        WHERE NOT EXISTS (SELECT FROM message_recipients r WHERE r.message_id = %(id)s AND r.address = n.address)
        """,
        {"id": message_id, "addresses": list(dict.fromkeys(addresses))},
    )


async def end_unknown(conn: Conn, message_id: UUID, diagnostic: str) -> list[str]:
    """Set the recipients of a message without a final outcome to `unknown`; returns their addresses."""
    cursor = await conn.execute(
        """
        UPDATE message_recipients SET status = 'unknown', diagnostic = %(diagnostic)s, next_attempt_at = NULL
        WHERE message_id = %(id)s AND status IN ('submitting', 'queued', 'deferred')
        RETURNING address, position
        """,
        {"id": message_id, "diagnostic": diagnostic},
    )
    rows = await cursor.fetchall()
    return [row["address"] for row in sorted(rows, key=lambda row: row["position"])]


async def clear_next_attempts(conn: Conn, message_ids: Collection[UUID]) -> None:
    """Remove the time of the next attempt from the recipients of messages."""
    sql = "UPDATE message_recipients SET next_attempt_at = NULL WHERE message_id = ANY(%(ids)s)"
    await conn.execute(sql, {"ids": list(message_ids)})


async def lock_all(conn: Conn, message_ids: Collection[UUID]) -> dict[UUID, Message]:
    """Lock messages, so that their outcomes are recorded one after another; returns them by ID, without recipients."""
    sql = _SELECT + SQL("WHERE m.id = ANY(%(ids)s) ORDER BY m.id FOR UPDATE")
    cursor = await conn.execute(sql, {"ids": list(message_ids)})
    return {row["id"]: Message(**row, recipients=[]) for row in await cursor.fetchall()}


async def delete_claims(conn: Conn, before: datetime) -> None:
    """Delete the claims made before `before`."""
    await conn.execute("DELETE FROM inbound_claims WHERE claimed_at < %(before)s", {"before": before})


async def record_inbound(
    conn: Conn, messages: Sequence[Message], events: Sequence[dict[str, Any]], at: datetime
) -> set[UUID]:
    """Claim the (queue ID, mailbox, status) of messages, so that each is recorded once. Insert those that were not
    claimed before, and their events; returns their IDs.
    """
    cursor = await conn.execute(
        """
        SELECT record_inbound(%(at)s, %(claims)s, %(messages)s, %(rows)s, %(search)s, %(tags)s, %(events)s) AS id
        """,
        {
            "at": at,
            "claims": _to_jsonb([_claim(message) for message in messages]),
            "events": _to_jsonb(events),
            **insert_arguments(messages),
        },
    )
    return {row["id"] for row in await cursor.fetchall()}


def _claim(message: Message) -> dict[str, Any]:
    recipient = str(message.mailbox_id) if message.status == "received" else f"{message.mailbox_id} {message.status}"
    return {"queue_id": message.queue_id, "recipient": recipient, "message_id": message.id}


async def find(conn: Conn, message_id: UUID) -> Message | None:
    """The message with this ID, with its recipients."""
    cursor = await conn.execute(_SELECT + SQL("WHERE m.id = %(id)s"), {"id": message_id})
    row = await cursor.fetchone()
    recipients = await list_recipients(conn, [message_id]) if row else {}
    return Message(**row, recipients=recipients.get(message_id, [])) if row else None


async def find_outbound(conn: Conn, message_id: UUID, mail_from: str) -> OutboundMessage | None:
    """The message with this ID, if it is outbound and has this envelope sender."""
    cursor = await conn.execute(
        """
        SELECT m.id, m.submitted_at FROM messages m
        WHERE m.id = %(id)s AND m.direction = 'outbound' AND m.mail_from = %(mail_from)s
        """,
        {"id": message_id, "mail_from": mail_from},
    )
    row = await cursor.fetchone()
    return OutboundMessage(**row) if row else None


async def find_by_header(conn: Conn, domain_id: UUID, header_id: str) -> UUID | None:
    """The only outbound message of a domain with this Message-ID that is not `system`."""
    cursor = await conn.execute(
        """
        SELECT m.id FROM messages m
        WHERE m.message_id = %(header_id)s AND m.domain_id = %(domain_id)s AND m.direction = 'outbound'
          AND m.source IN ('api', 'smtp')
        LIMIT 2
        """,
        {"domain_id": domain_id, "header_id": header_id},
    )
    rows = await cursor.fetchall()
    return rows[0]["id"] if len(rows) == 1 else None


async def find_all(conn: Conn, message_ids: Sequence[UUID]) -> dict[UUID, Message]:
    """The messages with these IDs, with their recipients."""
    cursor = await conn.execute(_SELECT + SQL("WHERE m.id = ANY(%(ids)s)"), {"ids": list(message_ids)})
    rows = await cursor.fetchall()
    recipients = await list_recipients(conn, message_ids)
    return {row["id"]: Message(**row, recipients=recipients.get(row["id"], [])) for row in rows}


async def find_from_addresses(conn: Conn, message_ids: Sequence[UUID]) -> dict[str, str]:
    """The From addresses of these messages, by envelope sender."""
    cursor = await conn.execute(
        "SELECT mail_from, from_address FROM messages WHERE id = ANY(%(ids)s)", {"ids": list(message_ids)}
    )
    return {row["mail_from"]: row["from_address"] for row in await cursor.fetchall()}


async def find_by_request(conn: Conn, request_id: UUID) -> list[UUID]:
    """The IDs of the messages that were sent with an API request, in its order."""
    cursor = await conn.execute(
        "SELECT id FROM messages WHERE request_id = %(request_id)s ORDER BY batch_index, id",
        {"request_id": request_id},
    )
    return [row["id"] for row in await cursor.fetchall()]


async def knows_domain(conn: Conn, domain_id: UUID) -> bool:
    """Whether a domain has this ID, or a message belongs to one that had it."""
    cursor = await conn.execute(
        """
        SELECT EXISTS (SELECT FROM domains d WHERE d.id = %(id)s)
               OR EXISTS (SELECT FROM messages m WHERE m.domain_id = %(id)s) AS known
        """,
        {"id": domain_id},
    )
    row = await cursor.fetchone()
    return bool(row and row["known"])


async def list_recipients(conn: Conn, message_ids: Collection[UUID]) -> dict[UUID, list[Recipient]]:
    """The recipients of messages by message ID, in the order of the envelope."""
    cursor = await conn.execute(
        """
        SELECT message_id, address, status, attempts, smtp_code, enhanced_code, diagnostic, remote_host,
               next_attempt_at, suppression
        FROM message_recipients WHERE message_id = ANY(%(ids)s) ORDER BY message_id, position
        """,
        {"ids": list(message_ids)},
    )
    recipients: dict[UUID, list[Recipient]] = {}
    for row in await cursor.fetchall():
        reply = ServerReply(row["smtp_code"], row["enhanced_code"], row["diagnostic"], row["remote_host"])
        suppression = row["suppression"] and msgspec.convert(row["suppression"], RecipientSuppression)
        recipient = Recipient(
            row["address"], row["status"], row["attempts"], reply, row["next_attempt_at"], suppression
        )
        recipients.setdefault(row["message_id"], []).append(recipient)
    return recipients
