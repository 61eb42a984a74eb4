"""Routes of aliases."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import (
    ApiKeyDomainScope,
    Conflict,
    DomainInactive,
    DomainNotFound,
    InvalidPagination,
    MissingFields,
    NotFound,
)
from mailkeep.core.principal import Principal
from mailkeep.db.pool import Conn
from mailkeep.features.directory.aliases import service, wire
from mailkeep.features.directory.aliases.model import Alias
from mailkeep.features.record.audit import service as audit
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing


async def _list(app: App, call: Call) -> HttpResponse:
    query: wire.AliasQuery = call.query
    assert call.page is not None
    async with app.db.autocommit() as conn:
        page = await service.page(conn, call.caller(), query.domain_id, query.q, call.page)
        statuses = await service.find_statuses(conn, call.caller(), page.rows) if query.with_status else {}
    return HttpResponse([wire.to_record(alias, statuses.get(alias.id)) for alias in page.rows], page)


async def _create(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    async with app.db.tx() as conn:
        alias = await service.create(
            conn, who, app.clock(), wire.read_new(call.body), max_destinations=_max_destinations(app)
        )
        return await _detail(conn, who, alias)


async def _get(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    async with app.db.autocommit() as conn:
        return await _detail(conn, who, await service.get(conn, who, call.id()))


async def _change(app: App, call: Call) -> HttpResponse:
    who = call.caller()
    async with app.db.tx() as conn:
        changes = wire.read_changes(call.body, call.if_match)
        alias = await service.change(
            conn,
            who,
            app.clock(),
            call.id(),
            changes,
            max_destinations=_max_destinations(app),
        )
        return await _detail(conn, who, alias)


async def _delete(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        alias = await service.delete(conn, call.caller(), app.clock(), call.id(), call.if_match)
    return HttpResponse(wire.AliasDeletion("The alias is deleted.", alias.id))


def _max_destinations(app: App) -> int:
    return app.settings.limits.alias_destinations


async def _detail(conn: Conn, who: Principal, alias: Alias) -> HttpResponse:
    statuses = await service.find_statuses(conn, who, [alias])
    return HttpResponse(wire.to_detail(alias, statuses[alias.id]), changed_at=alias.updated_at)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/aliases",
        handler=_list,
        action="alias.list",
        summary="List aliases",
        description="Of one domain, or of all that the caller may see; a domain_admin must give `domain_id`.",
        tag="Aliases",
        query=wire.AliasQuery,
        listing=Listing(("created_at", "updated_at", "source_local_part")),
        data=list[wire.AliasRecord],
        refusals=(InvalidPagination, MissingFields, DomainNotFound, ApiKeyDomainScope),
        examples=(
            Example(query={"domain_id": "{domain_id}", "limit": "100"}),
            Example(query={"domain_id": "{domain_id}", "q": "sal", "with_status": "true"}),
        ),
    ),
    Endpoint(
        method="POST",
        path="/aliases",
        handler=_create,
        action="alias.write",
        summary="Create an alias",
        description=(
            "An empty `source_local_part` is the catch-all. CONFLICT has `details.reason`: `source_taken`, "
            "`alias_chain`, `alias_loop`, `alias_domain` or `limit_reached`. More external destinations than "
            "`limits.external_expansion`, nested ones included, are accepted with a warning, but mail for the alias is "
            "then rejected."
        ),
        tag="Aliases",
        versioned=True,
        body=wire.AliasCreate,
        data=wire.AliasDetail,
        status=201,
        recover=audit.answer_from_audit(_get),
        audit="alias.create",
        refusals=(DomainNotFound, DomainInactive, ApiKeyDomainScope, Conflict),
        examples=(
            Example(
                body={
                    "domain_id": "{domain_id}",
                    "source_local_part": "info",
                    "destination": "alice@example.test, partner@elsewhere.test",
                }
            ),
        ),
    ),
    Endpoint(
        method="GET",
        path="/aliases/{id}",
        handler=_get,
        action="alias.read",
        summary="Get an alias",
        tag="Aliases",
        versioned=True,
        data=wire.AliasDetail,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{alias_id}"}),),
    ),
    Endpoint(
        method="PATCH",
        path="/aliases/{id}",
        handler=_change,
        action="alias.write",
        summary="Change an alias",
        description="Activating it checks for chains and loops again.",
        tag="Aliases",
        versioned=True,
        body=wire.AliasPatch,
        data=wire.AliasDetail,
        audit="alias.update",
        refusals=(NotFound, DomainInactive, ApiKeyDomainScope, Conflict),
        examples=(Example(path={"id": "{alias_id}"}, body={"destination": "alice@example.test"}),),
    ),
    Endpoint(
        method="DELETE",
        path="/aliases/{id}",
        handler=_delete,
        action="alias.write",
        summary="Delete an alias",
        description="Applies to the next message.",
        tag="Aliases",
        versioned=True,
        data=wire.AliasDeletion,
        audit="alias.delete",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{alias_id}"}),),
    ),
)
