"""SQL of MTA-STS."""

from __future__ import annotations

from datetime import datetime

from mailkeep.db.pool import Conn
from mailkeep.features.directory.domains.model import Domain


async def set_served_at(conn: Conn, domain: Domain, served_at: datetime | None) -> None:
    """Store when a check has fetched the domain's policy (None: it could not), unless its mode has changed meanwhile.

    Not a change of the domain by somebody: its entity tag stays.
    """
    await conn.execute(
        """
        UPDATE domains SET mta_sts_served_at = %(served_at)s
        WHERE id = %(id)s AND mta_sts_mode = %(mode)s AND mta_sts_mode <> 'none'
        """,
        {"id": domain.id, "mode": domain.mta_sts_mode, "served_at": served_at},
    )
