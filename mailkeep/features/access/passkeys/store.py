"""SQL of passkeys and challenges."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg

from mailkeep.core.errors import Conflict
from mailkeep.core.passkey import VerifiedAssertion
from mailkeep.db.pool import Conn, constraint_of
from mailkeep.features.access.accounts.model import AccountKind, AccountRef
from mailkeep.features.access.passkeys.model import Passkey, Purpose

_SELECT = """
    SELECT p.id, p.account_id, p.credential_id, p.public_key, p.sign_count, p.name, p.aaguid, p.transports,
           p.backup_eligible, p.backed_up, p.created_at, p.last_used_at
    FROM passkeys p
"""


async def list_for(conn: Conn, account_id: UUID) -> list[Passkey]:
    """The passkeys of an account, newest first."""
    cursor = await conn.execute(
        _SELECT + " WHERE p.account_id = %(account_id)s ORDER BY p.id DESC", {"account_id": account_id}
    )
    return [_to_passkey(row) for row in await cursor.fetchall()]


async def find(conn: Conn, account_id: UUID, passkey_id: UUID) -> Passkey | None:
    """The account's passkey with this id."""
    cursor = await conn.execute(
        _SELECT + " WHERE p.id = %(id)s AND p.account_id = %(account_id)s", {"id": passkey_id, "account_id": account_id}
    )
    row = await cursor.fetchone()
    return _to_passkey(row) if row else None


async def find_by_credential(conn: Conn, kind: AccountKind, credential_id: bytes) -> Passkey | None:
    """The passkey with this credential id, of any account of this kind."""
    cursor = await conn.execute(
        _SELECT + " WHERE p.credential_id = %(credential_id)s AND (p.admin_id IS NOT NULL) = %(is_admin)s",
        {"credential_id": credential_id, "is_admin": kind == "admin"},
    )
    row = await cursor.fetchone()
    return _to_passkey(row) if row else None


async def insert(conn: Conn, account: AccountRef, passkey: Passkey) -> None:
    """Insert a passkey; CONFLICT `credential_taken` if its credential is registered for any account."""
    try:
        await conn.execute(
            """
            INSERT INTO passkeys (id, admin_id, mailbox_id, credential_id, public_key, sign_count, name, aaguid,
                                  transports, backup_eligible, backed_up, created_at, last_used_at)
            VALUES (%(id)s, %(admin_id)s, %(mailbox_id)s, %(credential_id)s, %(public_key)s, %(sign_count)s, %(name)s,
                    %(aaguid)s, %(transports)s, %(backup_eligible)s, %(backed_up)s, %(created_at)s, %(last_used_at)s)
            """,
            {name: getattr(passkey, name) for name in Passkey.__slots__}
            | account.columns()
            | {"transports": list(passkey.transports)},
        )
    except psycopg.IntegrityError as error:
        if constraint_of(error) == "passkeys_credential_unique":
            raise Conflict("This passkey is already registered.", reason="credential_taken") from None
        raise


async def rename(conn: Conn, passkey_id: UUID, name: str) -> None:
    """Rename a passkey."""
    await conn.execute("UPDATE passkeys SET name = %(name)s WHERE id = %(id)s", {"id": passkey_id, "name": name})


async def delete(conn: Conn, passkey_id: UUID) -> None:
    """Delete a passkey."""
    await conn.execute("DELETE FROM passkeys WHERE id = %(id)s", {"id": passkey_id})


async def delete_all(conn: Conn, account_id: UUID) -> int:
    """Delete the passkeys of an account; returns how many."""
    cursor = await conn.execute("DELETE FROM passkeys WHERE account_id = %(account_id)s", {"account_id": account_id})
    return cursor.rowcount


async def record_use(conn: Conn, passkey_id: UUID, assertion: VerifiedAssertion, at: datetime) -> bool:
    """Record a use of a passkey; False if its counter has not increased (Web Authentication Level 3 §7.2, step 22).

    Authenticators that don't count always send 0.
    """
    cursor = await conn.execute(
        """
        UPDATE passkeys SET sign_count = %(sign_count)s, backed_up = %(backed_up)s, last_used_at = %(at)s
        WHERE id = %(id)s AND (sign_count < %(sign_count)s OR (sign_count = 0 AND %(sign_count)s = 0))
        """,
        {"id": passkey_id, "sign_count": assertion.sign_count, "backed_up": assertion.backed_up, "at": at},
    )
    return cursor.rowcount == 1


async def insert_challenge(
    conn: Conn, challenge_hash: bytes, purpose: Purpose, bound_to: bytes, expires_at: datetime
) -> None:
    """Insert a challenge; `bound_to` identifies the session or pending login that requested it."""
    await conn.execute(
        """
        INSERT INTO passkey_challenges (challenge_hash, purpose, bound_to, expires_at)
        VALUES (%(challenge_hash)s, %(purpose)s, %(bound_to)s, %(expires_at)s)
        """,
        {
            "challenge_hash": challenge_hash,
            "purpose": purpose.value,
            "bound_to": bound_to,
            "expires_at": expires_at,
        },
    )


async def use_challenge(conn: Conn, challenge_hash: bytes, purpose: Purpose, bound_to: bytes, at: datetime) -> bool:
    """Use up a challenge; False if there is none with this purpose and `bound_to`, or it has expired."""
    cursor = await conn.execute(
        """
        DELETE FROM passkey_challenges
        WHERE challenge_hash = %(challenge_hash)s AND purpose = %(purpose)s AND bound_to = %(bound_to)s
          AND expires_at > %(at)s
        """,
        {"challenge_hash": challenge_hash, "purpose": purpose.value, "bound_to": bound_to, "at": at},
    )
    return cursor.rowcount == 1


async def delete_expired_challenges(conn: Conn, at: datetime) -> None:
    """Delete up to 20 expired challenges, skipping locked rows."""
    await conn.execute(
        """
        DELETE FROM passkey_challenges WHERE challenge_hash IN (
            SELECT challenge_hash FROM passkey_challenges WHERE expires_at <= %(at)s LIMIT 20 FOR UPDATE SKIP LOCKED
        )
        """,
        {"at": at},
    )


def _to_passkey(row: dict[str, Any]) -> Passkey:
    row["transports"] = tuple(row["transports"])
    return Passkey(**row)
