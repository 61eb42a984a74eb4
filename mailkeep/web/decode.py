"""Strict decoding of fields into a `Struct`. MISSING_FIELDS and INVALID_FIELD list all errors (up to 100).

`strict_json` has parsed the JSON text before. Strings must not contain control characters; LF, CR and TAB are allowed
in fields marked `MultiLine`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, TypeVar, cast

from msgspec import UNSET, Struct, inspect as mi

from mailkeep.core.errors import MAX_FIELD_ERRORS, FieldError, InvalidField, MissingFields, Refusal
from mailkeep.core.ids import parse_uuid
from mailkeep.web.fields import DECODE_EACH, OneOf, Patch, variants
from mailkeep.web.strict_json import parse_json
from mailkeep.web.string_views import JsonText, StringView

S = TypeVar("S", bound=Struct)

_MAX_NAME = 100  # characters of an unknown field's name in an error
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CONTROL_MULTILINE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_TIME = re.compile(
    r"(?:19[7-9]|2[0-9]{2})[0-9]-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:Z|[+-][0-9]{2}:[0-9]{2})"
)
_DIGITS = re.compile(r"-?[0-9]{1,18}")


class _FieldErrors:
    """The errors of a body, up to `MAX_FIELD_ERRORS` of each kind."""

    __slots__ = ("invalid", "missing")

    def __init__(self) -> None:
        self.missing: list[FieldError] = []
        self.invalid: list[FieldError] = []

    def add_invalid(self, field: str, reason: str) -> None:
        if len(self.invalid) < MAX_FIELD_ERRORS:
            self.invalid.append({"field": field, "reason": reason})

    def add_missing(self, field: str, reason: str = "is required") -> None:
        if len(self.missing) < MAX_FIELD_ERRORS:
            self.missing.append({"field": field, "reason": reason})

    def is_full(self) -> bool:
        """Whether further errors would not be reported."""
        return len(self.invalid) >= MAX_FIELD_ERRORS or len(self.missing) >= MAX_FIELD_ERRORS

    def raise_if_any(self) -> None:
        if self.missing:
            raise MissingFields(self.missing, self.invalid)
        if self.invalid:
            raise InvalidField(self.invalid)


def decode_body(value: Any, into: type[S] | OneOf) -> S:
    """Decode a parsed JSON value into `into`; MISSING_FIELDS or INVALID_FIELD with up to `MAX_FIELD_ERRORS` errors."""
    errors = _FieldErrors()
    if not isinstance(value, dict):
        raise InvalidField([{"field": "", "reason": "must be a JSON object"}])
    fields = cast(dict[str, Any], value)
    if isinstance(into, OneOf):
        fields = into.drop_nulls(fields)
        into = cast(type[S], into.select(fields))
    decoded = _decode_struct(fields, _info(into), "", errors)
    errors.raise_if_any()
    return decoded


def read_json(body: JsonText, into: type[Struct] | OneOf | None) -> Any:
    """Parse and decode a JSON text. If `into` is None, the request takes no fields; returns None."""
    value = parse_json(body)
    if into is not None:
        return decode_body(value, into)
    if value not in ({}, None):
        raise InvalidField([{"field": "", "reason": "this request takes no fields; send no body, or {}"}])
    return None


def requires_body(into: type[Struct] | OneOf) -> bool:
    """Whether a body is required: not if all fields of a `Body` are optional. A PATCH always needs one."""
    return all(
        issubclass(shape, Patch) or any(field.required for field in _info(shape).fields) for shape in variants(into)
    )


def decode_query(pairs: list[tuple[str, str]], into: type[S]) -> S:
    """Decode a query string: text becomes the field's type (true/false, digits); empty counts as absent."""
    errors = _FieldErrors()
    texts: dict[str, str] = {}
    for name, text in pairs:
        if name in texts:
            errors.add_invalid(name[:_MAX_NAME], "occurs more than once")
        texts[name] = text
    info = _info(into)
    types = {field.encode_name: field.type for field in info.fields}
    value = {name: _convert_text(text, types.get(name)) for name, text in texts.items() if text != ""}
    decoded = _decode_struct(value, info, "", errors)
    errors.raise_if_any()
    return decoded


@cache
def _info(into: type[Struct]) -> mi.StructType:
    info = mi.type_info(into)
    assert isinstance(info, mi.StructType)
    return info


def _convert_text(text: str, kind: mi.Type | None) -> Any:
    kind = _unwrap(kind)[0] if kind else kind
    if isinstance(kind, mi.BoolType):
        return {"true": True, "false": False}.get(text, text)
    if isinstance(kind, mi.IntType):
        return int(text) if _DIGITS.fullmatch(text) else text
    return text


