"""The checks of a message to send, and the API errors for failures of the MTA."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID

from mailkeep.core.address import MAX_DOMAIN_OCTETS, Address, AddressError, parse_address
from mailkeep.core.clock import iso
from mailkeep.core.errors import (
    DomainInactive,
    Forbidden,
    InvalidHeader,
    InvalidRecipient,
    InvalidSender,
    PayloadTooLarge,
    Refusal,
    SenderDomainUnknown,
    SendFailed,
    Unavailable,
    invalid_field,
)
from mailkeep.core.principal import Principal, allow_on
from mailkeep.features.mailflow.abuse.model import ExternalCopies
from mailkeep.features.mailflow.sending.model import (
    AddressInput,
    AttachmentInput,
    PreparedMessage,
    SenderDomain,
    SendRequest,
    SubmissionResult,
)
from mailkeep.features.mailflow.templates.model import RenderedMessage
from mailkeep.features.record.messages.model import HeaderSummary, Message, MessageDomain
from mailkeep.features.record.messages.rules import outbound_message
from mailkeep.mail.message.attachments import OutgoingAttachment, check_content_id, check_content_type, clean_file_name
from mailkeep.mail.message.base64_content import Base64, Base64Error
from mailkeep.mail.message.compose import OutgoingMessage
from mailkeep.mail.message.headers import MailboxAddress, check_header_name, check_header_value
from mailkeep.mail.message.unsubscribe import Unsubscribe
from mailkeep.mail.smtp.client import AcceptedSubmission, ConnectionLost, SmtpRefusal

MAX_BATCH = 100
MAX_RECIPIENTS = 1000
MAX_HEADERS = 200
MAX_AHEAD = timedelta(days=30)
"""How far ahead a message can be scheduled."""
_LATE = timedelta(seconds=60)  # a time in the past that means now
MAX_HEADER_OCTETS = 64 << 10
"""The size of the names and values of all custom headers, in UTF-8."""
# What the event loop checks and composes itself; anything larger goes to a thread.
_INLINE_RECIPIENTS = 100
_INLINE_BYTES = 256 << 10
_FIELD_COST = 400  # bytes of a body that take as long to compose as a header field
_GROUP_RECIPIENTS = 1000
_CONNECTION_STAGES = ("connect", "greeting", "ehlo", "tls", "login")  # of SMTP, before the first message


def check_scheduled_at(scheduled_at: datetime, at: datetime) -> datetime | None:
    """The time of a message to schedule; None if it is to be sent now (up to 60 s in the past). INVALID_FIELD."""
    if scheduled_at > at + MAX_AHEAD:
        raise invalid_field("scheduled_at", f"must be at most {MAX_AHEAD.days} days ahead (got {iso(scheduled_at)})")
    if scheduled_at < at - _LATE:
        raise invalid_field("scheduled_at", f"must be in the future (got {iso(scheduled_at)}; now is {iso(at)})")
    return scheduled_at if scheduled_at > at else None


def parse_sender(request: SendRequest) -> MailboxAddress:
    """The sender, parsed. The checks and the message use this same address. INVALID_SENDER."""
    try:
        return MailboxAddress(parse_address(request.sender.email, min_labels=2), request.sender.name)
    except AddressError as error:
        raise InvalidSender(f"from.email: {error.reason}.") from error


def recipient_domains(request: SendRequest) -> set[str]:
    """The domains of a message's unparsed recipients, in lower case."""
    domains = {each.email.rpartition("@")[2].lower() for each in (*request.to, *request.cc, *request.bcc)}
    # PostgreSQL accepts no string with a NUL; such an address is refused when it is parsed.
    return {domain for domain in domains if len(domain) <= MAX_DOMAIN_OCTETS and "\0" not in domain}


def domain_may_send(domain: SenderDomain | None) -> SenderDomain:
    """The sender's domain, if it is managed, active and may send. DOMAIN_NOT_FOUND, DOMAIN_INACTIVE."""
    if domain is None:
        raise SenderDomainUnknown
    if not domain.active:
        raise DomainInactive(f"The domain {domain.name} is inactive. Activate it to send.")
    if not domain.sending_enabled:
        text = f"The domain {domain.name} may not send: its `sending_enabled` is false."
        raise DomainInactive(text, reason="sending_disabled")
    return domain


