"""The SQL of restores: rows of a copy of the database, and those of the database that they return to.

Rows are copied as JSON, with the columns that both databases have and that a restore may set. The names of tables and
columns are those of the database that is written, never those of the copy alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from psycopg.sql import SQL, Identifier
from psycopg.types.json import Jsonb

from mailkeep.db.pool import Conn

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class RestoredTable:
    """A table whose rows come back: `owner` is the column with the ID of the domain or mailbox. `omitted` columns get
    their default instead: credentials, usage, states of work. `needs`: a column that names a domain, which must exist.
    """

    name: str
    owner: str
    omitted: Collection[str] = ()
    needs: str | None = None


DOMAIN = RestoredTable("domains", "id", ("access_version", "dns_status", "dns_checked_at", "mta_sts_served_at"))
OF_DOMAIN = (
    RestoredTable(
        "dkim_keys", "domain_id", ("claimed_until", "claims", "next_check_at", "dns_status", "dns_checked_at")
    ),
    RestoredTable("unsubscribe_groups", "domain_id"),
    RestoredTable("suppressions", "domain_id"),
    RestoredTable("filter_settings", "domain_id"),
    RestoredTable("filter_entries", "domain_id"),
    RestoredTable("templates", "domain_id"),
)
"""What returns with a domain that was deleted."""
TEMPLATE_VERSIONS = RestoredTable("template_versions", "template_id")
ALIASES = RestoredTable("aliases", "domain_id")
MAILBOX = RestoredTable(
    "mailboxes",
    "id",
    (
        "password_hash", "password_version", "access_version", "credentials_epoch", "surviving_session_id",
        "totp_enabled", "second_factor", "used_bytes", "message_count", "usage_reported_at", "usage_counted_at",
        "usage_count_due_at", "quota_level", "quota_level_changed", "last_login_at", "last_login_protocol",
        "last_login_ip", "deleted_at",
    ),
)  # fmt: skip
OF_MAILBOX = (
    RestoredTable("send_as", "mailbox_id", needs="domain_id"),
    RestoredTable("vacations", "mailbox_id"),
    RestoredTable("filter_settings", "mailbox_id"),
    RestoredTable("filter_entries", "mailbox_id"),
)
"""What returns with a mailbox that was deleted."""
_FIXED = {"domains": {"dns_status": "unchecked"}, "mailboxes": {"password_hash": ""}}
"""Values of omitted columns that have no default: a returned mailbox has no password."""


async def read_rows(copy: Conn, table: RestoredTable, owners: Sequence[UUID]) -> Rows:
    """The rows of these domains or mailboxes in the copy; none if the copy's version does not have the table."""
    if not await _list_columns(copy, table.name):
        return []
    query = SQL("SELECT to_jsonb(t) AS found FROM {table} t WHERE t.{owner} = ANY (%(owners)s)")
    names = {"table": Identifier(table.name), "owner": Identifier(table.owner)}
    cursor = await copy.execute(query.format(**names), {"owners": list(owners)})
    return select_owned(table, [row["found"] for row in await cursor.fetchall()], owners)


def select_owned(table: RestoredTable, rows: Rows, owners: Sequence[UUID]) -> Rows:
    """The rows that are of these domains or mailboxes: what the copy answers is not trusted."""
    expected = {str(owner) for owner in owners}
    return [row for row in rows if row.get(table.owner) in expected]


async def insert_rows(conn: Conn, table: RestoredTable, rows: Rows) -> int:
    """Insert the rows that are missing and return how many. One that exists, or whose address or name another row has
    taken, is left out.
    """
    if not rows:
        return 0
    given = set[str]().union(*rows) - set(table.omitted)
    fixed = _FIXED.get(table.name, {})
    columns = [name for name in await _list_columns(conn, table.name) if name in given or name in fixed]
    condition = SQL("")
    if table.needs:
        condition = SQL("WHERE EXISTS (SELECT 1 FROM domains d WHERE d.id = r.{needs})").format(
            needs=Identifier(table.needs)
        )
    query = SQL(
        """
        INSERT INTO {table} ({columns})
        SELECT {columns} FROM jsonb_populate_recordset(NULL::{table}, %(rows)s) r {condition}
        ON CONFLICT DO NOTHING
        """
    )
    names = {"table": Identifier(table.name), "columns": SQL(", ").join(map(Identifier, columns))}
    values = [{**row, **fixed} for row in rows]
    cursor = await conn.execute(
        query.format(condition=condition, **names), {"rows": Jsonb(values, dumps=msgspec.json.encode)}
    )
    return cursor.rowcount


