"""Endpoints with the content of a message."""

from __future__ import annotations

import asyncio

from mailkeep.app import App
from mailkeep.core.errors import ApiKeyDomainScope, NotFound
from mailkeep.features.mailflow.message_content import service, wire
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse

_RIGHTS = (
    "While it is kept, and of a `scheduled` message as it will be sent; NOT_FOUND as for `/raw`. Only admin and above "
    "may read inbound mail, and reading it is recorded in the audit log."
)


async def _content(app: App, call: Call) -> HttpResponse:
    content = await service.open_content(app, call.caller(), call.id(), "content")
    async with service.parse(app, content) as message:
        return HttpResponse(wire.to_content(message))


async def _html(app: App, call: Call) -> HttpResponse:
    content = await service.open_content(app, call.caller(), call.id(), "html")
    async with service.parse(app, content) as message:
        html = await asyncio.to_thread(wire.to_html, message)
    if html is None:
        raise NotFound("The message has no HTML.", reason="no_html")
    return wire.html_response(html)


async def _attachment(app: App, call: Call) -> HttpResponse:
    number = call.path["number"]
    content = await service.open_content(app, call.caller(), call.id(), f"attachment {number[:10]}")
    return wire.attachment_response(*await service.open_attachment(app, content, number))


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/messages/{id}/content",
        handler=_content,
        action="message.details",
        summary="Get the content of a message, parsed",
        description=f"Header, text, HTML and attachments. `/raw` has the whole content. {_RIGHTS}",
        tag="Messages",
        data=wire.MessageContentResponse,
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{message_id}"}),),
    ),
    Endpoint(
        method="GET",
        path="/messages/{id}/html",
        handler=_html,
        action="message.details",
        summary="Get the HTML of a message",
        description=(
            "The HTML, with the images in the message (`cid:`; PNG, JPEG, GIF and WebP, at most 16 MiB) inserted and "
            "`<link>` renamed. Show it in a frame: its Content-Security-Policy blocks scripts and requests. NOT_FOUND "
            f"with `details.reason` no_html if the message has no HTML. {_RIGHTS}"
        ),
        tag="Messages",
        data=str,
        content="text/html",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{message_id}"}),),
    ),
    Endpoint(
        method="GET",
        path="/messages/{id}/attachments/{number}",
        handler=_attachment,
        action="message.details",
        summary="Download an attachment of a message",
        description=(
            "The decoded bytes, as a download with the original file name; `number` is that in `attachments`. "
            f"NOT_FOUND also if the attachment's encoding is invalid or the message can't be parsed. {_RIGHTS}"
        ),
        tag="Messages",
        data=str,
        content="application/octet-stream",
        refusals=(NotFound, ApiKeyDomainScope),
        examples=(Example(path={"id": "{message_id}", "number": "1"}),),
    ),
)
