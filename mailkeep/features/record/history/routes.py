"""Endpoints of the history."""

from __future__ import annotations

from dataclasses import replace

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, DomainNotFound, InvalidPagination, NotFound
from mailkeep.features.record.history import service, wire
from mailkeep.features.record.history.model import HistoryFilter
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing


async def _list(app: App, call: Call) -> HttpResponse:
    who, query = call.caller(), call.query
    assert call.page is not None
    filters = HistoryFilter(domains=who.domains(), **{name: getattr(query, name) for name in query.__struct_fields__})
    if own := who.own_messages_of:
        is_other = filters.api_key_id not in (None, own)
        filters = replace(filters, api_key_id=own, domains=[] if is_other else filters.domains)
    async with app.db.autocommit() as conn:
        page = await service.page(conn, who, filters, call.page)
    return HttpResponse([wire.to_message(row) for row in page.rows], page)


async def _totals(app: App, call: Call) -> HttpResponse:
    who, query = call.caller(), call.query
    filters = HistoryFilter(domains=who.domains(), domain_id=query.domain_id, since=query.since)
    async with app.db.autocommit() as conn:
        return HttpResponse(wire.to_totals(await service.get_totals(conn, who, filters)))


async def _get(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        message = await service.get(conn, call.caller(), call.id())
        changed_at = await service.find_changed_at(conn, message)
    return HttpResponse(wire.to_message(message), changed_at=changed_at)


async def _timeline(app: App, call: Call) -> HttpResponse:
    assert call.page is not None
    async with app.db.autocommit() as conn:
        page = await service.get_timeline(conn, call.caller(), call.id(), call.page)
    return HttpResponse([wire.to_entry(row) for row in page.rows], page)


async def _raw(app: App, call: Call) -> HttpResponse:
    content = await service.open_content(app, call.caller(), call.id())
    headers = {
        "content-disposition": f'attachment; filename="{content.message_id}.eml"',
        "content-length": str(content.size),
    }
    return HttpResponse(content=service.read_chunks(content), content_type="message/rfc822", headers=headers)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/messages",
        handler=_list,
        action="message.list",
        summary="List messages",
        description=(
            "Sent, received and refused mail, newest first. `from`, `to` and `subject` match substrings "
            "case-insensitively, `q` words in any of the three; `message_id`, `queue_id` and `tag` match exactly. "
            "`status` also finds `partial` messages with a recipient in that status. `provider` and `bounce_class` "
            "find messages with an attempt at a server of this provider, or that was refused for this reason; "
            "`status` is then the result of this attempt, so that `deferred` also finds messages that were delivered "
            "later. Kept for at least `retention.history_days`."
        ),
        tag="Messages",
        query=wire.MessageQuery,
        listing=Listing(),
        data=list[wire.MessageResponse],
        refusals=(InvalidPagination, DomainNotFound, ApiKeyDomainScope),
        examples=(
            Example(query={"direction": "outbound", "limit": "20"}),
            Example(query={"domain_id": "{domain_id}", "subject": "welcome"}),
            Example(query={"provider": "google", "bounce_class": "reputation", "status": "deferred"}),
        ),
    ),
    Endpoint(
        method="GET",
        path="/messages/totals",
        handler=_totals,
        action="message.totals",
        summary="Count messages by status",
        description=(
            "How many messages are in each status now, of those created since `since` (absent: all in the history). As "
            "in the list with the filter `status`, a `partial` message counts once for each status of its recipients. "
            "Counting ends at `most` for each status, so that it takes milliseconds with any history."
        ),
        tag="Messages",
        query=wire.TotalsQuery,
        data=wire.MessageTotalsResponse,
        refusals=(DomainNotFound, ApiKeyDomainScope),
        examples=(Example(query={"since": "2026-02-01T00:00:00Z"}), Example(query={"domain_id": "{domain_id}"})),
    ),
    Endpoint(
        method="GET",
        path="/messages/{id}",
        handler=_get,
        action="message.read",
        summary="Get a message",
        description="With an entity tag while it is `scheduled`: only then it can be changed.",
        tag="Messages",
        data=wire.MessageResponse,
        versioned=True,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{message_id}"}),),
    ),
    Endpoint(
        method="GET",
        path="/messages/{id}/events",
        handler=_timeline,
        action="message.details",
        summary="Get the timeline of a message",
        description=(
            "Oldest first: `scheduled` and `cancelled`, `submitted` and `accepted`, then each delivery attempt with "
            "the reply of the remote server; "
            "for inbound mail `received` or `rejected`."
        ),
        tag="Messages",
        listing=Listing(("at",)),
        data=list[wire.TimelineEntryResponse],
        refusals=(InvalidPagination, NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{message_id}"}),),
    ),
    Endpoint(
        method="GET",
        path="/messages/{id}/raw",
        handler=_raw,
        action="message.details",
        summary="Get the content of a message",
        description=(
            "As sent or received, for `retention.content_days`; after that NOT_FOUND with `details.reason` expired, or "
            "not_kept if it was never stored. Only admin and above may read inbound mail, and reading it is recorded "
            "in the audit log."
        ),
        tag="Messages",
        data=str,
        content="message/rfc822",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{message_id}"}),),
    ),
)
