"""JSON of sending."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, cast
from uuid import UUID

import msgspec
from msgspec import Meta, Struct

from mailkeep.core.errors import Refusal, invalid_field
from mailkeep.features.mailflow.sending.model import AcceptedMessage, AddressInput, AttachmentInput, SendRequest
from mailkeep.features.mailflow.sending.rules import MAX_BATCH, MAX_HEADER_OCTETS, MAX_HEADERS, MAX_RECIPIENTS
from mailkeep.web.fields import DECODE_EACH, MAY_BE_EMPTY, OWN_CODE, Body, MultiLine, Text
from mailkeep.web.string_views import StringView, read_views

OwnCode = Annotated[str, Meta(extra=OWN_CODE)]
MessageIdText = Annotated[str, Meta(max_length=998)]


class AddressBody(Body, frozen=True):
    """An address with its display name."""

    email: Annotated[str, Meta(extra=OWN_CODE, extra_json_schema={"format": "email"})]
    name: Text = ""


class AttachmentBody(Body, frozen=True):
    """A file to attach; with `content_id` and `disposition` inline, an image that the html shows as `cid:…`."""

    filename: Text
    content_type: Text
    content: Annotated[
        Any,
        Meta(
            extra=MAY_BE_EMPTY,
            extra_json_schema={"type": "string", "contentEncoding": "base64"},
            description="Base64 of the file.",
        ),
    ]
    content_id: Text = ""
    disposition: Literal["attachment", "inline"] = "attachment"


class UnsubscribeBody(Body, frozen=True):
    """List-Unsubscribe (RFC 2369) and its one-click form (RFC 8058)."""

    url: Text = ""
    mailto: Text = ""
    one_click: bool = False


class UnsubscribeGroupBody(Body, frozen=True):
    """The unsubscribe group of the message: adds List-Unsubscribe with a link for its only recipient (RFC 8058)."""

    group_id: UUID


class SendBody(Body, frozen=True, rename={"sender": "from"}):
    """A message to send; at least one of text_body and html_body, or a template_id. Fields that are given take
    precedence over the template's.
    """

    one_of: ClassVar[tuple[str, ...]] = ("text_body", "html_body", "template_id")
    required_without: ClassVar[Mapping[str, str]] = {"subject": "template_id"}
    total: ClassVar[tuple[tuple[str, ...], int] | None] = (("to", "cc", "bcc"), MAX_RECIPIENTS)

    sender: AddressBody
    to: list[AddressBody]
    subject: Annotated[str, Meta(max_length=2000, description="Required without template_id.")] = ""
    cc: list[AddressBody] = []
    bcc: list[AddressBody] = []
    reply_to: AddressBody | None = None
    text_body: MultiLine | None = None
    html_body: MultiLine | None = None
    attachments: Annotated[list[AttachmentBody], Meta(max_length=500)] = []
    headers: Annotated[
        Any,
        Meta(
            extra_json_schema={"type": "object", "additionalProperties": {"type": "string"}},
            description="Custom headers; every key starts with `X-`. At most 200, with 64 KiB of names and values.",
        ),
    ] = None
    in_reply_to: MessageIdText = ""
    references: Annotated[list[MessageIdText], Meta(max_length=100)] = []
    list_unsubscribe: UnsubscribeBody | None = None
    template_id: Annotated[UUID, Meta(description="A template: its published version is sent.")] | None = None
    variables: Annotated[
        Any,
        Meta(
            extra_json_schema={"type": "object"},
            description="Values of the template's variables: an object, nested for dotted names; at most 256 KiB.",
        ),
    ] = None
    unsubscribe: UnsubscribeGroupBody | None = None
    tags: Annotated[list[Annotated[str, Meta(min_length=1, max_length=100)]], Meta(max_length=10)] = []
    metadata: Annotated[dict[Annotated[str, Meta(min_length=1, max_length=100)], Text], Meta(max_length=20)] = {}
    scheduled_at: Annotated[
        datetime | None,
        Meta(description="When to send, with a UTC offset, at most 30 days ahead. Up to 60 s in the past means now."),
    ] = None


class BatchBody(Body, frozen=True):
    """1 to 100 messages. An error in one does not affect the others."""

    messages: Annotated[
        list[Any],
        Meta(
            extra=MAY_BE_EMPTY | {DECODE_EACH: (SendBody, MAX_BATCH)},
            extra_json_schema={"items": {"$ref": "#/components/schemas/SendBody"}},
        ),
    ]


class SentRecipient(Struct, frozen=True):
    """A recipient and its first status."""

    address: str
    status: str


class SentMessage(Struct, frozen=True):
    """A message that was accepted for delivery; `message_id` is the Message-ID header's value."""

    message_id: str
    id: UUID
    status: str
    recipients: list[SentRecipient]


