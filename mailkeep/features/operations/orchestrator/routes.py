"""Endpoints of the orchestrator."""

from __future__ import annotations

from functools import partial
from typing import get_args

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, Conflict, InvalidPagination, NotFound, OrchestratorBusy, Unavailable
from mailkeep.features.operations.orchestrator import service, wire
from mailkeep.features.operations.orchestrator.model import ServiceAction
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing

_TAG = "Orchestrator"
_AVAILABILITY = " UNAVAILABLE with `details.reason` node_agent_away if the process `node` does not answer."


async def _overview(app: App, call: Call) -> HttpResponse:
    overview = await service.read_overview(app)
    return HttpResponse(wire.to_overview(overview, await service.find_running(app)))


async def _drift(app: App, call: Call) -> HttpResponse:
    return HttpResponse([wire.to_drift(each) for each in await service.list_drift(app)])


async def _plan(app: App, call: Call) -> HttpResponse:
    return HttpResponse(wire.to_plan(await service.make_plan(app)))


async def _operations(app: App, call: Call) -> HttpResponse:
    assert call.page is not None
    page = await service.page(app, call.page)
    return HttpResponse([wire.to_operation(each) for each in page.rows], page)


async def _operation(app: App, call: Call) -> HttpResponse:
    return HttpResponse(wire.to_operation(await service.find(app, call.id())))


async def _act(action: ServiceAction, app: App, call: Call) -> HttpResponse:
    operation = await service.request_action(app, call.caller(), call.path["name"], action)
    return HttpResponse(wire.OperationStarted(operation.id))


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
            "Each with its difference from the file that was installed. Such edits are kept, also at the next start, "
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
            "daemon must do, and the result of the daemons' own checks of the new files. Nothing is changed. Today the "
            "plan takes effect with the next start of Mailkeep. Without files in the embedded profile." + _AVAILABILITY
        ),
        tag=_TAG,
        data=wire.PlanResponse,
        refusals=(ApiKeyDomainScope, Unavailable),
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
            description=(
                _ACTION_TEXTS[action]
                + " Returns before it is done. One operation runs at a time: ORCHESTRATOR_BUSY with "
                "`details.operation_id`. Full profile only."
            ),
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
