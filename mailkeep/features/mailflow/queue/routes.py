"""Endpoints of the queue."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, InvalidPagination
from mailkeep.features.mailflow.queue import service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing

_AVAILABILITY = (
    " Full profile only; elsewhere UNAVAILABLE with `details.reason` needs_full_profile. The reason is node_agent_away "
    "if the process `node` does not answer within ten seconds."
)


async def _list(app: App, call: Call) -> HttpResponse:
    assert call.page is not None
    query: wire.QueueQuery = call.query
    page = await service.page(app, wire.read_filter(query), call.page)
    return HttpResponse([wire.to_record(each) for each in page.rows], page)


async def _act(app: App, call: Call) -> HttpResponse:
    body: wire.QueueAction = call.body
    affected = await service.act(app, call.caller(), body.action, wire.read_selection(body), dry_run=body.dry_run)
    return HttpResponse(wire.to_response(affected, dry_run=body.dry_run))


async def _show_held(app: App, call: Call) -> HttpResponse:
    return HttpResponse(wire.to_held(await service.find_held(app)))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/queue",
        handler=_list,
        action="queue.list",
        summary="List the mail server's queue",
        description="Messages waiting for delivery, newest first, with the last reason for each recipient."
        + _AVAILABILITY,
        tag="Queue",
        query=wire.QueueQuery,
        listing=Listing(("arrived_at",)),
        data=list[wire.QueuedMessage],
        refusals=(InvalidPagination, ApiKeyDomainScope),
        examples=(Example(query={"state": "deferred", "limit": "10"}),),
    ),
    Endpoint(
        method="GET",
        path="/queue/held",
        handler=_show_held,
        action="queue.list",
        summary="Show what is held after a full restore",
        description=(
            "Mail that was queued in the backup may have been sent since, so it waits until it is released "
            "(`POST /queue/actions` with `release` and the filter `{}`). `restored` is null if nothing was "
            "restored, or all is released."
        ),
        tag="Queue",
        data=wire.HeldResponse,
        refusals=(ApiKeyDomainScope,),
        examples=(Example(),),
    ),
    Endpoint(
        method="POST",
        path="/queue/actions",
        handler=_act,
        action="queue.write",
        audit="queue.act",
        resource="queue",
        summary="Flush, hold, release or delete queued mail",
        description=(
            "Selects messages by `ids` or by `filter` (`{}`: all). `flush` retries now, `hold` keeps messages until "
            "`release`, `delete` removes them, and their remaining recipients fail (`mail.failed`). `dry_run` only "
            "counts. `release` with the filter `{}` also releases all else that is held after a full restore, in both "
            "profiles (`GET /queue/held`)." + _AVAILABILITY
        ),
        tag="Queue",
        body=wire.QueueAction,
        data=wire.QueueActionResponse,
        refusals=(ApiKeyDomainScope,),
        examples=(Example(body={"action": "flush", "filter": {"domain": "elsewhere.test"}, "dry_run": True}),),
    ),
)
