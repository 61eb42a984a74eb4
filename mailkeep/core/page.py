"""Keyset pagination of lists with sealed cursors.

A cursor is valid for 24 hours, and only for the caller, list, filters, sort and order that it was issued for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, Literal, TypeVar
from uuid import UUID

import msgspec

from mailkeep.core.errors import InvalidPagination
from mailkeep.core.secret import Vault, decode_base64url, encode_base64url

DEFAULT_LIMIT = 50
MAX_LIMIT = 200
CURSOR_LIFETIME = timedelta(hours=24)

T = TypeVar("T")

Order = Literal["asc", "desc"]
Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for a page. `after`: the last key of the previous page (sort value, id), None for the first page."""

    limit: int
    sort: str
    order: Order
    after: Key | None
    filters: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """The rows of a page and the key for the next page, None on the last page."""

    rows: list[T]
    next_key: Key | None


def parse_limit(text: str | None) -> int:
    """The `limit` of a list: ASCII digits, 1 to 200; 50 by default."""
    if text is None:
        return DEFAULT_LIMIT
    if not (text.isascii() and text.isdigit() and len(text) <= 3 and 1 <= int(text) <= MAX_LIMIT):
        raise InvalidPagination(
            f"limit must be a whole number from 1 to {MAX_LIMIT} (got {text[:20]!r}).", field="limit"
        )
    return int(text)


def seal_cursor(vault: Vault, key: Key, bound_to: bytes, now: datetime) -> str:
    """The opaque `next_cursor` for `key`. `bound_to` identifies caller, list, filters, sort and order."""
    plain = msgspec.json.encode([int(now.timestamp()), [_tag(part) for part in key]])
    return encode_base64url(vault.seal("cursor", plain, bound_to))


def open_cursor(vault: Vault, cursor: str, bound_to: bytes, now: datetime) -> Key:
    """The key in `cursor`. Raises InvalidPagination if it was altered, is too old or belongs to another list."""
    sealed = decode_base64url(cursor)
    plain = vault.open("cursor", sealed, bound_to) if sealed else None
    if plain is None:
        raise InvalidPagination(
            "The cursor is malformed or belongs to another list or caller; start again from the first page.",
            field="cursor",
        )
    created_at, parts = msgspec.json.decode(plain)
    if now.timestamp() - created_at > CURSOR_LIFETIME.total_seconds():
        raise InvalidPagination("The cursor is older than 24 hours; start again from the first page.", field="cursor")
    return tuple(_untag(part) for part in parts)


def _tag(part: Any) -> list[str]:
    if isinstance(part, datetime):
        return ["t", part.isoformat()]
    if isinstance(part, UUID):
        return ["u", str(part)]
    return ["s", str(part)]


def _untag(part: list[str]) -> Any:
    kind, text = part
    if kind == "t":
        return datetime.fromisoformat(text)
    return UUID(text) if kind == "u" else text