def check_sender(
    who: Principal, request: SendRequest, domains: Mapping[str, SenderDomain]
) -> tuple[MailboxAddress, SenderDomain]:
    """The sender and its domain, among `domains` by name. INVALID_SENDER, DOMAIN_NOT_FOUND, DOMAIN_INACTIVE, FORBIDDEN,
    API_KEY_DOMAIN_SCOPE.
    """
    sender = parse_sender(request)
    domain = domain_may_send(domains.get(sender.address.key))
    allow_on(who, "send", domain.id)
    refuse_lower_rank(who, domain.owner_rank)
    return sender, domain


def fill_from_template(request: SendRequest, rendered: RenderedMessage) -> SendRequest:
    """The message with what it does not have from its template. A text that was derived from the template's HTML does
    not go with HTML of the message.
    """
    goes_with_html = request.html_body is None or not rendered.text_derived
    return replace(
        request,
        subject=request.subject or rendered.subject,
        text_body=request.text_body or (rendered.text_body if goes_with_html else None),
        html_body=request.html_body or rendered.html_body,
        template_version=rendered.version,
        variables={},
    )


def refuse_lower_rank(who: Principal, owner_rank: int | None) -> None:
    """FORBIDDEN if the sender's address belongs to an administrator of a higher rank than the caller's."""
    if owner_rank is not None and owner_rank > who.rank:
        raise Forbidden("The sender's address belongs to an administrator of higher rank.", reason="higher_rank")


def parse_recipients(field: str, inputs: Iterable[AddressInput]) -> list[MailboxAddress]:
    """The mailboxes of a recipient field; INVALID_RECIPIENT names the field and position of the first error."""
    return [_parse_mailbox(field, index, each) for index, each in enumerate(inputs)]


def _parse_mailbox(field: str, index: int | None, address: AddressInput) -> MailboxAddress:
    try:
        return MailboxAddress(parse_address(address.email, min_labels=2), address.name)
    except AddressError as error:
        path = field if index is None else f"{field}[{index}]"
        raise InvalidRecipient(f"{path}.email: {error.reason}.", field=field, index=index) from error


def envelope(recipients: Iterable[MailboxAddress]) -> list[Address]:
    """Each recipient once, compared by its routing key. Decoding limits their number (`MAX_RECIPIENTS`)."""
    return list({mailbox.address.key: mailbox.address for mailbox in recipients}.values())


def expansion_refusal(copies: ExternalCopies, request: SendRequest, limit: int) -> InvalidRecipient:
    """INVALID_RECIPIENT for the recipient whose external copies exceed the limit of a message."""
    for field, inputs in (("to", request.to), ("cc", request.cc), ("bcc", request.bcc)):
        for index, each in enumerate(inputs):
            address = parse_address(each.email)
            if f"{address.local_part}@{address.domain}" == copies.address:
                text = f"{field}[{index}].email: {copies.address} forwards the message to too many external recipients"
                more = f"(setting limits.external_expansion: at most {limit} for one message)."
                return InvalidRecipient(f"{text} {more}", field=field, index=index, reason="expansion_limit")
    raise AssertionError(f"{copies.address} is no recipient of the message")


def check_headers(headers: Any) -> dict[str, str]:
    """Custom headers, checked. INVALID_HEADER; INVALID_FIELD if they are no object."""
    if headers is None:
        return {}
    if not isinstance(headers, dict):
        raise invalid_field("headers", "must be an object")
    fields = cast(dict[str, Any], headers)
    if len(fields) > MAX_HEADERS:
        raise InvalidHeader(f"headers must have at most {MAX_HEADERS} fields (got {len(fields)}).", limit=MAX_HEADERS)
    checked: dict[str, str] = {}
    lower_names: set[str] = set()
    octets = 0
    for name, value in fields.items():
        check_header_name(name)
        if not isinstance(value, str):
            raise InvalidHeader(f"headers.{name}: must be a string.", header=name)
        octets += len(name) + len(value.encode("utf-8", "surrogatepass"))
        if octets > MAX_HEADER_OCTETS:
            raise InvalidHeader(
                f"headers: names and values must have at most {MAX_HEADER_OCTETS} bytes together (UTF-8).",
                limit_octets=MAX_HEADER_OCTETS,
            )
        check_header_value(name, value)
        if name.lower() in lower_names:
            text = f"headers.{name}: another key differs only in upper and lower case. Use each name once."
            raise InvalidHeader(text, header=name)
        lower_names.add(name.lower())
        checked[name] = value
    return checked


