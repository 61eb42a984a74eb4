"""SQL of restrictions."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.record.restrictions.model import RestrictionKind


async def insert(conn: Conn, incident_id: UUID, kind: RestrictionKind, subjects: Collection[str]) -> None:
    """Restrict these subjects because of an incident."""
    await conn.execute(
        """
        INSERT INTO restrictions (kind, subject, incident_id)
        SELECT %(kind)s, s, %(incident_id)s FROM unnest(%(subjects)s::text[]) s
        ON CONFLICT DO NOTHING
        """,
        {"kind": kind, "incident_id": incident_id, "subjects": list(subjects)},
    )


async def filter_restricted(conn: Conn, kind: RestrictionKind, subjects: Collection[str] | None) -> set[str]:
    """Which of these subjects are restricted; None: all that are."""
    cursor = await conn.execute(
        """
        SELECT DISTINCT r.subject FROM restrictions r
        WHERE r.kind = %(kind)s AND (%(subjects)s::text[] IS NULL OR r.subject = ANY(%(subjects)s))
        """,
        {"kind": kind, "subjects": None if subjects is None else list(subjects)},
    )
    return {row["subject"] for row in await cursor.fetchall()}


async def list_sole(conn: Conn, incident_id: UUID, kind: RestrictionKind) -> list[str]:
    """The subjects that this incident restricts, and no other one."""
    cursor = await conn.execute(
        """
        SELECT r.subject FROM restrictions r
        WHERE r.incident_id = %(incident_id)s AND r.kind = %(kind)s AND NOT EXISTS (
            SELECT FROM restrictions o
            WHERE o.kind = r.kind AND o.subject = r.subject AND o.incident_id <> r.incident_id)
        ORDER BY r.subject
        """,
        {"kind": kind, "incident_id": incident_id},
    )
    return [row["subject"] for row in await cursor.fetchall()]


async def delete_of_incident(conn: Conn, incident_id: UUID, kind: RestrictionKind) -> int:
    """End what an incident restricts; returns how many subjects it restricted."""
    cursor = await conn.execute(
        "DELETE FROM restrictions WHERE incident_id = %(incident_id)s AND kind = %(kind)s",
        {"incident_id": incident_id, "kind": kind},
    )
    return cursor.rowcount


async def delete(conn: Conn, kind: RestrictionKind, subject: str) -> None:
    """End the restrictions of a subject, whichever incidents they are of."""
    await conn.execute(
        "DELETE FROM restrictions WHERE kind = %(kind)s AND subject = %(subject)s", {"kind": kind, "subject": subject}
    )
