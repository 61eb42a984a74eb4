"""Routes of DNS updates."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, NotFound
from mailkeep.features.directory.dns_updates import service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse


async def _get(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        updates = await service.get_of_domain(conn, call.caller(), call.id())
    return HttpResponse(wire.to_updates(updates))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/domains/{id}/dns-updates",
        handler=_get,
        action="dkim.read",
        summary="Get the DNS records that Mailkeep writes",
        description=(
            "Of a domain with `dns_managed`, by `dns.provider`: each record and what became of it. Errors are retried "
            "with growing pauses, at most an hour."
        ),
        tag="DNS",
        data=wire.DnsUpdates,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{domain_id}"}),),
    ),
)
