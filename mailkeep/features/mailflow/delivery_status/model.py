"""Mail on its way through Postfix, as its log tells of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from msgspec import Meta, field as struct_field

from mailkeep.features.record.events.model import (
    DomainName,
    EventPayload,
    FromAddress,
    Kind,
    MessageIdHeader,
    OptionalQueueId,
    SubjectText,
)
from mailkeep.features.record.messages.model import ServerReply

AttemptStatus = Literal["delivered", "relayed", "deferred", "bounced"]
Origin = Literal["api", "submission", "inbound", "reinjection"]
"""Which port mail came in by: the API's, mail clients', other servers', Dovecot's."""
QueueExit = Literal["done", "expired", "deleted", "refused"]
"""How a message left the queue: `done` (each recipient has its line), given up, deleted by an operator, or it never
came in.
"""


@dataclass(frozen=True, slots=True)
class RetryIntervals:
    """Postfix's `minimal_backoff_time` and `maximal_backoff_time`."""

    minimum: timedelta
    maximum: timedelta


@dataclass(frozen=True, slots=True)
class LoggedAttempt:
    """A try to deliver to `recipient`, which is what `asked` became; they are the same without an alias.

    `next_at`: when what was deferred is due again. `to_server`: it was a try of another mail server, by SMTP or through
    a relay.
    `hidden`: `recipient` lies behind an alias or forward of a domain whose settings the domain of the message may not
    see, so that only `asked` is shown of it. `forwarded_by`: the name of the domain that passes incoming mail on to
    `recipient`, where that is not the domain of `asked`; empty if it is not known.
    """

    original_recipient: str
    recipient: str
    status: AttemptStatus
    reply: ServerReply
    at: datetime
    next_attempt_at: datetime | None = None
    is_remote: bool = False
    is_hidden: bool = False
    forwarding_domain: str | None = None


@dataclass(frozen=True, slots=True)
class ExpandedRecipient:
    """The last try for one of the addresses that an alias led to, and how many there were."""

    last_attempt: LoggedAttempt
    attempts: int


@dataclass(frozen=True, slots=True)
class TrackedMessage:
    """What is known of a message that has not ended.

    `expected` counts the recipients in the queue, aliases expanded, `recipients` those that the message has (`noted`:
    all of them are known); `told` are the aliases among these whose fate is told. `sender` and `size` (bytes) are the
    queue's. Mail that is passed on has a message for each domain that passes it on, by the domain's name (`passed_on`),
    and no `message_id`.
    """

    queue_id: str
    origin: Origin
    first_seen_at: datetime
    login: str | None = None
    header_id: str = ""
    head: Mapping[str, str] = field(default_factory=dict[str, str])
    sender: str = ""
    size: int = 0
    message_id: UUID | None = None
    queue_recipients: int | None = None
    original_recipients: int = 0
    envelope_known: bool = False
    expanded_recipients: tuple[ExpandedRecipient, ...] = ()
    settled_aliases: tuple[str, ...] = ()
    forwarded_messages: Mapping[str, UUID] = field(default_factory=dict[str, UUID])

    @property
    def is_forwarded(self) -> bool:
        """Whether nobody sent it from here, and it is followed for what goes on to the outside."""
        return self.origin in ("inbound", "reinjection")


@dataclass(frozen=True, slots=True)
class LogUpdate:
    """What a piece of the log tells of one message: what is known with it, the tries in it, and its end, if it came.

    `held`: an operator has put it on hold, and nothing of it was tried after that.
    """

    mail: TrackedMessage
    attempts: tuple[LoggedAttempt, ...] = ()
    end: QueueExit | None = None
    held: bool = False


@dataclass(frozen=True, slots=True)
class SubmissionEnvelope:
    """The envelope of a message that a mail client handed in, as the policy agent saw it."""

    queue_id: str
    login: str
    sender: str
    recipients: list[str]
    client: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class LogPosition:
    """How far a file of a log is read: by inode and SHA-256 of its first line, in bytes."""

    inode: int
    first_line: bytes
    read_to: int


@dataclass(frozen=True, slots=True)
class MissingMessage:
    """A message that should be in the queue, or have ended, and is neither."""

    id: UUID
    queue_id: str


class SystemAlert(EventPayload, frozen=True, kw_only=True):
    """An operator should have a look: `outcome_unknown`, when the outcome of a message cannot be determined."""

    kind: ClassVar[Kind] = "system.alert"
    example: ClassVar[Mapping[str, Any]] = {
        "alert": "outcome_unknown",
        "message_id": "<0199a1b2-51f0-7c3d-9e41-0d8f6c1b2a37@example.com>",
        "from": "shop@example.com",
        "to": ["customer@elsewhere.example"],
        "domain": "example.com",
        "subject": "Your order",
        "queue_id": "4f1XyZ2kQbz3v",
        "reason": "Its log was lost.",
    }

    alert: Annotated[str, Meta(description="The subject of the alert: `outcome_unknown`.")]
    message_id: MessageIdHeader
    from_: FromAddress = struct_field(name="from")
    to: Annotated[list[str], Meta(description="The recipients in question.")]
    domain: DomainName
    subject: SubjectText
    queue_id: OptionalQueueId
    reason: Annotated[str, Meta(description="Why, in words.")]
