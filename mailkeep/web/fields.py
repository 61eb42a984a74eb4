"""Types of fields as they stand on the wire, for the `wire` modules of features.

Request bodies are `msgspec.Struct`s built from these; responses too, with times written by `core.clock.iso`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType

__all__ = [
    "UNSET",
    "Body",
    "Email",
    "MayBeEmpty",
    "MultiLine",
    "OneOf",
    "Patch",
    "Query",
    "Text",
    "Timestamp",
    "UnsetType",
]

MULTILINE: dict[str, Any] = {"multiline": True}
MAY_BE_EMPTY: dict[str, Any] = {"may_be_empty": True}
DECODE_EACH = "each"
"""Key of `Meta.extra` of a `list[Any]`: the type of its items and how many there may be. Each is decoded by itself, and
is a refusal where that fails; of a longer list nothing is decoded (None in the place of each item)."""
OWN_CODE: dict[str, Any] = {"own_code": True}  # the field's content is judged by its feature, with a code of its own

Timestamp = Annotated[str, Meta(extra_json_schema={"format": "date-time"}, description="ISO 8601, UTC, milliseconds")]
Text = Annotated[str, Meta(max_length=1000)]
Email = Annotated[str, Meta(max_length=320, extra_json_schema={"format": "email"})]
MultiLine = Annotated[str, Meta(extra=MULTILINE)]
MayBeEmpty = Annotated[str, Meta(max_length=1000, extra=MAY_BE_EMPTY)]


class Body(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A request body: unknown fields are refused; null for an optional field counts as absent.

    `one_of`: fields of which at least one must be given; if none is, the first counts as missing.
    `total`: lists that have at most that many items together; checked before any item is read.
    """

    one_of: ClassVar[tuple[str, ...]] = ()
    total: ClassVar[tuple[tuple[str, ...], int] | None] = None


class Patch(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The body of a PATCH: every field optional (`UNSET`); null is refused unless its type takes None."""


class Query(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The query of a GET: values arrive as text; unknown parameters are refused."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """A body, or an answer, in one of several shapes."""

    variants: tuple[type[Struct], ...]

    def drop_nulls(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """The value without its nulls for fields of any shape: they count as absent."""
        known = {name for shape in self.variants for name in shape.__struct_encode_fields__}
        return {name: item for name, item in value.items() if item is not None or name not in known}

    def select(self, given: Mapping[str, Any]) -> type[Struct]:
        """The shape that has most of the given fields, the first of those that have as many."""
        return max(self.variants, key=lambda shape: len(given.keys() & set(shape.__struct_encode_fields__)))


def variants(kind: Any) -> tuple[Any, ...]:
    """The shapes of a `OneOf`; of any other type itself, of None nothing."""
    if isinstance(kind, OneOf):
        return kind.variants
    return () if kind is None else (kind,)
