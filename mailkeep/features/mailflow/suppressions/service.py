"""Use cases of suppressions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.address import AddressError, fold_local, normalize_domain
from mailkeep.core.clock import iso
from mailkeep.core.entity_tag import IfMatch
from mailkeep.core.errors import Conflict, DomainNotFound, MissingFields, NotFound, Refusal
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal, allow_on
from mailkeep.db.pool import Conn
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.mailflow.suppressions import rules, store
from mailkeep.features.mailflow.suppressions.model import (
    ImportRow,
    NewSuppression,
    Suppression,
    SuppressionCandidate,
    SuppressionFilter,
)
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.features.record.history.rules import like_pattern
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.model import DeliveryAttempt, DeliveryOutcome

_READ, _WRITE, _LIST = "suppression.read", "suppression.write", "suppression.list"
_EXPORT_PAGE = 1000
_MAX_FAILURES = 100


# Automatic suppressions


async def record_outcomes(conn: Conn, at: datetime, outcomes: Sequence[DeliveryOutcome]) -> list[DeliveryAttempt]:
    """`messages.record_outcomes`; recipients that failed for a reason of their own are suppressed."""
    attempts = await messages.record_outcomes(conn, at, outcomes)
    await suppress_failed(conn, at, attempts)
    return attempts


async def suppress_failed(conn: Conn, at: datetime, attempts: Sequence[DeliveryAttempt]) -> None:
    """Suppress the recipients of recorded attempts that failed because of the address (see the package)."""
    candidates = [_candidate(each) for each in attempts if rules.is_hard_bounce(each)]
    for each in attempts:
        if rules.is_full(each.kind, each.reply):
            candidate = _candidate(each)
            failures = await store.list_failures(conn, candidate, at - rules.FULL_WINDOW, _MAX_FAILURES)
            if sum(rules.is_full(status, reply) for status, reply in failures) >= rules.FULL_LIMIT:
                candidates.append(candidate)
    if candidates:
        await store.insert_bounced(conn, at, candidates)


def _candidate(attempt: DeliveryAttempt) -> SuppressionCandidate:
    return SuppressionCandidate(attempt.message_id, attempt.recipient or "")


async def add(conn: Conn, at: datetime, new: NewSuppression) -> UUID:
    """Add a suppression without an administrator: after a complaint, or by an unsubscribe link. Returns its ID; an
    existing one does not change. The caller knows that the domain exists.
    """
    ((suppression_id, _),) = await store.insert(conn, at, [new])
    return suppression_id


# Suppressions by administrators


async def page(conn: Conn, who: Principal, filters: SuppressionFilter, page_request: PageRequest) -> Page[Suppression]:
    """A page of the suppressions that the caller may see. DOMAIN_NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    if filters.domain_id is not None:
        await domains.get(conn, who, _LIST, filters.domain_id)
    pattern = like_pattern(fold_local(filters.address)) if filters.address else None
    return await store.page(conn, replace(filters, address=pattern), page_request)


