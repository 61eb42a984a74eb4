"""SQL of filter settings and list entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.filtering.model import (
    Entry,
    EntryFilter,
    FilterOwner,
    FilterValues,
    NewEntry,
    Policy,
    Scope,
    ScoreThreshold,
    StoredEntry,
    Subject,
)

_SELECT = """
    SELECT id, list, kind, value, enforced, comment, created_by, created_at, hits, last_hit_at FROM filter_entries
"""
_OWNER = "coalesce(mailbox_id, domain_id, '00000000-0000-0000-0000-000000000000') = %(owner_id)s"
_COUNT = "SELECT count(*) AS number FROM filter_entries"
_OF: Mapping[Scope, LiteralString] = {
    "server": "mailbox_id IS NULL AND domain_id IS NULL",
    "domain": "mailbox_id IS NULL AND domain_id = %(domain_id)s",
    "mailbox": "domain_id IS NULL AND mailbox_id = %(mailbox_id)s",
}
"""Which entries are an owner's, for statements with values or an ID; `_OWNER` for those about all entries."""


async def find_policies(
    conn: Conn, lookups: Sequence[tuple[Sequence[Subject], Sequence[str]]]
) -> list[dict[Subject, Policy]]:
    """The policies of the subjects of each message, with the entries that have one of the message's values."""
    values = [{"number": number, "keys": keys} for number, (_, keys) in enumerate(lookups)]
    subjects = [
        {"number": number, "domain_id": each.domain_id, "mailbox_id": each.mailbox_id}
        for number, (of_message, _) in enumerate(lookups)
        for each in of_message
    ]
    cursor = await conn.execute(
        """
        SELECT s.number, s.domain_id, s.mailbox_id, p.*
        FROM jsonb_to_recordset(%(subjects)s) AS s(number integer, domain_id uuid, mailbox_id uuid)
        JOIN jsonb_to_recordset(%(values)s) AS v(number integer, keys text[]) ON v.number = s.number
        CROSS JOIN LATERAL filter_policy(s.domain_id, s.mailbox_id, v.keys) p
        """,
        {"subjects": _json(subjects), "values": _json(values)},
    )
    found: list[dict[Subject, Policy]] = [{} for _ in lookups]
    for row in await cursor.fetchall():
        found[row["number"]][Subject(row["domain_id"], row["mailbox_id"])] = read_policy(row)
    return found


def read_policy(row: Mapping[str, Any]) -> Policy:
    """A policy from the columns of the SQL function `filter_policy`."""
    entries = tuple(Entry(UUID(entry_id), *rest) for entry_id, *rest in row["entries"])
    junk, reject = (ScoreThreshold(row[f"{name}_score"], row[f"{name}_scope"]) for name in ("junk", "reject"))
    return Policy(junk, reject, entries)


async def write_server(conn: Conn, at: datetime, values: Mapping[str, Any]) -> None:
    """Write the server's values."""
    await conn.execute(
        """
        UPDATE filter_settings
        SET junk_score = %(junk_score)s, reject_score = %(reject_score)s, digest = %(digest)s, learn = %(learn)s,
            updated_at = %(at)s
        WHERE domain_id IS NULL AND mailbox_id IS NULL
        """,
        {**values, "at": at},
    )


async def add_hits(conn: Conn, hits: Mapping[UUID, tuple[int, datetime]]) -> None:
    """Count matches of entries, each with their number and the time of the last."""
    rows = [{"id": entry_id, "number": number, "at": at} for entry_id, (number, at) in hits.items()]
    # Locked in one order, so that two processes can't deadlock.
    await conn.execute(
        """
        WITH locked AS (
            SELECT e.id, h.number, h.at FROM jsonb_to_recordset(%(rows)s) AS h(id uuid, number bigint, at timestamptz)
            JOIN filter_entries e ON e.id = h.id
            ORDER BY e.id FOR NO KEY UPDATE OF e
        )
        UPDATE filter_entries e SET hits = e.hits + l.number, last_hit_at = greatest(e.last_hit_at, l.at)
        FROM locked l WHERE e.id = l.id
        """,
        {"rows": _json(rows)},
    )


# Settings


async def find_values(conn: Conn, owner: FilterOwner) -> dict[Scope, FilterValues]:
    """The settings of the owner and of the scopes around it, as far as they are stored."""
    cursor = await conn.execute(
        """
        SELECT CASE WHEN mailbox_id IS NOT NULL THEN 'mailbox' WHEN domain_id IS NOT NULL THEN 'domain'
               ELSE 'server' END AS scope, junk_score, reject_score, digest, learn, updated_at
        FROM filter_settings
        WHERE (domain_id IS NULL AND mailbox_id IS NULL) OR mailbox_id = %(mailbox_id)s OR domain_id = %(domain_id)s
        """,
        {"mailbox_id": owner.mailbox_id, "domain_id": owner.domain_id},
    )
    return {row.pop("scope"): FilterValues(**row) for row in await cursor.fetchall()}


