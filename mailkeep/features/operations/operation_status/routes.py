"""The endpoint that follows any operation."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import Forbidden, NotFound
from mailkeep.core.principal import Role
from mailkeep.features.directory.bulk import service as bulk
from mailkeep.features.operations.backups import service as backups
from mailkeep.features.operations.operation_status import wire
from mailkeep.features.operations.orchestrator import service as orchestrator
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse


async def _get(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    found = await bulk.find(app, who, call.id())
    if found is not None:
        operation, progress = found
        return HttpResponse(wire.to_bulk(operation, progress, await bulk.list_results(app, operation)))
    backup_operation = await backups.find_operation(app, call.id())
    service_operation = None if backup_operation else await orchestrator.find(app, call.id())
    if who.role is not Role.SUPER_ADMIN or who.scope is not None:
        raise Forbidden
    if backup_operation is not None:
        return HttpResponse(wire.to_backup_operation(backup_operation))
    assert service_operation is not None
    return HttpResponse(wire.to_service_operation(service_operation))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/operations/{id}",
        handler=_get,
        action="operation.read",
        summary="Follow an operation",
        description="For its creator (with a scoped key: for this key) and super_admins. Results are kept for 7 days.",
        tag="Operations",
        data=wire.OperationStatusRecord,
        refusals=(Forbidden, NotFound),
        examples=(Example(path={"id": "{bulk_operation_id}"}),),
    ),
)
