"""JSON and CSV of suppressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, get_args
from uuid import UUID

from msgspec import Meta, Struct

from mailkeep.core.clock import iso
from mailkeep.core.errors import EmptyBatch, Refusal
from mailkeep.features.mailflow.suppressions import rules
from mailkeep.features.mailflow.suppressions.model import (
    MAX_IMPORT,
    ImportRow,
    NewSuppression,
    Suppression,
    SuppressionFilter,
    SuppressionReason,
)
from mailkeep.web.csv_table import CsvTable
from mailkeep.web.decode import decode_body
from mailkeep.web.fields import DECODE_EACH, MAY_BE_EMPTY, Body, Email, Query, Text, Timestamp


class SuppressionRecord(Struct, frozen=True):
    """An address to which the domain sends nothing by API: no mail at all, or (`group_id`) none of a group."""

    id: UUID
    address: str
    domain_id: UUID
    reason: SuppressionReason
    group_id: UUID | None
    source_message_id: UUID | None
    created_at: Timestamp


class SuppressionCreate(Body, frozen=True):
    """An address to suppress for mail from a domain; `group_id`: only for messages of this unsubscribe group."""

    address: Email
    domain_id: UUID
    reason: SuppressionReason = "manual"
    group_id: UUID | None = None


class SuppressionQuery(Query, frozen=True):
    """Filters of the list; `address` is a substring."""

    domain_id: UUID | None = None
    address: Text | None = None
    reason: SuppressionReason | None = None
    group_id: UUID | None = None


class SuppressionDeleteQuery(Query, frozen=True):
    """Why the suppression is removed, for the audit log."""

    note: Annotated[str, Meta(max_length=500)] | None = None


class SuppressionDeletion(Struct, frozen=True):
    """A suppression was removed."""

    message: str
    id: UUID


class SuppressionImportItem(Body, frozen=True):
    """A row of an import. The domain is given by its ID or its name; `created_at`, which an export has, is ignored."""

    address: Email
    reason: SuppressionReason = "manual"
    domain: Text | None = None
    domain_id: UUID | None = None
    group_id: UUID | None = None
    created_at: Text | None = None


_TEXT = {"type": "string"}
_ITEM: dict[str, Any] = {
    "type": "object",
    "required": ["address"],
    "properties": {
        "address": _TEXT | {"format": "email"},
        "reason": _TEXT | {"enum": list(get_args(SuppressionReason)), "default": "manual"},
        "domain": _TEXT | {"description": "Its name; or `domain_id`"},
        "domain_id": _TEXT | {"format": "uuid"},
        "group_id": _TEXT | {"format": "uuid"},
        "created_at": _TEXT | {"description": "Ignored"},
    },
    "additionalProperties": False,
}


class SuppressionImport(Body, frozen=True):
    """1 to 10,000 rows. An error in one does not affect the others."""

    items: Annotated[
        list[Any],
        Meta(
            extra=MAY_BE_EMPTY | {DECODE_EACH: (SuppressionImportItem, MAX_IMPORT)},
            extra_json_schema={"items": _ITEM},
        ),
    ]


class SuppressionImportQuery(Query, frozen=True):
    """The domain of rows that name none."""

    domain_id: UUID | None = None


class ImportResult(Struct, frozen=True, omit_defaults=True):
    """The outcome of the row at `index` (from 0): `id` of its suppression, or `error`, `code` and `details`."""

    index: int
    id: UUID | None = None
    error: str | None = None
    code: str | None = None
    details: dict[str, Any] | None = None


class ImportAnswer(Struct, frozen=True):
    """The results in the order of the rows, and their counts."""

    total: int
    succeeded: int
    failed: int
    results: list[ImportResult]


def to_record(suppression: Suppression) -> SuppressionRecord:
    """The response for a suppression."""
    return SuppressionRecord(
        id=suppression.id,
        address=suppression.address,
        domain_id=suppression.domain_id,
        reason=suppression.reason,
        group_id=suppression.group_id,
        source_message_id=suppression.source_message_id,
        created_at=iso(suppression.created_at),
    )


def read_new(body: SuppressionCreate) -> NewSuppression:
    """The new suppression of a body; INVALID_FIELD."""
    return NewSuppression(body.domain_id, rules.parse(body.address), body.reason, body.group_id)


def read_filter(query: SuppressionQuery, visible: list[UUID] | None) -> SuppressionFilter:
    """The filters of a list."""
    return SuppressionFilter(visible, query.domain_id, query.address, query.reason, query.group_id)


def read_import(body: SuppressionImport | CsvTable) -> list[ImportRow | Refusal]:
    """The rows of an import; an invalid one is replaced by its refusal. EMPTY_BATCH; INVALID_FIELD, MISSING_FIELDS for
    the columns of a table.
    """
    items: Sequence[Any] = rules.read_table(body.columns, body.rows) if isinstance(body, CsvTable) else body.items
    if not items:
        raise EmptyBatch
    return [_read_item(each) for each in items]


def _read_item(item: Any) -> ImportRow | Refusal:
    if isinstance(item, Refusal):
        return item
    try:
        row = item if isinstance(item, SuppressionImportItem) else decode_body(item, SuppressionImportItem)
        address = rules.parse(row.address)
    except Refusal as refusal:
        return refusal
    return ImportRow(address, row.reason, row.domain_id, row.domain, row.group_id)


def import_answer(results: Sequence[UUID | Refusal]) -> ImportAnswer:
    """The response of an import."""
    rows = [
        ImportResult(index, error=each.message, code=each.code, details=dict(each.details) if each.details else None)
        if isinstance(each, Refusal)
        else ImportResult(index, each)
        for index, each in enumerate(results)
    ]
    failed = sum(isinstance(each, Refusal) for each in results)
    return ImportAnswer(len(rows), len(rows) - failed, failed, rows)
