"""Endpoints of suspensions."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import (
    ApiKeyDomainScope,
    DomainNotFound,
    InvalidPagination,
    NotFound,
)
from mailkeep.features.mailflow.abuse import service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing


async def _suspend(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    async with app.db.tx() as conn:
        mailbox = await service.suspend(conn, who, app.clock(), call.id(), call.body.reason)
    return HttpResponse(wire.mailbox_suspension(mailbox, who))


async def _unsuspend(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    async with app.db.tx() as conn:
        mailbox = await service.unsuspend(conn, who, app.clock(), call.id())
    return HttpResponse(wire.mailbox_suspension(mailbox, who))


async def _list(app: App, call: Call) -> HttpResponse:
    query: wire.SuspensionQuery = call.query
    who = call.caller()
    assert call.page is not None
    async with app.db.autocommit() as conn:
        page = await service.page(conn, who, query.domain_id, call.page)
    return HttpResponse([wire.suspension_response(each, who) for each in page.rows], page)


async def _get(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    async with app.db.autocommit() as conn:
        suspension = await service.get(conn, who, call.id())
    return HttpResponse(wire.suspension_response(suspension, who), changed_at=suspension.created_at)


async def _lift(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        lifted = await service.lift(conn, call.caller(), app.clock(), call.id(), call.if_match)
    return HttpResponse(wire.LiftResponse(f"{lifted.address} may send again.", lifted.id, lifted.address))


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/mailboxes/{id}/suspend",
        handler=_suspend,
        action="mailbox.write",
        summary="Suspend sending for a mailbox's address",
        description="A suspension by the abuse rules or a higher rank is not replaced.",
        tag="Mailboxes",
        body=wire.SuspendBody,
        data=wire.MailboxSuspensionResponse,
        audit="mailbox.suspend",
        resource="mailbox",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{mailbox_id}"}, body={"reason": "compromised password"}),),
    ),
    Endpoint(
        method="POST",
        path="/mailboxes/{id}/unsuspend",
        handler=_unsuspend,
        action="mailbox.write",
        summary="Lift the suspension of a mailbox's address",
        description=(
            "Only admins can lift a suspension by the abuse rules or a higher rank. The count of the sender is reset."
        ),
        tag="Mailboxes",
        data=wire.MailboxSuspensionResponse,
        audit="mailbox.unsuspend",
        resource="mailbox",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{mailbox_id}"}),),
    ),
    Endpoint(
        method="GET",
        path="/abuse/suspensions",
        handler=_list,
        action="suspension.list",
        summary="List suspended senders",
        description="Addresses whose sending is suspended, with or without a mailbox.",
        tag="Abuse",
        query=wire.SuspensionQuery,
        listing=Listing(("created_at", "address")),
        data=list[wire.SuspensionResponse],
        refusals=(InvalidPagination, DomainNotFound, ApiKeyDomainScope),
        examples=(Example(query={"domain_id": "{domain_id}", "limit": "20"}),),
    ),
    Endpoint(
        method="GET",
        path="/abuse/suspensions/{id}",
        handler=_get,
        action="suspension.read",
        summary="Get a suspension",
        tag="Abuse",
        versioned=True,
        data=wire.SuspensionResponse,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{suspension_id}"}),),
    ),
    Endpoint(
        method="DELETE",
        path="/abuse/suspensions/{id}",
        handler=_lift,
        action="suspension.lift",
        summary="Lift a suspension",
        description="The address may send again immediately, and its count is reset.",
        tag="Abuse",
        versioned=True,
        data=wire.LiftResponse,
        audit="sender.unsuspend",
        resource="suspension",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{suspension_id}"}),),
    ),
)
