"""The SQL of suspensions and counts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from mailkeep.core.address import Address
from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn
from mailkeep.features.mailflow.abuse.model import (
    ExternalCopies,
    ForwardExcess,
    SendCharge,
    SenderSuspension,
    SendingStatus,
    SendVerdict,
)
from mailkeep.settings.tree import AbuseSettings

_SELECT = """
    SELECT s.id, s.domain_id, s.address, s.address_key, s.reason, s.by_kind, s.by_label, s.by_rank, s.created_at,
           (SELECT max(i.by_rank)
              FROM mailboxes m
              JOIN incidents i ON i.subject_id = m.id AND i.subject_type = 'mailbox' AND i.undone_at IS NULL
              JOIN incident_actions a ON a.incident_id = i.id AND a.action = 'suspend'
               AND a.result IN ('done', 'unchanged') AND coalesce(a.undo, 'failed') = 'failed'
             WHERE m.address_key = s.address_key) AS incident_rank
    FROM suspensions s
"""


async def upsert(conn: Conn, suspension: SenderSuspension) -> bool:
    """Set or replace the suspension of an address; False if its domain was deleted."""
    cursor = await conn.execute(
        """
        INSERT INTO suspensions (id, domain_id, address, address_key, reason, by_kind, by_label, by_rank,
                                 created_at)
        SELECT %(id)s, d.id, %(address)s, %(address_key)s, %(reason)s, %(by_kind)s, %(by_label)s, %(by_rank)s::integer,
               %(created_at)s
        FROM suspendable_domain(%(domain_id)s) d
        ON CONFLICT ON CONSTRAINT suspensions_address_unique DO UPDATE
        SET id = excluded.id, address = excluded.address, reason = excluded.reason, by_kind = excluded.by_kind,
            by_label = excluded.by_label, by_rank = excluded.by_rank, created_at = excluded.created_at
        """,
        {name: getattr(suspension, name) for name in SenderSuspension.__slots__},
    )
    return cursor.rowcount == 1


async def delete(conn: Conn, address_key: str, *, reset: bool) -> None:
    """Delete the suspension of an address, and with `reset` its counts."""
    await conn.execute("DELETE FROM suspensions WHERE address_key = %(key)s", {"key": address_key})
    if not reset:
        return
    await conn.execute(
        "DELETE FROM send_counts WHERE subject = ANY(counted_senders(ARRAY[%(key)s::text]))", {"key": address_key}
    )
    # Of `mailflow/sender_checks`: else the next outcome would suspend the sender again.
    await conn.execute(
        "DELETE FROM sender_outcomes WHERE sender = ANY(counted_senders(ARRAY[%(key)s::text]))", {"key": address_key}
    )


async def find(conn: Conn, address_key: str) -> SenderSuspension | None:
    """The suspension of an address."""
    cursor = await conn.execute(_SELECT + " WHERE s.address_key = %(key)s", {"key": address_key})
    return _suspension(await cursor.fetchone())


async def lock_and_find(conn: Conn, address_key: str) -> SenderSuspension | None:
    """The suspension of an address. Locks the address for suspensions and counts until the transaction ends."""
    await conn.execute("SELECT lock_sender(%(key)s)", {"key": address_key})
    return await find(conn, address_key)


async def list_by_rules(conn: Conn, address_keys: Collection[str]) -> list[SenderSuspension]:
    """Those of these addresses that the rules have suspended."""
    cursor = await conn.execute(
        _SELECT + " WHERE s.address_key = ANY(%(keys)s) AND s.by_kind = 'rules'", {"keys": list(address_keys)}
    )
    return [SenderSuspension(**row) for row in await cursor.fetchall()]


async def find_by_id(conn: Conn, suspension_id: UUID) -> SenderSuspension | None:
    """The suspension with this ID."""
    cursor = await conn.execute(_SELECT + " WHERE s.id = %(id)s", {"id": suspension_id})
    return _suspension(await cursor.fetchone())


async def page(
    conn: Conn, domains: list[UUID] | None, domain_id: UUID | None, page_request: PageRequest
) -> Page[SenderSuspension]:
    """A page of the suspensions in `domains` (None: in all), or in one domain."""
    result = await fetch_page(
        conn,
        _SELECT,
        [
            ("s.domain_id = ANY(%(domains)s)", "domains", domains),
            ("s.domain_id = %(domain_id)s", "domain_id", domain_id),
        ],
        page_request,
        {"created_at": "s.id", "id": "s.id", "address": "s.address"},
    )
    return Page([SenderSuspension(**row) for row in result.rows], result.next_key)


async def sending_statuses(conn: Conn, addresses: Collection[Address]) -> dict[str, SendingStatus]:
    """The sending status of these addresses, by their keys."""
    addresses = list(addresses)
    cursor = await conn.execute(
        """
        SELECT a.key, m.local_part, a.domain,
               EXISTS (SELECT FROM suspensions s WHERE s.address_key = a.key) AS suspended
        FROM unnest(%(keys)s::text[], %(locals)s::text[], %(domains)s::text[]) a (key, local_part, domain)
        LEFT JOIN LATERAL mta_mailbox_of(a.local_part, a.domain) m ON true
        """,
        {
            "keys": [each.key for each in addresses],
            "locals": [each.local_part for each in addresses],
            "domains": [each.domain for each in addresses],
        },
    )
    return {
        row["key"]: SendingStatus(row["local_part"] and Address(row["local_part"], row["domain"]), row["suspended"])
        for row in await cursor.fetchall()
    }


async def counted_senders(conn: Conn, address_keys: Sequence[str]) -> list[str]:
    """The senders for which mail of these counts, in their order: in an alias domain those of its target."""
    cursor = await conn.execute("SELECT counted_senders(%(keys)s::text[]) AS senders", {"keys": list(address_keys)})
    row = await cursor.fetchone()
    assert row is not None
    return row["senders"]


async def count(
    conn: Conn, at: datetime, charges: Sequence[SendCharge], limits: AbuseSettings, *, may_suspend: bool
) -> list[SendVerdict]:
    """Check messages in their order and count those that may be sent, in one statement.

    Without `may_suspend`, run it in autocommit; it counts nothing if a sender must be suspended. With it, the caller
    writes the suspensions in the same transaction.
    """
    cursor = await conn.execute(
        """
        SELECT c.verdict AS kind, c.retry_after, c.exceeded AS "limit"
        FROM count_sends(%(at)s, %(senders)s::text[], %(recipients)s::integer[], %(sender_limit)s, %(domain_limit)s,
                         %(may_suspend)s) WITH ORDINALITY c (verdict, retry_after, exceeded, position)
        ORDER BY c.position
        """,
        count_arguments(charges, limits) | {"at": at, "may_suspend": may_suspend},
    )
    return [SendVerdict(**row) for row in await cursor.fetchall()]


def count_arguments(charges: Sequence[SendCharge], limits: AbuseSettings) -> dict[str, Any]:
    """The arguments of the SQL function `count_sends`, except the time."""
    return _charge_columns(charges) | {"sender_limit": limits.sender_per_hour, "domain_limit": limits.domain_per_hour}


async def uncount(conn: Conn, counts: Sequence[tuple[datetime, SendCharge]]) -> None:
    """Uncount messages, each counted at its time. Call it last in a transaction: it locks senders and domains."""
    charges = [charge for _, charge in counts]
    await conn.execute(
        "SELECT uncount_sends(%(at)s::timestamptz[], %(senders)s::text[], %(recipients)s::integer[])",
        _charge_columns(charges) | {"at": [at for at, _ in counts]},
    )


async def delete_counts(conn: Conn, before: datetime) -> None:
    """Delete the counts of minutes before `before`."""
    await conn.execute("DELETE FROM send_counts WHERE minute < %(before)s", {"before": before})
    await conn.execute("DELETE FROM forward_charges WHERE charged_at < %(before)s", {"before": before})


async def external_copies(conn: Conn, addresses: Sequence[str]) -> list[ExternalCopies]:
    """Those of these addresses (A-labels) of managed domains that have external destinations, in their order."""
    cursor = await conn.execute(
        """
        WITH managed AS MATERIALIZED (
            SELECT a.address, a.position
            FROM unnest(%(addresses)s::text[]) WITH ORDINALITY a (address, position)
            WHERE EXISTS (SELECT FROM domains d WHERE d.name = split_part(a.address, '@', -1))
        )
        SELECT m.address, r.external, r.decision IN ('expansion_limit', 'too_many_destinations') AS too_many
        FROM managed m CROSS JOIN LATERAL route_address(m.address) r
        WHERE r.external > 0 OR r.decision IN ('expansion_limit', 'too_many_destinations')
        ORDER BY m.position
        """,
        {"addresses": list(addresses)},
    )
    return [ExternalCopies(**row) for row in await cursor.fetchall()]


async def count_forwards(
    conn: Conn, at: datetime, charge_id: str | None, copies: Mapping[str, int], limit: int
) -> list[ForwardExcess]:
    """Count forwarded copies by domain, all or none; returns the domains over their limit (`limit`: of the settings).
    Run it in autocommit. Idempotent for a charge_id.
    """
    cursor = await conn.execute(
        """
        SELECT f.domain, f.retry_after, f.exceeded AS "limit"
        FROM count_forwards(%(at)s, %(charge_id)s, %(domains)s::text[], %(copies)s::integer[], %(limit)s) f
        """,
        {
            "at": at,
            "charge_id": charge_id,
            "domains": list(copies),
            "copies": list(copies.values()),
            "limit": limit,
        },
    )
    return [ForwardExcess(**row) for row in await cursor.fetchall()]


async def forward_use(conn: Conn, at: datetime, domain: str, limit: int) -> tuple[int, int]:
    """The copies that a domain forwarded in the hour before `at`, and its limit (`limit`: of the settings)."""
    cursor = await conn.execute(
        "SELECT forwarded_copies(%(at)s, %(domain)s) AS used, forward_limit(%(domain)s, %(limit)s) AS most",
        {"at": at, "domain": domain, "limit": limit},
    )
    row = await cursor.fetchone()
    assert row is not None
    return row["used"], row["most"]


async def uncount_forwards(conn: Conn, charge_ids: Collection[str]) -> None:
    """Uncount what `count_forwards` counted with these charge IDs."""
    await conn.execute("SELECT uncount_forwards(%(ids)s::text[])", {"ids": list(charge_ids)})


def _charge_columns(charges: Sequence[SendCharge]) -> dict[str, Any]:
    return {
        "senders": [charge.sender.key for charge in charges],
        "recipients": [charge.recipients for charge in charges],
    }


def _suspension(row: dict[str, Any] | None) -> SenderSuspension | None:
    return SenderSuspension(**row) if row else None
