"""The SQL of health checks."""

from __future__ import annotations

from mailkeep.db.pool import Conn


async def server_version(conn: Conn) -> str:
    """PostgreSQL's version, such as 15.8."""
    cursor = await conn.execute("SELECT current_setting('server_version') AS version")
    row = await cursor.fetchone()
    return str(row["version"]).partition(" ")[0] if row else ""
