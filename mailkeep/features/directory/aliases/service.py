"""Use cases of aliases.

Locks are taken in one order: routes, domain.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from msgspec.structs import replace

from mailkeep.core.address import Address, fold_local
from mailkeep.core.entity_tag import ANY_VERSION, IfMatch
from mailkeep.core.errors import NotFound
from mailkeep.core.ids import uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal, allow_on
from mailkeep.db.pool import Conn
from mailkeep.features.access.admins import service as admins
from mailkeep.features.directory.aliases import rules, store, wire
from mailkeep.features.directory.aliases.model import MAX_DESTINATIONS, Alias, AliasChanges, AliasStatus, NewAlias
from mailkeep.features.directory.domains import rules as domain_rules, service as domains
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.directory.mailboxes import rules as mailbox_rules
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.web.decode import decode_body

T = TypeVar("T")

_THREAD_CHARACTERS = 4000  # a longer list of destinations is parsed in a thread
_READ, _WRITE = "alias.read", "alias.write"


async def page(
    conn: Conn, who: Principal, domain_id: UUID | None, part: str | None, page_request: PageRequest
) -> Page[Alias]:
    """A page of the aliases of a domain, or of all that the caller may see; `part`: a substring of the address or of
    a destination.

    MISSING_FIELDS for a domain_admin without a domain; DOMAIN_NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE.
    """
    if domain_id is None:
        rules.require_domain(who)
    else:
        await domains.get(conn, who, "alias.list", domain_id)
    return await store.page(conn, who.domains(), domain_id, fold_local(part) if part else None, page_request)


async def get(conn: Conn, who: Principal, alias_id: UUID) -> Alias:
    """The alias; NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    return await _require(conn, who, _READ, alias_id)


async def find_statuses(conn: Conn, who: Principal, aliases: Sequence[Alias]) -> dict[UUID, AliasStatus]:
    """The statuses of aliases by their IDs, as far as `who` may see. Some of a long list may be missing."""
    return await store.find_statuses(conn, [alias.id for alias in aliases], who.domains())


async def create(
    conn: Conn, who: Principal, at: datetime, new: NewAlias, *, max_destinations: int = MAX_DESTINATIONS
) -> Alias:
    """Create an alias with at most `max_destinations` destinations.

    INVALID_FIELD; then DOMAIN_NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE, DOMAIN_INACTIVE; CONFLICT `alias_domain`,
    `limit_reached`, `source_taken`, `alias_loop`, `alias_chain`. Roll back after a refusal.
    """
    source, destinations = await _parse(rules.parse_new, new.source_local_part, new.destination, max_destinations)
    await store.lock_routes(conn)
    domain = await domains.get_active_for_update(conn, who, _WRITE, new.domain_id)
    rules.check_length(source, domain.name)
    await _refuse_lower_rank(conn, who, source, domain)
    if domain.max_aliases is not None:
        domain_rules.refuse_over_limit(domain.max_aliases, await store.count_in_domain(conn, domain.id), "aliases")
    alias = Alias(
        id=uuid7(at),
        domain_id=domain.id,
        source_local_part=source,
        destinations=tuple(address.text for address in destinations),
        destination_keys=tuple(address.key for address in destinations),
        active=new.active,
        created_at=at,
        updated_at=at,
    )
    await store.insert(conn, alias, who.rank)
    await _refuse_loops(conn, alias, None, domain)
    await audit.record(
        conn, who, at, AuditAction("alias.create", _target(alias, domain), after=wire.audit_fields(alias))
    )
    return alias


async def change(
    conn: Conn,
    who: Principal,
    at: datetime,
    alias_id: UUID,
    changes: AliasChanges,
    *,
    max_destinations: int = MAX_DESTINATIONS,
) -> Alias:
    """Change an alias, to at most `max_destinations` destinations, and return the result.

    INVALID_FIELD; then NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE, DOMAIN_INACTIVE; PRECONDITION_FAILED; CONFLICT
    `alias_loop`, `alias_chain`. Roll back after a refusal.
    """
    destinations = None
    if changes.destination is not None:
        destinations = await _parse(rules.parse_destinations, changes.destination, max_destinations)
    await store.lock_routes(conn)
    before = await _require(conn, who, _WRITE, alias_id)
    domain = await domains.get_active_for_update(conn, who, _WRITE, before.domain_id)
    await _refuse_lower_rank(conn, who, before.source_local_part, domain)
    changes.if_match.check(before.updated_at)
    after = before if changes.active is None else replace(before, active=changes.active)
    if destinations is not None:
        after = replace(
            after,
            destinations=tuple(address.text for address in destinations),
            destination_keys=tuple(address.key for address in destinations),
        )
    if after == before:
        return before
    after = replace(after, updated_at=at)
    await store.update(conn, after, who.rank)
    await _refuse_loops(conn, after, before, domain)
    states = (wire.audit_fields(before), wire.audit_fields(after))
    await audit.record_change(conn, who, at, "alias.update", _target(after, domain), states)
    return after


