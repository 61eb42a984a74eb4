"""SQL of administrators."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg

from mailkeep.core.errors import Conflict
from mailkeep.core.principal import Role
from mailkeep.db.pool import Conn, constraint_of
from mailkeep.features.access.admins.model import Admin, AdminChanges, NewAdmin

_SELECT = """
    SELECT a.id, a.email, a.role, a.active, a.must_change_password, a.totp_enabled, a.oidc_provider, a.last_login_at,
           a.created_at, a.updated_at,
           (SELECT count(*) FROM passkeys p WHERE p.admin_id = a.id) AS passkeys,
           ARRAY(SELECT d.domain_id FROM admin_domains d WHERE d.admin_id = a.id ORDER BY d.domain_id) AS domain_ids
    FROM admins a
"""


async def lock_roles(conn: Conn) -> None:
    """Serialize changes of roles until the transaction ends, so that counts of roles stay correct."""
    await conn.execute("SELECT pg_advisory_xact_lock(hashtext('mailkeep.admin_roles'))")


async def find(conn: Conn, admin_id: UUID) -> Admin | None:
    """The account with this id."""
    cursor = await conn.execute(_SELECT + " WHERE a.id = %(id)s", {"id": admin_id})
    return _to_admin(await cursor.fetchone())


async def find_by_email(conn: Conn, email_key: str) -> Admin | None:
    """The account with this email in its folded form."""
    cursor = await conn.execute(_SELECT + " WHERE a.email_key = %(email_key)s", {"email_key": email_key})
    return _to_admin(await cursor.fetchone())


async def list_all(conn: Conn) -> list[Admin]:
    """Every account, newest first."""
    cursor = await conn.execute(_SELECT + " ORDER BY a.id DESC")
    return [Admin(**_convert(row)) for row in await cursor.fetchall()]


async def count_other_super_admins(conn: Conn, admin_id: UUID) -> int:
    """Number of active super_admins besides this account."""
    cursor = await conn.execute(
        "SELECT count(*) AS others FROM admins WHERE role = 'super_admin' AND active AND id <> %(id)s", {"id": admin_id}
    )
    row = await cursor.fetchone()
    return row["others"] if row else 0


async def exists_any(conn: Conn) -> bool:
    """Whether there is any account."""
    cursor = await conn.execute("SELECT FROM admins LIMIT 1")
    return await cursor.fetchone() is not None


async def insert(conn: Conn, admin_id: UUID, new: NewAdmin, at: datetime) -> None:
    """Insert an account without its domains; CONFLICT `email_taken`."""
    try:
        await conn.execute(
            """
            INSERT INTO admins (id, email, email_key, password_hash, role, active, must_change_password, created_at,
                                updated_at)
            VALUES (%(id)s, %(email)s, %(email_key)s, %(password_hash)s, %(role)s, %(active)s,
                    %(must_change_password)s, %(at)s, %(at)s)
            """,
            {
                "id": admin_id,
                "email": new.email.text,
                "email_key": new.email.key,
                "password_hash": new.password_hash,
                "role": new.role.value,
                "active": new.active,
                "must_change_password": new.must_change_password,
                "at": at,
            },
        )
    except psycopg.IntegrityError as error:
        _refuse_duplicate_email(error)
        raise


async def update(
    conn: Conn, admin_id: UUID, changes: AdminChanges, at: datetime, *, ends_sessions: bool, survivor: UUID | None
) -> None:
    """Change an account except its domains; CONFLICT `email_taken`.

    `ends_sessions` increments its `credentials_epoch`, which ends its sessions except `survivor`.
    """
    try:
        await conn.execute(
            """
            UPDATE admins
            SET email = coalesce(%(email)s, email),
                email_key = coalesce(%(email_key)s, email_key),
                password_hash = coalesce(%(password_hash)s, password_hash),
                role = coalesce(%(role)s, role),
                active = coalesce(%(active)s, active),
                must_change_password = coalesce(%(must_change_password)s, must_change_password),
                credentials_epoch = credentials_epoch + %(ends_sessions)s::int,
                surviving_session_id = CASE WHEN %(ends_sessions)s THEN %(survivor)s::uuid
                                            ELSE surviving_session_id END,
                updated_at = %(at)s
            WHERE id = %(id)s
            """,
            {
                "id": admin_id,
                "email": changes.email.text if changes.email else None,
                "email_key": changes.email.key if changes.email else None,
                "password_hash": changes.password_hash,
                "role": changes.role.value if changes.role else None,
                "active": changes.active,
                "must_change_password": changes.must_change_password,
                "ends_sessions": ends_sessions,
                "survivor": survivor,
                "at": at,
            },
        )
    except psycopg.IntegrityError as error:
        _refuse_duplicate_email(error)
        raise


async def set_oidc_provider(conn: Conn, admin_id: UUID, provider: str | None, at: datetime) -> None:
    """Set the provider of the account's identity, None without one."""
    await conn.execute(
        "UPDATE admins SET oidc_provider = %(provider)s, updated_at = %(at)s WHERE id = %(id)s",
        {"id": admin_id, "provider": provider, "at": at},
    )


