"""SQL of claimed Idempotency-Keys of submissions, in the table of those of the API."""

from __future__ import annotations

from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.smtp_submission.model import Claim

_ROUTE = "SMTP"
_NOBODY = UUID(int=0)  # as `process`: no request of the API is to be recovered


async def insert(conn: Conn, key_id: UUID, key: str, claim: Claim) -> bool:
    """Claim a key; False if it is claimed already."""
    cursor = await conn.execute(
        """
        INSERT INTO idempotency_keys (caller_id, route, key, body_hash, request_id, process, claimed_at)
        VALUES (%(key_id)s, %(route)s, %(key)s, %(digest)s, %(message_id)s, %(process)s, %(at)s)
        ON CONFLICT (caller_id, route, key) DO NOTHING
        """,
        _arguments(key_id, key, claim) | {"process": _NOBODY},
    )
    return cursor.rowcount == 1


async def lock(conn: Conn, key_id: UUID, key: str) -> Claim | None:
    """The claim of a key, locked."""
    cursor = await conn.execute(
        """
        SELECT request_id AS message_id, body_hash AS digest, claimed_at FROM idempotency_keys
        WHERE caller_id = %(key_id)s AND route = %(route)s AND key = %(key)s FOR UPDATE
        """,
        {"key_id": key_id, "route": _ROUTE, "key": key},
    )
    row = await cursor.fetchone()
    return Claim(**row) if row else None


async def replace(conn: Conn, key_id: UUID, key: str, claim: Claim) -> None:
    """Give a key, whose claim is locked, to another message."""
    await conn.execute(
        """
        UPDATE idempotency_keys SET body_hash = %(digest)s, request_id = %(message_id)s, claimed_at = %(at)s
        WHERE caller_id = %(key_id)s AND route = %(route)s AND key = %(key)s
        """,
        _arguments(key_id, key, claim),
    )


def _arguments(key_id: UUID, key: str, claim: Claim) -> dict[str, object]:
    return {
        "key_id": key_id,
        "route": _ROUTE,
        "key": key,
        "digest": claim.digest,
        "message_id": claim.message_id,
        "at": claim.claimed_at,
    }
