"""An inbound message, its delivery, and the events that show its content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from msgspec import Meta, Struct, field

from mailkeep.features.directory.routing.model import Route
from mailkeep.features.mailflow.filtering.model import DecidedBy
from mailkeep.features.record.events.model import (
    DomainName,
    EventPayload,
    FromAddress,
    Kind,
    MessageIdHeader,
    QueueId,
    SizeInBytes,
    SpamAction,
    SpamScore,
    SubjectText,
)
from mailkeep.features.record.messages.model import Message, MessageDomain, Source
from mailkeep.mail.message.header_fields import MessageHeader
from mailkeep.mail.message.parse import UnparsableMessage
from mailkeep.mail.message.parse_process import ParsedMessage

ReceiveOutcome = Literal[
    "deliver", "mailbox_full", "message_too_large", "unknown_user", "refused", "report_refused", "report_deferred"
]
"""The result of a delivery: to at least one destination, or why to none."""


@dataclass(frozen=True, slots=True)
class InboundMail:
    """A message for recipients whose routes are `deliver` or `bounce`. Each call of `content` reads it from the start.

    `trace`: the Received field to prepend (RFC 5321 §4.4), with its CRLF. `client_address`: of the SMTP client.
    """

    queue_id: str
    mail_from: str
    recipients: Sequence[tuple[str, Route]]
    head: MessageHeader
    size: int
    content: Callable[[], Iterable[bytes]]
    source: Source
    trace: bytes = b""
    client_address: str = ""


@dataclass(frozen=True, slots=True)
class TargetMailbox:
    """A mailbox to deliver to; `publishes_full_mail`: a webhook of its domain subscribes to `mail.received.full`."""

    mailbox_id: UUID
    domain_id: UUID
    domain_name: str
    quota_bytes: int
    used_bytes: int
    publishes_full_mail: bool

    def is_full(self, size: int) -> bool:
        """Whether a message of `size` bytes exceeds the quota; `quota_bytes` 0: no quota."""
        return 0 < self.quota_bytes < self.used_bytes + max(size, 1)


@dataclass(frozen=True, slots=True)
class SpamVerdict:
    """What was decided about a copy of a message. `score` and `symbols`: of the filter, None and empty without one.
    `action` in Rspamd's words: `no action` (inbox), `add header` (Junk), `reject`. `decided_by`: None if no rule did.
    """

    score: float | None
    action: Literal["no action", "add header", "reject"]
    symbols: Sequence[str] = ()
    decided_by: DecidedBy | None = None

    @property
    def is_spam(self) -> bool:
        """Whether it belongs in the Junk folder, or is refused."""
        return self.action != "no action"


@dataclass(frozen=True, slots=True)
class MailboxCopy:
    """A message to record for one mailbox: its row, the recipients that lead there, and the parsed message if a webhook
    subscribes to `mail.received.full`.
    """

    mail: InboundMail
    message: Message
    rcpt_to: Sequence[str]
    verdict: SpamVerdict
    parsed: ParsedMessage | UnparsableMessage | None


@dataclass(frozen=True, slots=True)
class RefusedCopy:
    """A copy that is refused as spam: by a mailbox, or by a domain that would forward it, for these recipients."""

    domain: MessageDomain
    recipients: Sequence[str]
    verdict: SpamVerdict
    mailbox_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class QueuedForward:
    """An external copy that the MTA has not accepted yet; `attempts`: the number of attempts so far."""

    queue_id: str
    recipient: str
    mail_from: str
    attempts: int


@dataclass(frozen=True, slots=True)
class Denial:
    """Why a recipient is refused at RCPT. `mailbox_id`: the only mailbox that it leads to, if it leads to one."""

    decided_by: DecidedBy
    mailbox_id: UUID | None


@dataclass(frozen=True, slots=True)
class RejectedRecipient:
    """A recipient refused at SMTP with its reply; `client` is the IP address of the SMTP client. `denial`: the deny
    entry that refuses it, None if none does.
    """

    client: str
    mail_from: str
    rcpt_to: str
    smtp_code: int
    enhanced_code: str
    text: str
    denial: Denial | None = None


class EventAddress(Struct, frozen=True):
    """An address in a header."""

    name: str
    email: str


class EventAttachment(Struct, frozen=True):
    """An attachment."""

    filename: str | None
    content_type: str
    size: int
    content_base64: str | None


class EventEnvelope(Struct, frozen=True):
    """The SMTP envelope; `rcpt_to` before aliases are expanded."""

    mail_from: str
    rcpt_to: list[str]


class MailReceivedFull(EventPayload, frozen=True, kw_only=True):
    """The same as `mail.received`, with the parsed message: emitted while a webhook subscribes to it (`*` does)."""

    kind: ClassVar[Kind] = "mail.received.full"
    example: ClassVar[Mapping[str, Any]] = {
        "message_id": "<CAF7b2q@elsewhere.example>",
        "from": {"name": "Jane", "email": "jane@elsewhere.example"},
        "to": [{"name": "", "email": "sales@example.com"}],
        "cc": [],
        "reply_to": None,
        "subject": "Hello",
        "body_text": "See the picture.\n",
        "body_html": None,
        "attachments": [
            {"filename": "dot.gif", "content_type": "image/gif", "size": 6, "content_base64": "R0lGODlh"},
        ],
        "headers": {"From": "Jane <jane@elsewhere.example>", "Received": ["from a by b", "from c by a"]},
        "envelope": {"mail_from": "jane@elsewhere.example", "rcpt_to": ["sales@example.com"]},
        "domain": "example.com",
        "size": 2310,
        "spam_score": 0.4,
        "spam_action": "no action",
        "queue_id": "4f1XyZ2kR1z3w",
        "truncated": False,
    }

    message_id: MessageIdHeader
    from_: Annotated[EventAddress, Meta(description="The address in its From field: `name`, `email`.")] = field(
        name="from"
    )
    to: Annotated[list[EventAddress], Meta(description="`name` and `email` of each address in its To field.")]
    cc: Annotated[list[EventAddress], Meta(description="`name` and `email` of each address in its Cc field.")]
    reply_to: Annotated[EventAddress | None, Meta(description="Its Reply-To address, if it has one.")]
    subject: SubjectText
    body_text: Annotated[str | None, Meta(description="Its text, if it has one.")]
    body_html: Annotated[str | None, Meta(description="Its HTML as received: not sanitized.")]
    attachments: Annotated[
        list[EventAttachment], Meta(description="`filename`, `content_type`, `size` and `content_base64` of each.")
    ]
    headers: Annotated[
        dict[str, str | list[str]] | None, Meta(description="All header fields by name; a list if a field is repeated.")
    ]
    envelope: Annotated[EventEnvelope, Meta(description="`mail_from`, and `rcpt_to` before aliases are expanded.")]
    domain: DomainName
    size: SizeInBytes
    spam_score: SpamScore
    spam_action: SpamAction
    queue_id: QueueId
    truncated: Annotated[bool, Meta(description="Content is left out: it is over 25 MB, or no longer stored (3 days).")]
    parse_error: Annotated[str | None, Meta(description="Why the message could not be parsed; null if it was.")] = None


class MailSpam(EventPayload, frozen=True, kw_only=True):
    """An inbound message is spam: it is in its mailbox's Junk folder (`mail.received` is emitted too), or was refused
    (`spam_action` `reject`), once for each recipient then.
    """

    kind: ClassVar[Kind] = "mail.spam"
    example: ClassVar[Mapping[str, Any]] = {
        "message_id": "<CAF7b2q@elsewhere.example>",
        "from": "jane@elsewhere.example",
        "domain": "example.com",
        "spam_score": 12.1,
        "spam_action": "add header",
        "decided_by": {"scope": "domain", "rule": "junk_score", "entry_id": None},
    }

    message_id: MessageIdHeader
    from_: FromAddress = field(name="from")
    domain: DomainName
    spam_score: SpamScore
    spam_action: SpamAction
    decided_by: Annotated[DecidedBy | None, Meta(description="Whose rule decided, as in the history.")] = None
