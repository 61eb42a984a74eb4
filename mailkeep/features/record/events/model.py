"""An event: about a message, or the system itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from msgspec import Meta, Struct

MailKind = Literal[
    "mail.sent",
    "mail.delivered",
    "mail.bounced",
    "mail.failed",
    "mail.received",
    "mail.received.full",
    "mail.spam",
]
SystemKind = Literal["system.suspension", "system.alert", "system.webhook_disabled"]
"""Events about the system itself; a subscription to `*` does not include them."""
Kind = Literal[MailKind, SystemKind]


class EventPayload(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The data of one kind of event. Each kind has its class in the feature that emits it, and a place in the catalogue
    (`features/mailflow/webhooks/model`).

    The class docstring says when the event is emitted and `Meta` what a field means: the reference, the OpenAPI
    document and the examples are generated from both. The field types below are shared by several kinds.
    """

    kind: ClassVar[Kind]
    example: ClassVar[Mapping[str, Any]]


MessageIdHeader = Annotated[str, Meta(description="Its Message-ID header.")]
FromAddress = Annotated[str, Meta(description="The address of its sender.")]
DomainName = Annotated[str, Meta(description="The managed domain that it is from, or for.")]
SubjectText = Annotated[str, Meta(description="Its subject, decoded.")]
QueueId = Annotated[str, Meta(description="The mail server's queue ID.")]
OptionalQueueId = Annotated[str | None, Meta(description="The mail server's queue ID, if it has one.")]
SizeInBytes = Annotated[int, Meta(description="Bytes.")]
SpamScore = Annotated[float, Meta(description="The filter's score.")]
SpamAction = Annotated[str, Meta(description="The filter's action, such as `add header`.")]


@dataclass(frozen=True, slots=True)
class Event:
    """An event to emit; `message_id` is the id of the message row."""

    domain_id: UUID | None
    message_id: UUID | None
    payload: EventPayload


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event on record; `tx` is the transaction that wrote it, which orders the feed before the id."""

    id: UUID
    tx: str
    kind: str
    domain_id: UUID | None
    message_id: UUID | None
    data: Mapping[str, Any]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events the feed shows; `domains` are those that the caller may see, None for all."""

    domains: list[UUID] | None
    kind: str | None = None
    domain_id: UUID | None = None
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class FeedStart:
    """Where a reader continues: after the event `after`; an event from before `kept_since` may be deleted."""

    after: UUID | None
    kept_since: datetime


FeedPosition = tuple[str, UUID]
"""A place in the order of the feed: (transaction, id) of the last event seen."""

BEGINNING = UUID(int=0)
"""Stands for the id of an event before the first one."""


@dataclass(frozen=True, slots=True)
class StreamStart:
    """Where a stream begins: after `position`, the place of `event_id`; `truncated`: the requested event is deleted."""

    position: FeedPosition | None
    event_id: UUID
    truncated: bool
