"""Paths of the history."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, DomainNotFound, InvalidPagination, NotFound
from mailkeep.features.messages import service, wire
from mailkeep.features.messages.model import Filter
from mailkeep.web.endpoint import Call, Endpoint, Example, Listing, Reply


async def _list(app: App, call: Call) -> Reply:
    who, query, asked = call.caller(), call.query, call.page
    assert asked is not None
    wanted = Filter(domains=who.domains(), **{name: getattr(query, name) for name in query.__struct_fields__})
    async with app.db.autocommit() as conn:
        page = await service.page(conn, who, wanted, asked)
    return Reply([wire.message(row) for row in page.rows], page)


async def _get(app: App, call: Call) -> Reply:
    async with app.db.autocommit() as conn:
        return Reply(wire.message(await service.get(conn, call.caller(), call.id())))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/messages",
        handler=_list,
        action="message.list",
        summary="List messages",
        description="Sent and received mail, also what was refused at SMTP; newest first.",
        tag="Messages",
        query=wire.MessageQuery,
        listing=Listing(),
        data=list[wire.Message],
        refusals=(InvalidPagination, DomainNotFound, ApiKeyDomainScope),
        examples=(
            Example(query={"direction": "outbound", "limit": "20"}),
            Example(query={"domain_id": "{domain_id}", "subject": "welcome"}),
        ),
    ),
    Endpoint(
        method="GET",
        path="/messages/{id}",
        handler=_get,
        action="message.read",
        summary="Get a message",
        tag="Messages",
        data=wire.Message,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{message_id}"}),),
    ),
)