def _unwrap(kind: mi.Type, value: Any = None) -> tuple[mi.Type, dict[str, Any]]:
    """A type without annotations and None, and the marks of its annotations (`web.fields`).

    Of several types it is the literal that has this value, or else the first.
    """
    marks: dict[str, Any] = {}
    while isinstance(kind, mi.Metadata | mi.UnionType):
        if isinstance(kind, mi.UnionType):
            types = [t for t in kind.types if not isinstance(t, mi.NoneType)]
            literals = [t for t in types if isinstance(t, mi.LiteralType)]
            kind = next((t for t in literals if isinstance(value, str) and value in t.values), types[0])
            if len(types) > 1 and literals:
                marks["or"] = literals[0].values
        else:
            marks |= cast(Any, kind).extra or {}
            kind = kind.type
    return kind, marks


def _decode_struct(value: Mapping[str, Any], info: mi.StructType, path: str, errors: _FieldErrors) -> Any:
    _check_unknown_fields(value, {field.encode_name for field in info.fields}, path, errors)
    is_patch = issubclass(info.cls, Patch)
    arguments: dict[str, Any] = {}
    required_without: Mapping[str, str] = getattr(info.cls, "required_without", {})
    required = {name for name, other in required_without.items() if value.get(other) is None}
    too_long = _check_total(value, getattr(info.cls, "total", None), path, errors)
    for field in info.fields:
        field_path = _join(path, field.encode_name)
        item = value.get(field.encode_name, UNSET)
        if field.encode_name in too_long:
            continue
        if item is None and not _takes_none(field.type):
            if is_patch:
                errors.add_invalid(field_path, "must not be null")
                continue
            item = UNSET
        is_required = field.required or field.encode_name in required
        if is_required and (item is UNSET or (item in ("", []) and not _may_be_empty(field.type))):
            errors.add_missing(field_path)
        elif item is not UNSET:
            arguments[field.name] = None if item is None else _decode_value(item, field.type, field_path, errors)
    one_of: tuple[str, ...] = getattr(info.cls, "one_of", ())
    if one_of and not any(value.get(name) for name in one_of):
        errors.add_missing(_join(path, one_of[0]), f"one of {', '.join(one_of)} is required")
    if errors.missing or errors.invalid:
        return None
    return info.cls(**arguments)


def _check_unknown_fields(value: Mapping[str, Any], fields: Collection[str], path: str, errors: _FieldErrors) -> None:
    for name in value:
        if errors.is_full():
            break
        if name not in fields:
            errors.add_invalid(_join(path, name[:_MAX_NAME]), "is not a field of this request")


def _check_total(
    value: Mapping[str, Any], total: tuple[tuple[str, ...], int] | None, path: str, errors: _FieldErrors
) -> Collection[str]:
    """The names of the lists that together have more items than `total` allows; the caller decodes none of them."""
    if total is None:
        return ()
    names, limit = total
    sizes = {name: len(cast(list[Any], value[name])) for name in names if isinstance(value.get(name), list)}
    count = sum(sizes.values())
    if count <= limit:
        return ()
    longest = max(sizes, key=lambda name: sizes[name])
    others = " and ".join(name for name in names if name != longest)
    errors.add_invalid(_join(path, longest), f"must have, together with {others}, at most {limit} items (got {count})")
    return names


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _takes_none(kind: mi.Type) -> bool:
    if isinstance(kind, mi.Metadata):
        return _takes_none(kind.type)
    return isinstance(kind, mi.NoneType) or (isinstance(kind, mi.UnionType) and kind.includes_none)


def _may_be_empty(kind: mi.Type) -> bool:
    return "may_be_empty" in _unwrap(kind)[1]


def _decode_value(value: Any, kind: mi.Type, path: str, errors: _FieldErrors) -> Any:
    kind, marks = _unwrap(kind, value)
    if isinstance(value, StringView) and not isinstance(kind, mi.AnyType):
        value = value.text()
    if "own_code" in marks and isinstance(value, str):
        return value
    match kind:
        case mi.StructType():
            if isinstance(value, dict):
                return _decode_struct(cast(dict[str, Any], value), kind, path, errors)
            return errors.add_invalid(path, "must be an object")
        case mi.ListType():
            return (
                _decode_separately(value, marks[DECODE_EACH], path, errors)
                if DECODE_EACH in marks
                else _decode_list(value, kind, path, errors)
            )
        case mi.DictType():
            return _decode_dict(value, kind, path, errors)
        case mi.StrType():
            return _decode_text(value, kind, path, "multiline" in marks, errors)
        case mi.UUIDType():
            parsed = parse_uuid(value) if isinstance(value, str) else None
            return parsed or errors.add_invalid(path, "must be a UUID in canonical lower-case form")
        case mi.DateTimeType():
            return _decode_time(value, path, errors)
        case mi.AnyType():
            return value
        case _:
            return _decode_scalar(value, kind, path, errors, marks.get("or", ()))


