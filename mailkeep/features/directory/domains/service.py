"""Use cases of domains."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.entity_tag import ANY_VERSION, IfMatch
from mailkeep.core.errors import DomainExists, DomainNotFound, NotFound, Refusal
from mailkeep.core.ids import uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal, allow_on
from mailkeep.db.pool import Conn
from mailkeep.features.directory.dkim import rules as dkim_rules, service as dkim
from mailkeep.features.directory.domains import rules, store, wire
from mailkeep.features.directory.domains.model import Domain, DomainFilter, DomainUsage, NewDomain, NewRelay
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.scheduled import service as scheduled
from mailkeep.settings import parse_networks

NO_USAGE = DomainUsage()


async def get(conn: Conn, who: Principal, action: str, domain_id: UUID) -> Domain:
    """The domain in which `who` wants to perform `action`; DOMAIN_NOT_FOUND, then FORBIDDEN or API_KEY_DOMAIN_SCOPE."""
    return _require(await store.find(conn, domain_id), who, action)


async def get_by_path(conn: Conn, who: Principal, action: str, domain_id: UUID) -> Domain:
    """`get` for a domain from the path: an unknown id is NOT_FOUND."""
    return _require(await store.find(conn, domain_id), who, action, NotFound)


async def lock_by_path(conn: Conn, who: Principal, action: str, domain_id: UUID) -> Domain:
    """`get_by_path`, locked until the transaction ends: one change after the other of what belongs to the domain."""
    return _require(await store.find_for_update(conn, domain_id), who, action, NotFound)


async def lock(conn: Conn, domain_id: UUID) -> Domain | None:
    """The domain, locked until the transaction ends, for a background process; None if it was deleted."""
    return await store.find_for_update(conn, domain_id)


async def get_active(conn: Conn, who: Principal, action: str, domain_id: UUID) -> Domain:
    """`get` for a new address: DOMAIN_INACTIVE for an inactive domain, CONFLICT for an alias domain."""
    domain = await get(conn, who, action, domain_id)
    rules.refuse_inactive(domain)
    rules.refuse_alias_domain(domain)
    return domain


async def get_for_update(conn: Conn, who: Principal, action: str, domain_id: UUID) -> Domain:
    """`get`, locked until the transaction ends, so that counts of its mailboxes and aliases stay correct.

    A caller that also needs `lock_routes` must take that lock first.
    """
    return _require(await store.find_for_update(conn, domain_id), who, action)


async def get_active_for_update(conn: Conn, who: Principal, action: str, domain_id: UUID) -> Domain:
    """`get_active`, locked as by `get_for_update`."""
    domain = await get_for_update(conn, who, action, domain_id)
    rules.refuse_inactive(domain)
    rules.refuse_alias_domain(domain)
    return domain


async def find(conn: Conn, domain_id: UUID) -> Domain | None:
    """The domain with this ID, for a process that needs no permission."""
    return await store.find(conn, domain_id)


async def find_by_name(conn: Conn, name: str) -> Domain | None:
    """The domain with this canonical name (A-labels, lower case); None if it is not managed here."""
    return await store.find_by_name(conn, name)


async def find_name(conn: Conn, domain_id: UUID) -> str | None:
    """The name of the domain with this ID."""
    domain = await store.find(conn, domain_id)
    return domain.name if domain else None


async def filter_managed(conn: Conn, names: Sequence[str]) -> set[str]:
    """Which of these lower-case names are domains of this server, active or not."""
    return await store.filter_managed(conn, names)


async def list_active_names(conn: Conn) -> list[str]:
    """The names of all active domains, ascending."""
    return await store.list_active_names(conn)


async def count_usage(conn: Conn, domain_ids: Sequence[UUID]) -> dict[UUID, DomainUsage]:
    """The usage of each of these domains; unknown ids are omitted."""
    return await store.count_usage(conn, domain_ids)


async def page(conn: Conn, filters: DomainFilter, page_request: PageRequest) -> Page[tuple[Domain, DomainUsage]]:
    """A page of domains, each with its usage."""
    page = await store.page(conn, filters, page_request)
    usage = await store.count_usage(conn, [domain.id for domain in page.rows]) if page.rows else {}
    return Page([(domain, usage.get(domain.id, NO_USAGE)) for domain in page.rows], page.next_key)


async def create(app: App, who: Principal, new: NewDomain) -> Domain:
    """Create a domain with its first DKIM keys; INVALID_FIELD, DOMAIN_EXISTS, CONFLICT `not_served`; with `alias_of`,
    `dkim_delegated` or `dns_managed` those of `change`.
    """
    new = replace(new, name=rules.parse_name(new.name), relay=_check_relay(app, new.relay))
    rules.check_delimiter(new.plus_delimiter)
    rules.check_dns(who, app.settings.server.mail_domain, managed=new.dns_managed, delegated=new.dkim_delegated)
    async with app.db.autocommit() as conn:
        # Only saves the time for generating a key: the constraint at the insert decides.
        if await store.find_by_name(conn, new.name) is not None:
            raise DomainExists(name=new.name)
    at = app.clock()
    domain_id = uuid7(at)
    fields = {name: getattr(new, name) for name in NewDomain.__slots__ if name != "relay"}
    domain = Domain(
        **fields,
        id=domain_id,
        relay=rules.encrypt_relay(new.relay, None, _encryption(app, domain_id)),
        mta_sts_ended_at=None,
        mta_sts_served_at=None,
        dns_status="unchecked",
        dns_checked_at=None,
        created_at=at,
        updated_at=at,
    )
    rules.refuse_not_served(domain)
    keys = await asyncio.to_thread(dkim.generate_first_keys, app.vault, domain.id, at)
    if domain.dkim_delegated:
        keys = [dkim_rules.delegate(key, app.settings.server.mail_domain, ()) for key in keys]
    async with app.db.tx() as conn:
        if domain.alias_of is not None:
            await store.lock_routes(conn)
            await _check_target(conn, who, domain)
        await store.insert(conn, domain)
        if domain.alias_of is not None:
            rules.refuse_loops(await store.list_loops(conn, domain.name), domain)
        for key in keys:
            await dkim.insert(conn, key)
        after = wire.audit_fields(domain) | {"dkim_selectors": [key.selector for key in keys]}
        await audit.record(conn, who, at, AuditAction("domain.create", _target(domain), after=after))
    return domain


async def change(
    app: App, conn: Conn, who: Principal, domain_id: UUID, changes: dict[str, Any], if_match: IfMatch = ANY_VERSION
) -> Domain:
    """Change the given fields of a domain (`relay` is a NewRelay or None) and return the result.

    INVALID_FIELD, NOT_FOUND, PRECONDITION_FAILED; FORBIDDEN for a new delimiter or `alias_of` if a higher-ranked
    administrator has an address in the domain, and for `dns_managed` unless the caller is a super_admin; CONFLICT
    `hostname_missing` for `dkim_delegated` without a host name of the server, and `not_served`. For `alias_of` also
    DOMAIN_NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE; CONFLICT `has_dependents`, `alias_chain`, `alias_loop`. Roll back
    after a refusal.
    """
    at = app.clock()
    rules.check_delimiter(changes.get("plus_delimiter"))
    relay = _check_relay(app, changes.get("relay"))
    if "alias_of" in changes:
        await store.lock_routes(conn)
    before = _require(await store.find_for_update(conn, domain_id), who, "domain.write", NotFound)
    if_match.check(before.updated_at)
    if "relay" in changes:
        changes = changes | {"relay": rules.encrypt_relay(relay, before.relay, _encryption(app, domain_id))}
    after = rules.change_mta_sts(before, replace(before, **changes), at)
    if after.plus_delimiter != before.plus_delimiter:
        rules.refuse_higher_rank(await store.has_higher_rank(conn, before.name, who.rank))
    rules.check_dns(
        who,
        app.settings.server.mail_domain,
        managed=after.dns_managed != before.dns_managed,
        delegated=after.dkim_delegated and not before.dkim_delegated,
    )
    if after == before:
        return before
    if after.alias_of != before.alias_of:
        if after.alias_of is not None:
            rules.refuse_addresses(before, (await store.count_usage(conn, [domain_id]))[domain_id])
        await _check_target(conn, who, after)
    after = replace(after, updated_at=at)
    await store.update(conn, after)
    if after.alias_of not in (None, before.alias_of):
        rules.refuse_loops(await store.list_loops(conn, after.name), after)
    states = (wire.audit_fields(before), wire.audit_fields(after, before))
    await audit.record_change(conn, who, at, "domain.update", _target(after), states)
    return after


async def delete(
    conn: Conn,
    who: Principal,
    at: datetime,
    domain_id: UUID,
    if_match: IfMatch = ANY_VERSION,
    *,
    cancel_scheduled: bool = False,
) -> tuple[Domain, int]:
    """Delete a domain with its keys and trash; PRECONDITION_FAILED; CONFLICT while it has mailboxes, aliases or alias
    domains, or scheduled messages, unless they are to be cancelled. Returns it and the number of cancelled messages.
    """
    domain = _require(await store.find_for_update(conn, domain_id), who, "domain.write", NotFound)
    if_match.check(domain.updated_at)
    waiting = 0 if cancel_scheduled else await scheduled.count_of_domain(conn, domain_id)
    rules.refuse_in_use((await store.count_usage(conn, [domain_id]))[domain_id], waiting)
    cancelled = await scheduled.cancel_of_domain(conn, at, domain_id)
    await store.delete(conn, domain_id)
    details = {"cancelled_messages": cancelled} if cancelled else {}
    action = AuditAction("domain.delete", _target(domain), before=wire.audit_fields(domain), details=details)
    await audit.record(conn, who, at, action)
    return domain, cancelled


async def _check_target(conn: Conn, who: Principal, domain: Domain) -> None:
    """Refuse a new value of `alias_of` that is not allowed. The target can't be deleted until the transaction ends."""
    rules.refuse_higher_rank(await store.has_higher_rank(conn, domain.name, who.rank))
    if domain.alias_of is not None:
        target = _require(await store.find_and_prevent_deletion(conn, domain.alias_of), who, "domain.write")
        rules.refuse_chain(domain.name, target)


def _check_relay(app: App, relay: NewRelay | None) -> NewRelay | None:
    return relay and rules.check_relay(relay, parse_networks(app.settings.outbound.relay_networks))


def _encryption(app: App, domain_id: UUID) -> Callable[[bytes], bytes]:
    return partial(app.vault.seal, "relay", bound_to=domain_id.bytes)


def _require(domain: Domain | None, who: Principal, action: str, not_found: type[Refusal] = DomainNotFound) -> Domain:
    if domain is None:
        raise not_found
    allow_on(who, action, domain.id)
    return domain


def _target(domain: Domain) -> AuditTarget:
    return AuditTarget("domain", domain.id, domain.id, domain.name)
