"""SQL of accounts that log in, known sources and pending logins."""

from __future__ import annotations

from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from mailkeep.core.principal import OwnMailbox
from mailkeep.db.pool import Conn
from mailkeep.features.access.accounts.model import AccountKind, AccountRef
from mailkeep.features.access.logins.model import LoginAccount, PendingLogin

_ACCOUNT: dict[AccountKind, LiteralString] = {
    "admin": """
        SELECT a.id, a.email AS name, a.password_hash, a.totp_enabled, a.credentials_epoch,
               EXISTS (SELECT FROM passkeys p WHERE p.admin_id = a.id) AS passkeys,
               EXISTS (SELECT FROM login_sources s
                       WHERE s.admin_id = a.id AND s.ip_address = %(source)s) AS known_source,
               NULL AS domain_id, NULL AS domain_name, true AS self_service
        FROM admins a
        WHERE (%(id)s = a.id OR %(key)s = a.email_key) AND a.active
    """,
    "mailbox": """
        SELECT m.id, m.local_part || '@' || d.name AS name, m.password_hash, m.totp_enabled, m.credentials_epoch,
               EXISTS (SELECT FROM passkeys p WHERE p.mailbox_id = m.id) AS passkeys,
               EXISTS (SELECT FROM mailbox_sources s
                       WHERE s.mailbox_id = m.id AND s.source = %(source)s) AS known_source,
               m.domain_id, d.name AS domain_name, d.self_service
        FROM mailboxes m JOIN domains d ON d.id = m.domain_id
        WHERE (%(id)s = m.id OR %(key)s = m.address_key) AND m.deleted_at IS NULL AND m.active AND d.active
          AND NOT is_restricted('sign_in', m.id)
    """,
}


async def find_account_by_name(conn: Conn, kind: AccountKind, key: str, source: str) -> LoginAccount | None:
    """The account with this email or address, for a login from `source`; none that may not be used."""
    cursor = await conn.execute(_ACCOUNT[kind], {"id": None, "key": key, "source": source})
    return _to_account(kind, await cursor.fetchone())


async def find_account(conn: Conn, ref: AccountRef, source: str) -> LoginAccount | None:
    """The account, for a login from `source`; none that is disabled, no mailbox that may not be used."""
    cursor = await conn.execute(_ACCOUNT[ref.kind], {"id": ref.id, "key": None, "source": source})
    return _to_account(ref.kind, await cursor.fetchone())


def _to_account(kind: AccountKind, row: dict[str, Any] | None) -> LoginAccount | None:
    if row is None:
        return None
    ref, domain_id, domain_name = AccountRef(kind, row.pop("id")), row.pop("domain_id"), row.pop("domain_name")
    return LoginAccount(ref, **row, mailbox=OwnMailbox(ref.id, domain_id, domain_name) if domain_id else None)


async def is_known_source(conn: Conn, kind: AccountKind, key: str, source: str) -> bool:
    """Whether the source has logged in to the account with this email or address, if there is one."""
    account = await find_account_by_name(conn, kind, key, source)
    return account is not None and account.known_source


async def hold_mailbox(conn: Conn, account: LoginAccount) -> bool:
    """Keep a mailbox and its domain unchanged until the transaction ends; False if its owner may not sign in any more,
    or its credentials have changed since `account` was read.
    """
    cursor = await conn.execute(
        """
        SELECT m.id FROM mailboxes m JOIN domains d ON d.id = m.domain_id
        WHERE m.id = %(id)s AND m.credentials_epoch = %(epoch)s AND m.active AND m.deleted_at IS NULL
          AND d.active AND d.self_service AND NOT is_restricted('sign_in', m.id)
        FOR SHARE OF d FOR NO KEY UPDATE OF m
        """,
        {"id": account.id, "epoch": account.credentials_epoch},
    )
    return await cursor.fetchone() is not None


async def record_source(conn: Conn, admin_id: UUID, source: str, at: datetime, unseen_since: datetime) -> None:
    """Record a login from `source`, and delete the account's sources without a login since `unseen_since`."""
    arguments = {"admin_id": admin_id, "source": source, "at": at, "unseen_since": unseen_since}
    await conn.execute(
        """
        INSERT INTO login_sources (admin_id, ip_address, seen_at) VALUES (%(admin_id)s, %(source)s, %(at)s)
        ON CONFLICT (admin_id, ip_address) DO UPDATE SET seen_at = excluded.seen_at
        """,
        arguments,
    )
    sql = "DELETE FROM login_sources WHERE admin_id = %(admin_id)s AND seen_at < %(unseen_since)s"
    await conn.execute(sql, arguments)


async def insert_pending(conn: Conn, token_hash: bytes, account: LoginAccount, expires_at: datetime) -> None:
    """Insert a login that waits for its second factor; the caller has locked the account."""
    await conn.execute(
        """
        INSERT INTO pending_logins (token_hash, admin_id, mailbox_id, credentials_epoch, expires_at)
        VALUES (%(token_hash)s, %(admin_id)s, %(mailbox_id)s, %(credentials_epoch)s, %(expires_at)s)
        """,
        account.ref.columns()
        | {"token_hash": token_hash, "credentials_epoch": account.credentials_epoch, "expires_at": expires_at},
    )


async def find_pending(
    conn: Conn, kind: AccountKind, token_hash: bytes, at: datetime, max_attempts: int
) -> PendingLogin | None:
    """The pending login to an account of this kind; None if it has expired or used up its attempts."""
    cursor = await conn.execute(
        """
        SELECT account_id, admin_id IS NOT NULL AS is_admin, credentials_epoch FROM pending_logins
        WHERE token_hash = %(token_hash)s AND expires_at > %(at)s AND attempts < %(max_attempts)s
        """,
        {"token_hash": token_hash, "at": at, "max_attempts": max_attempts},
    )
    row = await cursor.fetchone()
    if row is None or row["is_admin"] != (kind == "admin"):
        return None
    return PendingLogin(AccountRef(kind, row["account_id"]), row["credentials_epoch"])


async def use_attempt(conn: Conn, token_hash: bytes, at: datetime, max_attempts: int) -> bool:
    """Use up an attempt of a pending login; False if it has none left or has expired."""
    cursor = await conn.execute(
        """
        UPDATE pending_logins SET attempts = attempts + 1
        WHERE token_hash = %(token_hash)s AND expires_at > %(at)s AND attempts < %(max_attempts)s
        """,
        {"token_hash": token_hash, "at": at, "max_attempts": max_attempts},
    )
    return cursor.rowcount == 1


async def delete_pending(conn: Conn, token_hash: bytes) -> bool:
    """Delete the pending login with this token; False if there is none."""
    cursor = await conn.execute(
        "DELETE FROM pending_logins WHERE token_hash = %(token_hash)s", {"token_hash": token_hash}
    )
    return cursor.rowcount == 1


async def delete_expired_pending(conn: Conn, at: datetime) -> None:
    """Delete up to 20 expired logins, skipping locked rows."""
    await conn.execute(
        """
        DELETE FROM pending_logins WHERE token_hash IN (
            SELECT token_hash FROM pending_logins WHERE expires_at <= %(at)s LIMIT 20 FOR UPDATE SKIP LOCKED
        )
        """,
        {"at": at},
    )
