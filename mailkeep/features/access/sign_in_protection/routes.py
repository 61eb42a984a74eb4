"""Routes of sign-in blocks."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, InvalidPagination, NotFound
from mailkeep.features.access.sign_in_protection import service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing


async def _list(app: App, call: Call) -> HttpResponse:
    assert call.page is not None
    async with app.db.autocommit() as conn:
        page = await service.page(conn, app.clock(), call.page)
    return HttpResponse([wire.block_response(each) for each in page.rows], page)


async def _remove(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        block = await service.remove(conn, call.caller(), app.clock(), call.id())
    return HttpResponse(wire.removed_response(block))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/sign-in-blocks",
        handler=_list,
        action="sign_in_block.list",
        summary="List sign-in blocks",
        description=(
            "Addresses and accounts whose sign-ins by IMAP, POP3, SMTP, ManageSieve and the API are refused after many "
            "wrong passwords. An address is blocked for an hour after 30 failures with at least 3 accounts in 15 "
            "minutes, an account for 15 seconds to 15 minutes from the tenth failure on. Addresses that have signed in "
            "to the account before are not affected by failures elsewhere, and valid app passwords never."
        ),
        tag="Abuse",
        listing=Listing(("created_at",)),
        data=list[wire.SignInBlockResponse],
        refusals=(InvalidPagination, ApiKeyDomainScope),
        examples=(Example(query={"limit": "20"}),),
    ),
    Endpoint(
        method="DELETE",
        path="/sign-in-blocks/{id}",
        handler=_remove,
        action="sign_in_block.remove",
        summary="Remove a sign-in block",
        description="The failures behind it are forgotten too. NOT_FOUND if the block has ended.",
        tag="Abuse",
        data=wire.RemovedBlock,
        audit="sign_in_block.remove",
        resource="sign_in_block",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{sign_in_block_id}"}),),
    ),
)
