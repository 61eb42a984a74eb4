"""The SQL of the history."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.core.ids import uuid7_floor
from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn
from mailkeep.features.messages.model import Fate, Filter, Message, Recipient, Reply


def _rows(rows: Sequence[dict[str, Any]]) -> Jsonb:
    return Jsonb(rows, dumps=msgspec.json.encode)


async def insert(conn: Conn, messages: Sequence[Message]) -> None:
    """Write messages with their recipients: one statement, however many."""
    await conn.execute(
        """
        WITH m AS (
            INSERT INTO messages (
                id, direction, message_id, queue_id, domain_id, domain_name, mailbox_id, source, admin_id,
                api_key_id, mail_from, from_address, to_addresses, cc_addresses, subject, size, tags, metadata,
                status, spam_score, spam_action, spam_symbols, auth, created_at)
            SELECT
                r.id, r.direction, r.message_id, r.queue_id, r.domain_id, r.domain_name, r.mailbox_id,
                r.source, r.admin_id, r.api_key_id, r.mail_from, r.from_address, r.to_addresses,
                r.cc_addresses, r.subject, r.size, r.tags, r.metadata, r.status, r.spam_score, r.spam_action,
                r.spam_symbols, r.auth, r.created_at
            FROM jsonb_to_recordset(%(messages)s) AS r(
                id uuid, direction text, message_id text, queue_id text, domain_id uuid, domain_name text,
                mailbox_id uuid, source text, admin_id uuid, api_key_id uuid, mail_from text, from_address text,
                to_addresses text[], cc_addresses text[], subject text, size bigint, tags text[], metadata jsonb,
                status text, spam_score double precision, spam_action text, spam_symbols text[], auth jsonb,
                created_at timestamptz)
        )
        INSERT INTO message_recipients (message_id, position, address, address_key, status, attempts, smtp_code,
                                        enhanced_code, diagnostic, remote_host, next_attempt_at)
        SELECT r.message_id, r.position, r.address, lower(r.address), r.status, r.attempts, r.smtp_code, r.enhanced_code,
               r.diagnostic, r.remote_host, r.next_attempt_at
        FROM jsonb_to_recordset(%(recipients)s) AS r(
            message_id uuid, position integer, address text, status text, attempts integer, smtp_code integer,
            enhanced_code text, diagnostic text, remote_host text, next_attempt_at timestamptz)
        """,
        {
            "messages": _rows([_message_row(message) for message in messages]),
            "recipients": _rows([row for message in messages for row in _recipient_rows(message)]),
        },
    )


def _message_row(message: Message) -> dict[str, Any]:
    return {name: getattr(message, name) for name in Message.__slots__ if name != "recipients"}


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


async def accept(conn: Conn, accepted: Sequence[tuple[UUID, str]], status: str) -> list[UUID]:
    """Attempts that the MTA took, with its queue ids; answers those that were still open, to be told of once."""
    cursor = await conn.execute(
        """
        WITH a AS (
            SELECT id, queue_id FROM jsonb_to_recordset(%(accepted)s) AS a(id uuid, queue_id text)
        ), m AS (
            UPDATE messages SET queue_id = a.queue_id, status = %(status)s FROM a
            WHERE messages.id = a.id AND messages.status IN ('submitting', 'unknown', 'lost')
            RETURNING messages.id
        ), r AS (
            UPDATE message_recipients SET status = %(status)s FROM m
            WHERE message_recipients.message_id = m.id AND message_recipients.status IN ('submitting', 'unknown', 'lost')
        )
        SELECT id FROM m
        """,
        {
            "accepted": _rows([{"id": message_id, "queue_id": queue_id} for message_id, queue_id in accepted]),
            "status": status,
        },
    )
    return [row["id"] for row in await cursor.fetchall()]


async def end_attempts(conn: Conn, ended: Sequence[tuple[UUID, str, str | None]]) -> None:
    """Attempts that came to nothing: (id, status lost | unknown | failed, the MTA's words)."""
    await conn.execute(
        """
        WITH e AS (
            SELECT id, status, diagnostic FROM jsonb_to_recordset(%(ended)s) AS e(id uuid, status text, diagnostic text)
        ), m AS (
            UPDATE messages SET status = e.status FROM e WHERE messages.id = e.id AND messages.status = 'submitting'
        )
        UPDATE message_recipients SET status = e.status, diagnostic = e.diagnostic FROM e
        WHERE message_recipients.message_id = e.id AND message_recipients.status = 'submitting'
        """,
        {"ended": _rows([{"id": i, "status": status, "diagnostic": said} for i, status, said in ended])},
    )


async def set_fate(conn: Conn, fate: Fate) -> bool:
    """Write what became of a recipient; False where it was written already or the recipient is unknown."""
    cursor = await conn.execute(
        """
        UPDATE message_recipients
        SET status = %(status)s, attempts = %(attempts)s, smtp_code = %(smtp_code)s, enhanced_code = %(enhanced_code)s,
            diagnostic = %(diagnostic)s, remote_host = %(remote_host)s, next_attempt_at = %(next_attempt_at)s
        WHERE message_id = %(message_id)s AND address = %(address)s
          AND (status, attempts) IS DISTINCT FROM (%(status)s, %(attempts)s)
          AND status NOT IN ('delivered', 'bounced', 'failed')
        """,
        {
            "status": fate.status,
            "attempts": fate.attempts,
            "smtp_code": fate.reply.smtp_code,
            "enhanced_code": fate.reply.enhanced_code,
            "diagnostic": fate.reply.diagnostic,
            "remote_host": fate.reply.remote_host,
            "next_attempt_at": fate.next_attempt_at,
            "message_id": fate.message_id,
            "address": fate.address,
        },
    )
    return cursor.rowcount > 0


async def settle_status(conn: Conn, message_id: UUID) -> None:
    """Bring a message's status to what its recipients say: theirs when they agree, else `partial`."""
    await conn.execute(
        """
        UPDATE messages SET status = (
            SELECT CASE WHEN count(DISTINCT status) = 1 THEN min(status) ELSE 'partial' END
            FROM message_recipients WHERE message_id = %(id)s)
        WHERE id = %(id)s
        """,
        {"id": message_id},
    )


async def lock(conn: Conn, message_id: UUID) -> Message | None:
    """The message, its row locked, so that fates of its recipients are written one after the other."""
    await conn.execute("SELECT FROM messages WHERE id = %(id)s FOR UPDATE", {"id": message_id})
    return await find(conn, message_id)


async def mark_seen(conn: Conn, queue_id: str, recipient: str, message_id: UUID, at: datetime) -> bool:
    """Claim (queue id, recipient) for a message; False where it was filed before."""
    cursor = await conn.execute(
        """
        INSERT INTO inbound_seen (queue_id, recipient, message_id, seen_at)
        VALUES (%(queue_id)s, %(recipient)s, %(message_id)s, %(at)s)
        ON CONFLICT (queue_id, recipient) DO NOTHING
        """,
        {"queue_id": queue_id, "recipient": recipient, "message_id": message_id, "at": at},
    )
    return cursor.rowcount == 1


async def find(conn: Conn, message_id: UUID) -> Message | None:
    """The message with this id, with its recipients."""
    cursor = await conn.execute(
        """
        SELECT
            m.id, m.direction, m.message_id, m.queue_id, m.domain_id, m.domain_name, m.mailbox_id, m.source,
            m.admin_id, m.api_key_id, m.mail_from, m.from_address, m.to_addresses, m.cc_addresses, m.subject,
            m.size, m.tags, m.metadata, m.status, m.spam_score, m.spam_action, m.spam_symbols, m.auth,
            m.created_at
        FROM messages m WHERE m.id = %(id)s
        """,
        {"id": message_id},
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    recipients = await _recipients(conn, [message_id])
    return Message(**row, recipients=recipients.get(message_id, []))


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


async def page(conn: Conn, wanted: Filter, asked: PageRequest) -> Page[Message]:
    """A page of the history, by age."""
    found = await fetch_page(
        conn,
        """
        SELECT
            m.id, m.direction, m.message_id, m.queue_id, m.domain_id, m.domain_name, m.mailbox_id, m.source,
            m.admin_id, m.api_key_id, m.mail_from, m.from_address, m.to_addresses, m.cc_addresses, m.subject,
            m.size, m.tags, m.metadata, m.status, m.spam_score, m.spam_action, m.spam_symbols, m.auth,
            m.created_at
        FROM messages m
        """,
        [
            ("m.domain_id = ANY(%(domains)s)", "domains", wanted.domains),
            ("m.domain_id = %(domain_id)s", "domain_id", wanted.domain_id),
            ("m.mailbox_id = %(mailbox_id)s", "mailbox_id", wanted.mailbox_id),
            ("m.direction = %(direction)s", "direction", wanted.direction),
            ("m.status = %(status)s", "status", wanted.status),
            ("m.message_id = %(message_id)s", "message_id", wanted.message_id),
            ("m.queue_id = %(queue_id)s", "queue_id", wanted.queue_id),
            ("m.tags @> ARRAY[%(tag)s]", "tag", wanted.tag),
            ("m.from_address ILIKE %(from_)s", "from_", like(wanted.from_)),
            ("m.subject ILIKE %(subject)s", "subject", like(wanted.subject)),
            (
                "EXISTS (SELECT FROM message_recipients r WHERE r.message_id = m.id AND r.address ILIKE %(to)s)",
                "to",
                like(wanted.to),
            ),
            (
                """
                concat_ws(' ', m.subject, m.from_address, array_to_string(m.to_addresses, ' '), m.message_id)
                    ILIKE ALL (%(words)s)
                """,
                "words",
                [like(word) for word in wanted.q.split()] if wanted.q else None,
            ),
            ("m.id >= %(since)s", "since", wanted.since and uuid7_floor(wanted.since)),
            ("m.id < %(until)s", "until", wanted.until and uuid7_floor(wanted.until)),
        ],
        asked,
        {"created_at": "m.id", "id": "m.id"},
    )
    recipients = await _recipients(conn, [row["id"] for row in found.rows])
    return Page([Message(**row, recipients=recipients.get(row["id"], [])) for row in found.rows], found.next_key)


def like(text: str | None) -> str | None:
    """The pattern for "contains, whatever the case"; `%`, `_` and the backslash stand for themselves."""
    if text is None:
        return None
    return "%" + re.sub(r"([\\%_])", r"\\\1", text) + "%"


async def _recipients(conn: Conn, message_ids: Sequence[UUID]) -> dict[UUID, list[Recipient]]:
    cursor = await conn.execute(
        """
        SELECT message_id, address, status, attempts, smtp_code, enhanced_code, diagnostic, remote_host, next_attempt_at
        FROM message_recipients WHERE message_id = ANY(%(ids)s) ORDER BY message_id, position
        """,
        {"ids": list(message_ids)},
    )
    found: dict[UUID, list[Recipient]] = {}
    for row in await cursor.fetchall():
        reply = Reply(row["smtp_code"], row["enhanced_code"], row["diagnostic"], row["remote_host"])
        recipient = Recipient(row["address"], row["status"], row["attempts"], reply, row["next_attempt_at"])
        found.setdefault(row["message_id"], []).append(recipient)
    return found
