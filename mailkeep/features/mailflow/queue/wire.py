"""JSON of the queue."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.core.errors import FieldError, MissingFields, invalid_field
from mailkeep.features.mailflow.queue.model import (
    Action,
    Affected,
    Held,
    QueueEntry,
    QueueFilter,
    QueueSelection,
    State,
)
from mailkeep.web.fields import Body, Query, Text, Timestamp

QueueId = Annotated[str, Meta(max_length=40, pattern=r"^[0-9A-Za-z]{5,40}$")]


class QueueRecipientResponse(Struct, frozen=True):
    """A recipient who is still waiting; `reason`: of the last deferral, empty before the first attempt."""

    address: str
    reason: str


class QueuedMessage(Struct, frozen=True):
    """A message in the queue. `next_attempt_at` is null unless the message is deferred, and during an attempt."""

    queue_id: str
    state: State
    arrived_at: Timestamp
    size: int
    sender: str
    recipients: list[QueueRecipientResponse]
    next_attempt_at: Timestamp | None


class QueueQuery(Query, frozen=True):
    """Filters; `sender` and `recipient` match substrings case-insensitively, `domain` the domain of a recipient."""

    queue_id: QueueId | None = None
    state: State | None = None
    sender: Text | None = None
    recipient: Text | None = None
    domain: Text | None = None
    since: datetime | None = None
    until: datetime | None = None


class QueueFilterRequest(Body, frozen=True):
    """The filters of the list; without filters, all messages match."""

    queue_id: QueueId | None = None
    state: State | None = None
    sender: Text | None = None
    recipient: Text | None = None
    domain: Text | None = None
    since: datetime | None = None
    until: datetime | None = None


class QueueAction(Body, frozen=True):
    """An action on the messages with these IDs, or on those that match the filter."""

    action: Action
    ids: Annotated[list[QueueId], Meta(max_length=1000)] | UnsetType = UNSET
    filter: QueueFilterRequest | UnsetType = UNSET
    dry_run: bool = False


class Released(Struct, frozen=True):
    """What an action released that a full restore held: scheduled messages, webhook deliveries, mail of Mailkeep
    itself, messages that Sieve sends, and what local programs have submitted.
    """

    scheduled_messages: int
    webhook_deliveries: int
    system_mails: int
    sieve_messages: int
    local_submissions: int


class QueueActionResponse(Struct, frozen=True):
    """How many messages in the queue the action applied to, or would in a dry run. `released`: what it released outside
    the queue, only if that is something.
    """

    affected: int
    dry_run: bool
    released: Released | UnsetType = UNSET


class RestoredBackupResponse(Struct, frozen=True):
    """The last full restore. The backup has everything until `began_at`."""

    backup_id: UUID
    began_at: Timestamp
    restored_at: Timestamp


class HeldResponse(Struct, frozen=True):
    """What is held since a full restore, until all is released. `messages` counts all messages on hold in the queue,
    `system_mails` mail of Mailkeep itself, `sieve_messages` redirects and replies, `local_submissions` what local
    programs have submitted.
    """

    restored: RestoredBackupResponse | None
    messages: int
    scheduled_messages: int
    webhook_deliveries: int
    system_mails: int
    sieve_messages: int
    local_submissions: int


def read_filter(query: QueueQuery | QueueFilterRequest) -> QueueFilter:
    """The filter in a query or body."""
    return QueueFilter(
        queue_id=query.queue_id,
        state=query.state,
        sender=query.sender or None,
        recipient=query.recipient or None,
        domain=query.domain or None,
        since=query.since,
        until=query.until,
    )


def read_selection(body: QueueAction) -> QueueSelection:
    """The messages of an action. MISSING_FIELDS without IDs and filter, INVALID_FIELD with both."""
    if isinstance(body.filter, UnsetType):
        if isinstance(body.ids, UnsetType) or not body.ids:
            raise MissingFields(["ids"], [FieldError(field="filter", reason="required without ids; {} selects all")])
        return QueueSelection(ids=body.ids)
    if not isinstance(body.ids, UnsetType):
        raise invalid_field("filter", "can't be combined with ids: use one of them")
    return QueueSelection(filter=read_filter(body.filter))


def to_response(affected: Affected, *, dry_run: bool) -> QueueActionResponse:
    """The JSON of an action's result."""
    released = Released(**affected.release_counts) if any(affected.release_counts.values()) else UNSET
    return QueueActionResponse(affected.messages, dry_run, released)


def to_held(held: Held) -> HeldResponse:
    """The JSON of what is held."""
    last, affected = held.restored, held.affected
    return HeldResponse(
        last and RestoredBackupResponse(last.backup_id, iso(last.began_at), iso(last.restored_at)),
        affected.messages,
        **affected.release_counts,
    )


def to_record(entry: QueueEntry) -> QueuedMessage:
    """The JSON of a queue entry."""
    return QueuedMessage(
        queue_id=entry.queue_id,
        state=entry.state,  # pyright: ignore[reportArgumentType] Postfix has no other queue names
        arrived_at=iso(entry.arrived_at),
        size=entry.size,
        sender=entry.sender,
        recipients=[QueueRecipientResponse(each.address, each.reason) for each in entry.recipients],
        next_attempt_at=iso_or_none(entry.next_attempt_at),
    )
