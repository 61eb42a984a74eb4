"""SQL of routing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from mailkeep.db.pool import Conn
from mailkeep.features.directory.routing.model import Filters, Route, RouteDestination, RouteExplanation, RouteStep
from mailkeep.settings import Settings


async def route(conn: Conn, address: str) -> Route:
    """The route of `local@domain` (A-labels)."""
    cursor = await conn.execute(
        "SELECT r.decision, r.deliveries, r.external FROM route_address(%(address)s) r", {"address": address}
    )
    return _route(await cursor.fetchone())


async def route_recipient(conn: Conn, address: str, size: int) -> Route:
    """The route of a message of `size` bytes offered by SMTP; considers the free space in mailboxes."""
    cursor = await conn.execute(
        """
        SELECT r.decision, r.deliveries, r.external, r.depends_on_size
        FROM route_recipient(%(address)s, %(size)s::bigint) r
        """,
        {"address": address, "size": size},
    )
    return _route(await cursor.fetchone())


async def find_filters(conn: Conn, addresses: Sequence[str]) -> list[Filters]:
    """Whose filter settings and lists apply to each address."""
    cursor = await conn.execute(
        """
        SELECT f.mailbox_ids, f.domain_ids, f.is_forwarded, f.forwarding_id
        FROM unnest(%(addresses)s::text[]) WITH ORDINALITY AS a(address, number)
        CROSS JOIN LATERAL route_filters(a.address) f
        ORDER BY a.number
        """,
        {"addresses": list(addresses)},
    )
    return [
        Filters(
            dict(zip(row["mailbox_ids"], row["domain_ids"], strict=True)), row["is_forwarded"], row["forwarding_id"]
        )
        for row in await cursor.fetchall()
    ]


async def explain(conn: Conn, address: str, visible: list[UUID] | None) -> RouteExplanation:
    """The route with its steps, with details of the `visible` domains (None: all)."""
    cursor = await conn.execute(
        """
        SELECT r.decision, r.deliveries, r.external, r.steps, r.warnings
        FROM route_address(%(address)s, %(visible)s::uuid[]) r
        """,
        {"address": address, "visible": visible},
    )
    row = await cursor.fetchone()
    assert row is not None
    return RouteExplanation(_route(row), tuple(RouteStep(**step) for step in row["steps"]), tuple(row["warnings"]))


async def apply_settings(conn: Conn, settings: Settings, at: datetime) -> None:
    """Store the settings that the database's functions use."""
    await conn.execute(
        """
        UPDATE routing_settings
        SET hostname = %(hostname)s, external_expansion = %(external_expansion)s, message_size = %(message_size)s,
            require_app_passwords = %(require_app_passwords)s, applied_at = %(at)s
        """,
        {
            "hostname": settings.name_in_routing.lower(),
            "external_expansion": settings.limits.external_expansion,
            "message_size": settings.limits.largest_message_bytes,
            "require_app_passwords": settings.auth.require_app_passwords,
            "at": at,
        },
    )


async def list_sender_logins(conn: Conn, local_part: str, domain: str) -> frozenset[str]:
    """The keys of the mailboxes that may send from an address (A-labels)."""
    cursor = await conn.execute(
        "SELECT s AS login FROM sender_logins(%(local_part)s, %(domain)s) s",
        {"local_part": local_part, "domain": domain},
    )
    return frozenset(row["login"] for row in await cursor.fetchall())


def _route(row: Mapping[str, Any] | None) -> Route:
    assert row is not None
    deliveries = tuple(_destinations(row["deliveries"]))
    return Route(row["decision"], deliveries, row["external"], row.get("depends_on_size", False))


def _destinations(rows: Iterable[Mapping[str, Any]]) -> Iterable[RouteDestination]:
    for row in rows:
        yield RouteDestination(row["type"], row["address"], UUID(row["mailbox_id"]) if row["mailbox_id"] else None)