async def delete(conn: Conn, admin_id: UUID) -> list[UUID]:
    """Delete the account with its sessions and keys; returns the ids of these keys."""
    arguments = {"id": admin_id}
    # Lock the account first, so that no more keys are created for it.
    await conn.execute("SELECT id FROM admins WHERE id = %(id)s FOR UPDATE", arguments)
    cursor = await conn.execute("SELECT id FROM api_keys WHERE admin_id = %(id)s ORDER BY id", arguments)
    key_ids = [row["id"] for row in await cursor.fetchall()]
    await conn.execute("DELETE FROM admins WHERE id = %(id)s", arguments)
    return key_ids


async def assign(conn: Conn, admin_id: UUID, domain_ids: Sequence[UUID]) -> None:
    """Replace the domains of the account."""
    arguments = {"id": admin_id, "domain_ids": list(domain_ids)}
    await conn.execute("DELETE FROM admin_domains WHERE admin_id = %(id)s", arguments)
    await conn.execute(
        """
        INSERT INTO admin_domains (admin_id, domain_id)
        SELECT %(id)s, domain_id FROM unnest(%(domain_ids)s::uuid[]) AS domain_id
        """,
        arguments,
    )


async def find_address_rank(conn: Conn, key: str) -> int | None:
    """The rank (`Role.rank`) of the administrator whose email is this folded address; None if there is none."""
    cursor = await conn.execute("SELECT address_rank(%(key)s) AS rank", {"key": key})
    row = await cursor.fetchone()
    return row["rank"] if row else None


async def lock_domains(conn: Conn, domain_ids: Sequence[UUID]) -> set[UUID]:
    """Which of the ids are domains; those can't be deleted before the transaction ends."""
    cursor = await conn.execute(
        "SELECT id FROM domains WHERE id = ANY(%(ids)s) ORDER BY id FOR KEY SHARE", {"ids": list(domain_ids)}
    )
    return {row["id"] for row in await cursor.fetchall()}


async def record_login(conn: Conn, admin_id: UUID, credentials_epoch: int, at: datetime) -> bool:
    """Store the time of a login; False if the account was deleted or disabled, or its credentials have changed."""
    cursor = await conn.execute(
        """
        UPDATE admins SET last_login_at = %(at)s
        WHERE id = %(id)s AND credentials_epoch = %(credentials_epoch)s AND active
        """,
        {"id": admin_id, "credentials_epoch": credentials_epoch, "at": at},
    )
    return cursor.rowcount == 1


def _to_admin(row: dict[str, Any] | None) -> Admin | None:
    return Admin(**_convert(row)) if row else None


def _convert(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"role": Role(row["role"]), "domain_ids": tuple(row["domain_ids"])}


def _refuse_duplicate_email(error: psycopg.IntegrityError) -> None:
    if constraint_of(error) == "admins_email_unique":
        raise Conflict("Another administrator has this email.", reason="email_taken") from None
