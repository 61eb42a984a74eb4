"""The route of policies; public, outside the API's prefix, in both profiles."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import NotFound
from mailkeep.features.directory.mta_sts import service
from mailkeep.net.mta_sts import PATH
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse


async def _policy(app: App, call: Call) -> HttpResponse:
    text = await service.find_policy(app, call.headers.get("host", ""))
    if text is None:
        raise NotFound("No domain here has an MTA-STS policy at this host name.")
    return HttpResponse(content=text.encode("ascii"), content_type="text/plain", headers={"cache-control": "no-cache"})


ENDPOINTS = (
    Endpoint(
        method="GET",
        path=PATH,
        handler=_policy,
        action=None,
        summary="Get a domain's MTA-STS policy",
        description=(
            "For other mail servers (RFC 8461). The Host field chooses the domain: `mta-sts.` and its name. NOT_FOUND "
            "for other hosts, and for domains whose `mta_sts_mode` is none, except in the week after another mode."
        ),
        tag="DNS",
        data=str,
        content="text/plain",
        bare=True,
        prefixed=False,
        refusals=(NotFound,),
        examples=(Example(response="version: STSv1\nmode: testing\nmx: mail.example.com\nmax_age: 86400\n"),),
    ),
)
