"""Endpoints of thresholds."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, DomainNotFound, InvalidField, MissingFields, NotFound
from mailkeep.features.mailflow.thresholds import service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse

_REFUSALS = (InvalidField, MissingFields, DomainNotFound, NotFound, ApiKeyDomainScope)


async def _get(app: App, call: Call) -> HttpResponse:
    query: wire.ThresholdQuery = call.query
    subject_id = query.subject_id()
    async with app.db.autocommit() as conn:
        subject = await service.find_subject(conn, call.caller(), query.scope, subject_id, "threshold.list")
        return HttpResponse(wire.thresholds(query.scope, subject_id, *await service.read(app, conn, subject)))


async def _change(app: App, call: Call) -> HttpResponse:
    body: wire.ThresholdPatch = call.body
    subject_id = wire.check_subject(body.scope, body.id)
    async with app.db.tx() as conn:
        found = await service.find_subject(conn, call.caller(), body.scope, subject_id, "threshold.write")
        subject = service.require_subject(found)
        await service.change(app, conn, call.caller(), subject, wire.changes_of(body))
        return HttpResponse(wire.thresholds(body.scope, subject_id, *await service.read(app, conn, subject)))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/abuse/thresholds",
        handler=_get,
        action="threshold.list",
        summary="Get the limits and thresholds for sending and forwarding",
        description=(
            "The values in force in a scope: the settings `abuse.*`, or those of a domain or mailbox: recipients per "
            "rolling hour (with `scope=domain` also the usage of the last hour), and percentages of bounces and "
            "complaints. Copies to external recipients by aliases, forwards and Sieve redirects count for "
            "`forward_per_hour`; mail that exceeds it is deferred."
        ),
        tag="Abuse",
        query=wire.ThresholdQuery,
        data=wire.Thresholds,
        refusals=_REFUSALS,
        examples=(Example(query={"scope": "domain", "id": "{domain_id}"}),),
    ),
    Endpoint(
        method="PATCH",
        path="/abuse/thresholds",
        handler=_change,
        action="threshold.write",
        summary="Change the thresholds of a domain or mailbox",
        description=(
            "Null: as the wider scope. They apply to the next message. A domain_admin may set at most what an admin "
            "has set there (`highest`). With `scope=global`: INVALID_FIELD; those are settings (PATCH /config)."
        ),
        tag="Abuse",
        body=wire.ThresholdPatch,
        data=wire.Thresholds,
        audit="threshold.update",
        resource="domain",
        refusals=_REFUSALS,
        examples=(
            Example(body={"scope": "domain", "id": "{domain_id}", "values": {"sender_per_hour": 500}}),
            Example(body={"scope": "mailbox", "id": "{mailbox_id}", "values": {"sender_per_hour": 200}}),
        ),
    ),
)
