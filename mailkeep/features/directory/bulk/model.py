"""A bulk operation, its items and their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from mailkeep.core.errors import Refusal
from mailkeep.core.principal import Principal

BulkResource = Literal["mailbox", "alias"]
BulkAction = Literal["create", "update", "delete"]
BulkState = Literal["running", "succeeded"]

MAX_ITEMS = 1000
MAX_UNFINISHED = 20
"""Operations of one account that wait or run; further calls are refused."""
RETENTION = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class BulkRequest:
    """What a call requests. An item that can't be read is its refusal."""

    resource: BulkResource
    action: BulkAction
    items: Sequence[Mapping[str, Any] | Refusal]
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class BulkOperation:
    """An operation. `who` is its creator with the permissions of the call; items are authorised again.

    `succeeded` means that every item has a result, which may be an error.
    """

    id: UUID
    resource: BulkResource
    action: BulkAction
    dry_run: bool
    state: BulkState
    total: int
    who: Principal
    created_at: datetime
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class BulkProgress:
    """How many items of an operation have a result, and how many of these are errors."""

    done: int
    failed: int


@dataclass(frozen=True, slots=True)
class BulkItem:
    """An item without a result; `sealed` is its JSON, sealed with the master secret."""

    index: int
    sealed: bytes


@dataclass(frozen=True, slots=True)
class BulkItemResult:
    """The result of an item: the object that it created, changed or deleted (None in a dry run that would create it),
    or an error, which is the JSON of {code, message, details}.
    """

    index: int
    id: UUID | None = None
    error: bytes | None = None


@dataclass(frozen=True, slots=True)
class ItemTarget:
    """What an item is about: the object to change, the domain, and by `key` the address or object that it takes."""

    object_id: UUID | None
    domain_id: UUID | None
    key: str | None = None
