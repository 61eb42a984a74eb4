"""SQL of second factors and failed attempts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.access.accounts.model import AccountRef
from mailkeep.features.access.second_factors.model import Failures, TotpFactor


async def find(conn: Conn, account_id: UUID) -> TotpFactor | None:
    """The account's authenticator, pending or enabled."""
    cursor = await conn.execute(
        "SELECT secret, created_at, enabled_at FROM totp_secrets WHERE account_id = %(account_id)s",
        {"account_id": account_id},
    )
    row = await cursor.fetchone()
    return TotpFactor(bytes(row["secret"]), row["created_at"], row["enabled_at"]) if row else None


async def replace(conn: Conn, account: AccountRef, secret: bytes, at: datetime) -> None:
    """Store a new encrypted secret, pending; replaces a pending one."""
    await conn.execute(
        """
        INSERT INTO totp_secrets (admin_id, mailbox_id, secret, created_at)
        VALUES (%(admin_id)s, %(mailbox_id)s, %(secret)s, %(at)s)
        ON CONFLICT (account_id) DO UPDATE
        SET secret = excluded.secret, created_at = excluded.created_at, last_step = NULL
        WHERE totp_secrets.enabled_at IS NULL
        """,
        account.columns() | {"secret": secret, "at": at},
    )


async def enable(conn: Conn, account_id: UUID, at: datetime) -> None:
    """Enable the pending secret."""
    await conn.execute(
        "UPDATE totp_secrets SET enabled_at = %(at)s WHERE account_id = %(account_id)s",
        {"account_id": account_id, "at": at},
    )


async def delete(conn: Conn, account_id: UUID) -> None:
    """Delete the account's authenticator, and its recovery codes unless it has a passkey."""
    await conn.execute(
        """
        DELETE FROM recovery_codes
        WHERE account_id = %(account_id)s AND NOT EXISTS (SELECT FROM passkeys p WHERE p.account_id = %(account_id)s)
        """,
        {"account_id": account_id},
    )
    await conn.execute("DELETE FROM totp_secrets WHERE account_id = %(account_id)s", {"account_id": account_id})


async def use_step(conn: Conn, account_id: UUID, step: int) -> bool:
    """Use up the code of a time step; False if it or a later one was used before."""
    cursor = await conn.execute(
        """
        UPDATE totp_secrets SET last_step = %(step)s
        WHERE account_id = %(account_id)s AND (last_step IS NULL OR last_step < %(step)s)
        """,
        {"account_id": account_id, "step": step},
    )
    return cursor.rowcount == 1


async def use_recovery_code(conn: Conn, account_id: UUID, code_hash: bytes) -> bool:
    """Use up a recovery code; False if the account has no such code."""
    cursor = await conn.execute(
        "DELETE FROM recovery_codes WHERE account_id = %(account_id)s AND code_hash = %(code_hash)s",
        {"account_id": account_id, "code_hash": code_hash},
    )
    return cursor.rowcount == 1


async def replace_recovery_codes(conn: Conn, account: AccountRef, code_hashes: Sequence[bytes]) -> None:
    """Replace the recovery codes of the account."""
    arguments = account.columns() | {"code_hashes": list(code_hashes)}
    await conn.execute("DELETE FROM recovery_codes WHERE account_id = %(account_id)s", arguments)
    await conn.execute(
        """
        INSERT INTO recovery_codes (admin_id, mailbox_id, code_hash)
        SELECT %(admin_id)s, %(mailbox_id)s, code_hash FROM unnest(%(code_hashes)s::bytea[]) AS code_hash
        """,
        arguments,
    )


async def lock_failures(conn: Conn, key: str, at: datetime) -> Failures | None:
    """The failures counted under this key, locked until the transaction ends; None without any."""
    await conn.execute(
        """
        INSERT INTO login_failures (email_key, window_started_at, failures, last_failed_at)
        VALUES (%(key)s, %(at)s, 0, %(at)s)
        ON CONFLICT (email_key) DO NOTHING
        """,
        {"key": key, "at": at},
    )
    cursor = await conn.execute(
        """
        SELECT window_started_at, failures, last_failed_at
        FROM login_failures WHERE email_key = %(key)s AND failures > 0 FOR UPDATE
        """,
        {"key": key},
    )
    row = await cursor.fetchone()
    return Failures(**row) if row else None


async def save_failures(conn: Conn, key: str, failures: Failures) -> None:
    """Store the failures counted under this key."""
    await conn.execute(
        """
        INSERT INTO login_failures (email_key, window_started_at, failures, last_failed_at)
        VALUES (%(key)s, %(window_started_at)s, %(failures)s, %(last_failed_at)s)
        ON CONFLICT (email_key) DO UPDATE
        SET window_started_at = excluded.window_started_at, failures = excluded.failures,
            last_failed_at = excluded.last_failed_at
        """,
        {
            "key": key,
            "window_started_at": failures.window_started_at,
            "failures": failures.failures,
            "last_failed_at": failures.last_failed_at,
        },
    )


async def decrement_failures(conn: Conn, key: str) -> None:
    """Uncount an attempt that was right."""
    await conn.execute(
        "UPDATE login_failures SET failures = greatest(failures - 1, 0) WHERE email_key = %(key)s", {"key": key}
    )


async def delete_old_failures(conn: Conn, before: datetime) -> None:
    """Delete up to 20 counts last changed before `before`, skipping locked rows."""
    await conn.execute(
        """
        DELETE FROM login_failures WHERE email_key IN (
            SELECT email_key FROM login_failures WHERE last_failed_at < %(before)s LIMIT 20 FOR UPDATE SKIP LOCKED
        )
        """,
        {"before": before},
    )