class BatchResult(Struct, frozen=True, omit_defaults=True):
    """The outcome of the message at `index`: `message_id`, `id`, `status` and `recipients`, or `error`, `code` and
    `details`.
    """

    index: int
    message_id: str | None = None
    id: UUID | None = None
    status: str | None = None
    recipients: list[SentRecipient] | None = None
    error: str | None = None
    code: str | None = None
    details: dict[str, Any] | None = None


class BatchAnswer(Struct, frozen=True):
    """The results in the order of the messages, and their counts."""

    total: int
    succeeded: int
    failed: int
    results: list[BatchResult]


def to_request(body: SendBody) -> SendRequest:
    """The message of a request body. INVALID_FIELD for the content of an attachment or `variables` of another type."""
    return SendRequest(
        sender=_address(body.sender),
        to=[_address(each) for each in body.to],
        cc=[_address(each) for each in body.cc],
        bcc=[_address(each) for each in body.bcc],
        reply_to=_address(body.reply_to) if body.reply_to else None,
        subject=body.subject,
        text_body=body.text_body or None,
        html_body=body.html_body or None,
        attachments=[_attachment(index, each) for index, each in enumerate(body.attachments)],
        headers=_headers(body.headers),
        in_reply_to=body.in_reply_to,
        references=body.references,
        unsubscribe=msgspec.structs.asdict(body.list_unsubscribe) if body.list_unsubscribe else None,
        tags=body.tags,
        metadata=body.metadata,
        template_id=body.template_id,
        variables=_variables(body),
        scheduled_at=body.scheduled_at,
        unsubscribe_group=body.unsubscribe.group_id if body.unsubscribe else None,
    )


def to_requests(items: Sequence[SendBody | Refusal]) -> list[SendRequest | Refusal]:
    """The messages of a batch; an invalid one is replaced by its refusal."""
    return [_to_request_or_refusal(item) for item in items]


def _to_request_or_refusal(item: SendBody | Refusal) -> SendRequest | Refusal:
    if isinstance(item, Refusal):
        return item
    try:
        return to_request(item)
    except Refusal as refusal:
        return refusal


def _address(body: AddressBody) -> AddressInput:
    return AddressInput(body.email, body.name)


def _variables(body: SendBody) -> dict[str, Any]:
    """The values for the template. INVALID_FIELD if they are no object, or without a template."""
    variables: Any = body.variables
    if variables is None:
        return {}
    if not isinstance(variables, dict):
        raise invalid_field("variables", "must be an object")
    if body.template_id is None:
        raise invalid_field("variables", "needs a template_id")
    return read_views(cast(dict[str, Any], variables))


def _headers(headers: Any) -> Any:
    if not isinstance(headers, dict):
        return headers
    values = cast(dict[str, Any], headers)
    if len(values) > MAX_HEADERS:
        return values  # not decoded: `rules.check_headers` refuses more than MAX_HEADERS
    return {name: _header_text(value) if isinstance(value, StringView) else value for name, value in values.items()}


def _header_text(value: StringView) -> str:
    # A JSON string takes at most six bytes (one escape) for each octet of its text: a longer one is over the limit.
    return value.text() if len(value) <= 6 * MAX_HEADER_OCTETS else " " * (MAX_HEADER_OCTETS + 1)


def _attachment(index: int, body: AttachmentBody) -> AttachmentInput:
    content = body.content
    if isinstance(content, StringView):
        data: bytes | memoryview = content.raw if content.plain else content.text().encode()
    elif isinstance(content, str):
        data = content.encode()
    else:
        raise invalid_field(f"attachments[{index}].content", "must be a string")
    inline = body.disposition == "inline"
    return AttachmentInput(body.filename, body.content_type, data, body.content_id, inline)


def sent_message(accepted: AcceptedMessage) -> SentMessage:
    """The JSON of an accepted message."""
    recipients = [SentRecipient(address, status) for address, status in accepted.recipients]
    return SentMessage(accepted.message_id, accepted.id, accepted.status, recipients)


def batch_answer(outcomes: list[AcceptedMessage | Refusal]) -> BatchAnswer:
    """The JSON of a batch's outcomes."""
    results = [_result(index, outcome) for index, outcome in enumerate(outcomes)]
    failed = sum(isinstance(outcome, Refusal) for outcome in outcomes)
    return BatchAnswer(len(outcomes), len(outcomes) - failed, failed, results)


def _result(index: int, outcome: AcceptedMessage | Refusal) -> BatchResult:
    if isinstance(outcome, Refusal):
        details = dict(outcome.details) if outcome.details else None
        return BatchResult(index=index, error=outcome.message, code=outcome.code, details=details)
    return BatchResult(index=index, **msgspec.structs.asdict(sent_message(outcome)))
