"""The endpoint of the overview of abuse."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, DomainNotFound
from mailkeep.features.mailflow.abuse_overview import service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse


async def _read(app: App, call: Call) -> HttpResponse:
    query: wire.AbuseOverviewQuery = call.query
    async with app.db.tx() as conn:
        overview = await service.read(app, conn, call.caller(), query.domain_id)
    return HttpResponse(wire.overview_record(overview))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/abuse/overview",
        handler=_read,
        action="abuse.read",
        summary="Get an overview of abuse",
        description=(
            "Suspended senders; senders and domains that have used at least 80 % of an hourly threshold; spikes (from "
            "the unresolved alerts); the senders with the most recipients in the last hour; and failed sign-ins of the "
            "last hour by client address and by account. At most 50 entries each: /abuse/suspensions, /abuse/alerts "
            "and /sign-in-blocks list all. A caller who does not see all domains gets what belongs to its domains."
        ),
        tag="Abuse",
        query=wire.AbuseOverviewQuery,
        data=wire.AbuseOverviewRecord,
        refusals=(DomainNotFound, ApiKeyDomainScope),
        examples=(Example(query={"domain_id": "{domain_id}"}),),
    ),
)