async def write_values(conn: Conn, owner: FilterOwner, values: FilterValues) -> None:
    """Write the settings of a domain or mailbox, which the caller has locked."""
    await conn.execute(
        """
        INSERT INTO filter_settings AS f (domain_id, mailbox_id, junk_score, reject_score, digest, learn, updated_at)
        VALUES (%(domain_id)s, %(mailbox_id)s, %(junk_score)s, %(reject_score)s, %(digest)s, %(learn)s, %(updated_at)s)
        ON CONFLICT ON CONSTRAINT filter_settings_unique DO UPDATE
        SET junk_score = excluded.junk_score, reject_score = excluded.reject_score, digest = excluded.digest,
            learn = excluded.learn, updated_at = excluded.updated_at
        """,
        {**owner.row, **asdict(values)},
    )


# Entries


async def lock_server(conn: Conn) -> None:
    """Serialize changes of the server's lists until the transaction ends."""
    await conn.execute("SELECT FROM filter_settings WHERE domain_id IS NULL AND mailbox_id IS NULL FOR NO KEY UPDATE")


async def insert_entries(
    conn: Conn, owner: FilterOwner, at: datetime, created_by: str, entries: Sequence[tuple[UUID, NewEntry]]
) -> None:
    """Add entries that the lists, which the caller has locked, do not have."""
    rows = [{"id": entry_id, **asdict(entry)} for entry_id, entry in entries]
    await conn.execute(
        """
        INSERT INTO filter_entries (id, domain_id, mailbox_id, list, kind, value, enforced, comment, created_by,
                                    created_at)
        SELECT r.id, %(domain_id)s::uuid, %(mailbox_id)s::uuid, r.list, r.kind, r.value, r.enforced, r.comment,
               %(created_by)s, %(at)s
        FROM jsonb_to_recordset(%(rows)s)
             AS r(id uuid, list text, kind text, value text, enforced boolean, comment text)
        """,
        {**owner.row, "rows": _json(rows), "created_by": created_by, "at": at},
    )


async def find_entries(conn: Conn, owner: FilterOwner, values: Sequence[str]) -> list[StoredEntry]:
    """The owner's entries with these values."""
    cursor = await conn.execute(
        _SELECT + " WHERE value = ANY(%(values)s) AND " + _OF[owner.scope],
        {**owner.row, "values": values},
    )
    return [StoredEntry(**row) for row in await cursor.fetchall()]


async def count_entries(conn: Conn, owner: FilterOwner) -> int:
    """The number of the owner's entries."""
    cursor = await conn.execute(_COUNT + " WHERE " + _OWNER, {"owner_id": _owner_id(owner)})
    row = await cursor.fetchone()
    assert row is not None
    return row["number"]


async def find_entry(conn: Conn, entry_id: UUID, owner: FilterOwner | None = None) -> StoredEntry | None:
    """The entry with this ID, if it is the owner's; None: of any owner."""
    condition = _OF[owner.scope] if owner else "true"
    parameters = {**(owner.row if owner else {}), "id": entry_id}
    cursor = await conn.execute(_SELECT + " WHERE id = %(id)s AND " + condition, parameters)
    row = await cursor.fetchone()
    return StoredEntry(**row) if row else None


async def delete_entry(conn: Conn, entry_id: UUID) -> None:
    """Delete an entry of lists that the caller has locked."""
    await conn.execute("DELETE FROM filter_entries WHERE id = %(id)s", {"id": entry_id})


async def page(conn: Conn, owner: FilterOwner, filters: EntryFilter, page_request: PageRequest) -> Page[StoredEntry]:
    """A page of the owner's entries; `filters.q` is a pattern of LIKE in lower case."""
    result = await fetch_page(
        conn,
        _SELECT,
        [
            (_OWNER, "owner_id", _owner_id(owner)),
            ("list = %(list)s", "list", filters.list),
            ("kind = %(kind)s", "kind", filters.kind),
            ("(value LIKE %(q)s OR lower(comment) LIKE %(q)s)", "q", filters.q),
        ],
        page_request,
        {"created_at": "id", "id": "id"},
    )
    return Page([StoredEntry(**row) for row in result.rows], result.next_key)


def _owner_id(owner: FilterOwner) -> UUID:
    return owner.mailbox_id or owner.domain_id or UUID(int=0)


def _json(value: Any) -> Jsonb:
    return Jsonb(value, dumps=msgspec.json.encode)
