"""Paths of the sandbox."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, InvalidPagination, NotFound
from mailkeep.features.mailflow.sandbox import rules, service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing

_FOREIGN = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
"""For what a stranger wrote: no script, no origin of its own, nothing fetched from anywhere."""


async def _list(app: App, call: Call) -> HttpResponse:
    assert call.page is not None
    page, subjects = await service.page(app, call.page)
    return HttpResponse([wire.message(row, subject) for row, subject in zip(page.rows, subjects, strict=True)], page)


async def _content(app: App, call: Call) -> HttpResponse:
    async with service.open_message(app, call.id()) as found:
        return HttpResponse(wire.content(found))


async def _html(app: App, call: Call) -> HttpResponse:
    async with service.open_message(app, call.id()) as found:
        html = wire.html(found)
    if html is None:
        raise NotFound
    headers = {"content-security-policy": _FOREIGN, "x-frame-options": "SAMEORIGIN"}
    return HttpResponse(content=html.encode(), content_type="text/html; charset=utf-8", headers=headers)


async def _attachment(app: App, call: Call) -> HttpResponse:
    place = rules.attachment_index(call.path["number"])
    if place is None:
        raise NotFound
    found, pieces = await service.attachment(app, call.id(), place)
    headers = {"content-disposition": rules.content_disposition(found.filename), "content-length": str(found.size)}
    # Whatever its sender calls it: it is to be saved, and no browser shall find it to be a page of ours.
    return HttpResponse(content=pieces, content_type="application/octet-stream", headers=headers)


async def _raw(app: App, call: Call) -> HttpResponse:
    size, pieces = await service.raw(app, call.id())
    return HttpResponse(content=pieces, content_type="message/rfc822", headers={"content-length": str(size)})


async def _clear(app: App, call: Call) -> HttpResponse:
    removed = await service.clear(app, call.caller())
    return HttpResponse(wire.ClearResponse(f"{removed} messages removed.", removed))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/sandbox/messages",
        handler=_list,
        action="sandbox",
        summary="List what the sandbox caught",
        tag="Sandbox",
        listing=Listing(("received_at",)),
        data=list[wire.SandboxMessageResponse],
        refusals=(InvalidPagination, ApiKeyDomainScope),
        examples=(Example(query={"limit": "10"}),),
    ),
    Endpoint(
        method="GET",
        path="/sandbox/messages/{id}",
        handler=_content,
        action="sandbox",
        summary="Read a caught message",
        description="Taken apart: header, text, HTML, and what is attached. Its content whole is that of `/raw`.",
        tag="Sandbox",
        data=wire.SandboxContentResponse,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{sandbox_id}"}),),
    ),
    Endpoint(
        method="GET",
        path="/sandbox/messages/{id}/html",
        handler=_html,
        action="sandbox",
        summary="See a caught message's HTML",
        description=(
            "The HTML as it was written, but with the images that the message itself brings along (`cid:`; PNG, JPEG, "
            "GIF and WebP, 16 MiB at most) in their places. To be shown in a frame: under a policy by which no script "
            "of it runs and nothing is fetched for it. NOT_FOUND where the message has none."
        ),
        tag="Sandbox",
        data=str,
        content="text/html",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{sandbox_id}"}),),
    ),
    Endpoint(
        method="GET",
        path="/sandbox/messages/{id}/attachments/{number}",
        handler=_attachment,
        action="sandbox",
        summary="Save an attachment of a caught message",
        description=(
            "Its bytes, decoded, to be saved by the name that it came with; `number` is that of `attachments`. "
            "NOT_FOUND also where its encoding is broken."
        ),
        tag="Sandbox",
        data=str,
        content="application/octet-stream",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{sandbox_id}", "number": "1"}),),
    ),
    Endpoint(
        method="GET",
        path="/sandbox/messages/{id}/raw",
        handler=_raw,
        action="sandbox",
        summary="Get a caught message as it would have left",
        tag="Sandbox",
        data=str,
        content="message/rfc822",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{sandbox_id}"}),),
    ),
    Endpoint(
        method="DELETE",
        path="/sandbox/messages",
        handler=_clear,
        action="sandbox",
        audit="sandbox.clear",
        resource="sandbox",
        summary="Remove what the sandbox caught",
        description="Messages with recipients still to be seen to stay.",
        tag="Sandbox",
        data=wire.ClearResponse,
        refusals=(ApiKeyDomainScope,),
        examples=(Example(),),
    ),
)
