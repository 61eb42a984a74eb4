"""What an operation may contain, how tables are read, and who may see results."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from mailkeep.core.errors import (
    BatchTooLarge,
    Conflict,
    EmptyBatch,
    FieldError,
    Forbidden,
    InvalidField,
    MissingFields,
    Refusal,
    invalid_field,
)
from mailkeep.core.ids import parse_uuid
from mailkeep.core.principal import Principal, Role
from mailkeep.features.directory.bulk.model import MAX_ITEMS, BulkAction, BulkOperation, BulkResource

COLUMNS: Mapping[BulkResource, Sequence[str]] = {
    "mailbox": ("address", "name", "quota_bytes", "active"),
    "alias": ("domain", "source_local_part", "destination", "active"),
}
"""The columns of an export."""
_OTHER_COLUMNS: Mapping[BulkResource, Sequence[str]] = {
    "mailbox": ("password", "password_hash", "id", "purge"),
    "alias": ("id",),
}
_NAMING: Mapping[BulkResource, Sequence[str]] = {
    "mailbox": ("address",),
    "alias": ("domain", "source_local_part"),
}
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_BOOLEAN_COLUMNS = frozenset({"active", "purge"})
_EXACT_COLUMNS = frozenset({"password", "password_hash"})  # spaces belong to the value


def check_count(count: int) -> None:
    """EMPTY_BATCH, BATCH_TOO_LARGE."""
    if not count:
        raise EmptyBatch("There are no items.")
    if count > MAX_ITEMS:
        raise BatchTooLarge(f"A call has at most {MAX_ITEMS:,} items (got {count:,}).", limit=MAX_ITEMS)


def read_rows(
    resource: BulkResource, action: BulkAction, columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> list[dict[str, Any] | Refusal]:
    """The items of a table; a row that can't be read is a refusal. MISSING_FIELDS or INVALID_FIELD for its columns."""
    _check_columns(resource, action, columns)
    return [_read_row(action, columns, row) for row in rows]


def _check_columns(resource: BulkResource, action: BulkAction, columns: Iterable[str]) -> None:
    """MISSING_FIELDS or INVALID_FIELD if a table has not the columns for this action, or unknown ones."""
    known, present = (*COLUMNS[resource], *_OTHER_COLUMNS[resource]), list(columns)
    unknown: list[FieldError] = [
        {"field": name[:100], "reason": "is not a column of this table"} for name in present if name not in known
    ]
    if unknown:
        unknown[-1]["reason"] += f". Its columns are {', '.join(known)}"
    required = list(_NAMING[resource])
    if resource == "alias" and action == "create":
        required.append("destination")
    missing = [name for name in required if name not in present]
    if missing and not (action != "create" and "id" in present):
        raise MissingFields(missing, unknown)
    if unknown:
        raise InvalidField(unknown)


def _read_row(action: BulkAction, columns: Sequence[str], row: Sequence[str]) -> dict[str, Any] | Refusal:
    """The item of a row of a table, or why it can't be read."""
    if len(row) != len(columns):
        return invalid_field("row", f"has {len(row)} cells, but the table has {len(columns)} columns")
    item = {name: _read_cell(name, text) for name, text in zip(columns, row, strict=True)}
    item = {name: value for name, value in item.items() if value != "" or name == "source_local_part"}
    if action == "create":
        return {name: value for name, value in item.items() if name not in ("id", "purge")}
    if "id" in item:  # the name is then only for readers
        item = {name: value for name, value in item.items() if name not in ("address", "domain", "source_local_part")}
    if action == "delete":
        kept = ("id", "purge", "address", "domain", "source_local_part")
        return {name: value for name, value in item.items() if name in kept}
    item.pop("purge", None)
    return item


def _read_cell(name: str, text: str) -> Any:
    if name in _EXACT_COLUMNS:
        return text
    text = text.strip()
    if name in _BOOLEAN_COLUMNS:
        return _BOOLEANS.get(text.lower(), text)
    if name == "quota_bytes" and text.isascii() and text.isdigit() and len(text) <= 18:
        return int(text)
    return text


def take_id(item: dict[str, Any]) -> UUID | None:
    """Take the `id` out of an item; None if it has none. INVALID_FIELD if it is malformed."""
    value = item.pop("id", None)
    if value is None:
        return None
    parsed = parse_uuid(value) if isinstance(value, str) else None
    if parsed is None:
        raise invalid_field("id", "must be a UUID in canonical lower-case form")
    return parsed


def take_text(item: dict[str, Any], name: str) -> str | None:
    """Take a text out of an item; None if it has none. INVALID_FIELD for another type, or control characters."""
    value = item.pop(name, None)
    if value is not None and not isinstance(value, str):
        raise invalid_field(name, "must be a string")
    if value is not None and any(unicodedata.category(char) == "Cc" for char in value):
        raise invalid_field(name, "must not contain control characters")
    return value


def refuse_other_names(item: Mapping[str, Any], name: str, others: Sequence[str]) -> None:
    """INVALID_FIELD if an item has several names."""
    for other in others:
        if item.get(other) is not None:
            raise invalid_field(other, f"can't be given together with {name}")


def refuse_repetition(index: int, address: str) -> None:
    """The refusal of an item that takes the same address as an earlier one of a dry run, or deletes the same object."""
    raise Conflict(f"Item {index} of this call is about {address} too.", reason="repeated", index=index)


def refuse_reader(who: Principal, operation: BulkOperation) -> None:
    """FORBIDDEN unless the caller created the operation (with a scoped key: with this key) or is a super_admin."""
    creator = operation.who
    is_super_admin = who.role is Role.SUPER_ADMIN and who.scope is None
    is_creator = who.admin_id == creator.admin_id and (who.scope is None or who.key_id == creator.key_id)
    if not (is_super_admin or is_creator):
        raise Forbidden("Only its creator and super administrators may see an operation.")
