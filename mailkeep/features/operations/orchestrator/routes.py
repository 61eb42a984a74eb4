"""Endpoints of the orchestrator."""

from __future__ import annotations

from functools import partial
from typing import get_args

from msgspec import UNSET

from mailkeep.app import App
from mailkeep.core.errors import (
    ApiKeyDomainScope,
    Conflict,
    Forbidden,
    InvalidCredentials,
    InvalidPagination,
    NotFound,
    OrchestratorBusy,
    Unavailable,
    invalid_field,
)
from mailkeep.features.operations.orchestrator import plan_json, service, wire
from mailkeep.features.operations.orchestrator.model import ApplyRefusal, ApplyRequest, Operation, ServiceAction
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing

_TAG = "Orchestrator"
_AVAILABILITY = " UNAVAILABLE with `details.reason` node_agent_away if the process `node` does not answer."


async def _overview(app: App, call: Call) -> HttpResponse:
    overview = await service.read_overview(app)
    return HttpResponse(wire.to_overview(overview, await service.find_running(app)))


async def _drift(app: App, call: Call) -> HttpResponse:
    return HttpResponse([wire.to_drift(each) for each in await service.list_drift(app)])


async def _plan(app: App, call: Call) -> HttpResponse:
    return HttpResponse(plan_json.to_plan(await service.make_plan(app)))


async def _operations(app: App, call: Call) -> HttpResponse:
    assert call.page is not None
    page = await service.page(app, call.page)
    return HttpResponse([wire.to_operation(each) for each in page.rows], page)


async def _operation(app: App, call: Call) -> HttpResponse:
    return HttpResponse(wire.to_operation(await service.find(app, call.id())))


async def _act(action: ServiceAction, app: App, call: Call) -> HttpResponse:
    operation = await service.request_action(app, call.caller(), call.path["name"], action)
    return HttpResponse(wire.OperationStarted(operation.id))


async def _apply(app: App, call: Call) -> HttpResponse:
    body: wire.ApplyBody = call.body
    if twice := sorted(set(body.overwrite_drift) & set(body.adopt_drift)):
        raise invalid_field("adopt_drift", f"must not name files of overwrite_drift: {', '.join(twice)}")
    if body.adopt_drift:
        password = None if body.current_password is UNSET else body.current_password
        await call.require_recent_sign_in(app.clock(), password, "orchestrator.apply")
    request = ApplyRequest(body.plan_id, body.watch_seconds, body.overwrite_drift, body.adopt_drift)
    return _respond(await service.request_apply(app, call.caller(), request))


async def _roll_back(app: App, call: Call) -> HttpResponse:
    body: wire.RollbackBody = call.body
    return _respond(await service.request_rollback(app, call.caller(), body.generation, body.watch_seconds))


def _respond(result: Operation | ApplyRefusal) -> HttpResponse:
    if isinstance(result, ApplyRefusal):
        raise wire.refuse(result)
    return HttpResponse(wire.OperationStarted(result.id))


async def _confirm(app: App, call: Call) -> HttpResponse:
    return HttpResponse(wire.OperationStarted(await service.confirm(app, call.caller(), call.listener)))