async def delete(conn: Conn, who: Principal, at: datetime, alias_id: UUID, if_match: IfMatch = ANY_VERSION) -> Alias:
    """Delete an alias, also in an inactive domain; NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE, PRECONDITION_FAILED."""
    await store.lock_routes(conn)
    alias = await _require(conn, who, _WRITE, alias_id)
    domain = await domains.get(conn, who, _WRITE, alias.domain_id)
    await _refuse_lower_rank(conn, who, alias.source_local_part, domain)
    if_match.check(alias.updated_at)
    await store.delete(conn, alias_id)
    await audit.record(
        conn, who, at, AuditAction("alias.delete", _target(alias, domain), before=wire.audit_fields(alias))
    )
    return alias


async def create_item(
    conn: Conn, who: Principal, at: datetime, item: Mapping[str, Any], max_destinations: int
) -> Alias:
    """Create an alias from the body of POST /aliases, as an item of a bulk operation; refuses what that refuses."""
    new = wire.read_new(decode_body(item, wire.AliasCreate))
    return await create(conn, who, at, new, max_destinations=max_destinations)


async def change_item(
    conn: Conn, who: Principal, at: datetime, alias_id: UUID, item: Mapping[str, Any], max_destinations: int
) -> Alias:
    """Change an alias by the body of PATCH /aliases/{id}, as an item of a bulk operation."""
    changes = wire.read_changes(decode_body(item, wire.AliasPatch), ANY_VERSION)
    return await change(conn, who, at, alias_id, changes, max_destinations=max_destinations)


async def delete_item(conn: Conn, who: Principal, at: datetime, alias_id: UUID, item: Mapping[str, Any]) -> Alias:
    """Delete an alias, as an item of a bulk operation, which has no further fields."""
    decode_body(item, wire.AliasBulkDeletion)
    return await delete(conn, who, at, alias_id)


async def find_by_source(conn: Conn, domain_id: UUID, source_local_part: str) -> UUID | None:
    """The ID of the alias with this source, in any case and normalization; None if there is none."""
    return await store.find_by_source(conn, domain_id, fold_local(source_local_part))


async def _parse(parse: Callable[..., T], *arguments: str | int) -> T:
    """Run `parse`; for a long list in a thread, because it could block the event loop for too long."""
    is_long = any(isinstance(text, str) and len(text) > _THREAD_CHARACTERS for text in arguments)
    return await asyncio.to_thread(parse, *arguments) if is_long else parse(*arguments)


async def _refuse_lower_rank(conn: Conn, who: Principal, source: str, domain: Domain) -> None:
    """FORBIDDEN for the address of an administrator of higher rank, with or without a tag."""
    if source:  # routing applies the rule to catch-alls
        mailbox_rules.refuse_lower_rank(who, await admins.find_owner_role(conn, Address(source, domain.name)))


async def _refuse_loops(conn: Conn, alias: Alias, before: Alias | None, domain: Domain) -> None:
    """Refuse loops and chains of an alias that has been written."""
    if not alias.active:
        return
    rules.refuse_loop(await store.find_loop(conn, alias.id))
    rules.refuse_chain_ahead(await store.find_chain_ahead(conn, alias.id), domain.name)
    if before is None or not before.active:  # a change of destinations can't create chains from other aliases
        sources = await store.find_chain_behind(conn, alias)
        rules.refuse_chain_behind(sources, alias.source_local_part, domain.name)


async def _require(conn: Conn, who: Principal, action: str, alias_id: UUID) -> Alias:
    alias = await store.find(conn, alias_id)
    if alias is None:
        raise NotFound
    allow_on(who, action, alias.domain_id)
    return alias


def _target(alias: Alias, domain: Domain) -> AuditTarget:
    return AuditTarget("alias", alias.id, domain.id, domain.name)
