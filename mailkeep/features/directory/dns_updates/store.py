"""SQL of DNS updates."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.directory.dns_updates.model import JobState, UpdateJob, UpdateRecord


async def find(conn: Conn, subject: str) -> UpdateJob | None:
    """The job of a domain or host name."""
    cursor = await conn.execute(
        """
        SELECT u.id, u.subject, u.state, u.problem, u.next_attempt_at, u.attempted_at, u.claims, u.failures
        FROM dns_updates u WHERE u.subject = %(subject)s
        """,
        {"subject": subject},
    )
    row = await cursor.fetchone()
    return UpdateJob(**row) if row else None


async def list_records(conn: Conn, update_id: UUID) -> list[UpdateRecord]:
    """The records of a job, by name."""
    cursor = await conn.execute(
        """
        SELECT r.name, r.type, r.value, r.zone, r.state, r.problem FROM dns_update_records r
        WHERE r.update_id = %(id)s ORDER BY r.name, r.type, r.value
        """,
        {"id": update_id},
    )
    return [UpdateRecord(**row) for row in await cursor.fetchall()]


async def add(conn: Conn, update_id: UUID, subject: str, at: datetime) -> None:
    """Add the job of a host name, unless there is one."""
    await conn.execute(
        """
        INSERT INTO dns_updates (id, subject, state, next_attempt_at) VALUES (%(id)s, %(subject)s, 'waiting', %(at)s)
        ON CONFLICT (subject) DO NOTHING
        """,
        {"id": update_id, "subject": subject, "at": at},
    )


async def request_all(conn: Conn, at: datetime) -> None:
    """Make all jobs due, except those that a worker has claimed."""
    await conn.execute(
        """
        UPDATE dns_updates SET next_attempt_at = %(at)s, failures = 0
        WHERE next_attempt_at > %(at)s AND attempted_at IS NOT NULL
        """,
        {"at": at},
    )


async def claim(conn: Conn, at: datetime, until: datetime, limit: int) -> list[UpdateJob]:
    """Claim due jobs until `until`, the longest due first."""
    cursor = await conn.execute(
        """
        UPDATE dns_updates u SET claims = u.claims + 1, next_attempt_at = %(until)s
        FROM (SELECT d.id FROM dns_updates d WHERE d.next_attempt_at <= %(at)s
              ORDER BY d.next_attempt_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED) due
        WHERE u.id = due.id
        RETURNING u.id, u.subject, u.state, u.problem, u.next_attempt_at, u.attempted_at, u.claims, u.failures
        """,
        {"at": at, "until": until, "limit": limit},
    )
    return [UpdateJob(**row) for row in await cursor.fetchall()]


async def finish(conn: Conn, job: UpdateJob, at: datetime, outcome: tuple[JobState, str], next_at: datetime) -> None:
    """Store the outcome of an attempt (state and problem) and the time of the next one. If the job became due again
    during the attempt, it stays so. Without effect if another worker has claimed it meanwhile.
    """
    await conn.execute(
        """
        UPDATE dns_updates u
        SET state = %(state)s, problem = %(problem)s, attempted_at = %(at)s,
            failures = CASE WHEN %(state)s = 'error' THEN u.failures + 1 ELSE 0 END,
            next_attempt_at = CASE WHEN u.next_attempt_at = %(lease)s THEN %(next)s ELSE u.next_attempt_at END
        WHERE u.id = %(id)s AND u.claims = %(claims)s
        """,
        {
            "id": job.id,
            "claims": job.claims,
            "lease": job.next_attempt_at,
            "state": outcome[0],
            "problem": outcome[1],
            "at": at,
            "next": next_at,
        },
    )


async def holds(conn: Conn, job: UpdateJob) -> bool:
    """Whether this worker's claim is the last one of the job; it stays so until the transaction ends."""
    cursor = await conn.execute(
        "SELECT FROM dns_updates u WHERE u.id = %(id)s AND u.claims = %(claims)s FOR UPDATE",
        {"id": job.id, "claims": job.claims},
    )
    return await cursor.fetchone() is not None


async def save_records(conn: Conn, update_id: UUID, group: tuple[str, str], records: Sequence[UpdateRecord]) -> None:
    """Replace the records of a name and type (`group`)."""
    name, record_type = group
    await conn.execute(
        "DELETE FROM dns_update_records WHERE update_id = %(id)s AND name = %(name)s AND type = %(type)s",
        {"id": update_id, "name": name, "type": record_type},
    )
    for record in records:
        values: dict[str, Any] = {field: getattr(record, field) for field in UpdateRecord.__slots__}
        await conn.execute(
            """
            INSERT INTO dns_update_records (update_id, name, type, value, zone, state, problem)
            VALUES (%(id)s, %(name)s, %(type)s, %(value)s, %(zone)s, %(state)s, %(problem)s)
            """,
            values | {"id": update_id},
        )


async def delete(conn: Conn, job: UpdateJob) -> bool:
    """Delete a job without records, unless it became due again; whether it was deleted."""
    cursor = await conn.execute(
        """
        DELETE FROM dns_updates u
        WHERE u.id = %(id)s AND u.claims = %(claims)s AND u.next_attempt_at = %(lease)s
          AND NOT EXISTS (SELECT FROM dns_update_records r WHERE r.update_id = u.id)
        """,
        {"id": job.id, "claims": job.claims, "lease": job.next_attempt_at},
    )
    return cursor.rowcount == 1
