"""Writing and reading the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.errors import DomainNotFound, Refusal
from mailkeep.core.ids import uuid7
from mailkeep.core.page import Page, PageRequest
from mailkeep.core.principal import Principal, allow_on
from mailkeep.db.pool import Conn
from mailkeep.features.audit import rules, store
from mailkeep.features.audit.model import Deed, Entry, Filter, Outcome, Target
from mailkeep.web.endpoint import Call


async def record(conn: Conn, who: Principal, at: datetime, deed: Deed) -> None:
    """Write the entry of a deed, in the transaction of the change."""
    details: dict[str, Any] = dict(rules.without_secrets(deed.more) or {})
    if deed.before is not None or deed.after is not None:
        details["before"] = rules.without_secrets(deed.before)
        details["after"] = rules.without_secrets(deed.after)
    target = deed.target
    entry = Entry(
        id=uuid7(at),
        created_at=at,
        admin_id=who.admin_id,
        actor_type=who.actor.value,
        actor_label=who.label,
        key_id=who.key_id,
        action=deed.action,
        resource_type=target.type,
        resource_id=str(target.id) if target.id is not None else None,
        domain_id=target.domain_id,
        domain_name=target.domain_name,
        ip_address=who.ip_address,
        user_agent=who.user_agent,
        request_id=who.request_id,
        outcome=deed.outcome,
        error_code=deed.error_code,
        details=details,
    )
    await store.insert(conn, entry)


async def record_change(
    conn: Conn,
    who: Principal,
    at: datetime,
    action: str,
    target: Target,
    change: tuple[Mapping[str, Any], Mapping[str, Any]],
) -> None:
    """Write the entry of a change from one shown state to another: only the fields that differ."""
    before, after = rules.changed(*change)
    await record(conn, who, at, Deed(action, target, before, after))


async def refused(app: App, call: Call, wrong: Refusal) -> None:
    """Record that a mutating call of an authenticated caller was refused; 401, 429 and 503 are left to the metrics."""
    endpoint, who = call.endpoint, call.who
    if who is None or endpoint.audit is None or wrong.status in (401, 429, 503):
        return
    domain_id = getattr(call.body, "domain_id", None)
    outcome: Outcome = "denied" if wrong.status == 403 else "failed"
    target = Target(
        endpoint.resource or endpoint.audit.split(".")[0],
        call.path.get("id", "")[:100] or None,
        domain_id if isinstance(domain_id, UUID) else None,
    )
    reason = (wrong.details or {}).get("reason")
    deed = Deed(
        endpoint.audit,
        target,
        more={"reason": reason} if reason else {},
        outcome=outcome,
        error_code=wrong.code,
    )
    async with app.db.tx() as conn:
        await record(conn, who, app.clock(), deed)


async def page(conn: Conn, who: Principal, wanted: Filter, asked: PageRequest) -> Page[Entry]:
    """A page of the entries that the caller may see; DOMAIN_NOT_FOUND for the id of what never was a domain."""
    if wanted.domain_id is not None:
        if not await store.knows_domain(conn, wanted.domain_id):
            raise DomainNotFound
        allow_on(who, "audit.list", wanted.domain_id)
    return await store.page(conn, wanted, asked)