def check_attachment(index: int, request: AttachmentInput) -> OutgoingAttachment:
    """A checked attachment; its content is not copied."""
    field = f"attachments[{index}]"
    name = clean_file_name(f"{field}.filename", request.filename)
    check_content_type(f"{field}.content_type", request.content_type)
    if request.content_id:
        check_content_id(f"{field}.content_id", request.content_id)
    try:
        content = Base64.parse(request.content)
    except Base64Error as error:
        raise invalid_field(f"{field}.content", error.reason) from error
    return OutgoingAttachment(name, request.content_type, content, request.content_id, request.inline)


def is_heavy(requests: Iterable[SendRequest]) -> bool:
    """Whether checking and composing the messages would block the event loop too long."""
    recipients = content = 0
    for each in requests:
        recipients += len(each.to) + len(each.cc) + len(each.bcc)
        content += len(each.text_body or "") + len(each.html_body or "") + len(each.headers or ()) * _FIELD_COST
        content += sum(len(attachment.content) + _FIELD_COST for attachment in each.attachments)
    return recipients > _INLINE_RECIPIENTS or content > _INLINE_BYTES


def split_batch(requests: Sequence[SendRequest | Refusal]) -> Iterator[Sequence[SendRequest | Refusal]]:
    """The messages in order, in groups of at most 1,000 recipients (or one message), each recorded by one statement."""
    start = recipients = 0
    for index, each in enumerate(requests):
        count = 0 if isinstance(each, Refusal) else len(each.to) + len(each.cc) + len(each.bcc)
        if recipients + count > _GROUP_RECIPIENTS and index > start:
            yield requests[start:index]
            start, recipients = index, 0
        recipients += count
    yield requests[start:]


def outgoing(
    message_id: UUID,
    at: datetime,
    request: SendRequest,
    sender: MailboxAddress,
    recipients: tuple[list[MailboxAddress], list[MailboxAddress], list[MailboxAddress]],
) -> OutgoingMessage:
    """The message to compose; `recipients`: to, cc and bcc. Checks reply_to, headers and attachments, in this order."""
    to, cc, bcc = recipients
    reply_to = _parse_mailbox("reply_to", None, request.reply_to) if request.reply_to else None
    headers = check_headers(request.headers)
    attachments = [check_attachment(index, each) for index, each in enumerate(request.attachments)]
    return OutgoingMessage(
        sender=sender,
        to=to,
        cc=cc,
        bcc=bcc,
        reply_to=reply_to,
        subject=request.subject,
        message_id=f"<{message_id}@{sender.address.domain}>",
        date=at,
        text_body=request.text_body,
        html_body=request.html_body,
        attachments=attachments,
        headers=headers,
        in_reply_to=request.in_reply_to,
        references=request.references,
        list_unsubscribe=None if request.unsubscribe is None else Unsubscribe(**request.unsubscribe),
    )


def build_message(who: Principal, prepared: PreparedMessage, at: datetime, index: int) -> Message:
    """The history's row of a message; `index`: its position in the request."""
    outgoing = prepared.outgoing
    sender = prepared.sender.address.text
    header = HeaderSummary(
        outgoing.message_id,
        sender,
        [mailbox.address.text for mailbox in outgoing.to],
        [mailbox.address.text for mailbox in outgoing.cc],
        outgoing.subject,
        prepared.composed.size,
    )
    domain = MessageDomain(prepared.domain.id, prepared.domain.name)
    submitted = [address.text for address in prepared.envelope]
    message = outbound_message(at, "api", domain, header, prepared.mail_from, submitted)
    return replace(
        message,
        recipients=[*message.recipients, *prepared.suppressed],
        id=prepared.id,
        admin_id=who.admin_id,
        api_key_id=who.key_id,
        tags=list(prepared.request.tags),
        metadata=prepared.request.metadata,
        template_id=prepared.request.template_id,
        template_version=prepared.request.template_version,
        unsubscribe_group_id=prepared.request.unsubscribe_group,
        request_id=who.request_id,
        batch_index=index,
    )


def refuse_too_large(size: int, limit: int) -> None:
    """PAYLOAD_TOO_LARGE if a message of `size` bytes (with base64, but not its line breaks) exceeds the limit."""
    if size > limit:
        text = f"The message has {size} bytes; at most {limit} are allowed (setting limits.message_size_bytes)."
        raise PayloadTooLarge(text, limit=limit, size=size)


