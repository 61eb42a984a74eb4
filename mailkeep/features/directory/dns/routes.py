"""Routes of DNS records."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, InvalidPagination, NotFound
from mailkeep.features.directory.dkim import service as dkim
from mailkeep.features.directory.dns import wire
from mailkeep.features.directory.domains import service as domains
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing


async def _list_keys(app: App, call: Call) -> HttpResponse:
    page_request = call.page
    assert page_request is not None
    async with app.db.autocommit() as conn:
        domain = await domains.get_by_path(conn, call.caller(), "dkim.read", call.id())
        page = await dkim.page(conn, domain.id, page_request)
    return HttpResponse([wire.to_dkim_key(key, domain.name) for key in page.rows], page)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/domains/{id}/dkim-keys",
        handler=_list_keys,
        action="dkim.read",
        summary="List the DKIM keys of a domain",
        description="With the TXT record of each key.",
        tag="DNS",
        listing=Listing(),
        data=list[wire.DkimKeyRecord],
        refusals=(InvalidPagination, NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{domain_id}"}),),
    ),
)
