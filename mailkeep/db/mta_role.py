"""What the mail daemons' role may do: execute the functions of migration 0013, granted anew at every start."""

from __future__ import annotations

import psycopg


async def grant(owner_url: str) -> None:
    """Grant it, as the schema's owner."""
    async with await psycopg.AsyncConnection.connect(owner_url, autocommit=True) as conn:
        await conn.execute("SELECT mta_grant()")
