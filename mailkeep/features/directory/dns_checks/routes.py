"""Routes of DNS records and their checks."""

from __future__ import annotations

from collections.abc import Sequence

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, NotFound, RateLimitExceeded
from mailkeep.features.directory.dns import rules as dns_rules, service as dns
from mailkeep.features.directory.dns.model import DnsRecord
from mailkeep.features.directory.dns_checks import service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse


async def _get_domain(app: App, call: Call) -> HttpResponse:
    report = await service.read_domain(app, call.caller(), call.id())
    return HttpResponse(wire.to_domain_report(report, dns.server_identity(app.settings), app.clock()))


async def _check_domain(app: App, call: Call) -> HttpResponse:
    check = await service.request_domain(app, call.caller(), call.id())
    return HttpResponse(wire.to_progress(check, app.clock()))


async def _get_domain_zone(app: App, call: Call) -> HttpResponse:
    report = await service.read_domain(app, call.caller(), call.id())
    assert report.domain is not None
    return _zone(call, report.domain.name, [record for record, _ in report.records])


async def _get_server(app: App, _call: Call) -> HttpResponse:
    report = await service.read_server(app)
    name_servers = [
        f"[{address}]:{port}" if ":" in address else f"{address}:{port}" for address, port in app.dns_query.servers()
    ]
    identity = dns.server_identity(app.settings)
    return HttpResponse(wire.to_server_report(report, identity, name_servers, app.clock()))


async def _check_server(app: App, call: Call) -> HttpResponse:
    check = await service.request_server(app, call.caller())
    return HttpResponse(wire.to_progress(check, app.clock()))


async def _get_server_zone(app: App, call: Call) -> HttpResponse:
    report = await service.read_server(app)
    name = dns.server_identity(app.settings).hostname or "server"
    return _zone(call, name, [record for record, _ in report.records])


def _zone(call: Call, name: str, records: Sequence[DnsRecord]) -> HttpResponse:
    if call.query.format == "json":
        return HttpResponse(wire.to_zone(records))
    content = dns_rules.to_zone_file(f"DNS records of {name}", records).encode()
    headers = {"content-disposition": f'attachment; filename="{name}.zone"'}
    return HttpResponse(content=content, content_type="text/plain; charset=utf-8", headers=headers)


_ZONE = (
    "Those records that have a value, for the zone file of a DNS server or for an import at a DNS provider. "
    "`format=bind`: text, with TXT records split at 255 octets; `json`: a list in the envelope."
)
_CHECK = (
    "A worker carries it out, within seconds if the limit of look-ups (`dns.lookups_per_second`) allows: {} shows the "
    "progress in `check` and then the results. While one waits, a further request changes nothing. RATE_LIMIT_EXCEEDED "
    "within 10 seconds after the last check."
)

ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/domains/{id}/dns",
        handler=_get_domain,
        action="dns.read",
        summary="List the DNS records of a domain",
        description=(
            "The records that the domain needs, the values found by the last check, and the problem and the advice in "
            "words. SPF is not compared but evaluated for the server's addresses. Before `server.hostname` is set, "
            "`setup` says so, and nothing is checked."
        ),
        tag="DNS",
        data=wire.DomainDnsReport,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{domain_id}"}),),
    ),
    Endpoint(
        method="POST",
        path="/domains/{id}/dns/check",
        handler=_check_domain,
        action="dns.check",
        audit="domain.dns_check",
        summary="Check the DNS records of a domain",
        description=_CHECK.format("GET /domains/{id}/dns"),
        tag="DNS",
        status=202,
        data=wire.CheckProgress,
        refusals=(NotFound, ApiKeyDomainScope, RateLimitExceeded),
        examples=(Example(path={"id": "{domain_id}"}),),
    ),
    Endpoint(
        method="GET",
        path="/domains/{id}/zone-file",
        handler=_get_domain_zone,
        action="dns.read",
        summary="Get the DNS records of a domain as a zone file",
        description=_ZONE,
        tag="DNS",
        query=wire.ZoneFileQuery,
        data=list[wire.ZoneRecord],
        alternative_content=("text/plain",),
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{domain_id}"}, query={"format": "json"}),),
    ),
    Endpoint(
        method="GET",
        path="/dns/server",
        handler=_get_server,
        action="dns_server.read",
        summary="List the DNS records of the server",
        description=(
            "Those of its name (`server.hostname`) and addresses, with reverse DNS, the DKIM key of its own mail, and "
            "what blocklists (`dns.blocklists`) say about its addresses. CAA, DNSSEC and TLSA are for information."
        ),
        tag="DNS",
        data=wire.ServerDnsReport,
        refusals=(ApiKeyDomainScope,),
        examples=(Example(),),
    ),
    Endpoint(
        method="POST",
        path="/dns/server/check",
        handler=_check_server,
        action="dns_server.check",
        audit="server.dns_check",
        summary="Check the DNS records of the server",
        description=_CHECK.format("GET /dns/server"),
        tag="DNS",
        status=202,
        data=wire.CheckProgress,
        refusals=(ApiKeyDomainScope, RateLimitExceeded),
        examples=(Example(),),
    ),
    Endpoint(
        method="GET",
        path="/dns/server/zone-file",
        handler=_get_server_zone,
        action="dns_server.read",
        summary="Get the DNS records of the server as a zone file",
        description=f"{_ZONE} Reverse DNS is set by the provider of the addresses: PTR records are comments.",
        tag="DNS",
        query=wire.ZoneFileQuery,
        data=list[wire.ZoneRecord],
        alternative_content=("text/plain",),
        refusals=(ApiKeyDomainScope,),
        examples=(Example(query={"format": "json"}),),
    ),
)
