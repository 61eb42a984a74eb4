"""The SQL of the recovery key."""

from __future__ import annotations

from mailkeep.db.pool import Conn
from mailkeep.features.operations.recovery_key.model import RecoveryKey


async def find(conn: Conn, repository: str) -> RecoveryKey | None:
    """The recovery key of this repository."""
    cursor = await conn.execute(
        "SELECT key_id, repository, created_at, verified_at FROM recovery_key WHERE repository = %(repository)s",
        {"repository": repository},
    )
    row = await cursor.fetchone()
    return RecoveryKey(**row) if row else None


async def save(conn: Conn, key: RecoveryKey) -> None:
    """Record a key in place of the previous one."""
    await conn.execute(
        """
        INSERT INTO recovery_key (key_id, repository, created_at, verified_at)
        VALUES (%(key_id)s, %(repository)s, %(created_at)s, %(verified_at)s)
        ON CONFLICT (only_row) DO UPDATE SET key_id = excluded.key_id, repository = excluded.repository,
            created_at = excluded.created_at, verified_at = excluded.verified_at
        """,
        {
            "key_id": key.key_id,
            "repository": key.repository,
            "created_at": key.created_at,
            "verified_at": key.verified_at,
        },
    )
