"""SQL of API keys."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

import psycopg

from mailkeep.core.errors import ApiKeyInvalid, NotFound
from mailkeep.core.principal import KeyPermissions, Role
from mailkeep.db.pool import Conn, constraint_of
from mailkeep.features.access.api_keys.model import ApiKey, AuthenticatedKey, RateUsage

_SELECT = """
    SELECT k.id, k.admin_id, k.parent_id, k.name, k.key_prefix, k.is_scoped,
           ARRAY(SELECT d.domain_id FROM api_key_domains d WHERE d.key_id = k.id ORDER BY d.domain_id)
               AS scoped_domain_ids,
           k.rate_limit, k.allowed_networks, k.permissions, k.last_used_at, k.expires_at, k.created_at,
           is_restricted('key', k.id) AS disabled
    FROM api_keys k
"""
# How often the time of the last use is written.
_LAST_USED_INTERVAL = timedelta(minutes=1)


async def list_visible(conn: Conn, admin_id: UUID | None, key_id: UUID | None) -> list[ApiKey]:
    """The keys of this administrator (None: of all), only the one with this id if `key_id` is set. Newest first."""
    cursor = await conn.execute(
        _SELECT
        + """
        WHERE (%(admin_id)s::uuid IS NULL OR k.admin_id = %(admin_id)s)
          AND (%(key_id)s::uuid IS NULL OR k.id = %(key_id)s)
        ORDER BY k.id DESC
        """,
        {"admin_id": admin_id, "key_id": key_id},
    )
    return [_to_key(row) for row in await cursor.fetchall()]


async def find(conn: Conn, key_id: UUID) -> ApiKey | None:
    """The key with this id."""
    cursor = await conn.execute(_SELECT + " WHERE k.id = %(id)s", {"id": key_id})
    row = await cursor.fetchone()
    return _to_key(row) if row else None


async def insert(conn: Conn, key: ApiKey, token_hash: bytes) -> None:
    """Insert a key with its domains. NOT_FOUND if its owner was deleted, API_KEY_INVALID if its parent was revoked."""
    arguments = {name: getattr(key, name) for name in ApiKey.__slots__} | {
        "token_hash": token_hash,
        "domain_ids": list(key.scoped_domain_ids),
        "allowed_networks": list(key.allowed_networks),
        "permissions": key.permissions.value,
    }
    try:
        await conn.execute(
            """
            INSERT INTO api_keys (id, admin_id, parent_id, name, key_prefix, token_hash, is_scoped, rate_limit,
                                  allowed_networks, permissions, expires_at, created_at)
            VALUES (%(id)s, %(admin_id)s, %(parent_id)s, %(name)s, %(key_prefix)s, %(token_hash)s, %(is_scoped)s,
                    %(rate_limit)s, %(allowed_networks)s, %(permissions)s, %(expires_at)s, %(created_at)s)
            """,
            arguments,
        )
    except psycopg.IntegrityError as error:
        match constraint_of(error):
            case "api_keys_admin_id_fkey":
                raise NotFound("The administrator who would own the key was deleted.") from None
            case "api_keys_parent_id_fkey":
                raise ApiKeyInvalid from None
            case _:
                raise
    await conn.execute(
        """
        INSERT INTO api_key_domains (key_id, domain_id)
        SELECT %(id)s, domain_id FROM unnest(%(domain_ids)s::uuid[]) AS domain_id
        """,
        arguments,
    )


async def lock_descendants(conn: Conn, key_id: UUID) -> list[UUID]:
    """The keys that a key created, those that these created, and so on. All are locked, so that none is added."""
    await conn.execute("SELECT id FROM api_keys WHERE id = %(id)s FOR UPDATE", {"id": key_id})
    descendants, parents = list[UUID](), [key_id]
    while parents:
        cursor = await conn.execute(
            "SELECT id FROM api_keys WHERE parent_id = ANY(%(parents)s) ORDER BY id FOR UPDATE", {"parents": parents}
        )
        parents = [row["id"] for row in await cursor.fetchall()]
        descendants += parents
    return descendants


async def delete(conn: Conn, key_id: UUID) -> bool:
    """Delete the key; the foreign key deletes its descendants. False if it does not exist."""
    cursor = await conn.execute("DELETE FROM api_keys WHERE id = %(id)s", {"id": key_id})
    return cursor.rowcount == 1


async def delete_old_rates(conn: Conn, before: datetime) -> None:
    """Delete the request counts of deleted keys last used before `before`; requests may still lock later ones."""
    await conn.execute(
        """
        DELETE FROM api_key_rates r
        WHERE r.newest < extract(epoch FROM %(before)s::timestamptz)
          AND NOT EXISTS (SELECT FROM api_keys k WHERE k.id = r.key_id)
        """,
        {"before": before},
    )


async def authenticate(
    conn: Conn, key: bytes | UUID, at: datetime, address: str | None, count: bool
) -> AuthenticatedKey | None:
    """The valid key with this hash or ID; None if it is unknown or expired, or its owner is disabled. The request is
    counted if `count` is set and the key is allowed from `address` (None: an invalid address, in no network).

    One statement, to run in autocommit.
    """
    cursor = await conn.execute(
        """
        WITH valid_key AS (
            SELECT k.id, k.name, k.admin_id, k.is_scoped, k.rate_limit, k.allowed_networks, k.permissions,
                   k.last_used_at, a.role, a.must_change_password,
                   a.totp_enabled OR EXISTS (SELECT FROM passkeys p WHERE p.admin_id = a.id) AS second_factor
            FROM api_keys k JOIN admins a ON a.id = k.admin_id
            WHERE (k.token_hash = %(token_hash)s OR k.id = %(key_id)s)
              AND (k.expires_at IS NULL OR k.expires_at > %(at)s) AND a.active
              AND NOT is_restricted('key', k.id)
        ), counted AS MATERIALIZED (
            SELECT usage.accepted, usage.used, usage.wait
            FROM valid_key v CROSS JOIN LATERAL count_api_call(v.id, v.rate_limit, %(at)s) usage
            WHERE v.rate_limit > 0 AND %(count)s AND (
                v.allowed_networks = '{}'
                OR EXISTS (SELECT FROM unnest(v.allowed_networks) AS network
                           WHERE %(address)s::inet <<= network::cidr)
            )
        ), touched AS (
            UPDATE api_keys k SET last_used_at = %(at)s
            FROM valid_key v
            WHERE k.id = v.id AND (v.last_used_at IS NULL OR v.last_used_at <= %(stale_before)s)
        )
        SELECT v.id, v.name, v.admin_id, v.role, v.second_factor, v.must_change_password, v.is_scoped,
               v.rate_limit, v.allowed_networks, v.permissions,
               counted.accepted, counted.used, counted.wait,
               ARRAY(SELECT d.domain_id FROM admin_domains d WHERE d.admin_id = v.admin_id) AS assigned,
               ARRAY(SELECT d.domain_id FROM api_key_domains d WHERE d.key_id = v.id) AS scope
        FROM valid_key v LEFT JOIN counted ON true
        """,
        {
            "token_hash": None if isinstance(key, UUID) else key,
            "key_id": key if isinstance(key, UUID) else None,
            "at": at,
            "address": address,
            "count": count,
            "stale_before": at - _LAST_USED_INTERVAL,
        },
    )
    row = await cursor.fetchone()
    return _to_authenticated_key(row) if row else None


async def find_for_submission(conn: Conn, digest: str, address: str, at: datetime) -> UUID | None:
    """The key with this SHA-256 in hexadecimal, if it opens a submission session from an address now."""
    cursor = await conn.execute(
        "SELECT key_id FROM submission_key(%(digest)s, %(address)s, %(at)s) AS key_id",
        {"digest": digest, "address": address, "at": at},
    )
    row = await cursor.fetchone()
    return row["key_id"] if row else None


async def filter_valid(conn: Conn, key_ids: Collection[UUID], at: datetime) -> set[UUID]:
    """Which of these keys are not revoked or expired and belong to an active administrator."""
    cursor = await conn.execute(
        """
        SELECT k.id FROM api_keys k JOIN admins a ON a.id = k.admin_id
        WHERE k.id = ANY(%(ids)s) AND (k.expires_at IS NULL OR k.expires_at > %(at)s) AND a.active
          AND NOT is_restricted('key', k.id)
        """,
        {"ids": list(key_ids), "at": at},
    )
    return {row["id"] for row in await cursor.fetchall()}


async def find_invalid_reason(conn: Conn, token_hash: bytes, at: datetime) -> Literal["expired", "revoked"] | None:
    """Why the key with this hash is no longer valid; None if there never was one, or its owner is disabled."""
    cursor = await conn.execute(
        """
        SELECT CASE WHEN EXISTS (SELECT FROM api_keys k WHERE k.token_hash = %(token_hash)s AND k.expires_at <= %(at)s)
                         THEN 'expired'
                    WHEN EXISTS (SELECT FROM revoked_api_keys r WHERE r.token_hash = %(token_hash)s) THEN 'revoked' END
               AS reason
        """,
        {"token_hash": token_hash, "at": at},
    )
    row = await cursor.fetchone()
    return row["reason"] if row else None


def _to_key(row: dict[str, Any]) -> ApiKey:
    row["scoped_domain_ids"] = tuple(row["scoped_domain_ids"])
    row["allowed_networks"] = tuple(row["allowed_networks"])
    row["permissions"] = KeyPermissions(row["permissions"])
    return ApiKey(**row)


def _to_authenticated_key(row: dict[str, Any]) -> AuthenticatedKey:
    return AuthenticatedKey(
        id=row["id"],
        name=row["name"],
        admin_id=row["admin_id"],
        role=Role(row["role"]),
        second_factor=row["second_factor"],
        must_change_password=row["must_change_password"],
        assigned=frozenset(row["assigned"]),
        scope=frozenset(row["scope"]) if row["is_scoped"] else None,
        rate_limit=row["rate_limit"],
        allowed_networks=tuple(row["allowed_networks"]),
        permissions=KeyPermissions(row["permissions"]),
        rate=RateUsage(row["accepted"], row["used"], row["wait"]) if row["used"] is not None else None,
    )