_BUSY = " One operation runs at a time: ORCHESTRATOR_BUSY with `details.operation_id`."
_ACTION_TEXTS = {
    "start": "Starts a service that was stopped.",
    "stop": (
        "Stops a service until it is started again, or until the next start of Mailkeep. CONFLICT `needed_by_api` for "
        "the database and for the processes that the API needs."
    ),
    "restart": "Restarts a service; a stopped one is started.",
    "reload": (
        "Lets a daemon read its configuration again, without a restart. CONFLICT `not_supported` for other services."
    ),
}


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/orchestrator",
        handler=_overview,
        action="orchestrator.read",
        summary="Get the state of all services",
        description=(
            "The database, the daemons and Mailkeep's processes, and the generation of configuration that the daemons "
            "use. The embedded profile has one process, `mailkeep`." + _AVAILABILITY
        ),
        tag=_TAG,
        data=wire.OverviewResponse,
        refusals=(ApiKeyDomainScope, Unavailable),
        examples=(Example(),),
    ),
    Endpoint(
        method="GET",
        path="/orchestrator/drift",
        handler=_drift,
        action="orchestrator.read",
        summary="List files of the daemons' configuration that were edited by hand",
        description=(
            "Each with its difference from the file that was installed, and whether it can be adopted into the "
            "settings with POST /orchestrator/apply. Such edits are kept, also at the next start, "
            "unless the daemon's own check rejects them. Empty in the embedded profile." + _AVAILABILITY
        ),
        tag=_TAG,
        data=list[wire.DriftResponse],
        refusals=(ApiKeyDomainScope, Unavailable),
        examples=(Example(),),
    ),
    Endpoint(
        method="GET",
        path="/orchestrator/plan",
        handler=_plan,
        action="orchestrator.read",
        summary="Show what the newest settings would change",
        description=(
            "Compares the daemons' configuration with what Mailkeep would write now: the files that change, what each "
            "daemon must do, and the result of the daemons' own checks of the new files. Nothing is changed. Without "
            "files in the embedded profile." + _AVAILABILITY
        ),
        tag=_TAG,
        data=plan_json.PlanResponse,
        refusals=(ApiKeyDomainScope, Unavailable),
        examples=(Example(),),
    ),
    Endpoint(
        method="POST",
        path="/orchestrator/apply",
        handler=_apply,
        action="orchestrator.write",
        summary="Apply a plan",
        description=(
            "Installs the configuration of the plan, lets the daemons read it, and watches them for `watch_seconds`: "
            "they run, greet, and no mail is deferred because of this server. Otherwise the earlier configuration is "
            "restored, and the operation ends as `rolled_back`. If the plan changes ports, or the name or "
            "certificate of the HTTPS listener, it must be confirmed within 120 seconds (`confirm_until`). Nothing "
            "is changed by CONFLICT: `plan_stale` (the configuration has changed, or the plan has expired) with the "
            "new plan in `details.plan`, `check_failed` with `details.checks`, `drifted` with `details.files` that "
            "were edited by hand and would change, `not_adoptable` with `details.lines` of edits that can't become "
            "settings, each with the reason. Adopting edits (`adopt_drift`) adds a revision of the settings "
            "`overlays.*`, and needs a sign-in within the last ten minutes, or `current_password`; otherwise, and "
            "with an API key, FORBIDDEN `recent_sign_in_required`. In the embedded profile only a plan without "
            "settings can be applied, others take effect at the next start "
            "(`restart_required`)." + _BUSY
        ),
        tag=_TAG,
        status=202,
        body=wire.ApplyBody,
        data=wire.OperationStarted,
        audit="orchestrator.apply",
        refusals=(ApiKeyDomainScope, InvalidCredentials, Forbidden, Conflict, OrchestratorBusy, Unavailable),
        examples=(Example(body={"plan_id": "{plan_id}"}),),
    ),
    Endpoint(
        method="POST",
        path="/orchestrator/rollback",
        handler=_roll_back,
        action="orchestrator.write",
        summary="Roll back to an earlier generation",
        description=(
            "Adds a revision of the settings in which those that need an apply have the values of that generation, and "
            "applies it like POST /orchestrator/apply. FORBIDDEN `recent_sign_in_required` if settings differ that "
            "need a recent sign-in. Full profile only." + _BUSY
        ),
        tag=_TAG,
        status=202,
        body=wire.RollbackBody,
        data=wire.OperationStarted,
        audit="orchestrator.rollback",
        refusals=(ApiKeyDomainScope, Forbidden, NotFound, Conflict, OrchestratorBusy, Unavailable),
        examples=(Example(body={"generation": 12}),),
    ),
    Endpoint(
        method="POST",
        path="/orchestrator/confirm",
        handler=_confirm,
        action="orchestrator.write",
        summary="Confirm an apply",
        description=(
            "CONFLICT `nothing_to_confirm` if no operation has a `confirm_until` in the future; `other_listener`, with "
            "`details.url`, if the HTTPS listener changes and the request did not come by the new one."
        ),
        tag=_TAG,
        data=wire.OperationStarted,
        audit="orchestrator.confirm",
        refusals=(ApiKeyDomainScope, Conflict),
        examples=(Example(),),
    ),
    Endpoint(
        method="GET",
        path="/orchestrator/operations",
        handler=_operations,
        action="orchestrator.read",
        summary="List operations on services",
        tag=_TAG,
        listing=Listing(),
        data=list[wire.OperationResponse],
        refusals=(ApiKeyDomainScope, InvalidPagination),
        examples=(Example(query={"limit": "20"}),),
    ),
    Endpoint(
        method="GET",
        path="/orchestrator/operations/{id}",
        handler=_operation,
        action="orchestrator.read",
        summary="Get an operation",
        tag=_TAG,
        data=wire.OperationResponse,
        refusals=(ApiKeyDomainScope, NotFound),
        examples=(Example(path={"id": "{operation_id}"}),),
    ),
    *(
        Endpoint(
            method="POST",
            path=f"/orchestrator/services/{{name}}/{action}",
            handler=partial(_act, action),
            action="orchestrator.write",
            summary=f"{action.capitalize()} a service",
            description=_ACTION_TEXTS[action] + " Returns before it is done." + _BUSY + " Full profile only.",
            tag=_TAG,
            status=202,
            data=wire.OperationStarted,
            audit=f"orchestrator.{action}",
            refusals=(ApiKeyDomainScope, NotFound, Conflict, OrchestratorBusy, Unavailable),
            examples=(Example(path={"name": "dovecot"}),),
        )
        for action in get_args(ServiceAction)
    ),
)
