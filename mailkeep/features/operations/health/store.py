"""The SQL of health checks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from mailkeep.db.pool import Conn
from mailkeep.features.operations.health.model import Component, State


async def server_version(conn: Conn) -> str:
    """PostgreSQL's version, such as 15.8."""
    cursor = await conn.execute("SELECT current_setting('server_version') AS version")
    row = await cursor.fetchone()
    return str(row["version"]).partition(" ")[0] if row else ""


async def read_states(conn: Conn) -> dict[str, tuple[State, datetime]]:
    """The stored status of each component, and since when."""
    cursor = await conn.execute("SELECT s.component, s.status, s.since FROM component_states s")
    return {row["component"]: (row["status"], row["since"]) for row in await cursor.fetchall()}


async def save_states(conn: Conn, components: Sequence[Component], at: datetime) -> None:
    """Store each status that has changed, since this time."""
    await conn.execute(
        """
        INSERT INTO component_states AS t (component, status, since)
        SELECT c.component, c.status, %(at)s
        FROM unnest(%(names)s::text[], %(statuses)s::text[]) AS c (component, status) ORDER BY c.component
        ON CONFLICT (component) DO UPDATE SET status = excluded.status, since = excluded.since
        WHERE t.status <> excluded.status
        """,
        {"names": [each.name for each in components], "statuses": [each.status for each in components], "at": at},
    )


async def count_alerts(conn: Conn) -> dict[tuple[str, str], int]:
    """The alerts that have not ended, by area and severity."""
    cursor = await conn.execute(
        """
        SELECT a.area, a.severity, count(*) AS count FROM alerts a WHERE a.state <> 'resolved'
        GROUP BY a.area, a.severity
        """
    )
    return {(row["area"], row["severity"]): row["count"] for row in await cursor.fetchall()}
