"""Messages in Postfix's queue as its log shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from msgspec import Meta, field as struct_field

from mailkeep.features.record.events.model import (
    EventPayload,
    Kind,
    OptionalQueueId,
)
from mailkeep.features.record.messages.model import ServerReply

AttemptStatus = Literal["delivered", "relayed", "deferred", "bounced"]
Origin = Literal["api", "submission", "inbound", "reinjection"]
"""The port on which mail arrived: of the API, mail clients, other servers, Dovecot."""
QueueExit = Literal["done", "expired", "deleted", "refused"]
"""How a message left the queue: `done` (each recipient has its line), given up, deleted by an operator, or refused
before it was queued.
"""


@dataclass(frozen=True, slots=True)
class RetryIntervals:
    """Postfix's `minimal_backoff_time` and `maximal_backoff_time`."""

    minimum: timedelta
    maximum: timedelta


@dataclass(frozen=True, slots=True)
class LoggedAttempt:
    """An attempt to deliver to `recipient`, which differs from `original_recipient` behind an alias or forward.

    `is_remote`: by SMTP to another server or through a relay. `is_hidden`: the domain of the message may not see the
    alias or forward, so only `original_recipient` is shown. `forwarding_domain`: the name of the domain that forwards
    incoming mail to `recipient`, if that is not the domain of `original_recipient`; empty if unknown.
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
    """The last attempt for one destination of an alias, and the number of attempts."""

    last_attempt: LoggedAttempt
    attempts: int


@dataclass(frozen=True, slots=True)
class TrackedMessage:
    """The state of a message in the queue, as the log shows it so far.

    `header_id`: the Message-ID field; `head`: other header fields by name. `sender` and `size` (bytes) are the queue's.
    `message_id`: the row in the history; forwarded mail has one for each forwarding domain instead, by its name.
    `queue_recipients` is the number of recipients in the queue, with expanded aliases; `original_recipients` is the
    number in the envelope (`envelope_known`: all of them are known). `decided_aliases` have their outcome.
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
    decided_aliases: tuple[str, ...] = ()
    forwarded_messages: Mapping[str, UUID] = field(default_factory=dict[str, UUID])

    @property
    def is_forwarded(self) -> bool:
        """Whether it is incoming mail, tracked for its external copies."""
        return self.origin in ("inbound", "reinjection")


@dataclass(frozen=True, slots=True)
class LogUpdate:
    """The result of a piece of the log for one message: its state, its attempts, and how it left the queue, if it did.

    `on_hold`: an operator has put it on hold, without an attempt since.
    """

    mail: TrackedMessage
    attempts: tuple[LoggedAttempt, ...] = ()
    end: QueueExit | None = None
    on_hold: bool = False


@dataclass(frozen=True, slots=True)
class SubmissionEnvelope:
    """The envelope of a message that a mail client submitted, from the policy requests."""

    queue_id: str
    login: str
    sender: str
    recipients: list[str]
    client: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class LogPosition:
    """The offset in bytes up to which a log file (identified by inode and SHA-256 of its first line) is read."""

    inode: int
    first_line: bytes
    read_to: int


@dataclass(frozen=True, slots=True)
class MissingMessage:
    """A message with open recipients that is not in the queue; `queue_id` is the last one that the history has."""

    id: UUID
    queue_id: str


class SystemAlert(EventPayload, frozen=True, kw_only=True):
    """Something that an operator should check. `outcome_unknown`: the outcome of a message can't be determined.
    `apply_rolled_back`: an apply of settings did not succeed, and the earlier configuration is in use again.
    `apply_failed`: an apply did not succeed, and the earlier configuration may not be in use.
    """

    kind: ClassVar[Kind] = "system.alert"
    example: ClassVar[Mapping[str, Any]] = {
        "alert": "outcome_unknown",
        "message_id": "<0199a1b2-51f0-7c3d-9e41-0d8f6c1b2a37@example.com>",
        "from": "shop@example.com",
        "to": ["customer@elsewhere.example"],
        "domain": "example.com",
        "subject": "Your order",
        "queue_id": "4f1XyZ2kQbz3v",
        "reason": "The message is no longer in the queue, and the log does not show its outcome",
    }

    alert: Annotated[
        str, Meta(description="The kind of alert: `outcome_unknown`, `apply_rolled_back` or `apply_failed`.")
    ]
    message_id: Annotated[str | None, Meta(description="The Message-ID header of the message.")] = None
    from_: Annotated[str | None, Meta(description="The address of its sender.")] = struct_field(
        name="from", default=None
    )
    to: Annotated[list[str] | None, Meta(description="The recipients without a known outcome.")] = None
    domain: Annotated[str | None, Meta(description="The managed domain that it is from, or for.")] = None
    subject: Annotated[str | None, Meta(description="Its subject, decoded.")] = None
    queue_id: OptionalQueueId = None
    operation_id: Annotated[str | None, Meta(description="The apply: GET /orchestrator/operations/{id}.")] = None
    reason: Annotated[str, Meta(description="Why, in words.")]
