"""Endpoints of incidents."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import (
    ApiKeyDomainScope,
    Conflict,
    DomainNotFound,
    InvalidPagination,
    NotFound,
    PreconditionFailed,
    Unavailable,
)
from mailkeep.features.mailflow.incidents import service, wire
from mailkeep.features.record.audit import service as audit
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing


async def _list(app: App, call: Call) -> HttpResponse:
    assert call.page is not None
    who = call.caller()
    async with app.db.autocommit() as conn:
        page = await service.page(conn, who, wire.read_filter(call.query, who.domains()), call.page)
    return HttpResponse([wire.to_record(each, who) for each in page.rows], page)


async def _get(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        incident = await service.get(conn, call.caller(), call.id())
    return HttpResponse(wire.to_record(incident, call.caller()))


async def _create(app: App, call: Call) -> HttpResponse:
    incident = await service.create(app, call.caller(), wire.read_new(call.body))
    return HttpResponse(wire.to_record(incident, call.caller()))


async def _retry(app: App, call: Call) -> HttpResponse:
    incident = await service.retry(app, call.caller(), call.id())
    return HttpResponse(wire.to_record(incident, call.caller()))


async def _undo(app: App, call: Call) -> HttpResponse:
    incident = await service.undo(app, call.caller(), call.id())
    return HttpResponse(wire.to_record(incident, call.caller()))


async def _resolve_alert(app: App, call: Call) -> HttpResponse:
    resolution = wire.read_resolution(call.id(), call.body, call.if_match)
    resolved = await service.resolve_alert(app, call.caller(), resolution)
    return HttpResponse(wire.resolved_alert(resolved), changed_at=resolved.alert.changed_at)


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/abuse/alerts/{id}/resolve",
        handler=_resolve_alert,
        action="alert.write",
        summary="Resolve one of the alerts about abuse",
        description=(
            "Ends the alert, and does about its sender what is requested: `unsuspend` lifts the suspension, "
            "`revoke_app_passwords` deletes all app passwords of the mailbox, `purge_queue` deletes its queued mail "
            "(full profile); these two need a mailbox (CONFLICT `no_mailbox`). If one is refused, nothing else is "
            "done, and the alert stays. A problem that is seen again opens another alert; a suspension alone, which "
            "lasts until it is lifted (GET /abuse/suspensions), does not. CONFLICT `resolved` if it has ended."
        ),
        tag="Abuse",
        body=wire.AlertResolutionBody,
        versioned=True,
        data=wire.ResolvedAlertResponse,
        audit="alert.resolve",
        resource="alert",
        refusals=(NotFound, ApiKeyDomainScope, Conflict, PreconditionFailed, Unavailable),
        examples=(Example(path={"id": "{alert_id}"}, body={"note": "It was a test.", "unsuspend": True}),),
    ),
    Endpoint(
        method="GET",
        path="/abuse/incidents",
        handler=_list,
        action="incident.list",
        summary="List incidents",
        description="What was done at once about mailboxes, API keys and administrators, newest first.",
        tag="Abuse",
        query=wire.IncidentQuery,
        listing=Listing(("created_at",)),
        data=list[wire.IncidentRecord],
        refusals=(InvalidPagination, DomainNotFound, ApiKeyDomainScope),
        examples=(Example(query={"domain_id": "{domain_id}", "state": "open"}),),
    ),
    Endpoint(
        method="POST",
        path="/abuse/incidents",
        handler=_create,
        action="incident.write",
        summary="Open an incident",
        description=(
            "Carries out all actions, each by itself: 201 also if some have failed, with each result in `actions`; "
            "`POST /abuse/incidents/{id}/retry` repeats those. `suspend`, `disable_keys` and `hold_queue` also hold "
            "the subject's scheduled messages. A mailbox takes all actions but `disable_keys`; an API key "
            "`disable_keys` (with the keys that it created), `end_sessions`, `hold_queue` and `delete_queue`; an "
            "administrator these and `suspend`. `disable_sieve`, `hold_queue` and `delete_queue` need the full "
            "profile. Nobody acts against a higher rank; domain administrators on mailboxes of their domains only, "
            "admins on keys and accounts of domain administrators and on their own keys, super_admins on all but "
            "their own account."
        ),
        tag="Abuse",
        body=wire.IncidentCreate,
        data=wire.IncidentRecord,
        status=201,
        recover=audit.answer_from_audit(_get),
        audit="incident.create",
        resource="incident",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(
            Example(
                body={
                    "subject": {"type": "mailbox", "id": "{mailbox_id}"},
                    "actions": ["suspend", "disable_forwards", "end_sessions"],
                    "note": "compromised password",
                }
            ),
        ),
    ),
    Endpoint(
        method="GET",
        path="/abuse/incidents/{id}",
        handler=_get,
        action="incident.read",
        summary="Get an incident",
        tag="Abuse",
        data=wire.IncidentRecord,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{incident_id}"}),),
    ),
    Endpoint(
        method="POST",
        path="/abuse/incidents/{id}/retry",
        handler=_retry,
        action="incident.write",
        summary="Retry an incident",
        description="Carries out the actions that are `failed` or `pending`. CONFLICT `undone`, `undo_begun`.",
        tag="Abuse",
        data=wire.IncidentRecord,
        audit="incident.retry",
        resource="incident",
        refusals=(NotFound, ApiKeyDomainScope, Conflict),
        examples=(Example(path={"id": "{incident_id}"}),),
    ),
    Endpoint(
        method="POST",
        path="/abuse/incidents/{id}/undo",
        handler=_undo,
        action="incident.write",
        summary="Undo an incident",
        description=(
            "Restores what this incident suspended, disabled or held. What was so before, what somebody has changed "
            "since and what another incident also does stays; `not_restored` lists what can't be restored. If an "
            "action's undo is `failed`, `undone_at` stays null: repeat the call. CONFLICT `undone`."
        ),
        tag="Abuse",
        data=wire.IncidentRecord,
        audit="incident.undo",
        resource="incident",
        refusals=(NotFound, ApiKeyDomainScope, Conflict),
        examples=(Example(path={"id": "{incident_to_undo_id}"}),),
    ),
)
