"""SQL of sessions."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from psycopg.sql import SQL, Identifier

from mailkeep.core.principal import OwnMailbox, Role
from mailkeep.db.pool import Conn
from mailkeep.features.access.accounts.model import AccountKind, AccountRef
from mailkeep.features.access.sessions.model import ActiveSession, CallerRights, OwnerSession, Session


async def find_active(conn: Conn, token_hash: bytes, at: datetime) -> ActiveSession | None:
    """The active session with this token, and its account."""
    cursor = await conn.execute(
        """
        SELECT s.id AS session_id, s.created_at AS signed_in_at, a.id AS admin_id, a.email, a.role,
               a.must_change_password,
               a.totp_enabled OR EXISTS (SELECT FROM passkeys p WHERE p.admin_id = a.id) AS second_factor,
               ARRAY(SELECT d.domain_id FROM admin_domains d WHERE d.admin_id = a.id) AS assigned
        FROM sessions s JOIN admins a ON a.id = s.admin_id
        WHERE s.token_hash = %(token_hash)s AND s.expires_at > %(at)s AND a.active
          AND (s.credentials_epoch = a.credentials_epoch OR s.id = a.surviving_session_id)
        """,
        {"token_hash": token_hash, "at": at},
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    row["role"], row["assigned"] = Role(row["role"]), frozenset(row["assigned"])
    return ActiveSession(**row)


async def find_rights(conn: Conn, admin_id: UUID) -> CallerRights | None:
    """What an account may do now; None if it was deleted or disabled."""
    cursor = await conn.execute(
        """
        SELECT a.role, a.must_change_password,
               a.totp_enabled OR EXISTS (SELECT FROM passkeys p WHERE p.admin_id = a.id) AS second_factor,
               ARRAY(SELECT d.domain_id FROM admin_domains d WHERE d.admin_id = a.id) AS assigned
        FROM admins a WHERE a.id = %(admin_id)s AND a.active
        """,
        {"admin_id": admin_id},
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    return CallerRights(
        Role(row["role"]), row["second_factor"], row["must_change_password"], frozenset(row["assigned"])
    )


async def find_active_owner(conn: Conn, token_hash: bytes, at: datetime) -> OwnerSession | None:
    """The active session with this token of the owner of a mailbox, if the mailbox may be used."""
    cursor = await conn.execute(
        """
        SELECT s.id AS session_id, s.created_at AS signed_in_at, m.local_part || '@' || d.name AS address,
               m.id, m.domain_id, d.name AS domain_name
        FROM owner_sessions s JOIN mailboxes m ON m.id = s.mailbox_id JOIN domains d ON d.id = m.domain_id
        WHERE s.token_hash = %(token_hash)s AND s.expires_at > %(at)s
          AND (s.credentials_epoch = m.credentials_epoch OR s.id = m.surviving_session_id)
          AND m.active AND m.deleted_at IS NULL AND d.active AND d.self_service AND NOT is_restricted('sign_in', m.id)
        """,
        {"token_hash": token_hash, "at": at},
    )
    row = await cursor.fetchone()
    if row is None:
        return None
    mailbox = OwnMailbox(row["id"], row["domain_id"], row["domain_name"])
    return OwnerSession(row["session_id"], row["signed_in_at"], row["address"], mailbox)


# The tables of a kind of account: of its sessions, with the column of the account, and of the accounts.
_TABLES: dict[AccountKind, dict[str, Identifier]] = {
    "admin": {
        "sessions": Identifier("sessions"),
        "account_id": Identifier("admin_id"),
        "accounts": Identifier("admins"),
    },
    "mailbox": {
        "sessions": Identifier("owner_sessions"),
        "account_id": Identifier("mailbox_id"),
        "accounts": Identifier("mailboxes"),
    },
}


async def list_active(conn: Conn, account: AccountRef, at: datetime) -> list[Session]:
    """The active sessions of an account, newest first."""
    cursor = await conn.execute(
        SQL(
            """
            SELECT s.id, s.{account_id} AS account_id, s.ip_address, s.user_agent, s.created_at, s.expires_at
            FROM {sessions} s JOIN {accounts} a ON a.id = s.{account_id}
            WHERE a.id = %(account_id)s AND s.expires_at > %(at)s
              AND (s.credentials_epoch = a.credentials_epoch OR s.id = a.surviving_session_id)
            ORDER BY s.id DESC
            """
        ).format(**_TABLES[account.kind]),
        {"account_id": account.id, "at": at},
    )
    return [Session(**row) for row in await cursor.fetchall()]


async def insert(conn: Conn, account: AccountRef, session: Session, token_hash: bytes, credentials_epoch: int) -> None:
    """Insert a session, valid while its account's `credentials_epoch` is unchanged."""
    await conn.execute(
        SQL(
            """
            INSERT INTO {sessions} (id, {account_id}, token_hash, credentials_epoch, ip_address, user_agent, created_at,
                                    expires_at)
            VALUES (%(id)s, %(account_id)s, %(token_hash)s, %(credentials_epoch)s, %(ip_address)s, %(user_agent)s,
                    %(created_at)s, %(expires_at)s)
            """
        ).format(**_TABLES[account.kind]),
        {name: getattr(session, name) for name in Session.__slots__}
        | {"token_hash": token_hash, "credentials_epoch": credentials_epoch},
    )


async def delete(conn: Conn, account: AccountRef, session_id: UUID) -> bool:
    """Delete one session of an account; False if it has no such session."""
    cursor = await conn.execute(
        SQL("DELETE FROM {sessions} WHERE id = %(id)s AND {account_id} = %(account_id)s").format(
            **_TABLES[account.kind]
        ),
        {"id": session_id, "account_id": account.id},
    )
    return cursor.rowcount == 1


async def delete_by_token(conn: Conn, kind: AccountKind, token_hash: bytes) -> None:
    """Delete the session with this token, if any."""
    statement = SQL("DELETE FROM {sessions} WHERE token_hash = %(token_hash)s").format(**_TABLES[kind])
    await conn.execute(statement, {"token_hash": token_hash})


async def delete_all(conn: Conn, account: AccountRef, except_id: UUID | None) -> None:
    """Delete the sessions of an account, except the one with the ID `except_id`."""
    await conn.execute(
        SQL(
            """
            DELETE FROM {sessions}
            WHERE {account_id} = %(account_id)s AND id IS DISTINCT FROM %(except_id)s::uuid
            """
        ).format(**_TABLES[account.kind]),
        {"account_id": account.id, "except_id": except_id},
    )


async def delete_expired(conn: Conn, account: AccountRef, at: datetime) -> None:
    """Delete the expired sessions of an account."""
    await conn.execute(
        SQL("DELETE FROM {sessions} WHERE {account_id} = %(account_id)s AND expires_at <= %(at)s").format(
            **_TABLES[account.kind]
        ),
        {"account_id": account.id, "at": at},
    )
