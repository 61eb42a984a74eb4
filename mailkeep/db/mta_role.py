"""What the mail daemons' roles may do: each executes the functions that its daemon asks, and nothing else.

Granted anew at every start. What a daemon asks stands in `mailkeep/mail/daemons/render.py` and the templates.
"""

from __future__ import annotations

from typing import LiteralString

import psycopg
from psycopg.sql import SQL, Identifier

from mailkeep.db.postgres_cluster import DOVECOT, POSTFIX

GRANTED: dict[str, tuple[LiteralString, ...]] = {
    POSTFIX: (
        "mta_asked(text)",
        "mta_told(text)",
        "mta_domain(text)",
        "mta_mailbox(text, text)",
        "mta_route(text, text)",
        "mta_recipient(text, text)",
        "mta_paused(text, text)",
        "mta_relay(text, text)",
        "mta_senders(text, text)",
    ),
    DOVECOT: ("mta_user(text, text)", "mta_login(text, text, text)", "mta_users()"),
}
"""By role, its functions."""


async def grant(owner_url: str) -> None:
    """Grant each role its functions, as the schema's owner, and take all others from it."""
    async with await psycopg.AsyncConnection.connect(owner_url) as conn:
        for role, functions in GRANTED.items():
            name = Identifier(role)
            await conn.execute(SQL("REVOKE ALL ON ALL FUNCTIONS IN SCHEMA public FROM {}").format(name))
            await conn.execute(SQL("GRANT USAGE ON SCHEMA public TO {}").format(name))
            for function in functions:
                await conn.execute(SQL("GRANT EXECUTE ON FUNCTION {} TO {}").format(SQL(function), name))
