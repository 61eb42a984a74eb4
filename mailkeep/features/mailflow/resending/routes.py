"""Endpoints that send and deliver again."""

from __future__ import annotations

from uuid import UUID

from mailkeep.app import App
from mailkeep.core.errors import (
    ApiKeyDomainScope,
    Conflict,
    DomainInactive,
    MailboxSuspended,
    NotFound,
    RecipientSuppressed,
    SenderDomainUnknown,
    SendFailed,
    SendUnavailable,
)
from mailkeep.features.mailflow.resending import service
from mailkeep.features.mailflow.sending import recovery
from mailkeep.features.record.history import service as history
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse


async def _resend(app: App, call: Call) -> HttpResponse:
    return await _respond(app, call, await service.resend(app, call.caller(), call.id()))


async def _find_result(app: App, call: Call, request_id: UUID) -> HttpResponse | None:
    sent = await recovery.find_sent(app, request_id)
    return await _respond(app, call, sent[0].id) if sent else None


async def _respond(app: App, call: Call, message_id: UUID) -> HttpResponse:
    async with app.db.autocommit() as conn:
        return HttpResponse(history.to_message(await history.get(conn, call.caller(), message_id)))


async def _retry(app: App, call: Call) -> HttpResponse:
    return HttpResponse(history.to_message(await service.retry(app, call.caller(), call.id())))


ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/messages/{id}/resend",
        handler=_resend,
        action="message.resend",
        audit="message.send",
        resource="message",
        summary="Send a message again",
        description=(
            "Sends the kept content to the recipients that did not get it, as a new message with a new Message-ID. A "
            "recipient with status `unknown` may get it twice; suppressed ones get nothing. CONFLICT, "
            "`details.reason`: still_open (a recipient has no final status), nothing_undelivered, not_outbound, "
            "malformed_address (of a program's message), content_gone."
        ),
        tag="Messages",
        data=history.MessageResponse,
        status=201,
        recover=_find_result,
        refusals=(
            NotFound,
            Conflict,
            SenderDomainUnknown,
            DomainInactive,
            ApiKeyDomainScope,
            RecipientSuppressed,
            MailboxSuspended,
            SendFailed,
            SendUnavailable,
        ),
        examples=(Example(path={"id": "{bounced_id}"}),),
    ),
    Endpoint(
        method="POST",
        path="/messages/{id}/retry",
        handler=_retry,
        action="message.retry",
        audit="message.retry",
        resource="message",
        summary="Retry a deferred delivery now",
        description=(
            "The mail server attempts the delivery to the deferred recipients now instead of at `next_attempt_at`. "
            "CONFLICT, `details.reason` not_deferred, if none is deferred."
        ),
        tag="Messages",
        data=history.MessageResponse,
        refusals=(NotFound, ApiKeyDomainScope, Conflict),
        examples=(Example(path={"id": "{deferred_id}"}),),
    ),
)
