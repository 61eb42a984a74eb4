"""Routes of domains."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, structs

from mailkeep.app import App
from mailkeep.core.errors import (
    ApiKeyDomainScope,
    Conflict,
    DomainExists,
    DomainNotFound,
    InvalidPagination,
    NotFound,
)
from mailkeep.features.directory.domains import rules, service, wire
from mailkeep.features.directory.domains.model import Domain, DomainFilter, NewDomain, NewRelay
from mailkeep.features.record.audit import service as audit
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing


async def _list(app: App, call: Call) -> HttpResponse:
    who, query, page_request = call.caller(), call.query, call.page
    assert page_request is not None
    name = rules.normalize_search(query.name)
    filters = DomainFilter(who.domains(), query.active, name, query.alias_of, query.dns_status)
    async with app.db.autocommit() as conn:
        page = await service.page(conn, filters, page_request)
    return HttpResponse([wire.to_record(domain, usage, app.settings.auth) for domain, usage in page.rows], page)


async def _create(app: App, call: Call) -> HttpResponse:
    new = NewDomain(**_read_fields(call.body))
    return await _detail(app, await service.create(app, call.caller(), new))


async def _get(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        domain = await service.get_by_path(conn, call.caller(), "domain.read", call.id())
    return await _detail(app, domain)


async def _change(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        domain = await service.change(app, conn, call.caller(), call.id(), _read_fields(call.body), call.if_match)
    return await _detail(app, domain)


async def _delete(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        domain, cancelled = await service.delete(
            conn, call.caller(), app.clock(), call.id(), call.if_match, cancel_scheduled=call.query.cancel_scheduled
        )
    return HttpResponse(wire.DomainDeletion(f"The domain {domain.name} is deleted.", domain.id, cancelled))


async def _detail(app: App, domain: Domain) -> HttpResponse:
    async with app.db.autocommit() as conn:
        usage = await service.count_usage(conn, [domain.id])
    record = wire.to_record(domain, usage.get(domain.id, service.NO_USAGE), app.settings.auth)
    return HttpResponse(record, changed_at=domain.updated_at)


def _read_fields(body: Struct) -> dict[str, Any]:
    fields = {name: value for name, value in structs.asdict(body).items() if value is not UNSET}
    if isinstance(relay := fields.get("relay"), wire.RelayRequest):
        fields["relay"] = NewRelay(**structs.asdict(relay))
    return fields


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/domains",
        handler=_list,
        action="domain.list",
        summary="List domains",
        description="Domains that the caller may see.",
        tag="Domains",
        query=wire.DomainQuery,
        listing=Listing(("created_at", "updated_at", "name")),
        data=list[wire.DomainRecord],
        refusals=(InvalidPagination,),
        examples=(
            Example(query={"sort": "name", "active": "true"}),
            Example(query={"name": "example"}),
            Example(query={"dns_status": "failing"}),
        ),
    ),
    Endpoint(
        method="POST",
        path="/domains",
        handler=_create,
        action="domain.create",
        summary="Create a domain",
        description=(
            "Also creates its first DKIM keys: publish the records that GET /domains/{id}/dns shows. With "
            "`alias_of`, CONFLICT has `details.reason`: `alias_chain` (the target is an alias domain) or `alias_loop`. "
            "`mta_sts_mode` can't be enforce yet (`not_served`)."
        ),
        tag="Domains",
        versioned=True,
        body=wire.DomainCreate,
        data=wire.DomainRecord,
        status=201,
        recover=audit.answer_from_audit(_get),
        audit="domain.create",
        refusals=(DomainExists, DomainNotFound, Conflict, ApiKeyDomainScope),
        examples=(Example(body={"name": "new.test", "description": "Our second name", "max_mailboxes": 50}),),
    ),
    Endpoint(
        method="GET",
        path="/domains/{id}",
        handler=_get,
        action="domain.read",
        summary="Get a domain",
        tag="Domains",
        versioned=True,
        data=wire.DomainRecord,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{domain_id}"}),),
    ),
    Endpoint(
        method="PATCH",
        path="/domains/{id}",
        handler=_change,
        action="domain.write",
        summary="Change a domain",
        description=(
            "`relay` is replaced as a whole; null removes it. Without `password`, the stored one is kept if host, "
            "port, tls and username are unchanged, and cleared otherwise. `alias_of` needs a domain without mailboxes "
            "and aliases, except in the trash (CONFLICT `has_dependents`); neither the target nor a domain that is a "
            "target can be an alias domain (`alias_chain`). `mta_sts_mode` enforce: `not_served` until a check has "
            "fetched the policy at https://mta-sts.DOMAIN/.well-known/mta-sts.txt."
        ),
        tag="Domains",
        versioned=True,
        body=wire.DomainPatch,
        data=wire.DomainRecord,
        audit="domain.update",
        refusals=(NotFound, DomainNotFound, Conflict, ApiKeyDomainScope),
        examples=(
            Example(path={"id": "{domain_id}"}, body={"max_mailboxes": None, "description": "Main"}),
            Example(path={"id": "{empty_domain_id}"}, body={"alias_of": "{domain_id}"}),
        ),
    ),
    Endpoint(
        method="DELETE",
        path="/domains/{id}",
        handler=_delete,
        action="domain.write",
        summary="Delete a domain",
        description=(
            "CONFLICT, with their numbers, while it has mailboxes, aliases or alias domains; mailboxes in the trash "
            "are deleted with it. Also while messages are scheduled, unless `cancel_scheduled` is true."
        ),
        tag="Domains",
        versioned=True,
        query=wire.DomainDeleteQuery,
        data=wire.DomainDeletion,
        audit="domain.delete",
        refusals=(NotFound, ApiKeyDomainScope, Conflict),
        examples=(Example(path={"id": "{empty_domain_id}"}),),
    ),
)
