"""SQL of domains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import psycopg

from mailkeep.core.errors import DomainExists
from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn, constraint_of
from mailkeep.features.directory.domains.model import Domain, DomainFilter, DomainRelay, DomainUsage

_SELECT = """
    SELECT d.id, d.name, d.active, d.sending_enabled, d.receiving_enabled, d.description, d.max_mailboxes,
           d.max_aliases, d.default_quota_bytes, d.plus_delimiter, d.require_app_passwords, d.self_service, d.alias_of,
           d.dkim_delegated, d.dns_managed,
           d.mta_sts_mode, d.mta_sts_ended_at, d.mta_sts_served_at,
           d.relay_host, d.relay_port, d.relay_tls, d.relay_username, d.relay_password, d.dns_status,
           d.dns_checked_at, d.created_at, d.updated_at
    FROM domains d
"""


async def insert(conn: Conn, domain: Domain) -> None:
    """Insert a domain; DOMAIN_EXISTS if there is one with this name."""
    try:
        await conn.execute(
            """
            INSERT INTO domains (id, name, active, sending_enabled, receiving_enabled, description,
                                 max_mailboxes, max_aliases, default_quota_bytes, plus_delimiter,
                                 require_app_passwords, self_service, alias_of, dkim_delegated, dns_managed,
                                 mta_sts_mode, relay_host, relay_port, relay_tls, relay_username, relay_password,
                                 dns_status, dns_checked_at, created_at, updated_at)
            VALUES (%(id)s, %(name)s, %(active)s, %(sending_enabled)s, %(receiving_enabled)s,
                    %(description)s, %(max_mailboxes)s, %(max_aliases)s, %(default_quota_bytes)s,
                    %(plus_delimiter)s, %(require_app_passwords)s, %(self_service)s, %(alias_of)s,
                    %(dkim_delegated)s, %(dns_managed)s, %(mta_sts_mode)s, %(relay_host)s, %(relay_port)s,
                    %(relay_tls)s, %(relay_username)s, %(relay_password)s, %(dns_status)s, %(dns_checked_at)s,
                    %(created_at)s, %(updated_at)s)
            """,
            _columns(domain),
        )
    except psycopg.IntegrityError as error:
        if constraint_of(error) == "domains_name_unique":
            raise DomainExists(name=domain.name) from None
        raise


async def has_higher_rank(conn: Conn, name: str, rank: int) -> bool:
    """Whether an administrator of a higher rank has an address in the domain with this name, or its alias domains."""
    cursor = await conn.execute(
        """
        SELECT FROM admins a
         WHERE split_part(a.email_key, '@', 2) IN (
               SELECT %(name)s::text
               UNION ALL
               SELECT n.name FROM domains n JOIN domains d ON d.id = n.alias_of WHERE d.name = %(name)s)
           AND CASE a.role WHEN 'domain_admin' THEN 0 WHEN 'admin' THEN 1 ELSE 2 END > %(rank)s
         LIMIT 1
        """,
        {"name": name, "rank": rank},
    )
    return await cursor.fetchone() is not None


async def lock_routes(conn: Conn) -> None:
    """Take the lock of all writers of aliases, forwards and alias domains until the transaction ends."""
    await conn.execute("SELECT lock_routes()")


async def list_loops(conn: Conn, name: str) -> list[str]:
    """Up to ten addresses that lead back to themselves through this alias domain; call it after the write, under
    `lock_routes`.
    """
    cursor = await conn.execute("SELECT l.address FROM route_loops_through(%(name)s) l", {"name": name})
    return [row["address"] for row in await cursor.fetchall()]


async def update(conn: Conn, domain: Domain) -> None:
    """Update the writable columns from `domain`."""
    await conn.execute(
        """
        UPDATE domains
        SET active = %(active)s, sending_enabled = %(sending_enabled)s,
            receiving_enabled = %(receiving_enabled)s, description = %(description)s,
            max_mailboxes = %(max_mailboxes)s, max_aliases = %(max_aliases)s,
            default_quota_bytes = %(default_quota_bytes)s, plus_delimiter = %(plus_delimiter)s,
            require_app_passwords = %(require_app_passwords)s, self_service = %(self_service)s, alias_of = %(alias_of)s,
            dkim_delegated = %(dkim_delegated)s, dns_managed = %(dns_managed)s,
            mta_sts_mode = %(mta_sts_mode)s, mta_sts_ended_at = %(mta_sts_ended_at)s,
            mta_sts_served_at = %(mta_sts_served_at)s,
            relay_host = %(relay_host)s, relay_port = %(relay_port)s, relay_tls = %(relay_tls)s,
            relay_username = %(relay_username)s, relay_password = %(relay_password)s,
            updated_at = %(updated_at)s
        WHERE id = %(id)s
        """,
        _columns(domain),
    )


async def delete(conn: Conn, domain_id: UUID) -> None:
    """Delete the domain; a trigger deletes its mailboxes in the trash."""
    await conn.execute("DELETE FROM domains WHERE id = %(id)s", {"id": domain_id})


async def find(conn: Conn, domain_id: UUID) -> Domain | None:
    """The domain with this id."""
    cursor = await conn.execute(_SELECT + " WHERE d.id = %(id)s", {"id": domain_id})
    return _domain(await cursor.fetchone())


async def find_for_update(conn: Conn, domain_id: UUID) -> Domain | None:
    """The domain with this id, locked until the transaction ends: counts of its mailboxes and aliases stay correct."""
    cursor = await conn.execute(_SELECT + " WHERE d.id = %(id)s FOR UPDATE", {"id": domain_id})
    return _domain(await cursor.fetchone())


async def find_and_prevent_deletion(conn: Conn, domain_id: UUID) -> Domain | None:
    """The domain with this id. Until the transaction ends it can't be deleted."""
    cursor = await conn.execute(_SELECT + " WHERE d.id = %(id)s FOR KEY SHARE", {"id": domain_id})
    return _domain(await cursor.fetchone())


