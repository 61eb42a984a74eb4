"""Endpoints of events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from math import inf
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.errors import (
    ApiKeyDomainScope,
    DomainNotFound,
    InvalidPagination,
    NotFound,
    RateLimitExceeded,
    Refusal,
    Unavailable,
    invalid_field,
)
from mailkeep.core.ids import parse_uuid
from mailkeep.features.record.events import service, wire
from mailkeep.features.record.events.model import EventFilter, FeedStart, StreamStart
from mailkeep.features.record.events.service import StreamReader
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing

_LAST_EVENT_ID = "Last-Event-ID"
# Proxies must neither cache, compress nor buffer a stream.
_STREAM_HEADERS = {"cache-control": "no-store, no-transform", "x-accel-buffering": "no"}


async def _read_feed(app: App, call: Call) -> HttpResponse:
    who, query = call.caller(), call.query
    assert call.page is not None
    filters = EventFilter(who.domains(), kind=query.kind, domain_id=query.domain_id, since=query.since)
    start = FeedStart(query.after, app.clock() - timedelta(days=app.settings.retention.event_days))
    async with app.db.autocommit() as conn:
        page, truncated = await service.read_feed(conn, who, filters, call.page, start)
    details = {"reason": "truncated"} if truncated else None
    return HttpResponse([wire.to_event(row) for row in page.rows], page, meta_details=details)


async def _get(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        return HttpResponse(wire.to_event(await service.get(conn, call.caller(), call.id())))


async def _stream(app: App, call: Call) -> HttpResponse:
    who, query = call.caller(), call.query
    app.streams.check_capacity(_caller_id(call), **_limits(app))
    after = _last_event_id(call) or query.after
    feed_start = FeedStart(after, app.clock() - timedelta(days=app.settings.retention.event_days))
    filters = EventFilter(who.domains(), kind=query.kind, domain_id=query.domain_id)
    async with app.db.autocommit() as conn:
        start = await service.start_stream(conn, who, filters, feed_start)
    content = _stream_events(app, call, filters, start)
    return HttpResponse(content=content, content_type="text/event-stream; charset=utf-8", headers=dict(_STREAM_HEADERS))


def _caller_id(call: Call) -> UUID:
    """The ID of the key or account under which the streams of a caller are counted."""
    who = call.caller()
    caller_id = who.key_id or who.admin_id
    assert caller_id is not None
    return caller_id


def _limits(app: App) -> dict[str, int]:
    limits = app.settings.limits
    return {"max_streams": limits.event_streams, "max_per_caller": limits.event_streams_per_caller}


def _last_event_id(call: Call) -> UUID | None:
    """The ID of the last event that a reconnecting client received; it overrides `after`, which the client repeats."""
    text = call.headers.get(_LAST_EVENT_ID, "").strip()
    if not text:
        return None
    event_id = parse_uuid(text)
    if event_id is None:
        raise invalid_field(_LAST_EVENT_ID, "must be the ID of an event, a UUID")
    return event_id


async def _stream_events(app: App, call: Call, filters: EventFilter, start: StreamStart) -> AsyncIterator[bytes]:
    assert call.reauthenticate is not None
    duration = call.query.duration
    try:
        with app.streams.open(_caller_id(call), **_limits(app)) as stream:
            yield wire.encode_opening(start)
            reader = StreamReader(stream, call.reauthenticate, filters, inf if duration is None else duration)
            async for events in service.follow(app, reader, start.position):
                yield wire.encode_events(events) or wire.HEARTBEAT
    except Refusal as refusal:
        yield wire.encode_end(refusal)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/events",
        handler=_read_feed,
        action="event.list",
        summary="Follow events",
        description=(
            "Oldest first, in the order of commit: a client that continues with `after` (the ID of the last event it "
            "saw) misses no event and sees none twice. An event is hidden while an older transaction is open. Events "
            "are kept for `retention.event_days`; if the event `after` has been deleted, the response begins with "
            "the oldest event, and `meta.details.reason` is `truncated`."
        ),
        tag="Events",
        query=wire.EventQuery,
        listing=Listing(("sequence",)),
        data=list[wire.EventResponse],
        refusals=(InvalidPagination, DomainNotFound, ApiKeyDomainScope),
        examples=(
            Example(query={"limit": "100"}),
            Example(query={"after": "{event_id}", "kind": "mail.sent"}),
        ),
    ),
    Endpoint(
        method="GET",
        path="/events/stream",
        handler=_stream,
        action="event.list",
        summary="Follow events live",
        description=(
            "The feed of `GET /events` as server-sent events, in the same order. Each has its `id`, its kind as "
            "`event`, and the response of `GET /events/{id}` as `data`. The stream begins after the event in "
            f"`{_LAST_EVENT_ID}` (which a browser's `EventSource` sends when it reconnects), else after the event "
            "`after`, else with the next new event; `00000000-0000-0000-0000-000000000000` means from the oldest "
            "event. If the event has been deleted, `stream.truncated` comes first. A comment is sent after each 5 "
            "seconds without events. The stream ends with the event `stream.end`, with `code` and `message`, when a "
            "new call would be refused (session or key revoked, role or scope changed) or the server shuts down. "
            "Limited by `limits.event_streams` and `limits.event_streams_per_caller` (`details.reason` "
            "`too_many_streams`)."
        ),
        tag="Events",
        query=wire.StreamQuery,
        header_parameters={_LAST_EVENT_ID: "The ID of the last event seen."},
        data=None,
        content="text/event-stream",
        refusals=(DomainNotFound, ApiKeyDomainScope, RateLimitExceeded, Unavailable),
        examples=(
            Example(
                query={"duration": "0", "after": "{event_id}"},
                response=(
                    "retry: 2000\nid: 0198f0e0-3c00-7000-8000-00000000002a\n\n"
                    "id: 0198f0e0-4c00-7000-8000-00000000002b\nevent: mail.delivered\n"
                    'data: {"id":"0198f0e0-4c00-7000-8000-00000000002b","kind":"mail.delivered",…}\n\n'
                    ": still here\n\n"
                ),
            ),
        ),
    ),
    Endpoint(
        method="GET",
        path="/events/{id}",
        handler=_get,
        action="event.read",
        summary="Get an event",
        tag="Events",
        data=wire.EventResponse,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{event_id}"}),),
    ),
)
