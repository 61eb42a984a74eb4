"""Use cases of routing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from mailkeep.core.address import Address
from mailkeep.core.principal import Principal, allow_on
from mailkeep.db.pool import Conn
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.routing import rules, store
from mailkeep.features.directory.routing.model import Filters, Route, RouteExplanation
from mailkeep.settings import Settings


async def route(conn: Conn, recipient: str) -> Route:
    """The route of a recipient, for delivery; accepts any text."""
    return await store.route(conn, rules.normalize_recipient(recipient))


async def find_filters(conn: Conn, recipients: Sequence[str]) -> list[Filters]:
    """Whose filter settings and lists apply to each recipient, in one statement; accepts any text."""
    return await store.find_filters(conn, [rules.normalize_recipient(each) for each in recipients])


async def list_visible_destinations(conn: Conn, address: str, domain_id: UUID) -> frozenset[str]:
    """The destinations of an address, in lower case, as far as an administrator of only this domain may see them.

    Instead of the destinations of an address in another domain, that address is returned.
    """
    explanation = await store.explain(conn, rules.normalize_recipient(address), [domain_id])
    return frozenset(delivery.address.lower() for delivery in explanation.route.deliveries)


async def find_forwarding_domain(conn: Conn, original: str, destination: str) -> str:
    """The name of the domain whose alias or forward sends mail for `original` on to an external destination; empty if
    there is none (any more).
    """
    pending, visited = [original], set[str]()
    while pending:
        address = pending.pop(0)
        name = rules.normalize_recipient(address).rpartition("@")[2].lower()
        domain = await domains.find_by_name(conn, name)
        if domain is None or address in visited:
            continue
        visited.add(address)
        destinations = await list_visible_destinations(conn, address, domain.id)
        if destination.lower() in destinations:
            return name
        pending += destinations
    return ""


async def route_recipient(conn: Conn, address: str, size: int = 0) -> Route:
    """`route` for a message of `size` bytes (0: unknown) offered by SMTP; considers the free space in mailboxes."""
    return await store.route_recipient(conn, rules.normalize_recipient(address), size)


async def apply_settings(conn: Conn, settings: Settings, at: datetime) -> None:
    """Store the settings that routing and logins use; call it at every start, before mail is accepted."""
    await store.apply_settings(conn, settings, at)


async def list_sender_logins(conn: Conn, address: Address) -> frozenset[str]:
    """The folded addresses of the mailboxes that may send from an address. Postfix uses the same SQL function."""
    return await store.list_sender_logins(conn, address.local_part, address.domain)


async def explain(conn: Conn, who: Principal, text: str) -> RouteExplanation:
    """The route of an address with its steps, as far as `who` may see.

    INVALID_FIELD; FORBIDDEN or API_KEY_DOMAIN_SCOPE for an address in a domain that the caller may not see.
    """
    address = rules.parse(text)
    domain = await domains.find_by_name(conn, address.domain)
    if domain is not None:
        allow_on(who, "routing.explain", domain.id)
    return await store.explain(conn, f"{address.local_part}@{address.domain}", who.domains())
