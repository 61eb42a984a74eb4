"""Endpoints of sending."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar
from uuid import UUID

from mailkeep.app import App
from mailkeep.core.errors import (
    ApiKeyDomainScope,
    BatchTooLarge,
    Conflict,
    DomainInactive,
    EmptyBatch,
    InvalidHeader,
    InvalidRecipient,
    InvalidSender,
    MailboxSuspended,
    NotFound,
    RecipientSuppressed,
    SenderDomainUnknown,
    SendFailed,
    SendUnavailable,
)
from mailkeep.features.mailflow.sending import recovery, service, wire
from mailkeep.features.mailflow.sending.rules import MAX_BATCH
from mailkeep.settings import Settings
from mailkeep.web.decode_process import INLINE_BYTES
from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse

T = TypeVar("T")
R = TypeVar("R")


async def _send(app: App, call: Call) -> HttpResponse:
    request = await _convert(call, wire.to_request, call.body)
    return HttpResponse(wire.sent_message(await service.send(app, call.caller(), request)))


async def _send_batch(app: App, call: Call) -> HttpResponse:
    items = call.body.messages
    if not items:
        raise EmptyBatch
    if len(items) > MAX_BATCH:
        raise BatchTooLarge(f"A batch holds at most {MAX_BATCH} messages (got {len(items)}).")
    if app.mta is None:
        raise SendUnavailable
    outcomes = await service.send_batch(app, call.caller(), await _convert(call, wire.to_requests, items))
    return HttpResponse(await _convert(call, wire.batch_answer, outcomes))


async def _convert(call: Call, convert: Callable[[T], R], value: T) -> R:
    """Convert a value; with a large body in a thread, because it would block the event loop."""
    return await asyncio.to_thread(convert, value) if len(call.raw_body) > INLINE_BYTES else convert(value)


async def _find_result(app: App, call: Call, request_id: UUID) -> HttpResponse | None:
    accepted = await recovery.find_sent(app, request_id)
    return HttpResponse(wire.sent_message(accepted[0])) if accepted else None


async def _find_batch_result(app: App, call: Call, request_id: UUID) -> HttpResponse | None:
    accepted = await recovery.find_sent(app, request_id)
    if not accepted:
        return None
    # The remaining messages get the ID of the interrupted request, so that the next retry finds them too.
    who = replace(call.caller(), request_id=request_id)
    items = await _convert(call, wire.to_requests, call.body.messages)
    return HttpResponse(await _convert(call, wire.batch_answer, await recovery.resume_batch(app, who, items, accepted)))


def body_limit(settings: Settings) -> int:
    """1.5 times the message size limit, in bytes, for the whole call."""
    return settings.limits.message_size_bytes * 3 // 2


_EXAMPLE = {
    "from": {"email": "hello@example.test", "name": "Example"},
    "to": [{"email": "someone@elsewhere.test"}],
    "subject": "Welcome",
    "text_body": "Good to have you here.",
}

_BY_TEMPLATE = {
    "from": {"email": "hello@example.test"},
    "to": [{"email": "someone@elsewhere.test"}],
    "template_id": "{published_template_id}",
    "variables": {"name": "Ann"},
}

ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/send",
        handler=_send,
        action="send",
        audit="message.send",
        resource="message",
        summary="Send a message",
        description="200 means that the mail transfer agent has accepted the message, or that it is stored until "
        "`scheduled_at` (`status` scheduled); permissions, domain, suppressions and limits are then checked again, and "
        "a message that is not sent has `mail.failed` with the reason. While it restarts, the response "
        "waits up to 10 seconds. If an administrator has stopped it, SEND_FAILED comes at once. "
        "Suppressed recipients get nothing (`status` suppressed); if none is left, the response is "
        "RECIPIENT_SUPPRESSED. With a "
        "`template_id` the published version is rendered with `variables`: each missing one is INVALID_FIELD "
        "`variables.NAME`, a template that was never published CONFLICT `not_published`, an unknown one NOT_FOUND.",
        tag="Sending",
        body=wire.SendBody,
        body_limit=body_limit,
        recover=_find_result,
        data=wire.SentMessage,
        refusals=(
            InvalidSender,
            InvalidRecipient,
            InvalidHeader,
            SenderDomainUnknown,
            DomainInactive,
            ApiKeyDomainScope,
            RecipientSuppressed,
            MailboxSuspended,
            NotFound,
            Conflict,
            SendFailed,
            SendUnavailable,
        ),
        examples=(
            Example(body=_EXAMPLE),
            Example(body=_EXAMPLE | {"html_body": "<p>Good to have you here.</p>", "tags": ["welcome"]}),
            Example(body=_BY_TEMPLATE),
            Example(body=_EXAMPLE | {"scheduled_at": "2026-03-03T09:00:00Z"}),
            Example(body=_EXAMPLE | {"unsubscribe": {"group_id": "{unsubscribe_group_id}"}}),
        ),
    ),
    Endpoint(
        method="POST",
        path="/send/batch",
        handler=_send_batch,
        action="send",
        audit="message.send",
        resource="message",
        summary="Send up to 100 messages",
        description="An error in one message does not affect the others; the response is 200 even if all of them fail. "
        "While the mail transfer agent restarts, the response waits up to 10 seconds in all.",
        tag="Sending",
        body=wire.BatchBody,
        body_limit=body_limit,
        recover=_find_batch_result,
        data=wire.BatchAnswer,
        refusals=(EmptyBatch, BatchTooLarge, SendUnavailable),
        examples=(Example(body={"messages": [_EXAMPLE, _EXAMPLE | {"subject": "Once more"}]}),),
    ),
)
