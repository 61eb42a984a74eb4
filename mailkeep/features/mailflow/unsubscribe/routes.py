"""Endpoints of unsubscribe groups, and the public page of their links."""

from __future__ import annotations

from msgspec import UNSET

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, Conflict, DomainNotFound, InvalidPagination, NotFound
from mailkeep.features.mailflow.unsubscribe import rules, service, wire
from mailkeep.features.record.audit import service as audit
from mailkeep.web import public_page
from mailkeep.web.endpoint import FORMS, Call, Endpoint, Example, HttpResponse, Listing

_FORM_LIMIT = 8 << 10


async def _list(app: App, call: Call) -> HttpResponse:
    query: wire.UnsubscribeGroupQuery = call.query
    assert call.page is not None
    async with app.db.autocommit() as conn:
        page = await service.page(conn, call.caller(), query.domain_id, call.page)
    return HttpResponse([wire.to_record(each) for each in page.rows], page)


async def _get(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        group = await service.get(conn, call.caller(), call.id())
    return HttpResponse(wire.to_record(group), changed_at=group.updated_at)


async def _create(app: App, call: Call) -> HttpResponse:
    body: wire.UnsubscribeGroupCreate = call.body
    async with app.db.tx() as conn:
        group = await service.create(conn, call.caller(), app.clock(), body.domain_id, body.name)
    return HttpResponse(wire.to_record(group), changed_at=group.updated_at)


async def _change(app: App, call: Call) -> HttpResponse:
    name = None if call.body.name is UNSET else call.body.name
    async with app.db.tx() as conn:
        group = await service.change(conn, call.caller(), app.clock(), call.id(), name, call.if_match)
    return HttpResponse(wire.to_record(group), changed_at=group.updated_at)


async def _delete(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        group, removed = await service.delete(conn, call.caller(), app.clock(), call.id(), call.if_match)
    return HttpResponse(wire.UnsubscribeGroupDeletion("The group is deleted.", group.id, removed))


async def _show_page(app: App, call: Call) -> HttpResponse:
    try:
        return _page(rules.ask_page(*await service.find_by_token(app, call.path["token"])))
    except NotFound:
        return _page(rules.invalid_page(), 404)


async def _unsubscribe(app: App, call: Call) -> HttpResponse:
    try:
        return _page(rules.done_page(*await service.unsubscribe(app, call.path["token"])))
    except NotFound:
        return _page(rules.invalid_page(), 404)


def _page(page: tuple[str, str], status: int = 200) -> HttpResponse:
    return public_page.respond(page, rules.STYLE_PATH, status)


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/unsubscribe-groups",
        handler=_list,
        action="unsubscribe_group.list",
        summary="List unsubscribe groups",
        tag="Suppressions",
        query=wire.UnsubscribeGroupQuery,
        listing=Listing(("created_at",)),
        data=list[wire.UnsubscribeGroupRecord],
        refusals=(InvalidPagination, DomainNotFound, ApiKeyDomainScope),
        examples=(Example(query={"domain_id": "{domain_id}"}),),
    ),
    Endpoint(
        method="POST",
        path="/unsubscribe-groups",
        handler=_create,
        action="unsubscribe_group.write",
        summary="Create an unsubscribe group",
        description=(
            "A message sent with `unsubscribe: {group_id}` has a link by which its recipient leaves the group. "
            "CONFLICT `name_taken`."
        ),
        tag="Suppressions",
        versioned=True,
        body=wire.UnsubscribeGroupCreate,
        data=wire.UnsubscribeGroupRecord,
        status=201,
        recover=audit.answer_from_audit(_get),
        audit="unsubscribe_group.create",
        refusals=(DomainNotFound, ApiKeyDomainScope, Conflict),
        examples=(Example(body={"domain_id": "{domain_id}", "name": "Monthly news"}),),
    ),
    Endpoint(
        method="GET",
        path="/unsubscribe-groups/{id}",
        handler=_get,
        action="unsubscribe_group.read",
        summary="Get an unsubscribe group",
        tag="Suppressions",
        versioned=True,
        data=wire.UnsubscribeGroupRecord,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{unsubscribe_group_id}"}),),
    ),
    Endpoint(
        method="PATCH",
        path="/unsubscribe-groups/{id}",
        handler=_change,
        action="unsubscribe_group.write",
        summary="Rename an unsubscribe group",
        tag="Suppressions",
        versioned=True,
        body=wire.UnsubscribeGroupPatch,
        data=wire.UnsubscribeGroupRecord,
        audit="unsubscribe_group.update",
        refusals=(NotFound, ApiKeyDomainScope, Conflict),
        examples=(Example(path={"id": "{unsubscribe_group_id}"}, body={"name": "Weekly news"}),),
    ),
    Endpoint(
        method="DELETE",
        path="/unsubscribe-groups/{id}",
        handler=_delete,
        action="unsubscribe_group.write",
        summary="Delete an unsubscribe group",
        description="Its suppressions are deleted too, and the links of its messages are no longer valid.",
        tag="Suppressions",
        versioned=True,
        data=wire.UnsubscribeGroupDeletion,
        audit="unsubscribe_group.delete",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{unsubscribe_group_id}"}),),
    ),
    Endpoint(
        method="GET",
        path="/u/{token}",
        handler=_show_page,
        action=None,
        summary="Show the page of an unsubscribe link",
        description="A page for people, which changes nothing. 404 for a link that was not made here.",
        tag="Suppressions",
        data=str,
        content="text/html",
        is_page=True,
        bare=True,
        prefixed=False,
        public_page=True,
        refusals=(NotFound,),
        examples=(Example(path={"token": "{unsubscribe_token}"}),),
    ),
    Endpoint(
        method="POST",
        path="/u/{token}",
        handler=_unsubscribe,
        action=None,
        summary="Unsubscribe by a link",
        description=(
            "One click (RFC 8058): mail programs send `List-Unsubscribe=One-Click` as a form. Suppresses the recipient "
            "for the group. Idempotent. 404 for a link that was not made here."
        ),
        tag="Suppressions",
        data=str,
        content="text/html",
        is_page=True,
        bare=True,
        prefixed=False,
        public_page=True,
        raw_body=FORMS,
        body_limit=lambda _: _FORM_LIMIT,
        refusals=(NotFound,),
        examples=(Example(path={"token": "{unsubscribe_token}"}),),
    ),
    public_page.style_endpoint(rules.STYLE_PATH),
)
