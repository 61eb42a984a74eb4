"""Paths of the sandbox."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, InvalidPagination, NotFound
from mailkeep.features.sandbox import service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, Listing, Reply


async def _list(app: App, call: Call) -> Reply:
    assert call.page is not None
    async with app.db.autocommit() as conn:
        page = await service.page(conn, call.page)
    return Reply([wire.caught(row) for row in page.rows], page)


async def _raw(app: App, call: Call) -> Reply:
    size, pieces = await service.raw(app, call.id())
    return Reply(content=pieces, content_type="message/rfc822", headers={"content-length": str(size)})


async def _clear(app: App, call: Call) -> Reply:
    removed = await service.clear(app, call.caller())
    return Reply(wire.Cleared(f"{removed} messages removed.", removed))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/sandbox/messages",
        handler=_list,
        action="sandbox",
        summary="List what the sandbox caught",
        tag="Sandbox",
        listing=Listing(("received_at",)),
        data=list[wire.SandboxMessage],
        refusals=(InvalidPagination, ApiKeyDomainScope),
        examples=(Example(query={"limit": "10"}),),
    ),
    Endpoint(
        method="GET",
        path="/sandbox/messages/{id}/raw",
        handler=_raw,
        action="sandbox",
        summary="Get a caught message as it would have left",
        tag="Sandbox",
        data=str,
        content="message/rfc822",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{sandbox_id}"}),),
    ),
    Endpoint(
        method="DELETE",
        path="/sandbox/messages",
        handler=_clear,
        action="sandbox",
        audit="sandbox.clear",
        resource="sandbox",
        summary="Remove what the sandbox caught",
        description="Messages with recipients still to be seen to stay.",
        tag="Sandbox",
        data=wire.Cleared,
        refusals=(ApiKeyDomainScope,),
        examples=(Example(),),
    ),
)
