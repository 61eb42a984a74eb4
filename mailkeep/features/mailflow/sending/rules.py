"""The checks of a message to send, and the errors for what the MTA answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from mailkeep.core.address import MAX_DOMAIN_OCTETS, Address, AddressError, parse_address
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
from mailkeep.core.principal import Principal
from mailkeep.features.mailflow.abuse.model import ExternalCopies
from mailkeep.features.mailflow.sending.model import (
    AddressInput,
    AttachmentInput,
    SenderDomain,
    SendRequest,
    SubmissionResult,
)
from mailkeep.features.record.messages.model import Message
from mailkeep.mail.message.attachments import OutgoingAttachment, check_content_id, check_content_type, clean_file_name
from mailkeep.mail.message.base64_content import Base64, Base64Error
from mailkeep.mail.message.compose import OutgoingMessage
from mailkeep.mail.message.headers import MailboxAddress, check_header_name, check_header_value
from mailkeep.mail.message.unsubscribe import Unsubscribe
from mailkeep.mail.smtp.client import AcceptedSubmission, ConnectionLost, SmtpRefusal

MAX_BATCH = 100
MAX_RECIPIENTS = 1000
MAX_HEADERS = 200
MAX_HEADER_OCTETS = 64 << 10
"""The size of the names and values of all custom headers, in UTF-8."""
_MANY_RECIPIENTS = 100
_RECIPIENTS_AT_ONCE = 1000
_MUCH_CONTENT = 256 << 10
_HEADER = 400  # bytes of a body that take as long to compose as a header field
_BEFORE_ANY_MESSAGE = ("connect", "greeting", "ehlo", "tls", "login")


def parse_sender(request: SendRequest) -> MailboxAddress:
    """The sender, parsed: the address that is checked is the one in the message. INVALID_SENDER."""
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
        raise DomainInactive
    if not domain.sending_enabled:
        raise DomainInactive("Sending is disabled for the domain.", reason="sending_disabled")
    return domain


def refuse_lower_rank(who: Principal, owner_rank: int | None) -> None:
    """FORBIDDEN if the sender's address belongs to an administrator of a higher rank than the caller's."""
    if owner_rank is not None and owner_rank > who.role.rank:
        raise Forbidden("The sender's address belongs to an administrator of higher rank.", reason="higher_rank")


def parse_recipients(field: str, named: Iterable[AddressInput]) -> list[MailboxAddress]:
    """The mailboxes of a recipient field; INVALID_RECIPIENT names the field and position of the first error."""
    return [_mailbox(field, index, each) for index, each in enumerate(named)]


def parse_reply_to(named: AddressInput | None) -> MailboxAddress | None:
    """The Reply-To mailbox, if there is one."""
    return None if named is None else _mailbox("reply_to", None, named)


def _mailbox(field: str, index: int | None, named: AddressInput) -> MailboxAddress:
    try:
        return MailboxAddress(parse_address(named.email, min_labels=2), named.name)
    except AddressError as error:
        at = field if index is None else f"{field}[{index}]"
        raise InvalidRecipient(f"{at}.email: {error.reason}.", field=field, index=index) from error


def envelope(recipients: Iterable[MailboxAddress]) -> list[Address]:
    """Each recipient once, compared by its routing key. Decoding limits their number (`MAX_RECIPIENTS`)."""
    return list({mailbox.address.key: mailbox.address for mailbox in recipients}.values())


def refuse_expansion(beyond: ExternalCopies, request: SendRequest, limit: int) -> InvalidRecipient:
    """INVALID_RECIPIENT for a recipient with which a message has too many external copies."""
    for field, named in (("to", request.to), ("cc", request.cc), ("bcc", request.bcc)):
        for index, each in enumerate(named):
            if f"{(found := parse_address(each.email)).local_part}@{found.domain}" == beyond.address:
                text = f"{field}[{index}].email: {beyond.address} forwards the message to too many external recipients"
                more = f"(at most {limit} for one message, limits.external_expansion)."
                return InvalidRecipient(f"{text} {more}", field=field, index=index, reason="expansion_limit")
    raise AssertionError(f"{beyond.address} is no recipient of the message")


def check_headers(headers: Any) -> dict[str, str]:
    """Custom headers, checked. INVALID_HEADER; VALIDATION_ERROR if they are no object."""
    if headers is None:
        return {}
    if not isinstance(headers, dict):
        raise invalid_field("headers", "must be an object")
    fields = cast(dict[str, Any], headers)
    if len(fields) > MAX_HEADERS:
        raise InvalidHeader(f"headers must have at most {MAX_HEADERS} fields (got {len(fields)}).", limit=MAX_HEADERS)
    checked: dict[str, str] = {}
    seen: set[str] = set()
    left = MAX_HEADER_OCTETS
    for name, value in fields.items():
        check_header_name(name)
        if not isinstance(value, str):
            raise InvalidHeader("A header's value must be a string.", header=name)
        left -= len(name) + len(value.encode("utf-8", "surrogatepass"))
        if left < 0:
            raise InvalidHeader(
                f"headers must have at most {MAX_HEADER_OCTETS} octets of names and values together.",
                limit_octets=MAX_HEADER_OCTETS,
            )
        check_header_value(name, value)
        if name.lower() in seen:
            raise InvalidHeader("A header is given twice.", header=name)
        seen.add(name.lower())
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
        content += len(each.text_body or "") + len(each.html_body or "") + len(each.headers or ()) * _HEADER
        content += sum(len(attached.content) + _HEADER for attached in each.attachments)
    return recipients > _MANY_RECIPIENTS or content > _MUCH_CONTENT


def split_batch(requests: Sequence[SendRequest | Refusal]) -> Iterator[Sequence[SendRequest | Refusal]]:
    """The messages in order, in groups of at most 1,000 recipients (or one message), each recorded by one statement."""
    start = recipients = 0
    for place, each in enumerate(requests):
        more = 0 if isinstance(each, Refusal) else len(each.to) + len(each.cc) + len(each.bcc)
        if recipients + more > _RECIPIENTS_AT_ONCE and place > start:
            yield requests[start:place]
            start, recipients = place, 0
        recipients += more
    yield requests[start:]


def outgoing(
    message: UUID, at: datetime, request: SendRequest, sender: MailboxAddress, boxes: Sequence[list[MailboxAddress]]
) -> OutgoingMessage:
    """The message to compose; `boxes` are to, cc and bcc. Checks reply_to, headers and attachments, in this order."""
    to, cc, bcc = boxes
    reply_to = parse_reply_to(request.reply_to)
    headers = check_headers(request.headers)
    attachments = [check_attachment(index, each) for index, each in enumerate(request.attachments)]
    return OutgoingMessage(
        sender=sender,
        to=to,
        cc=cc,
        bcc=bcc,
        reply_to=reply_to,
        subject=request.subject,
        message_id=f"<{message}@{sender.address.domain}>",
        date=at,
        text_body=request.text_body,
        html_body=request.html_body,
        attachments=attachments,
        headers=headers,
        in_reply_to=request.in_reply_to,
        references=request.references,
        list_unsubscribe=None if request.unsubscribe is None else Unsubscribe(**request.unsubscribe),
    )


def refuse_too_large(size: int, limit: int) -> None:
    """PAYLOAD_TOO_LARGE over the size limit in bytes: headers, bodies, and base64 without its line breaks."""
    if size > limit:
        raise PayloadTooLarge(f"The message has {size} bytes; at most {limit} are allowed.", limit=limit, size=size)


def first_status(mode: str) -> str:
    """The status of an accepted recipient: `relayed` by a smarthost, which reports no delivery; else `queued`."""
    return "relayed" if mode == "smtp" else "queued"


def is_relay_failure(result: SubmissionResult) -> bool:
    """Whether the MTA failed in a way that is not about the message: the next one would fail alike."""
    if isinstance(result, SmtpRefusal):
        return result.stage in _BEFORE_ANY_MESSAGE or result.reply.code == 421
    return isinstance(result, ConnectionLost)


def failure_status(result: SmtpRefusal | ConnectionLost) -> tuple[str, str]:
    """The status of a failed attempt, and the reason: `failed` if the message was refused, `lost`, or `unknown`."""
    if isinstance(result, SmtpRefusal):
        return ("lost" if result.stage in _BEFORE_ANY_MESSAGE else "failed"), str(result.reply)
    return ("unknown" if result.submitted == "unknown" else "lost"), str(result)


def submission_refusal(result: SmtpRefusal | ConnectionLost) -> SendFailed | Unavailable:
    """SEND_FAILED: `details.submitted` is `no` or `unknown`; `reason` is `relay` if it is not about the message.

    UNAVAILABLE if the MTA's disk is full (452 4.3.1, RFC 3463 §3.4). If the MTA replied, the details have `smtp_code`,
    `enhanced_code` and `diagnostic`, and `recipients` if it refused all of them.
    """
    if isinstance(result, ConnectionLost):
        if result.submitted == "unknown":
            return SendFailed("The connection was lost before the mail transfer agent answered.", submitted="unknown")
        return SendFailed("The mail transfer agent can't be reached.", submitted="no", reason="relay")
    reply = result.reply
    details: dict[str, Any] = {
        "submitted": "no",
        "smtp_code": reply.code,
        "enhanced_code": reply.enhanced,
        "diagnostic": reply.text,
    }
    if (reply.code, reply.enhanced) == (452, "4.3.1"):
        return Unavailable(f"The mail transfer agent has no free disk space: {reply}", retry_after=30, **details)
    if result.stage in _BEFORE_ANY_MESSAGE:
        return SendFailed(
            f"The mail transfer agent accepts no mail from this server: {reply}", reason="relay", **details
        )
    if result.rejected:
        details["recipients"] = [
            {"address": address, "smtp_code": said.code, "enhanced_code": said.enhanced, "diagnostic": said.text}
            for address, said in result.rejected.items()
        ]
    return SendFailed(f"The mail transfer agent refused the message: {reply}", **details)


def unrecorded_refusal(results: Sequence[tuple[Message, SubmissionResult]]) -> Unavailable:
    """UNAVAILABLE after the submission: `submitted` is yes, no, unknown or partly; `message_ids` the accepted."""
    states = {_submission_state(result) for _, result in results}
    return Unavailable(
        "The database went away while the message was sent. Do not send it again if it is submitted.",
        submitted=states.pop() if len(states) == 1 else "partly",
        message_ids=[message.message_id for message, result in results if isinstance(result, AcceptedSubmission)],
    )


def _submission_state(result: SubmissionResult) -> str:
    if isinstance(result, AcceptedSubmission):
        return "yes"
    return result.submitted if isinstance(result, ConnectionLost) else "no"
