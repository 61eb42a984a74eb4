"""Messages in Postfix's queue as its log shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from mailkeep.features.record.messages.model import Message, ServerReply

AttemptStatus = Literal["delivered", "relayed", "deferred", "bounced"]
Origin = Literal["api", "submission", "inbound", "reinjection", "returned"]
"""The port on which mail arrived: of the API, mail clients, other servers, Dovecot, the lmtp agent."""
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
        return self.origin in ("inbound", "reinjection", "returned")


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
    """The envelope of a message that a client submitted, from the policy requests or, with an API key, from the milter.

    `message`: the row for the history of a message with an API key, as it is before Postfix has accepted it.
    `idempotency_key`: the one that the message claims, with the digest of what was submitted.
    """

    queue_id: str
    login: str
    sender: str
    recipients: list[str]
    client: str
    created_at: datetime
    message: Message | None = None
    idempotency_key: str | None = None
    body_hash: bytes | None = None


Begun = Literal["counted", "present", "pending", "replayed", "mismatch"]
"""Whether a submission is counted now, was before (`present`), or is that of a claimed Idempotency-Key: `pending` until
Postfix's log decides, `replayed` after its acceptance, `mismatch` if it was another message.
"""


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
