"""Use cases of the keys of a domain: create, import, activate, retire, delete."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.entity_tag import ANY_VERSION, IfMatch
from mailkeep.core.errors import NotFound
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.directory.dkim import rules as dkim_rules, service as dkim
from mailkeep.features.directory.dkim.model import Algorithm, DelegationRecord, DkimKey
from mailkeep.features.directory.dkim_rotation import rules, store, wire
from mailkeep.features.directory.dkim_rotation.model import KeyFilter, LockedKeys, Lookup, NewKey
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.net.dns_query import DnsAnswer

_READ, _WRITE = "dkim.read", "dkim.write"
_KEEP_RETIRED = timedelta(days=365)


async def page(
    conn: Conn, who: Principal, filters: KeyFilter, page_request: PageRequest
) -> tuple[Domain, Page[DkimKey]]:
    """A page of a domain's keys, newest first, and the domain. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    domain = await domains.get_by_path(conn, who, _READ, filters.domain_id)
    stages = [filters.stage] if filters.stage else []
    return domain, await dkim.page(conn, domain.id, page_request, stages, filters.algorithm)


async def get(conn: Conn, who: Principal, domain_id: UUID, key_id: UUID) -> tuple[Domain, DkimKey]:
    """A key and its domain. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    domain = await domains.get_by_path(conn, who, _READ, domain_id)
    return domain, _select(await store.list_of_domain(conn, domain.id), key_id)


async def get_created(conn: Conn, who: Principal, key_id: UUID) -> tuple[Domain, DkimKey]:
    """`get` by the ID of the key alone, for the response of a repeated request."""
    key = await store.find(conn, key_id)
    if key is None or key.domain_id is None:
        raise NotFound
    return await domains.get_by_path(conn, who, _READ, key.domain_id), key


async def create(app: App, who: Principal, domain_id: UUID, new: NewKey) -> tuple[Domain, DkimKey]:
    """Create a pending key, or import one. INVALID_FIELD; NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE; CONFLICT
    `limit_reached`, `selector_taken`, `selectors_in_use`.

    The new keys of a delegated domain get a fixed selector, unless they have one.
    """
    async with app.db.autocommit() as conn:
        domain = await domains.get_by_path(conn, who, _WRITE, domain_id)
        rules.refuse_over_limit(await dkim.list_records(conn, domain.id))
    selector = None if new.selector is None else dkim_rules.parse_selector(new.selector, domain.name)
    at = app.clock()
    key = await _make_key(app, domain.id, at, new)
    async with app.db.tx() as conn:
        domain = await domains.lock_by_path(conn, who, _WRITE, domain_id)
        present = await dkim.list_records(conn, domain.id)
        rules.refuse_over_limit(present)
        key = _place(app, domain, replace(key, stage="pending", activated_at=None), selector, present)
        await dkim.insert(conn, key)
        action = "dkim.create" if new.private_key is None else "dkim.import"
        await audit.record(conn, who, at, AuditAction(action, _target(domain, key), after=wire.audit_fields(key)))
    return domain, key


async def activate(
    app: App, who: Principal, domain_id: UUID, key_id: UUID, if_match: IfMatch = ANY_VERSION, *, force: bool = False
) -> tuple[Domain, DkimKey]:
    """Let a key sign; the active key of its family becomes retiring. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE,
    PRECONDITION_FAILED; CONFLICT `retired`, and `not_published` without `force`.
    """
    async with app.db.autocommit() as conn:
        domain = await domains.get_by_path(conn, who, _WRITE, domain_id)
        key = _select(await store.list_of_domain(conn, domain.id), key_id)
    if_match.check(key.updated_at)
    rules.refuse_retired(key)
    if key.stage != "active" and not force:
        lookup = await look_up(app, key, domain.name)
        async with app.db.autocommit() as conn:
            await dkim.record_checks(conn, {key.id: lookup.status}, app.clock())
        rules.refuse_unpublished(key, domain.name, lookup)
    at = app.clock()
    async with app.db.tx() as conn:
        locked = await _lock(conn, who, domain_id)
        key = _select(locked.keys, key_id)
        if_match.check(key.updated_at)
        rules.refuse_retired(key)
        return domain, await switch(conn, who, at, locked, key)


async def switch(conn: Conn, who: Principal, at: datetime, locked: LockedKeys, key: DkimKey) -> DkimKey:
    """Make a key active."""
    if key.stage == "active":
        return key
    changed = rules.activate(locked.keys, key.id, at)
    await _store_changes(conn, who, at, locked, changed)
    return changed[0]


async def retire(
    conn: Conn, who: Principal, at: datetime, domain_id: UUID, key_id: UUID, if_match: IfMatch = ANY_VERSION
) -> tuple[Domain, DkimKey]:
    """End the use of a key: an active one becomes retiring, a pending one retired. NOT_FOUND, FORBIDDEN,
    API_KEY_DOMAIN_SCOPE, PRECONDITION_FAILED, CONFLICT `last_active_key`.
    """
    locked = await _lock(conn, who, domain_id)
    key = _select(locked.keys, key_id)
    if_match.check(key.updated_at)
    changed = rules.retire(locked.keys, key_id, at)
    await _store_changes(conn, who, at, locked, changed)
    return locked.domain, changed[0] if changed else key


async def end_retiring(conn: Conn, who: Principal, at: datetime, locked: LockedKeys, key: DkimKey) -> None:
    """Retire a retiring key."""
    await _store_changes(conn, who, at, locked, [rules.end(key, at)])


async def lock(conn: Conn, domain_id: UUID) -> LockedKeys | None:
    """The keys of a domain, locked until the transaction ends, for a background process; None if it was deleted."""
    domain = await domains.lock(conn, domain_id)
    return None if domain is None else LockedKeys(domain, await store.list_of_domain(conn, domain.id))


async def delete(
    conn: Conn, who: Principal, at: datetime, domain_id: UUID, key_id: UUID, if_match: IfMatch = ANY_VERSION
) -> DkimKey:
    """Delete a pending or retired key. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE, PRECONDITION_FAILED, CONFLICT
    `in_use`.
    """
    locked = await _lock(conn, who, domain_id)
    domain, key = locked.domain, _select(locked.keys, key_id)
    if_match.check(key.updated_at)
    rules.refuse_in_use(key)
    await store.delete(conn, key.id)
    await audit.record(conn, who, at, AuditAction("dkim.delete", _target(domain, key), before=wire.audit_fields(key)))
    return key


async def list_delegation(
    conn: Conn, app: App, who: Principal, domain_id: UUID
) -> tuple[Domain, list[DelegationRecord]]:
    """The CNAME records of a delegated domain, none without a host name of the server. NOT_FOUND, FORBIDDEN,
    API_KEY_DOMAIN_SCOPE.
    """
    domain = await domains.get_by_path(conn, who, _READ, domain_id)
    host_name = app.settings.server.mail_domain
    if not dkim_rules.is_public(host_name):
        return domain, []
    return domain, dkim_rules.list_delegation(domain.id, domain.name, host_name)


async def look_up(app: App, key: DkimKey, domain_name: str) -> Lookup:
    """Ask every configured name server for the record of a key, following CNAMEs."""
    try:
        answers = await app.dns_query.ask(key.dns_name(domain_name), "TXT")
    except ValueError:  # the name of a long domain's record is too long
        answers = [DnsAnswer("", "no_name")]
    return rules.judge(key, answers)


def describe(key: DkimKey, domain: Domain) -> wire.DkimKeyRecord:
    """A key as the API shows it."""
    return wire.to_record(key, domain.name)


async def list_keys(conn: Conn, domain_id: UUID) -> list[DkimKey]:
    """All keys of a domain, oldest first, for a background process."""
    return await store.list_of_domain(conn, domain_id)


async def find_domain_name(conn: Conn, domain_id: UUID) -> str | None:
    """The name of a domain, for a background process; None if it was deleted."""
    return await domains.find_name(conn, domain_id)


async def make_next(app: App, domain_id: UUID, at: datetime, algorithms: Sequence[Algorithm]) -> list[DkimKey]:
    """The next keys of a rotation, pending and not stored yet."""
    keys = [await _make_key(app, domain_id, at, NewKey(algorithm)) for algorithm in algorithms]
    return [replace(key, stage="pending", activated_at=None, for_rotation=True) for key in keys]


async def insert_next(conn: Conn, app: App, who: Principal, domain: Domain, key: DkimKey) -> DkimKey:
    """Store the next key of a rotation, in a transaction that has locked the domain. CONFLICT `selectors_in_use`."""
    key = _place(app, domain, key, None, await dkim.list_records(conn, domain.id))
    await dkim.insert(conn, key)
    after = wire.audit_fields(key)
    await audit.record(conn, who, key.created_at, AuditAction("dkim.create", _target(domain, key), after=after))
    return key


async def prune(conn: Conn, at: datetime) -> None:
    """Delete the keys that were retired more than a year ago."""
    await store.delete_retired(conn, at - _KEEP_RETIRED)


async def _make_key(app: App, domain_id: UUID, at: datetime, new: NewKey) -> DkimKey:
    async with app.cpu_limit:
        if new.private_key is None:
            return await asyncio.to_thread(dkim.generate_key, app.vault, domain_id, at, new.algorithm or "rsa2048")
        private, algorithm = await asyncio.to_thread(dkim_rules.parse_private_key, new.private_key)
        return dkim.seal_key(app.vault, domain_id, at, private, algorithm)


def _place(app: App, domain: Domain, key: DkimKey, selector: str | None, present: Sequence[DkimKey]) -> DkimKey:
    """The key with its selector."""
    if selector is not None:
        return replace(key, selector=selector)
    if not domain.dkim_delegated:
        return key
    return dkim_rules.delegate(key, app.settings.server.mail_domain, [each.selector for each in present])


async def _lock(conn: Conn, who: Principal, domain_id: UUID) -> LockedKeys:
    domain = await domains.lock_by_path(conn, who, _WRITE, domain_id)
    return LockedKeys(domain, await store.list_of_domain(conn, domain.id))


async def _store_changes(
    conn: Conn, who: Principal, at: datetime, locked: LockedKeys, changed: Sequence[DkimKey]
) -> None:
    """Write changed keys, and an audit entry for each."""
    before = {key.id: key for key in locked.keys}
    await store.update(conn, changed)
    for key in changed:
        states = {"stage": before[key.id].stage}, {"stage": key.stage}
        name = "dkim.activate" if key.stage == "active" else "dkim.retire"
        facts = {"selector": key.selector, "algorithm": key.algorithm}
        await audit.record(conn, who, at, AuditAction(name, _target(locked.domain, key), *states, details=facts))


def _select(keys: Sequence[DkimKey], key_id: UUID) -> DkimKey:
    key = next((each for each in keys if each.id == key_id), None)
    if key is None:
        raise NotFound
    return key


def _target(domain: Domain, key: DkimKey) -> AuditTarget:
    return AuditTarget("dkim_key", key.id, domain.id, domain.name)
