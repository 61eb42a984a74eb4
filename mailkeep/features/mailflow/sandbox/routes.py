"""Endpoints of the sandbox."""

from __future__ import annotations

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, InvalidPagination, NotFound
from mailkeep.features.mailflow.sandbox import rules, service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing

_CONTENT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
"""For HTML of unknown senders: it runs no scripts, has no origin and loads nothing."""


async def _list(app: App, call: Call) -> HttpResponse:
    assert call.page is not None
    page, subjects = await service.page(app, call.page)
    return HttpResponse([wire.to_record(row, subject) for row, subject in zip(page.rows, subjects, strict=True)], page)


async def _content(app: App, call: Call) -> HttpResponse:
    async with service.open_message(app, call.id()) as content:
        return HttpResponse(wire.to_content(content))


async def _html(app: App, call: Call) -> HttpResponse:
    async with service.open_message(app, call.id()) as content:
        html = wire.to_html(content)
    if html is None:
        raise NotFound
    headers = {"content-security-policy": _CONTENT_POLICY, "x-frame-options": "SAMEORIGIN"}
    return HttpResponse(content=html.encode(), content_type="text/html; charset=utf-8", headers=headers)


async def _attachment(app: App, call: Call) -> HttpResponse:
    index = rules.attachment_index(call.path["number"])
    if index is None:
        raise NotFound
    file, chunks = await service.open_attachment(app, call.id(), index)
    headers = {"content-disposition": rules.content_disposition(file.filename), "content-length": str(file.size)}
    # Not the type that the sender claims: browsers must save the file, and never show it as a page of this server.
    return HttpResponse(content=chunks, content_type="application/octet-stream", headers=headers)


async def _raw(app: App, call: Call) -> HttpResponse:
    size, chunks = await service.open_raw(app, call.id())
    return HttpResponse(content=chunks, content_type="message/rfc822", headers={"content-length": str(size)})


async def _clear(app: App, call: Call) -> HttpResponse:
    removed = await service.clear(app, call.caller())
    return HttpResponse(wire.ClearResponse(f"{removed} messages removed.", removed))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/sandbox/messages",
        handler=_list,
        action="sandbox.read",
        summary="List messages in the sandbox",
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
        action="sandbox.read",
        summary="Get a message in the sandbox",
        description="Parsed: header, text, HTML and attachments. `/raw` has the whole content.",
        tag="Sandbox",
        data=wire.SandboxContentResponse,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{sandbox_id}"}),),
    ),
    Endpoint(
        method="GET",
        path="/sandbox/messages/{id}/html",
        handler=_html,
        action="sandbox.read",
        summary="Get the HTML of a message in the sandbox",
        description=(
            "The original HTML, with the images in the message (`cid:`; PNG, JPEG, GIF and WebP, at most 16 MiB) "
            "inserted. Show it in a frame: its Content-Security-Policy blocks scripts and all requests. NOT_FOUND if "
            "the message has no HTML."
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
        action="sandbox.read",
        summary="Download an attachment of a message in the sandbox",
        description=(
            "The decoded bytes, as a download with the original file name; `number` is that in `attachments`. "
            "NOT_FOUND also if the attachment's encoding is invalid or the message can't be parsed."
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
        action="sandbox.read",
        summary="Get a message in the sandbox as it would have been sent",
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
        summary="Clear the sandbox",
        description="Messages with waiting recipients are kept.",
        tag="Sandbox",
        data=wire.ClearResponse,
        refusals=(ApiKeyDomainScope,),
        examples=(Example(),),
    ),
)
