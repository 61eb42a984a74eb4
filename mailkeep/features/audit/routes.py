"""Paths of the audit log."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, DomainNotFound, InvalidPagination
from mailkeep.features.audit import service, wire
from mailkeep.features.audit.model import Filter
from mailkeep.web.endpoint import Call, Endpoint, Example, Listing, Reply


async def _list(app: App, call: Call) -> Reply:
    who, query, asked = call.caller(), call.query, call.page
    assert asked is not None
    wanted = Filter(
        domains=who.domains(),
        action=query.action,
        admin_id=query.admin_id,
        resource_type=query.resource_type,
        resource_id=query.resource_id,
        domain_id=query.domain_id,
        since=query.since,
        until=query.until,
    )
    async with app.db.autocommit() as conn:
        page = await service.page(conn, who, wanted, asked)
    return Reply([wire.entry(row) for row in page.rows], page)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/audit",
        handler=_list,
        action="audit.list",
        summary="List the audit log",
        description="Newest first. A domain_admin sees the entries of its domains.",
        tag="Audit",
        query=wire.AuditQuery,
        listing=Listing(),
        data=list[wire.AuditEntry],
        refusals=(InvalidPagination, DomainNotFound, ApiKeyDomainScope),
        examples=(Example(query={"limit": "20", "action": "alias.create"}),),
    ),
)
