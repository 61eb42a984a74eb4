"""Paths of events."""

from __future__ import annotations

from datetime import timedelta

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, DomainNotFound, InvalidPagination, NotFound
from mailkeep.features.events import service, wire
from mailkeep.features.events.model import Filter, Place
from mailkeep.web.endpoint import Call, Endpoint, Example, Listing, Reply


async def _feed(app: App, call: Call) -> Reply:
    who, query = call.caller(), call.query
    assert call.page is not None
    wanted = Filter(who.domains(), kind=query.kind, domain_id=query.domain_id, since=query.since)
    place = Place(query.after, app.clock() - timedelta(days=app.settings.retention.event_days))
    async with app.db.autocommit() as conn:
        page, truncated = await service.feed(conn, who, wanted, call.page, place)
    details = {"reason": "truncated"} if truncated else None
    return Reply([wire.event(row) for row in page.rows], page, meta_details=details)


async def _get(app: App, call: Call) -> Reply:
    async with app.db.autocommit() as conn:
        return Reply(wire.event(await service.get(conn, call.caller(), call.id())))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/events",
        handler=_feed,
        action="event.list",
        summary="Follow events",
        description=(
            "Oldest first, in the order of their commit, so that who goes on with `after` (the id of the last event "
            "seen) misses none and sees none twice. An event stays hidden while an older transaction is open. Kept "
            "for `retention.event_days`; where `after` is gone by then, the answer begins with the first event that "
            "is kept, and `meta.details.reason` is `truncated`."
        ),
        tag="Events",
        query=wire.EventQuery,
        listing=Listing(("sequence",)),
        data=list[wire.Event],
        refusals=(InvalidPagination, DomainNotFound, ApiKeyDomainScope),
        examples=(
            Example(query={"limit": "100"}),
            Example(query={"after": "{event_id}", "kind": "mail.sent"}),
        ),
    ),
    Endpoint(
        method="GET",
        path="/events/{id}",
        handler=_get,
        action="event.read",
        summary="Get an event",
        tag="Events",
        data=wire.Event,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{event_id}"}),),
    ),
)
