"""Routes of DKIM keys."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, Conflict, InvalidPagination, NotFound, PreconditionFailed
from mailkeep.features.directory.dkim.model import DkimKey
from mailkeep.features.directory.dkim_rotation import service, wire
from mailkeep.features.directory.dkim_rotation.model import KeyFilter
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.record.audit import service as audit
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing

_TAG = "DNS"
_KEYS, _KEY = "/domains/{id}/dkim-keys", "/domains/{id}/dkim-keys/{key_id}"
_NEXT_KEY = {"id": "{domain_id}", "key_id": "{dkim_key_id}"}


async def _list(app: App, call: Call) -> HttpResponse:
    query: wire.DkimKeyQuery = call.query
    assert call.page is not None
    filters = KeyFilter(call.id(), query.stage, query.algorithm)
    async with app.db.autocommit() as conn:
        domain, page = await service.page(conn, call.caller(), filters, call.page)
    return HttpResponse([wire.to_record(key, domain.name) for key in page.rows], page)


async def _create(app: App, call: Call) -> HttpResponse:
    new = wire.read_new(call.body)
    return _detail(*await service.create(app, call.caller(), call.id(), new))


async def _repeat_create(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        return _detail(*await service.get_created(conn, call.caller(), call.id()))


async def _get(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        return _detail(*await service.get(conn, call.caller(), call.id(), call.id("key_id")))


async def _activate(app: App, call: Call) -> HttpResponse:
    body: wire.DkimActivation = call.body
    return _detail(
        *await service.activate(app, call.caller(), call.id(), call.id("key_id"), call.if_match, force=body.force)
    )


async def _retire(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        return _detail(
            *await service.retire(conn, call.caller(), app.clock(), call.id(), call.id("key_id"), call.if_match)
        )


async def _delete(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        key = await service.delete(conn, call.caller(), app.clock(), call.id(), call.id("key_id"), call.if_match)
    return HttpResponse(wire.DkimKeyDeletion(f"The DKIM key {key.selector} is deleted.", key.id))


async def _show_delegation(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        domain, records = await service.list_delegation(conn, app, call.caller(), call.id())
    return HttpResponse(wire.to_delegation(records, enabled=domain.dkim_delegated))


def _detail(domain: Domain, key: DkimKey) -> HttpResponse:
    return HttpResponse(wire.to_record(key, domain.name), changed_at=key.updated_at)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path=_KEYS,
        handler=_list,
        action="dkim.read",
        summary="List the DKIM keys of a domain",
        description="Newest first, with the record of each key. Every active key signs.",
        tag=_TAG,
        query=wire.DkimKeyQuery,
        listing=Listing(),
        data=list[wire.DkimKeyRecord],
        refusals=(InvalidPagination, NotFound, ApiKeyDomainScope),
        examples=(
            Example(path={"id": "{domain_id}"}),
            Example(path={"id": "{domain_id}"}, query={"stage": "active", "algorithm": "rsa2048"}),
        ),
    ),
    Endpoint(
        method="POST",
        path=_KEYS,
        handler=_create,
        action="dkim.write",
        summary="Create or import a DKIM key",
        description=(
            "With `algorithm` a key is generated; with `private_key` (PEM) it is imported, and never shown again. It "
            "is `pending`: publish its record, then activate it. CONFLICT has `details.reason`: `limit_reached` (10 "
            "keys of the domain are not retired), `selector_taken`, or `selectors_in_use` (delegated domains)."
        ),
        tag=_TAG,
        versioned=True,
        body=wire.DkimKeyCreate,
        data=wire.DkimKeyRecord,
        status=201,
        recover=audit.answer_from_audit(_repeat_create),
        audit="dkim.create",
        resource="domain",
        refusals=(NotFound, ApiKeyDomainScope, Conflict),
        examples=(Example(path={"id": "{domain_id}"}, body={"algorithm": "ed25519", "selector": "mail2026"}),),
    ),
    Endpoint(
        method="GET",
        path=_KEY,
        handler=_get,
        action="dkim.read",
        summary="Get a DKIM key",
        tag=_TAG,
        versioned=True,
        data=wire.DkimKeyRecord,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path=_NEXT_KEY),),
    ),
    Endpoint(
        method="POST",
        path=f"{_KEY}/activate",
        handler=_activate,
        action="dkim.write",
        summary="Activate a DKIM key",
        description=(
            "The key signs from now on. The active key of the same family (RSA or Ed25519) becomes `retiring`: its "
            "record must stay until it is `retired`, after the longest time that mail may be in the queue. CONFLICT "
            "`not_published`, with what each name server answers in `details.resolvers`, until all of `dns.servers` "
            "find the record; `force` skips this look-up. CONFLICT `retired` for a retired key."
        ),
        tag=_TAG,
        versioned=True,
        body=wire.DkimActivation,
        data=wire.DkimKeyRecord,
        audit="dkim.activate",
        resource="domain",
        refusals=(NotFound, ApiKeyDomainScope, Conflict, PreconditionFailed),
        examples=(Example(path=_NEXT_KEY, body={"force": True}),),
    ),
    Endpoint(
        method="POST",
        path=f"{_KEY}/retire",
        handler=_retire,
        action="dkim.write",
        summary="Retire a DKIM key",
        description=(
            "An active key stops signing and becomes `retiring`, a pending one `retired`. CONFLICT `last_active_key` "
            "if the domain's mail would not be signed any more."
        ),
        tag=_TAG,
        versioned=True,
        body=wire.DkimRetirement,
        data=wire.DkimKeyRecord,
        audit="dkim.retire",
        resource="domain",
        refusals=(NotFound, ApiKeyDomainScope, Conflict, PreconditionFailed),
        examples=(Example(path=_NEXT_KEY, body={}),),
    ),
    Endpoint(
        method="DELETE",
        path=_KEY,
        handler=_delete,
        action="dkim.write",
        summary="Delete a DKIM key",
        description="A pending or retired one; CONFLICT `in_use` for others.",
        tag=_TAG,
        versioned=True,
        data=wire.DkimKeyDeletion,
        audit="dkim.delete",
        resource="domain",
        refusals=(NotFound, ApiKeyDomainScope, Conflict),
        examples=(Example(path=_NEXT_KEY),),
    ),
    Endpoint(
        method="GET",
        path="/domains/{id}/dkim-delegation",
        handler=_show_delegation,
        action="dkim.read",
        summary="Get the CNAME records of a delegated domain",
        description=(
            "With `dkim_delegated`, the domain's administrator publishes these four records once; keys are then "
            "rotated without a change of its zone. Empty before `server.hostname` is set."
        ),
        tag=_TAG,
        data=wire.DkimDelegation,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{domain_id}"}),),
    ),
)