def _decode_separately(value: Any, limits: tuple[type[Struct], int], path: str, errors: _FieldErrors) -> Any:
    """The items of a list, or their refusals; None for each item of a list that is too long (`DECODE_EACH`)."""
    item_type, max_items = limits
    if not isinstance(value, list):
        return errors.add_invalid(path, "must be an array")
    items = cast(list[Any], value)
    return [_decode_item(item, item_type) for item in items] if len(items) <= max_items else [None] * len(items)


def _decode_item(item: Any, into: type[Struct]) -> Struct | Refusal:
    try:
        return decode_body(item, into)
    except Refusal as refusal:
        return refusal.with_traceback(None)


def _decode_list(value: Any, kind: mi.ListType, path: str, errors: _FieldErrors) -> Any:
    if not isinstance(value, list):
        return errors.add_invalid(path, "must be an array")
    items = cast(list[Any], value)
    if kind.max_length is not None and len(items) > kind.max_length:
        return errors.add_invalid(path, f"must have at most {kind.max_length} items (got {len(items)})")
    if isinstance(kind.item_type, mi.AnyType):
        return items
    decoded: list[Any] = []
    for index, item in enumerate(items):
        if errors.is_full():
            break
        decoded.append(_decode_value(item, kind.item_type, f"{path}[{index}]", errors))
    return decoded


def _decode_dict(value: Any, kind: mi.DictType, path: str, errors: _FieldErrors) -> Any:
    if not isinstance(value, dict):
        return errors.add_invalid(path, "must be an object")
    entries = cast(dict[str, Any], value)
    if kind.max_length is not None and len(entries) > kind.max_length:
        return errors.add_invalid(path, f"must have at most {kind.max_length} entries (got {len(entries)})")
    decoded: dict[Any, Any] = {}
    for name, item in entries.items():
        if errors.is_full():
            break
        key = _decode_value(name, kind.key_type, f"{path} (key)", errors)
        decoded[key] = _decode_value(item, kind.value_type, _join(path, name[:_MAX_NAME]), errors)
    return decoded


def _decode_text(value: Any, kind: mi.StrType, path: str, multiline: bool, errors: _FieldErrors) -> Any:
    if not isinstance(value, str):
        return errors.add_invalid(path, "must be a string")
    if (_CONTROL_MULTILINE if multiline else _CONTROL).search(value):
        return errors.add_invalid(path, "must not contain control characters")
    if kind.max_length is not None and len(value) > kind.max_length:
        return errors.add_invalid(path, f"must have at most {kind.max_length} characters (got {len(value)})")
    if kind.min_length is not None and len(value) < kind.min_length:
        return errors.add_invalid(path, f"must have at least {kind.min_length} characters (got {len(value)})")
    if kind.pattern is not None and not re.fullmatch(kind.pattern, value):
        return errors.add_invalid(path, f"must match the regular expression {kind.pattern}")
    return value


def _decode_time(value: Any, path: str, errors: _FieldErrors) -> Any:
    if isinstance(value, str) and _TIME.fullmatch(value):
        try:
            return datetime.fromisoformat(value).astimezone(UTC)
        except (ValueError, OverflowError):
            pass
    return errors.add_invalid(path, "must be an ISO 8601 time with an offset, such as 2026-01-31T12:00:00Z")


def _expectation(kind: mi.Type) -> str:
    """The reason of the error for a value that is not of this type."""
    match kind:
        case mi.BoolType():
            return "must be true or false"
        case mi.IntType(ge=low, le=high):
            return (
                "must be an integer"
                + (f" from {low}" if low is not None else "")
                + (f" to {high}" if high is not None else "")
            )
        case mi.FloatType(ge=low, le=high):
            return (
                "must be a number"
                + (f" from {low:g}" if low is not None else "")
                + (f" to {high:g}" if high is not None else "")
            )
        case mi.EnumType(cls=cls):
            return "must be one of " + ", ".join(str(member.value) for member in cls)
        case mi.LiteralType(values=values):
            return "must be one of " + ", ".join(str(v) for v in values)
        case _:
            return "has an invalid value"


def _decode_scalar(
    value: Any, kind: mi.Type, path: str, errors: _FieldErrors, alternatives: Collection[Any] = ()
) -> Any:
    match kind:
        case mi.BoolType() if isinstance(value, bool):
            return value
        case mi.IntType(ge=low, le=high) if isinstance(value, int) and not isinstance(value, bool):
            if (low is None or value >= low) and (high is None or value <= high):
                return value
        case mi.FloatType(ge=low, le=high) if isinstance(value, int | float) and not isinstance(value, bool):
            if (low is None or value >= low) and (high is None or value <= high):
                return float(value)
        case mi.EnumType(cls=cls) if isinstance(value, str) and value in [member.value for member in cls]:
            return cls(value)
        case mi.LiteralType(values=values) if isinstance(value, str) and value in values:
            return value
        case _:
            pass
    return errors.add_invalid(path, ", or ".join([_expectation(kind), *map(str, alternatives)]))
