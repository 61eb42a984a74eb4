"""SQL of the checks of DNS records."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.db.pool import Conn
from mailkeep.features.directory.blocklists.model import BlocklistResult
from mailkeep.features.directory.dns_checks.model import SERVER, DnsCheck, StoredFinding

_COLUMNS = """
    c.id, c.domain_id, c.due_at, c.claims, c.running, c.requested_at, c.checked_at, c.status, c.results, c.addresses,
    c.blocklists, c.confirmed_failing, c.differs_since
"""


async def find(conn: Conn, check_id: UUID) -> DnsCheck | None:
    """A check."""
    cursor = await conn.execute(f"SELECT {_COLUMNS} FROM dns_checks c WHERE c.id = %(id)s", {"id": check_id})  # noqa: S608
    row = await cursor.fetchone()
    return _check(row) if row else None


async def ensure_server(conn: Conn, at: datetime) -> None:
    """Add the check of the server, which is due, if it is missing."""
    await conn.execute(
        "INSERT INTO dns_checks (id, due_at) VALUES (%(id)s, %(at)s) ON CONFLICT DO NOTHING", {"id": SERVER, "at": at}
    )


async def lock(conn: Conn, check_id: UUID, domain_id: UUID | None) -> DnsCheck | None:
    """A check, locked until the transaction ends. Its domain is locked first, as by a deletion."""
    if domain_id is not None:
        await conn.execute("SELECT FROM domains d WHERE d.id = %(id)s FOR NO KEY UPDATE", {"id": domain_id})
    cursor = await conn.execute(
        f"SELECT {_COLUMNS} FROM dns_checks c WHERE c.id = %(id)s FOR UPDATE", {"id": check_id}  # noqa: S608
    )  # fmt: skip
    row = await cursor.fetchone()
    return _check(row) if row else None


async def request(conn: Conn, check: DnsCheck, at: datetime) -> None:
    """Note a request. A check that is running keeps its lease."""
    await conn.execute(
        """
        UPDATE dns_checks c SET requested_at = %(at)s,
               due_at = CASE WHEN c.running AND c.due_at > %(at)s THEN c.due_at ELSE %(at)s END
         WHERE c.id = %(id)s
        """,
        {"id": check.id, "at": at},
    )
    await conn.execute("SELECT wake_workers('dns_checks')")


async def claim(
    conn: Conn, at: datetime, until: datetime, limit: int, budget: tuple[int, int], *, regular: bool
) -> list[DnsCheck]:
    """Claim due checks until `until`. `budget`: look-ups per second, and how many a check is expected to need.
    `regular`: not only requested ones.
    """
    rate, cost = budget
    cursor = await conn.execute(
        f"""
        SELECT {_COLUMNS}
        FROM claim_dns_checks(%(at)s, %(until)s, %(limit)s, %(rate)s, %(cost)s, %(regular)s) c
        """,  # noqa: S608
        {"at": at, "until": until, "limit": limit, "rate": rate, "cost": cost, "regular": regular},
    )
    return [_check(row) for row in await cursor.fetchall()]


async def claim_one(conn: Conn, check_id: UUID, at: datetime, until: datetime) -> DnsCheck | None:
    """Claim a check until `until`, whether it is due or not; None while a worker carries it out."""
    cursor = await conn.execute(
        f"""
        UPDATE dns_checks c SET claims = c.claims + 1, due_at = %(until)s, running = true, requested_at = NULL
         WHERE c.id = %(id)s AND NOT (c.running AND c.due_at > %(at)s)
        RETURNING {_COLUMNS}
        """,  # noqa: S608
        {"id": check_id, "at": at, "until": until},
    )
    row = await cursor.fetchone()
    return _check(row) if row else None


async def spend(conn: Conn, lookups: int, rate: int) -> None:
    """Take look-ups from the budget in addition to those expected, or give back, if negative."""
    await conn.execute(
        "UPDATE dns_lookup_budget b SET spent_until = b.spent_until + make_interval(secs => %(seconds)s)",
        {"seconds": lookups / rate},
    )


async def write_domain_status(conn: Conn, check: DnsCheck) -> None:
    """Copy the status to the domain, for lists."""
    await conn.execute(
        "UPDATE domains d SET dns_status = %(status)s, dns_checked_at = %(at)s WHERE d.id = %(id)s",
        {"id": check.domain_id, "status": check.status, "at": check.checked_at},
    )


async def write(conn: Conn, check: DnsCheck) -> None:
    """Write the results and the state of a check that has ended."""
    await conn.execute(
        """
        UPDATE dns_checks c
           SET due_at = %(due_at)s, running = false, checked_at = %(checked_at)s, status = %(status)s,
               results = %(results)s, addresses = %(addresses)s, blocklists = %(blocklists)s,
               confirmed_failing = %(confirmed_failing)s, differs_since = %(differs_since)s
         WHERE c.id = %(id)s
        """,
        {
            "id": check.id,
            "due_at": check.due_at,
            "checked_at": check.checked_at,
            "status": check.status,
            "results": _json(check.results),
            "addresses": list(check.addresses),
            "blocklists": _json(check.blocklists),
            "confirmed_failing": check.confirmed_failing,
            "differs_since": check.differs_since,
        },
    )


async def release(conn: Conn, check: DnsCheck, at: datetime) -> None:
    """End a claim without results: the check is due again."""
    await conn.execute(
        "UPDATE dns_checks c SET due_at = %(at)s, running = false WHERE c.id = %(id)s AND c.claims = %(claims)s",
        {"id": check.id, "claims": check.claims, "at": at},
    )


def _json(value: Sequence[Any]) -> Jsonb:
    return Jsonb(value, dumps=msgspec.json.encode)


def _check(row: dict[str, Any]) -> DnsCheck:
    results = tuple(msgspec.convert(each, StoredFinding) for each in row.pop("results"))
    lists = tuple(msgspec.convert(each, BlocklistResult) for each in row.pop("blocklists"))
    addresses = tuple(row.pop("addresses"))
    return DnsCheck(**row, results=results, blocklists=lists, addresses=addresses)
