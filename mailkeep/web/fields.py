"""Field types of requests and responses, for the `wire` modules of features.

Bodies are `msgspec.Struct`s of these types. Times in responses are formatted by `core.clock.iso`.
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
    "OwnPassword",
    "Patch",
    "Query",
    "Text",
    "Timestamp",
    "UnsetType",
]

MULTILINE: dict[str, Any] = {"multiline": True}
MAY_BE_EMPTY: dict[str, Any] = {"may_be_empty": True}
DECODE_EACH = "each"
"""Key of `Meta.extra` of a `list[Any]`: the type of its items and their maximum number. Each item is decoded
separately; the result is a refusal if that fails. The items of a longer list are not decoded: each is None."""
OWN_CODE: dict[str, Any] = {"own_code": True}  # checked by the feature, with an error code of its own

Timestamp = Annotated[str, Meta(extra_json_schema={"format": "date-time"}, description="ISO 8601, UTC, milliseconds")]
Text = Annotated[str, Meta(max_length=1000)]
Email = Annotated[str, Meta(max_length=320, extra_json_schema={"format": "email"})]
OwnPassword = Annotated[
    str, Meta(description="The caller's current password.", extra_json_schema={"format": "password"})
]
MultiLine = Annotated[str, Meta(extra=MULTILINE)]
MayBeEmpty = Annotated[str, Meta(max_length=1000, extra=MAY_BE_EMPTY)]


CurrentPassword = Annotated[
    str,
    Meta(
        description="The current password; required if the session is older than 15 minutes",
        extra_json_schema={"format": "password"},
    ),
]


class Body(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A request body: unknown fields are rejected; null for an optional field counts as absent.

    `required_without`: fields that are required, as if they had no default, unless another field (the value) is given.
    `one_of`: at least one of these fields is required; if all are absent, the first is reported as missing.
    `total`: names of lists and the maximum number of their items together; checked before any item is decoded.
    """

    one_of: ClassVar[tuple[str, ...]] = ()
    required_without: ClassVar[Mapping[str, str]] = {}
    total: ClassVar[tuple[tuple[str, ...], int] | None] = None


class Patch(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The body of a PATCH: every field optional (`UNSET`); null is rejected unless the type includes None."""


class Query(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The query of a GET: values are text; unknown parameters are rejected."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """A request body or response that is one of several structs."""

    variants: tuple[type[Struct], ...]

    def drop_nulls(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """The value without the fields that are null, which count as absent; unknown fields stay."""
        fields = {name for variant in self.variants for name in variant.__struct_encode_fields__}
        return {name: item for name, item in value.items() if item is not None or name not in fields}

    def select(self, value: Mapping[str, Any]) -> type[Struct]:
        """The variant that has most of the fields in `value`; the first of several."""
        return max(self.variants, key=lambda variant: len(value.keys() & set(variant.__struct_encode_fields__)))


def variants(kind: Any) -> tuple[Any, ...]:
    """The variants of a `OneOf`, a tuple with any other type, or an empty tuple for None."""
    if isinstance(kind, OneOf):
        return kind.variants
    return () if kind is None else (kind,)


class CurrentPasswordRequest(Body, frozen=True):
    """The caller's current password, if it is required."""

    current_password: CurrentPassword | UnsetType = UNSET
