"""SQL of incidents."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, LiteralString
from uuid import UUID

from psycopg.sql import SQL
from psycopg.types.json import Jsonb

from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.incidents.model import ActionState, Incident, IncidentFilter

_SELECT = """
    SELECT i.id, i.domain_id, d.name AS domain_name, i.subject_type, i.subject_id, i.subject, i.note, i.by_label,
           i.by_rank, i.created_at, i.undone_at, i.undone_by, i.undone_rank,
           (SELECT jsonb_agg(jsonb_build_object('action', a.action, 'result', a.result, 'affected', a.affected,
                                                'error', a.error, 'undo', a.undo) ORDER BY a.position)
              FROM incident_actions a WHERE a.incident_id = i.id) AS actions
    FROM incidents i LEFT JOIN domains d ON d.id = i.domain_id
"""


async def insert(conn: Conn, incident: Incident) -> None:
    """Insert an incident with its actions."""
    await conn.execute(
        """
        INSERT INTO incidents (id, domain_id, subject_type, subject_id, subject, note, by_label, by_rank, created_at)
        VALUES (%(id)s, %(domain_id)s, %(subject_type)s, %(subject_id)s, %(subject)s, %(note)s, %(by_label)s,
                %(by_rank)s, %(created_at)s)
        """,
        {name: getattr(incident, name) for name in Incident.__slots__ if name != "actions"},
    )
    await conn.execute(
        """
        INSERT INTO incident_actions (incident_id, position, action, result)
        SELECT %(id)s, a.position, a.action, 'pending'
        FROM unnest(%(actions)s::text[]) WITH ORDINALITY a (action, position)
        """,
        {"id": incident.id, "actions": [each.action for each in incident.actions]},
    )


async def find(conn: Conn, incident_id: UUID) -> Incident | None:
    """The incident."""
    cursor = await conn.execute(_SELECT + " WHERE i.id = %(id)s", {"id": incident_id})
    row = await cursor.fetchone()
    return _to_incident(row) if row else None


async def lock(conn: Conn, incident_id: UUID) -> Incident | None:
    """The incident, locked until the transaction ends."""
    await conn.execute("SELECT FROM incidents WHERE id = %(id)s FOR UPDATE", {"id": incident_id})
    return await find(conn, incident_id)


async def save_result(conn: Conn, incident_id: UUID, state: ActionState) -> None:
    """Store the result of an action that has none, or failed; that of its undo stays, which may have come first."""
    changes, where = (
        "result = %(result)s, affected = %(affected)s, error = %(error)s",
        "result IN ('pending', 'failed')",
    )
    await _save(conn, changes, where, incident_id, state)


async def save_undo_result(conn: Conn, incident_id: UUID, state: ActionState) -> None:
    """Store the result of the undo of an action that has none, or failed."""
    await _save(conn, "undo = %(undo)s, error = %(error)s", "coalesce(undo, 'failed') = 'failed'", incident_id, state)


async def _save(
    conn: Conn, changes: LiteralString, where: LiteralString, incident_id: UUID, state: ActionState
) -> None:
    await conn.execute(
        SQL("UPDATE incident_actions SET {} WHERE incident_id = %(id)s AND action = %(action)s AND {}").format(
            SQL(changes), SQL(where)
        ),
        {
            "id": incident_id,
            "action": state.action,
            "result": state.result,
            "affected": state.affected,
            "error": None if state.error is None else Jsonb(state.error),
            "undo": state.undo,
        },
    )


async def save_undo(conn: Conn, incident: Incident) -> None:
    """Store when and by whom an incident was undone."""
    await conn.execute(
        """
        UPDATE incidents SET undone_at = %(undone_at)s, undone_by = %(undone_by)s, undone_rank = %(undone_rank)s
        WHERE id = %(id)s
        """,
        {name: getattr(incident, name) for name in ("id", "undone_at", "undone_by", "undone_rank")},
    )


async def page(conn: Conn, filters: IncidentFilter, page_request: PageRequest) -> Page[Incident]:
    """A page of incidents."""
    result = await fetch_page(
        conn,
        _SELECT,
        [
            ("i.domain_id = ANY(%(domains)s)", "domains", filters.domains),
            ("i.domain_id = %(domain_id)s", "domain_id", filters.domain_id),
            ("i.subject_id = %(subject_id)s", "subject_id", filters.subject_id),
            ("i.undone_at IS NULL", "open", filters.state == "open" or None),
            ("i.undone_at IS NOT NULL", "undone", filters.state == "undone" or None),
        ],
        page_request,
        {"created_at": "i.id", "id": "i.id"},
    )
    return Page([_to_incident(row) for row in result.rows], result.next_key)


async def filter_senders(conn: Conn, mailbox_id: UUID, senders: Sequence[str]) -> set[str]:
    """Which of these sender addresses are a mailbox's: its own, also with a tag and in an alias domain."""
    parts = [each.rpartition("@") for each in senders]
    cursor = await conn.execute(
        """
        SELECT a.sender
        FROM unnest(%(senders)s::text[], %(locals)s::text[], %(domains)s::text[]) a (sender, local_part, domain)
        CROSS JOIN LATERAL mta_mailbox_of(a.local_part, a.domain) m
        WHERE m.id = %(id)s
        """,
        {
            "id": mailbox_id,
            "senders": list(senders),
            "locals": [local_part for local_part, _, _ in parts],
            "domains": [domain for _, _, domain in parts],
        },
    )
    return {row["sender"] for row in await cursor.fetchall()}


async def filter_submitted(conn: Conn, mailbox_id: UUID, queue_ids: Sequence[str]) -> set[str]:
    """Which of these queue IDs are of messages that were submitted with a mailbox's login, from any address."""
    cursor = await conn.execute(
        """
        SELECT e.queue_id
        FROM mailboxes m JOIN submission_envelopes e ON lower(e.login) = m.address_key
        WHERE m.id = %(id)s AND e.queue_id = ANY(%(queue_ids)s)
        """,
        {"id": mailbox_id, "queue_ids": list(queue_ids)},
    )
    return {row["queue_id"] for row in await cursor.fetchall()}


async def filter_queue_ids(
    conn: Conn, queue_ids: Sequence[str], key_ids: Collection[UUID], admin_id: UUID | None
) -> set[str]:
    """Which of these queue IDs are of messages of these keys, or of an administrator."""
    cursor = await conn.execute(
        """
        SELECT m.queue_id FROM messages m
        WHERE m.queue_id = ANY(%(queue_ids)s) AND m.direction = 'outbound'
          AND (m.api_key_id = ANY(%(key_ids)s) OR m.admin_id = %(admin_id)s)
        """,
        {"queue_ids": list(queue_ids), "key_ids": list(key_ids), "admin_id": admin_id},
    )
    return {row["queue_id"] for row in await cursor.fetchall()}


def _to_incident(row: dict[str, Any]) -> Incident:
    actions = tuple(ActionState(**each) for each in row.pop("actions") or ())
    return Incident(**row, actions=actions)
