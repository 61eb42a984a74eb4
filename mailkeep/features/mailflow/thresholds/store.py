"""The SQL of thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.thresholds.model import (
    EffectiveThreshold,
    HourlyUsage,
    StoredThreshold,
    ThresholdSubject,
)


async def effective(
    conn: Conn, sender: str | None, domain: str, values: Mapping[str, float]
) -> dict[str, EffectiveThreshold]:
    """The thresholds of a sender (an address key) or, for None, of a domain; `values`: the settings, in whose order."""
    cursor = await conn.execute(
        """
        SELECT t.name, t.value, t.source, t.highest
        FROM effective_thresholds(%(sender)s, %(domain)s, %(names)s::text[], %(values)s::double precision[]) t
        """,
        {"sender": sender, "domain": domain, "names": list(values), "values": list(values.values())},
    )
    found = {row["name"]: EffectiveThreshold(**row) for row in await cursor.fetchall()}
    return {name: found[name] for name in values}


async def lock_and_find(conn: Conn, subject: ThresholdSubject) -> dict[str, StoredThreshold]:
    """The values of a domain or mailbox; changes of others wait until the transaction ends."""
    await conn.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended('mailkeep.thresholds ' || %(id)s::text, 0))",
        {"id": subject.mailbox_id or subject.domain_id},
    )
    cursor = await conn.execute(
        "SELECT t.name, t.value, t.highest FROM thresholds t "
        "WHERE t.domain_id IS NOT DISTINCT FROM %(domain_id)s AND t.mailbox_id IS NOT DISTINCT FROM %(mailbox_id)s",
        _owner(subject),
    )
    return {row["name"]: StoredThreshold(row["value"], row["highest"]) for row in await cursor.fetchall()}


async def replace(conn: Conn, subject: ThresholdSubject, values: Mapping[str, StoredThreshold | None]) -> None:
    """Set these thresholds, or delete those that are None."""
    await conn.execute(
        "DELETE FROM thresholds t WHERE t.domain_id IS NOT DISTINCT FROM %(domain_id)s "
        "AND t.mailbox_id IS NOT DISTINCT FROM %(mailbox_id)s AND t.name = ANY(%(names)s)",
        _owner(subject) | {"names": list(values)},
    )
    rows = [(name, each.value, each.highest) for name, each in values.items() if each is not None]
    await conn.execute(
        """
        INSERT INTO thresholds (domain_id, mailbox_id, name, value, highest)
        SELECT %(domain_id)s::uuid, %(mailbox_id)s::uuid, r.name, r.value, r.highest
        FROM unnest(%(names)s::text[], %(values)s::double precision[], %(highest)s::double precision[])
             r (name, value, highest)
        """,
        _owner(subject)
        | {
            "names": [name for name, _, _ in rows],
            "values": [value for _, value, _ in rows],
            "highest": [highest for _, _, highest in rows],
        },
    )


async def usage(conn: Conn, at: datetime, domain: str) -> HourlyUsage:
    """The recipients and copies that count for a domain at `at`."""
    cursor = await conn.execute(
        """
        SELECT forwarded_copies(%(at)s, %(domain)s) AS forwarded,
               (SELECT coalesce(sum(c.recipients), 0)::bigint
                  FROM send_counts c
                 WHERE c.subject = counted_domain(%(domain)s)
                   AND c.minute > lower(send_minutes(%(at)s)) AND c.minute < upper(send_minutes(%(at)s))) AS sent
        """,
        {"at": at, "domain": domain},
    )
    row = await cursor.fetchone()
    assert row is not None
    return HourlyUsage(**row)


def _owner(subject: ThresholdSubject) -> dict[str, Any]:
    return {
        "domain_id": None if subject.mailbox_id else subject.domain_id,
        "mailbox_id": subject.mailbox_id,
    }
