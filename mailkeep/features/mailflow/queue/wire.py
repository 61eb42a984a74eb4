"""JSON of the queue."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from mailkeep.core.clock import iso, iso_or_none
from mailkeep.core.errors import MissingFields, invalid_field
from mailkeep.features.mailflow.queue import model
from mailkeep.web.fields import Body, Query, Text, Timestamp

QueueId = Annotated[str, Meta(max_length=40, pattern=r"^[0-9A-Za-z]{5,40}$")]
State = Literal["incoming", "active", "deferred", "hold"]


class QueueRecipientResponse(Struct, frozen=True):
    """Who is not delivered to yet; `reason` is the last word about it, empty before the first try."""

    address: str
    reason: str


class QueuedMessage(Struct, frozen=True):
    """A message that waits in the queue. `next_attempt_at` is null unless it is deferred, and while it is tried."""

    queue_id: str
    state: State
    arrived_at: Timestamp
    size: int
    sender: str
    recipients: list[QueueRecipientResponse]
    next_attempt_at: Timestamp | None


class QueueQuery(Query, frozen=True):
    """Filters; `sender` and `recipient` match substrings without case, `domain` that of a recipient."""

    queue_id: QueueId | None = None
    state: State | None = None
    sender: Text | None = None
    recipient: Text | None = None
    domain: Text | None = None
    since: datetime | None = None
    until: datetime | None = None


class QueueFilterRequest(Body, frozen=True):
    """The filters of the list; none of them means every message."""

    queue_id: QueueId | None = None
    state: State | None = None
    sender: Text | None = None
    recipient: Text | None = None
    domain: Text | None = None
    since: datetime | None = None
    until: datetime | None = None


class QueueAction(Body, frozen=True):
    """What to do to which messages: those with these ids, or those that the filter means."""

    action: Literal["flush", "hold", "release", "delete"]
    ids: Annotated[list[QueueId], Meta(max_length=1000)] | UnsetType = UNSET
    filter: QueueFilterRequest | UnsetType = UNSET
    dry_run: bool = False


class QueueActionResponse(Struct, frozen=True):
    """How many messages the action was, or in a dry run would be, done to."""

    affected: int
    dry_run: bool


def filter_of(given: QueueQuery | QueueFilterRequest) -> model.QueueFilter:
    """The filter that is meant."""
    return model.QueueFilter(
        queue_id=given.queue_id,
        state=given.state,
        sender=given.sender or None,
        recipient=given.recipient or None,
        domain=given.domain or None,
        since=given.since,
        until=given.until,
    )


def selection(given: QueueAction) -> model.QueueSelection:
    """What an action is to be done to. MISSING_FIELDS for neither ids nor a filter, INVALID_FIELD for both at once."""
    if isinstance(given.filter, UnsetType):
        if isinstance(given.ids, UnsetType) or not given.ids:
            raise MissingFields(["ids"])
        return model.QueueSelection(ids=given.ids)
    if not isinstance(given.ids, UnsetType):
        raise invalid_field("filter", "stands beside ids: name one of them")
    return model.QueueSelection(filter=filter_of(given.filter))


def message(found: model.QueueEntry) -> QueuedMessage:
    """A message as it is answered."""
    return QueuedMessage(
        queue_id=found.queue_id,
        state=found.state,  # pyright: ignore[reportArgumentType] Postfix has no others
        arrived_at=iso(found.arrived_at),
        size=found.size,
        sender=found.sender,
        recipients=[QueueRecipientResponse(each.address, each.reason) for each in found.recipients],
        next_attempt_at=iso_or_none(found.next_attempt_at),
    )
