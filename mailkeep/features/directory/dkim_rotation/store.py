"""SQL of the life cycle of DKIM keys."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.directory.dkim.model import DkimKey
from mailkeep.features.directory.dkim_rotation.model import DkimJob, RotationClaim

_SELECT = """
    SELECT k.id, k.domain_id, k.selector, k.cname, k.algorithm, k.stage, k.private_key, k.public_key, k.for_rotation,
           k.dns_status, k.dns_checked_at, k.published_since, k.created_at, k.activated_at, k.retiring_at, k.retired_at,
           k.updated_at AS changed_at
    FROM dkim_keys k
"""


async def find(conn: Conn, key_id: UUID) -> DkimKey | None:
    """The key with this ID."""
    cursor = await conn.execute(_SELECT + " WHERE k.id = %(id)s", {"id": key_id})
    row = await cursor.fetchone()
    return DkimKey(**row) if row else None


async def list_of_domain(conn: Conn, domain_id: UUID) -> list[DkimKey]:
    """All keys of a domain, oldest first."""
    cursor = await conn.execute(_SELECT + " WHERE k.domain_id = %(id)s ORDER BY k.id", {"id": domain_id})
    return [DkimKey(**row) for row in await cursor.fetchall()]


async def update(conn: Conn, keys: Sequence[DkimKey]) -> None:
    """Write the stages of keys, and what belongs to them."""
    for key in keys:
        await conn.execute(
            """
            UPDATE dkim_keys k
            SET stage = %(stage)s, private_key = %(private_key)s, for_rotation = %(for_rotation)s,
                activated_at = %(activated_at)s, retiring_at = %(retiring_at)s, retired_at = %(retired_at)s,
                updated_at = %(changed_at)s
            WHERE k.id = %(id)s
            """,
            {name: getattr(key, name) for name in DkimKey.__slots__},
        )


async def delete(conn: Conn, key_id: UUID) -> None:
    """Delete a key."""
    await conn.execute("DELETE FROM dkim_keys WHERE id = %(id)s", {"id": key_id})


async def delete_retired(conn: Conn, before: datetime) -> None:
    """Delete the keys that were retired before this time."""
    await conn.execute("DELETE FROM dkim_keys WHERE stage = 'retired' AND retired_at < %(before)s", {"before": before})


async def list_administrators(conn: Conn, domain_id: UUID, *, server_too: bool) -> list[str]:
    """The emails of the active administrators to which a domain is assigned; without any, or with `server_too`, of all
    super_admins.
    """
    cursor = await conn.execute(
        """
        WITH assigned AS (
            SELECT a.email FROM admins a JOIN admin_domains d ON d.admin_id = a.id
            WHERE d.domain_id = %(id)s AND a.active
        )
        SELECT s.email FROM assigned s
        UNION
        SELECT a.email FROM admins a
        WHERE a.role = 'super_admin' AND a.active AND (%(server_too)s OR NOT EXISTS (SELECT FROM assigned))
        ORDER BY email
        """,
        {"id": domain_id, "server_too": server_too},
    )
    return [row["email"] for row in await cursor.fetchall()]


async def claim(conn: Conn, claim: RotationClaim) -> list[DkimJob]:
    """Claim keys with a due step: a look-up of a pending key of a rotation, the rotation of an active key, the end of a
    retiring one. Domains that are inactive are not rotated.
    """
    cursor = await conn.execute(
        """
        WITH due AS (
            SELECT k.id FROM dkim_keys k JOIN domains d ON d.id = k.domain_id
            WHERE k.claimed_until <= %(at)s AND (
                (k.stage = 'pending' AND k.for_rotation AND k.next_check_at <= %(at)s)
                OR (k.stage = 'retiring' AND k.retiring_at <= %(retire_before)s)
                OR (k.stage = 'active' AND k.activated_at <= %(rotate_before)s AND d.active AND NOT EXISTS (
                    SELECT FROM dkim_keys n
                    WHERE n.domain_id = k.domain_id AND n.stage = 'pending' AND n.for_rotation
                      AND (n.algorithm = 'ed25519') = (k.algorithm = 'ed25519'))))
            ORDER BY k.claimed_until, k.id LIMIT %(limit)s FOR UPDATE OF k SKIP LOCKED
        )
        UPDATE dkim_keys k SET claims = k.claims + 1, claimed_until = %(until)s FROM due
        WHERE k.id = due.id RETURNING k.id, k.claims, k.checks, k.requests
        """,
        {
            "at": claim.at,
            "until": claim.until,
            "retire_before": claim.retire_before,
            "rotate_before": claim.rotate_before,
            "limit": claim.limit,
        },
    )
    claimed = {row["id"]: row for row in await cursor.fetchall()}
    if not claimed:
        return []
    cursor = await conn.execute(_SELECT + " WHERE k.id = ANY(%(ids)s)", {"ids": list(claimed)})
    keys = [DkimKey(**row) for row in await cursor.fetchall()]
    return [DkimJob(key, **{name: claimed[key.id][name] for name in ("claims", "checks", "requests")}) for key in keys]


async def release(conn: Conn, job: DkimJob, at: datetime, next_check_at: datetime | None = None) -> None:
    """End a claim; `next_check_at`: of a pending key, after one more look-up. Without effect if the key was claimed
    again meanwhile.
    """
    await conn.execute(
        """
        UPDATE dkim_keys k
        SET claimed_until = %(at)s, checks = k.checks + (%(next)s::timestamptz IS NOT NULL)::integer,
            next_check_at = coalesce(%(next)s, k.next_check_at)
        WHERE k.id = %(id)s AND k.claims = %(claims)s
        """,
        {"id": job.key.id, "claims": job.claims, "at": at, "next": next_check_at},
    )


async def holds(conn: Conn, job: DkimJob) -> bool:
    """Whether this worker's claim is the last one of the key; nobody else claims it until the transaction ends."""
    cursor = await conn.execute(
        "SELECT FROM dkim_keys k WHERE k.id = %(id)s AND k.claims = %(claims)s FOR UPDATE",
        {"id": job.key.id, "claims": job.claims},
    )
    return await cursor.fetchone() is not None


async def schedule(conn: Conn, key_ids: Sequence[UUID], next_check_at: datetime) -> None:
    """Set when the records of new keys of a rotation are looked for."""
    await conn.execute(
        "UPDATE dkim_keys SET next_check_at = %(next)s WHERE id = ANY(%(ids)s)",
        {"ids": list(key_ids), "next": next_check_at},
    )


async def find_requests(conn: Conn, domain_id: UUID) -> dict[UUID, int]:
    """How often the publication of the records of a rotation's pending keys was asked for, by key."""
    cursor = await conn.execute(
        """
        SELECT k.id, k.requests FROM dkim_keys k
        WHERE k.domain_id = %(id)s AND k.stage = 'pending' AND k.for_rotation
        """,
        {"id": domain_id},
    )
    return {row["id"]: row["requests"] for row in await cursor.fetchall()}


async def count_request(conn: Conn, key_ids: Sequence[UUID]) -> None:
    """Count that the publication of the records of keys was asked for once more."""
    await conn.execute("UPDATE dkim_keys SET requests = requests + 1 WHERE id = ANY(%(ids)s)", {"ids": list(key_ids)})
