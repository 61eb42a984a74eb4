"""JSON and CSV of bulk operations."""

from __future__ import annotations

from typing import Annotated, Any, cast
from uuid import UUID

from msgspec import Meta, Struct

from mailkeep.core.errors import MissingFields, Refusal, invalid_field
from mailkeep.features.directory.bulk import rules
from mailkeep.features.directory.bulk.model import BulkAction, BulkRequest, BulkResource
from mailkeep.web.csv_table import CsvTable
from mailkeep.web.fields import MAY_BE_EMPTY, Body, Query

_ITEM = {"type": "object", "additionalProperties": True}


class BulkBody(Body, frozen=True):
    """1 to 1,000 items. An error in one does not affect the others.

    An item has the fields of the single call. To create: those of POST; instead of their IDs, a mailbox may have
    `address`, and an alias the name of its `domain`. To update: those of PATCH, and `id`, or `address` (mailboxes), or
    `domain` and `source_local_part` (aliases). To delete: `id`, or the same names; mailboxes also `purge`.
    `dry_run`: check all items and change nothing.
    """

    action: BulkAction
    items: Annotated[list[Any], Meta(extra=MAY_BE_EMPTY, extra_json_schema={"items": _ITEM})]
    dry_run: bool = False


class BulkQuery(Query, frozen=True):
    """For a body of CSV only."""

    action: Annotated[BulkAction | None, Meta(description="With CSV: what to do; required")] = None
    dry_run: Annotated[bool, Meta(description="With CSV: check all rows and change nothing")] = False


class BulkStarted(Struct, frozen=True):
    """The operation, whose progress and results GET /operations/{id} returns."""

    operation_id: UUID


class TableQuery(Query, frozen=True):
    """Only the objects of one domain."""

    domain_id: UUID | None = None


def read_request(resource: BulkResource, body: BulkBody | CsvTable, query: BulkQuery) -> BulkRequest:
    """The request of a call. MISSING_FIELDS, INVALID_FIELD."""
    if isinstance(body, CsvTable):
        if query.action is None:
            raise MissingFields(["action"])
        rows = rules.read_rows(resource, query.action, body.columns, body.rows)
        return BulkRequest(resource, query.action, rows, query.dry_run)
    if query.action is not None or query.dry_run:
        raise invalid_field("action", "belongs into the body; the query is for CSV only")
    return BulkRequest(resource, body.action, [_read_item(each) for each in body.items], body.dry_run)


def _read_item(item: Any) -> dict[str, Any] | Refusal:
    return cast(dict[str, Any], item) if isinstance(item, dict) else invalid_field("", "must be an object")
