"""SQL of identities and of logins in progress."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import psycopg

from mailkeep.core.errors import Conflict
from mailkeep.db.pool import Conn, constraint_of
from mailkeep.features.access.oidc.model import LinkingSession, LoginFlow, VerifiedIdentity


async def insert_flow(conn: Conn, state_hash: bytes, browser_hash: bytes, flow: LoginFlow) -> None:
    """Insert a login in progress."""
    await conn.execute(
        """
        INSERT INTO oidc_logins (state_hash, browser_hash, provider, next_path, link_session_id, expires_at)
        VALUES (%(state_hash)s, %(browser_hash)s, %(provider)s, %(next)s, %(link_session_id)s, %(expires_at)s)
        """,
        {
            "state_hash": state_hash,
            "browser_hash": browser_hash,
            "provider": flow.provider,
            "next": flow.next,
            "link_session_id": flow.link_session_id,
            "expires_at": flow.expires_at,
        },
    )


async def use_flow(conn: Conn, state_hash: bytes, browser_hash: bytes, at: datetime) -> LoginFlow | None:
    """Use up the login in progress that this browser began with this state; None if there is none."""
    cursor = await conn.execute(
        """
        DELETE FROM oidc_logins
        WHERE state_hash = %(state_hash)s AND browser_hash = %(browser_hash)s AND expires_at > %(at)s
        RETURNING provider, next_path AS next, link_session_id, expires_at
        """,
        {"state_hash": state_hash, "browser_hash": browser_hash, "at": at},
    )
    row = await cursor.fetchone()
    return LoginFlow(**row) if row else None


async def delete_expired_flows(conn: Conn, at: datetime) -> None:
    """Delete up to 20 expired logins in progress, skipping locked rows."""
    await conn.execute(
        """
        DELETE FROM oidc_logins WHERE state_hash IN (
            SELECT state_hash FROM oidc_logins WHERE expires_at <= %(at)s LIMIT 20 FOR UPDATE SKIP LOCKED
        )
        """,
        {"at": at},
    )


async def find_linking_session(conn: Conn, session_id: UUID, at: datetime) -> LinkingSession | None:
    """The session with this id, if it is still active, and its account."""
    cursor = await conn.execute(
        """
        SELECT a.id AS admin_id, a.email, a.role, s.id AS session_id
        FROM sessions s JOIN admins a ON a.id = s.admin_id
        WHERE s.id = %(session_id)s AND s.expires_at > %(at)s
          AND (s.credentials_epoch = a.credentials_epoch OR s.id = a.surviving_session_id)
        """,
        {"session_id": session_id, "at": at},
    )
    row = await cursor.fetchone()
    return LinkingSession(**row) if row else None


async def find_admin(conn: Conn, issuer: str, subject: str) -> UUID | None:
    """The account that is linked to an identity."""
    cursor = await conn.execute(
        "SELECT admin_id FROM oidc_identities WHERE issuer = %(issuer)s AND subject = %(subject)s",
        {"issuer": issuer, "subject": subject},
    )
    row = await cursor.fetchone()
    return row["admin_id"] if row else None


async def is_linked(conn: Conn, admin_id: UUID) -> bool:
    """Whether the account has an identity."""
    cursor = await conn.execute("SELECT 1 FROM oidc_identities WHERE admin_id = %(admin_id)s", {"admin_id": admin_id})
    return await cursor.fetchone() is not None


async def insert(conn: Conn, admin_id: UUID, identity: VerifiedIdentity, at: datetime) -> None:
    """Link an account to an identity. CONFLICT `already_linked` if the account has an identity, `identity_taken` if
    another account has this one.
    """
    try:
        await conn.execute(
            """
            INSERT INTO oidc_identities (admin_id, issuer, subject, linked_at)
            VALUES (%(admin_id)s, %(issuer)s, %(subject)s, %(at)s)
            """,
            {"admin_id": admin_id, "issuer": identity.issuer, "subject": identity.subject, "at": at},
        )
    except psycopg.IntegrityError as error:
        match constraint_of(error):
            case "oidc_identities_pkey":
                raise already_linked_conflict() from None
            case "oidc_identities_unique":
                raise Conflict("The identity is linked to another account.", reason="identity_taken") from None
            case _:
                raise


def already_linked_conflict() -> Conflict:
    """The refusal to link an account that has an identity."""
    return Conflict("The account is already linked to an identity: disconnect that first.", reason="already_linked")


async def delete(conn: Conn, admin_id: UUID) -> bool:
    """Unlink an account; False if it has no identity."""
    cursor = await conn.execute("DELETE FROM oidc_identities WHERE admin_id = %(admin_id)s", {"admin_id": admin_id})
    return cursor.rowcount == 1
