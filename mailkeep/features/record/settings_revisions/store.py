"""The SQL of the stored settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn
from mailkeep.features.record.settings_revisions.model import SettingsRevision

_SELECT = """
    SELECT r.n AS id, r.author_id, r.author, r.comment, r.changes, r.state, r.created_at
    FROM settings_revisions r
"""


async def lock(conn: Conn) -> None:
    """Serialize changes until the transaction ends."""
    await conn.execute("SELECT pg_advisory_xact_lock(hashtext('mailkeep.settings'))")


async def find_current(conn: Conn) -> list[dict[str, Any]]:
    """The desired and the applied revision, as far as there are such."""
    cursor = await conn.execute(
        "SELECT n, state, stored, use_at_start FROM settings_revisions WHERE state <> 'superseded'"
    )
    return await cursor.fetchall()


async def find_stored(conn: Conn, n: int) -> bytes | None:
    """The sealed values of a revision."""
    cursor = await conn.execute("SELECT stored FROM settings_revisions WHERE n = %(n)s", {"n": n})
    row = await cursor.fetchone()
    return row["stored"] if row else None


async def list_changes_since(conn: Conn, n: int) -> list[Mapping[str, Mapping[str, Any]]]:
    """The changes of the revisions after `n`."""
    cursor = await conn.execute("SELECT changes FROM settings_revisions WHERE n > %(n)s ORDER BY n", {"n": n})
    return [row["changes"] for row in await cursor.fetchall()]


async def insert(conn: Conn, revision: SettingsRevision, stored: bytes, *, use_at_start: bool) -> None:
    """Insert the newest revision, which takes the place of those with the same state."""
    superseded = ["applied", "desired"] if revision.state == "applied" else ["desired"]
    await conn.execute(
        "UPDATE settings_revisions SET state = 'superseded' WHERE state = ANY(%(states)s)", {"states": superseded}
    )
    await conn.execute(
        """
        INSERT INTO settings_revisions
            (n, author_id, author, comment, changes, stored, state, use_at_start, created_at)
        VALUES
            (%(n)s, %(author_id)s, %(author)s, %(comment)s, %(changes)s, %(stored)s, %(state)s, %(use_at_start)s,
            %(created_at)s)
        """,
        {
            "n": revision.n,
            "author_id": revision.author_id,
            "author": revision.author,
            "comment": revision.comment,
            "changes": Jsonb(revision.changes, dumps=msgspec.json.encode),
            "stored": stored,
            "state": revision.state,
            "use_at_start": use_at_start,
            "created_at": revision.created_at,
        },
    )


async def mark_applied(conn: Conn, n: int) -> bool:
    """The desired revision `n` becomes the applied one; False if it is not desired any more."""
    cursor = await conn.execute("SELECT FROM settings_revisions WHERE n = %(n)s AND state = 'desired'", {"n": n})
    if not cursor.rowcount:
        return False
    await conn.execute("UPDATE settings_revisions SET state = 'superseded' WHERE state = 'applied'")
    await conn.execute("UPDATE settings_revisions SET state = 'applied', use_at_start = true WHERE n = %(n)s", {"n": n})
    return True


async def restore_applied(conn: Conn, n: int) -> None:
    """Revision `n` (0: none) becomes the applied one again, and the newest the desired one, not for a start."""
    await conn.execute("UPDATE settings_revisions SET state = 'superseded' WHERE state <> 'superseded'")
    await conn.execute("UPDATE settings_revisions SET state = 'applied' WHERE n = %(n)s", {"n": n})
    await conn.execute(
        """
        UPDATE settings_revisions SET state = 'desired', use_at_start = false
        WHERE n > %(n)s AND n = (SELECT max(n) FROM settings_revisions)
        """,
        {"n": n},
    )


async def page(conn: Conn, page_request: PageRequest) -> Page[SettingsRevision]:
    """A page of the revisions."""
    page = await fetch_page(conn, _SELECT, [], page_request, {"created_at": "r.n", "id": "r.n"})
    return Page([_revision(row) for row in page.rows], page.next_key)


def _revision(row: Mapping[str, Any]) -> SettingsRevision:
    return SettingsRevision(**{("n" if name == "id" else name): value for name, value in row.items()})
