"""Routes of routing."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, InvalidField, MissingFields
from mailkeep.features.directory.routing import service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse


async def _explain(app: App, call: Call) -> HttpResponse:
    query: wire.ExplainQuery = call.query
    async with app.db.autocommit() as conn:
        return HttpResponse(wire.to_record(await service.explain(conn, call.caller(), query.address)))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/routing/explain",
        handler=_explain,
        action="routing.explain",
        summary="Explain the routing of an address",
        description="Uses the same SQL as incoming mail. Details of domains that the caller may not see are not shown.",
        tag="Routing",
        query=wire.ExplainQuery,
        data=wire.RouteExplanationRecord,
        refusals=(InvalidField, MissingFields, ApiKeyDomainScope),
        examples=(
            Example(query={"address": "alice+news@example.test"}),
            Example(query={"address": "nobody@elsewhere.test"}),
        ),
    ),
)
