"""Endpoints of scheduled messages."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, Conflict, NotFound, PreconditionFailed
from mailkeep.features.mailflow.scheduling import service, wire
from mailkeep.features.record.history import service as history
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse


async def _reschedule(app: App, call: Call) -> HttpResponse:
    body: wire.ScheduleBody = call.body
    async with app.db.tx() as conn:
        who, at = call.caller(), app.clock()
        message = await service.reschedule(conn, who, at, call.id(), body.scheduled_at, call.if_match)
        changed_at = await history.find_changed_at(conn, message)
    return HttpResponse(history.to_message(message), changed_at=changed_at)


async def _cancel(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        message = await service.cancel(conn, call.caller(), app.clock(), call.id(), call.if_match)
    return HttpResponse(history.to_message(message))


_CONFLICT = " CONFLICT, `details.reason` not_scheduled (with `status`), for a message that does not wait any more."

ENDPOINTS = (
    Endpoint(
        method="PATCH",
        path="/messages/{id}",
        handler=_reschedule,
        action="message.schedule",
        audit="message.reschedule",
        resource="message",
        summary="Reschedule a message",
        description="Gives a message with status `scheduled` another time." + _CONFLICT,
        tag="Messages",
        body=wire.ScheduleBody,
        data=history.MessageResponse,
        versioned=True,
        refusals=(NotFound, ApiKeyDomainScope, Conflict, PreconditionFailed),
        examples=(Example(path={"id": "{scheduled_id}"}, body={"scheduled_at": "2026-03-03T09:00:00Z"}),),
    ),
    Endpoint(
        method="POST",
        path="/messages/{id}/cancel",
        handler=_cancel,
        action="message.schedule",
        audit="message.cancel",
        resource="message",
        summary="Cancel a scheduled message",
        description="It is not sent, and its content is deleted at once." + _CONFLICT,
        tag="Messages",
        data=history.MessageResponse,
        versioned=True,
        refusals=(NotFound, ApiKeyDomainScope, Conflict, PreconditionFailed),
        examples=(Example(path={"id": "{cancellable_id}"}),),
    ),
)