async def find_mailbox(conn: Conn, mailbox_id: UUID) -> Mapping[str, Any] | None:
    """When a mailbox was put in the trash; None if there is no such mailbox."""
    cursor = await conn.execute("SELECT deleted_at FROM mailboxes WHERE id = %(id)s", {"id": mailbox_id})
    return await cursor.fetchone()


async def list_mailboxes(copy: Conn, domain_id: UUID | None, mailbox_id: UUID | None) -> list[Mapping[str, Any]]:
    """The mailboxes of a domain of the copy, or one mailbox, not from the trash: their ID, domain and address."""
    cursor = await copy.execute(
        """
        SELECT m.id, m.domain_id, m.address_key FROM mailboxes m
        WHERE m.deleted_at IS NULL AND (m.id = %(mailbox_id)s OR m.domain_id = %(domain_id)s)
        ORDER BY m.id
        """,
        {"mailbox_id": mailbox_id, "domain_id": domain_id},
    )
    return list(await cursor.fetchall())


async def is_address_taken(conn: Conn, address_key: str) -> bool:
    """Whether a mailbox, not in the trash, has this address."""
    cursor = await conn.execute(
        "SELECT 1 FROM mailboxes WHERE address_key = %(key)s AND deleted_at IS NULL", {"key": address_key}
    )
    return await cursor.fetchone() is not None


async def keep_home(conn: Conn, mailbox_id: UUID) -> None:
    """Take back that the mail of a deleted mailbox is to be removed; waits for a removal in progress."""
    await conn.execute("DELETE FROM mail_removals WHERE mailbox_id = %(id)s", {"id": mailbox_id})


async def remove_home(conn: Conn, mailbox_id: UUID) -> None:
    """Record that mail must be removed, unless its mailbox exists."""
    await conn.execute(
        """
        INSERT INTO mail_removals (mailbox_id)
        SELECT %(id)s WHERE NOT EXISTS (SELECT FROM mailboxes m WHERE m.id = %(id)s)
        ON CONFLICT DO NOTHING
        """,
        {"id": mailbox_id},
    )


async def lock_routes(conn: Conn) -> None:
    """Take the lock of all writers of aliases and forwards until the transaction ends; before any other lock."""
    await conn.execute("SELECT lock_routes()")


async def list_aliases(conn: Conn, domain_id: UUID) -> set[UUID]:
    """The IDs of a domain's aliases."""
    cursor = await conn.execute("SELECT a.id FROM aliases a WHERE a.domain_id = %(id)s", {"id": domain_id})
    return {row["id"] for row in await cursor.fetchall()}


async def remove_loops(conn: Conn, alias_ids: Collection[UUID]) -> int:
    """Remove those of the inserted aliases that lead back to themselves, through what is here now; returns how many."""
    cursor = await conn.execute(
        "DELETE FROM aliases a WHERE a.id = ANY (%(ids)s) AND a.active AND EXISTS (SELECT 1 FROM route_loop(a.id))",
        {"ids": list(alias_ids)},
    )
    return cursor.rowcount


async def remove_looping_forwards(conn: Conn, mailbox_id: UUID) -> bool:
    """Remove the forwards of an inserted mailbox if they lead back to it; returns whether they did."""
    cursor = await conn.execute(
        """
        UPDATE mailboxes m SET forward_destinations = '{}', forward_keys = '{}', forward_keep_copy = true
        WHERE m.id = %(id)s AND EXISTS (SELECT 1 FROM route_loop(m.id))
        """,
        {"id": mailbox_id},
    )
    return cursor.rowcount == 1


async def request_count(conn: Conn, mailbox_id: UUID, at: datetime) -> None:
    """Let the usage of a mailbox be counted."""
    await conn.execute(
        "UPDATE mailboxes SET usage_count_due_at = %(at)s WHERE id = %(id)s", {"id": mailbox_id, "at": at}
    )


async def _list_columns(conn: Conn, table: str) -> list[str]:
    """The columns that an INSERT may set."""
    cursor = await conn.execute(
        """
        SELECT a.attname AS name FROM pg_attribute a
        WHERE a.attrelid = to_regclass(%(table)s) AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
        ORDER BY a.attnum
        """,
        {"table": f"public.{table}"},
    )
    return [row["name"] for row in await cursor.fetchall()]