async def get(conn: Conn, who: Principal, suppression_id: UUID) -> Suppression:
    """The suppression; NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    return await _require(conn, who, _READ, suppression_id)


async def create(conn: Conn, who: Principal, at: datetime, new: NewSuppression) -> Suppression:
    """Add a suppression. DOMAIN_NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE; INVALID_FIELD for an unknown group;
    CONFLICT `exists`.
    """
    domain = await domains.get(conn, who, _WRITE, new.domain_id)
    ((suppression_id, is_new),) = await store.insert(conn, at, [new])
    if not is_new:
        text = f"{new.address} is already suppressed for {domain.name}."
        raise Conflict(text, reason="exists", suppression_id=str(suppression_id))
    suppression = await _require(conn, who, _WRITE, suppression_id)
    fields = _audit_fields(suppression)
    await audit.record(conn, who, at, AuditAction("suppression.create", _target(suppression), after=fields))
    return suppression


async def delete(
    conn: Conn, who: Principal, at: datetime, suppression_id: UUID, note: str | None, if_match: IfMatch
) -> Suppression:
    """Remove a suppression; the note is in the audit log. NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE,
    PRECONDITION_FAILED.
    """
    suppression = await _require(conn, who, _WRITE, suppression_id)
    if_match.check(suppression.created_at)
    if not await store.delete(conn, suppression_id):
        raise NotFound
    details = {"note": note} if note else {}
    action = AuditAction("suppression.delete", _target(suppression), before=_audit_fields(suppression), details=details)
    await audit.record(conn, who, at, action)
    return suppression


async def import_rows(
    conn: Conn, who: Principal, at: datetime, rows: Sequence[ImportRow | Refusal], domain_id: UUID | None
) -> list[UUID | Refusal]:
    """Add suppressions; returns the ID of each, also of those that existed already, or why it was not added.
    `domain_id`: of rows without a domain.

    Refusals of a row: MISSING_FIELDS, INVALID_FIELD, DOMAIN_NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE.
    """
    found: dict[UUID | str, Domain | Refusal] = {}
    results: list[UUID | Refusal] = []
    new: list[tuple[int, NewSuppression]] = []
    for index, row in enumerate(rows):
        outcome = row if isinstance(row, Refusal) else await _check_row(conn, who, row, domain_id, found)
        if isinstance(outcome, NewSuppression):
            new.append((index, outcome))
            results.append(NotFound())
        else:
            results.append(outcome)
    # In this order, so that two imports can't deadlock.
    for group_id in sorted({each.group_id for _, each in new}, key=lambda each: str(each or "")):
        for (index, _), outcome in await _insert(conn, at, [each for each in new if each[1].group_id == group_id]):
            results[index] = outcome
    names = sorted({each.name for each in found.values() if isinstance(each, Domain)})
    ids = {each.id for each in found.values() if isinstance(each, Domain)}
    only = ids.pop() if len(ids) == 1 else None
    target = AuditTarget("suppression", None, only, names[0] if only else None)
    succeeded = sum(isinstance(each, UUID) for each in results)
    details = {"rows": len(results), "succeeded": succeeded, "domains": names[:50]}
    await audit.record(conn, who, at, AuditAction("suppression.import", target, details=details))
    return results


_Numbered = tuple[int, NewSuppression]


async def _insert(conn: Conn, at: datetime, new: Sequence[_Numbered]) -> list[tuple[_Numbered, UUID | Refusal]]:
    """Add rows of one group (or none); a refusal concerns all rows of its domain."""
    outcomes: list[tuple[_Numbered, UUID | Refusal]] = []
    for domain_id in sorted({each.domain_id for _, each in new}):
        rows = [each for each in new if each[1].domain_id == domain_id]
        try:
            async with conn.transaction():
                added = await store.insert(conn, at, [each for _, each in rows])
        except Refusal as refusal:
            outcomes += [(each, refusal) for each in rows]
        else:
            outcomes += [(each, suppression_id) for each, (suppression_id, _) in zip(rows, added, strict=True)]
    return outcomes


async def _check_row(
    conn: Conn, who: Principal, row: ImportRow, domain_id: UUID | None, found: dict[UUID | str, Domain | Refusal]
) -> NewSuppression | Refusal:
    """The suppression of a row, or its refusal; `found` keeps the domains that were looked up."""
    key = row.domain_id or row.domain_name or domain_id
    if key is None:
        return MissingFields(["domain_id"])
    if key not in found:
        found[key] = await _find_domain(conn, who, key)
    domain = found[key]
    return domain if isinstance(domain, Refusal) else NewSuppression(domain.id, row.address, row.reason, row.group_id)


async def _find_domain(conn: Conn, who: Principal, key: UUID | str) -> Domain | Refusal:
    try:
        if isinstance(key, UUID):
            return await domains.get(conn, who, _WRITE, key)
        domain = await domains.find_by_name(conn, normalize_domain(key))
        if domain is None:
            return DomainNotFound("No domain has this name.")
        allow_on(who, _WRITE, domain.id)
    except AddressError:
        return DomainNotFound("No domain has this name.")
    except Refusal as refusal:
        return refusal
    return domain


async def record_export(app: App, who: Principal, filters: SuppressionFilter) -> None:
    """Check that the caller may export, and record it. DOMAIN_NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE."""
    async with app.db.tx() as conn:
        name = None
        if filters.domain_id is not None:
            name = (await domains.get(conn, who, _LIST, filters.domain_id)).name
        target = AuditTarget("suppression", None, filters.domain_id, name)
        await audit.record(conn, who, app.clock(), AuditAction("suppression.export", target))


async def export(
    app: App, find_caller: Callable[[], Awaitable[Principal]], filters: SuppressionFilter
) -> AsyncIterator[list[Sequence[str]]]:
    """The rows of the export, in pages: each with the caller's rights at that time, since a client may read slowly."""
    after = None
    while True:
        who = await find_caller()
        async with app.db.autocommit() as conn:
            request = PageRequest(_EXPORT_PAGE, "created_at", "asc", after)
            result = await page(conn, who, replace(filters, domains=who.domains()), request)
        yield [rules.export_row(each, iso(each.created_at)) for each in result.rows]
        if (after := result.next_key) is None:
            return


async def _require(conn: Conn, who: Principal, action: str, suppression_id: UUID) -> Suppression:
    suppression = await store.find(conn, suppression_id)
    if suppression is None:
        raise NotFound
    allow_on(who, action, suppression.domain_id)
    return suppression


def _target(suppression: Suppression) -> AuditTarget:
    return AuditTarget("suppression", suppression.id, suppression.domain_id, suppression.domain_name)


def _audit_fields(suppression: Suppression) -> dict[str, Any]:
    group = str(suppression.group_id) if suppression.group_id else None
    return {"address": suppression.address, "reason": suppression.reason, "group_id": group}
