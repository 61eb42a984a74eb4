"""Routes of templates."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import (
    ApiKeyDomainScope,
    Conflict,
    DomainNotFound,
    InvalidPagination,
    NotFound,
    PreconditionFailed,
)
from mailkeep.features.mailflow.templates import service, wire
from mailkeep.features.record.audit import service as audit
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing


async def _list(app: App, call: Call) -> HttpResponse:
    assert call.page is not None
    async with app.db.autocommit() as conn:
        page = await service.page(conn, call.caller(), call.query.domain_id, call.query.q, call.page)
    return HttpResponse([wire.to_record(each) for each in page.rows], page)


async def _create(app: App, call: Call) -> HttpResponse:
    new = wire.read_new(call.body)
    uses = await service.check_parts(app, wire.parts_of(new.content))
    async with app.db.tx() as conn:
        template = await service.create(conn, call.caller(), app.clock(), new, uses)
    return HttpResponse(wire.to_detail(template), changed_at=template.updated_at)


async def _get(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        template = await service.get(conn, call.caller(), call.id())
    return HttpResponse(wire.to_detail(template), changed_at=template.updated_at)


async def _change(app: App, call: Call) -> HttpResponse:
    changes = wire.read_changes(call.body, call.if_match)
    uses = await service.check_parts(app, changes.content)
    async with app.db.tx() as conn:
        template = await service.change(conn, call.caller(), app.clock(), call.id(), changes, uses)
    return HttpResponse(wire.to_detail(template), changed_at=template.updated_at)


async def _delete(app: App, call: Call) -> HttpResponse:
    async with app.db.tx() as conn:
        template = await service.delete(conn, call.caller(), app.clock(), call.id(), call.if_match)
    return HttpResponse(wire.TemplateDeletion("The template is deleted.", template.id))


async def _publish(app: App, call: Call) -> HttpResponse:
    version = call.body.version if call.body else None
    async with app.db.tx() as conn:
        template = await service.publish(conn, call.caller(), app.clock(), call.id(), version, call.if_match)
    return HttpResponse(wire.to_detail(template), changed_at=template.updated_at)


async def _list_versions(app: App, call: Call) -> HttpResponse:
    assert call.page is not None
    async with app.db.autocommit() as conn:
        template, page = await service.page_versions(conn, call.caller(), call.id(), call.page)
    return HttpResponse([wire.to_version_record(template, each) for each in page.rows], page)


async def _get_version(app: App, call: Call) -> HttpResponse:
    async with app.db.autocommit() as conn:
        template, version = await service.get_version(conn, call.caller(), call.id(), wire.read_version(call))
    return HttpResponse(wire.to_version_detail(template, version))


async def _render(app: App, call: Call) -> HttpResponse:
    values = wire.read_values(call.body.variables if call.body else None)
    version = call.body.version if call.body else None
    return HttpResponse(wire.to_rendered(await service.render(app, call.caller(), call.id(), version, values)))


async def _render_trial(app: App, call: Call) -> HttpResponse:
    content, values = wire.read_content(call.body), wire.read_values(call.body.values, "values")
    return HttpResponse(wire.to_rendered(await service.render_content(app, content, values)))


_TAG = "Templates"
_CONTENT = {
    "subject": "Your order {{ order.id }}",
    "html_body": "<p>Hello {{ name }},</p><p>your order {{ order.id }} is on its way.</p>",
    "variables": [
        {"name": "name", "required": True, "example": "Alice"},
        {"name": "order.id", "required": True, "example": "A-1001"},
    ],
}

ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/templates",
        handler=_list,
        action="template.list",
        summary="List templates",
        description="Those of the caller's domains and those of no domain, without bodies and variables.",
        tag=_TAG,
        query=wire.TemplateQuery,
        listing=Listing(("created_at", "updated_at", "name")),
        data=list[wire.TemplateRecord],
        refusals=(InvalidPagination, DomainNotFound, ApiKeyDomainScope),
        examples=(Example(query={"domain_id": "{domain_id}", "q": "order", "sort": "name"}),),
    ),
    Endpoint(
        method="POST",
        path="/templates",
        handler=_create,
        action="template.write",
        summary="Create a template",
        description=(
            "Jinja2 in a sandbox: values, conditions, loops, filters and macros; no other templates. In HTML values "
            "are escaped. The new template is a draft: publish it before it is sent. CONFLICT has `details.reason`: "
            "`name_taken` or `limit_reached` (1,000 in a domain, and 1,000 without)."
        ),
        tag=_TAG,
        versioned=True,
        body=wire.TemplateCreate,
        data=wire.TemplateDetail,
        status=201,
        recover=audit.answer_from_audit(_get),
        audit="template.create",
        refusals=(DomainNotFound, ApiKeyDomainScope, Conflict),
        examples=(
            Example(body={"name": "Order sent", "domain_id": "{domain_id}", **_CONTENT}),
            Example(body={"name": "Order sent, everywhere", "inline_css": True, **_CONTENT}),
        ),
    ),
    Endpoint(
        method="POST",
        path="/templates/render",
        handler=_render_trial,
        action="template.write",
        summary="Render a template that is not stored",
        description="For previews while a template is edited. Nothing is stored or sent.",
        tag=_TAG,
        body=wire.TemplateTrial,
        data=wire.RenderedTemplate,
        examples=(Example(body={**_CONTENT, "values": {"name": "Bob"}}),),
    ),
    Endpoint(
        method="GET",
        path="/templates/{id}",
        handler=_get,
        action="template.read",
        summary="Get a template",
        tag=_TAG,
        versioned=True,
        data=wire.TemplateDetail,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{template_id}"}),),
    ),
    Endpoint(
        method="PATCH",
        path="/templates/{id}",
        handler=_change,
        action="template.write",
        summary="Change the draft of a template",
        description="What is published stays as it is until the draft is published.",
        tag=_TAG,
        versioned=True,
        body=wire.TemplatePatch,
        data=wire.TemplateDetail,
        audit="template.update",
        refusals=(NotFound, ApiKeyDomainScope, Conflict),
        examples=(Example(path={"id": "{template_id}"}, body={"subject": "Order {{ order.id }} is on its way"}),),
    ),
    Endpoint(
        method="DELETE",
        path="/templates/{id}",
        handler=_delete,
        action="template.write",
        summary="Delete a template",
        description="With its versions. Messages that are already accepted, scheduled ones included, are not affected.",
        tag=_TAG,
        versioned=True,
        data=wire.TemplateDeletion,
        audit="template.delete",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{template_id}"}),),
    ),
    Endpoint(
        method="POST",
        path="/templates/{id}/publish",
        handler=_publish,
        action="template.write",
        summary="Publish a template",
        description=(
            "Messages accepted from now on use the draft, or an older `version` again. CONFLICT "
            "`undeclared_variables` lists variables that the draft uses without declaring them. Versions never change; "
            "the newest 100 are kept."
        ),
        tag=_TAG,
        versioned=True,
        body=wire.TemplatePublication,
        data=wire.TemplateDetail,
        audit="template.publish",
        refusals=(NotFound, ApiKeyDomainScope, Conflict, PreconditionFailed),
        examples=(Example(path={"id": "{template_id}"}, body={}),),
    ),
    Endpoint(
        method="GET",
        path="/templates/{id}/versions",
        handler=_list_versions,
        action="template.read",
        summary="List the versions of a template",
        description="Published ones, newest first, without bodies.",
        tag=_TAG,
        listing=Listing(),
        data=list[wire.TemplateVersionRecord],
        refusals=(InvalidPagination, NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{published_template_id}"}),),
    ),
    Endpoint(
        method="GET",
        path="/templates/{id}/versions/{version}",
        handler=_get_version,
        action="template.read",
        summary="Get a version of a template",
        tag=_TAG,
        data=wire.TemplateVersionDetail,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{published_template_id}", "version": "1"}),),
    ),
    Endpoint(
        method="POST",
        path="/templates/{id}/render",
        handler=_render,
        action="template.render",
        summary="Render a template",
        description=(
            "The draft, or a `version`. Nothing is sent. Values that are not in `variables` are the examples. A "
            "missing variable is INVALID_FIELD `variables.NAME`; other errors name the part and its line."
        ),
        tag=_TAG,
        body=wire.TemplateValues,
        data=wire.RenderedTemplate,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{template_id}"}, body={"variables": {"name": "Bob"}}),),
    ),
)