async def find_by_name(conn: Conn, name: str) -> Domain | None:
    """The domain with this name (A-labels, lower case)."""
    cursor = await conn.execute(_SELECT + " WHERE d.name = %(name)s", {"name": name})
    return _domain(await cursor.fetchone())


async def filter_managed(conn: Conn, names: Sequence[str]) -> set[str]:
    """Which of these names are managed domains."""
    cursor = await conn.execute("SELECT name FROM domains WHERE name = ANY(%(names)s::text[])", {"names": list(names)})
    return {row["name"] for row in await cursor.fetchall()}


async def list_active_names(conn: Conn) -> list[str]:
    """The names of all active domains, ascending."""
    cursor = await conn.execute("SELECT name FROM domains WHERE active ORDER BY name")
    return [row["name"] for row in await cursor.fetchall()]


async def page(conn: Conn, filters: DomainFilter, page_request: PageRequest) -> Page[Domain]:
    """A page of domains."""
    page = await fetch_page(
        conn,
        _SELECT,
        [
            ("d.id = ANY(%(domains)s)", "domains", filters.domains),
            ("d.active = %(active)s", "active", filters.active),
            ("strpos(d.name, %(part)s) > 0", "part", filters.name),
            ("d.alias_of = %(alias_of)s", "alias_of", filters.alias_of),
            ("d.dns_status = %(dns_status)s", "dns_status", filters.dns_status),
        ],
        page_request,
        {"created_at": "d.id", "id": "d.id", "updated_at": "d.updated_at", "name": "d.name"},
    )
    return Page([_to_domain(row) for row in page.rows], page.next_key)


async def count_usage(conn: Conn, domain_ids: Sequence[UUID]) -> dict[UUID, DomainUsage]:
    """The usage of each of these domains."""
    cursor = await conn.execute(
        """
        SELECT d.id, boxes.mailboxes, boxes.bytes, sources.aliases,
               (SELECT count(*) FROM domains n WHERE n.alias_of = d.id) AS alias_domains
        FROM domains d
        CROSS JOIN LATERAL (
            SELECT count(*) AS mailboxes, coalesce(sum(m.used_bytes), 0)::bigint AS bytes
            FROM mailboxes m WHERE m.domain_id = d.id AND m.deleted_at IS NULL
        ) boxes
        CROSS JOIN LATERAL (SELECT count(*) AS aliases FROM aliases a WHERE a.domain_id = d.id) sources
        WHERE d.id = ANY(%(ids)s)
        """,
        {"ids": list(domain_ids)},
    )
    rows = await cursor.fetchall()
    return {row.pop("id"): DomainUsage(**row) for row in rows}


def _domain(row: dict[str, Any] | None) -> Domain | None:
    return _to_domain(row) if row else None


def _to_domain(row: dict[str, Any]) -> Domain:
    relay = {name: row.pop(f"relay_{name}") for name in DomainRelay.__slots__}
    return Domain(**row, relay=None if relay["host"] is None else DomainRelay(**relay))


def _columns(domain: Domain) -> dict[str, Any]:
    relay = {f"relay_{name}": getattr(domain.relay, name, None) for name in DomainRelay.__slots__}
    return {name: getattr(domain, name) for name in Domain.__slots__ if name != "relay"} | relay
