"""Endpoints of the sandbox."""

from __future__ import annotations

import asyncio

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, InvalidPagination, NotFound
from mailkeep.features.mailflow.message_content import service as message_content
from mailkeep.features.mailflow.sandbox import service, wire
from mailkeep.features.record.history import service as history
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse, Listing


async def _list(app: App, call: Call) -> HttpResponse:
    assert call.page is not None
    page, subjects = await service.page(app, call.page)
    return HttpResponse([wire.to_record(row, subject) for row, subject in zip(page.rows, subjects, strict=True)], page)


async def _content(app: App, call: Call) -> HttpResponse:
    async with message_content.parse(app, await service.open_content(app, call.id())) as message:
        return HttpResponse(message_content.to_content(message))


async def _html(app: App, call: Call) -> HttpResponse:
    async with message_content.parse(app, await service.open_content(app, call.id())) as message:
        html = await asyncio.to_thread(message_content.to_html, message)
    if html is None:
        raise NotFound
    return message_content.html_response(html)


async def _attachment(app: App, call: Call) -> HttpResponse:
    content = await service.open_content(app, call.id())
    return message_content.attachment_response(
        *await message_content.open_attachment(app, content, call.path["number"])
    )


async def _raw(app: App, call: Call) -> HttpResponse:
    content = await service.open_content(app, call.id())
    headers = {"content-length": str(content.size)}
    return HttpResponse(content=history.read_chunks(content), content_type="message/rfc822", headers=headers)


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
        data=message_content.MessageContentResponse,
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
            "The HTML, with the images in the message (`cid:`; PNG, JPEG, GIF and WebP, at most 16 MiB) inserted and "
            "`<link>` renamed. Show it in a frame: its Content-Security-Policy blocks scripts and requests. NOT_FOUND "
            "if the message has no HTML."
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