def first_status(mode: str) -> str:
    """The status of an accepted recipient: `relayed` by a smarthost, which reports no delivery; else `queued`."""
    return "relayed" if mode == "smtp" else "queued"


def is_mta_failure(result: SubmissionResult) -> bool:
    """Whether the MTA failed for a reason other than this message, so that the next one would fail too."""
    if isinstance(result, SmtpRefusal):
        return result.stage in _CONNECTION_STAGES or result.reply.code == 421
    return isinstance(result, ConnectionLost)


def may_pass_with_a_restart(failure: SmtpRefusal | ConnectionLost) -> bool:
    """Whether a restart of Postfix or its milter can be the reason, and the message can be submitted again, because no
    content was sent.
    """
    if failure.stage not in (*_CONNECTION_STAGES, "envelope"):
        return False
    if isinstance(failure, ConnectionLost):
        return not failure.timed_out
    is_milter_away = (failure.reply.code, failure.reply.enhanced) == (451, "4.7.1") and not failure.rejected
    return failure.reply.code == 421 or is_milter_away


def failure_status(result: SmtpRefusal | ConnectionLost, *, is_scheduled: bool = False) -> tuple[str, str]:
    """The status of a failed attempt, and the reason: `failed` if the message was refused, `lost`, or `unknown`. A
    scheduled message is `lost` if it was refused: `mailflow/scheduling` decides whether it waits or fails.
    """
    if isinstance(result, SmtpRefusal):
        is_lost = is_scheduled or result.stage in _CONNECTION_STAGES
        return ("lost" if is_lost else "failed"), str(result.reply)
    return ("unknown" if result.submitted == "unknown" else "lost"), str(result)


def submission_refusal(result: SmtpRefusal | ConnectionLost) -> SendFailed | Unavailable:
    """SEND_FAILED: `details.submitted` is `no` or `unknown`; `reason` is `relay` if the message is not the cause.

    UNAVAILABLE if the MTA's disk is full (452 4.3.1, RFC 3463 §3.4). If the MTA replied, the details have `smtp_code`,
    `enhanced_code` and `diagnostic`, and `recipients` if it refused all of them.
    """
    if isinstance(result, ConnectionLost):
        if result.submitted == "unknown":
            text = (
                "The connection was lost before the mail transfer agent answered: it may have accepted the message. "
                "Check the message's status before sending it again."
            )
            return SendFailed(text, submitted="unknown")
        text = "The mail transfer agent can't be reached or ended the connection. Nothing was sent: try again later."
        return SendFailed(text, submitted="no", reason="relay")
    reply = result.reply
    details: dict[str, Any] = {
        "submitted": "no",
        "smtp_code": reply.code,
        "enhanced_code": reply.enhanced,
        "diagnostic": reply.text,
    }
    if (reply.code, reply.enhanced) == (452, "4.3.1"):
        return Unavailable(f"The mail transfer agent has no free disk space: {reply}", retry_after=30, **details)
    if result.stage in _CONNECTION_STAGES:
        return SendFailed(
            f"The mail transfer agent accepts no mail from this server: {reply}", reason="relay", **details
        )
    if result.rejected:
        details["recipients"] = [
            {"address": address, "smtp_code": each.code, "enhanced_code": each.enhanced, "diagnostic": each.text}
            for address, each in result.rejected.items()
        ]
    return SendFailed(f"The mail transfer agent refused the message: {reply}", **details)


def unrecorded_refusal(results: Sequence[tuple[Message, SubmissionResult]]) -> Unavailable:
    """UNAVAILABLE after the submission. `details.submitted` is `yes`, `no`, `unknown` or `partly`; `message_ids` holds
    the Message-IDs of accepted messages.
    """
    states = {_submission_state(result) for _, result in results}
    return Unavailable(
        "The database became unavailable during the submission. Do not send again what was submitted "
        "(details.submitted, details.message_ids).",
        submitted=states.pop() if len(states) == 1 else "partly",
        message_ids=[message.message_id for message, result in results if isinstance(result, AcceptedSubmission)],
    )


def _submission_state(result: SubmissionResult) -> str:
    if isinstance(result, AcceptedSubmission):
        return "yes"
    return result.submitted if isinstance(result, ConnectionLost) else "no"
