"""JSON Schema (2020-12, as in OpenAPI 3.1) for the types of requests and responses.

`msgspec` could generate schemas too. These include the rules of `web.decode`: an empty required string counts as
missing, and times need an offset. Two features may have structs of the same name.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec
from msgspec import inspect as mi

from mailkeep.web.fields import Body, OneOf, Patch, Query, variants

Schema = dict[str, Any]


class Schemas:
    """Schemas of types; structs become components of the OpenAPI document, and other schemas refer to them."""

    def __init__(self, types: Iterable[Any]) -> None:
        """`types`: all types whose schemas will be needed, so that equal names get a prefix."""
        self._infos = [mi.type_info(shape) for kind in types for shape in variants(kind)]
        structs: dict[type[Any], mi.StructType] = {}
        for info in self._infos:
            _collect_structs(info, structs)
        self._names = _names(structs)
        self.components = {self._names[cls]: self._struct(info) for cls, info in structs.items()}
        self.components = dict(sorted(self.components.items()))

    def of(self, kind: Any) -> Schema:
        """The schema of a type: a reference for a struct."""
        if isinstance(kind, OneOf):
            return {"oneOf": [self.of(shape) for shape in kind.variants]}
        return self._schema(mi.type_info(kind))

    def fields(self, struct: type[msgspec.Struct]) -> Mapping[str, Schema]:
        """The schemas of a query's fields by their JSON names, without null."""
        info = mi.type_info(struct)
        assert isinstance(info, mi.StructType)
        schemas = {field.encode_name: self._field(field, info) for field in info.fields}
        return {name: _without_null(schema) for name, schema in schemas.items()}

    @staticmethod
    def required_fields(struct: type[msgspec.Struct]) -> set[str]:
        """The names of a struct's required fields."""
        info = mi.type_info(struct)
        assert isinstance(info, mi.StructType)
        return {field.encode_name for field in info.fields if field.required}

    def _struct(self, info: mi.StructType) -> Schema:
        is_request = issubclass(info.cls, Body | Patch | Query)
        omits_defaults = not is_request and info.cls.__struct_config__.omit_defaults
        schema: Schema = {"type": "object"}
        if description := info.cls.__dict__.get("__doc__"):
            schema["description"] = description
        schema["properties"] = {field.encode_name: self._field(field, info) for field in info.fields}
        required = [
            field.encode_name
            for field in info.fields
            if field.required or (not is_request and not omits_defaults and _has_default(field))
        ]
        if required:
            schema["required"] = required
        if info.forbid_unknown_fields:
            schema["additionalProperties"] = False
        return schema

    def _field(self, field: mi.Field, struct: mi.StructType) -> Schema:
        schema = self._schema(field.type)
        is_request = issubclass(struct.cls, Body | Patch | Query)
        if is_request and field.required and "may_be_empty" not in _marks(field.type):
            # Decoding treats an empty string or array in a required field as missing.
            bound = {"string": "minLength", "array": "minItems"}.get(str(schema.get("type")))
            if bound and "format" not in schema:
                schema.setdefault(bound, 1)
        if (
            is_request
            and field.default not in (msgspec.NODEFAULT, None)
            and not isinstance(field.default, msgspec.Struct)
        ):
            default = field.default
            schema["default"] = default.value if isinstance(default, enum.Enum) else default
        return schema

    def _schema(self, kind: mi.Type) -> Schema:
        match kind:
            case mi.Metadata():
                return self._schema(kind.type) | (cast(Any, kind).extra_json_schema or {})
            case mi.StructType():
                return {"$ref": f"#/components/schemas/{self._names[kind.cls]}"}
            case mi.UnionType():
                return self._union(kind)
            case mi.ListType():
                items = self._schema(kind.item_type)
                return {"type": "array", "items": items} | _bounds(kind, "minItems", "maxItems")
            case mi.DictType():
                values = self._schema(kind.value_type)
                additional = {"additionalProperties": values} if values else {}
                return {"type": "object"} | additional | _bounds(kind, "minProperties", "maxProperties")
            case _:
                return _plain(kind)

    def _union(self, kind: mi.UnionType) -> Schema:
        schemas = [self._schema(each) for each in kind.types if not isinstance(each, mi.NoneType)]
        if not kind.includes_none:
            return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
        if len(schemas) == 1 and isinstance(schemas[0].get("type"), str):
            schema = schemas[0] | {"type": [schemas[0]["type"], "null"]}
            return schema | ({"enum": [*schema["enum"], None]} if "enum" in schema else {})
        return {"anyOf": [*schemas, {"type": "null"}]}


def _plain(kind: mi.Type) -> Schema:
    match kind:
        case mi.StrType(pattern=pattern):
            return {"type": "string"} | _bounds(kind, "minLength", "maxLength") | _without_none(pattern=pattern)
        case mi.BoolType():
            return {"type": "boolean"}
        case mi.IntType(ge=low, le=high):
            return {"type": "integer"} | _without_none(minimum=low, maximum=high)
        case mi.FloatType(ge=low, le=high):
            return {"type": "number"} | _without_none(minimum=low, maximum=high)
        case mi.UUIDType():
            return {"type": "string", "format": "uuid"}
        case mi.DateTimeType():
            return {"type": "string", "format": "date-time"}
        case mi.EnumType(cls=cls):
            return {"type": "string", "enum": [member.value for member in cls]}
        case mi.LiteralType(values=values):
            type_name = "boolean" if isinstance(values[0], bool) else "string"
            return {"type": type_name, "enum": list(values)}
        case mi.NoneType():
            return {"type": "null"}
        case mi.AnyType():
            return {}
        case _:
            raise TypeError(f"no schema for {kind}")


def _without_none(**keywords: Any) -> Schema:
    return {name: value for name, value in keywords.items() if value is not None}


def _bounds(kind: Any, low: str, high: str) -> Schema:
    return _without_none(**{low: kind.min_length, high: kind.max_length})


def _has_default(field: mi.Field) -> bool:
    return field.default is not msgspec.NODEFAULT or field.default_factory is not msgspec.NODEFAULT


def _marks(kind: mi.Type) -> Mapping[str, Any]:
    return (cast(Any, kind).extra or {}) if isinstance(kind, mi.Metadata) else {}


def _without_null(schema: Schema) -> Schema:
    if isinstance(schema.get("type"), list):
        schema = schema | {"type": schema["type"][0]}
        return schema | ({"enum": [each for each in schema["enum"] if each is not None]} if "enum" in schema else {})
    return schema


def _collect_structs(kind: Any, structs: dict[type[Any], mi.StructType]) -> None:
    """Collect the structs in a type, in the order in which they occur."""
    match kind:
        case mi.StructType() if kind.cls not in structs:
            structs[kind.cls] = kind
            for field in kind.fields:
                _collect_structs(field.type, structs)
        case mi.Metadata():
            _collect_structs(kind.type, structs)
        case mi.UnionType():
            for each in kind.types:
                _collect_structs(each, structs)
        case mi.ListType():
            _collect_structs(kind.item_type, structs)
        case mi.DictType():
            _collect_structs(kind.value_type, structs)
        case _:
            pass


def _names(structs: Iterable[type[Any]]) -> dict[type[Any], str]:
    """A name for each struct: its own, after its feature's name if several structs have it."""
    classes = list(structs)
    class_names = [cls.__name__ for cls in classes]
    return {
        cls: cls.__name__ if class_names.count(cls.__name__) == 1 else _feature(cls) + cls.__name__ for cls in classes
    }


def _feature(cls: type[Any]) -> str:
    parts = cls.__module__.split(".")
    return parts[-2].capitalize() if len(parts) > 1 else ""
