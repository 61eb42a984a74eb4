"""The OpenAPI 3.1 document: all documented endpoints, with every error code and examples that the tests run.

It is generated from the `Endpoint` declarations. The same declarations always give the same text, because a test
compares it with `docs/reference/openapi.json`.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from http import HTTPStatus
from importlib import resources
from itertools import groupby
from typing import Any, cast

import msgspec

from mailkeep import __version__
from mailkeep.core.errors import BadRequest, HeadTooLarge, MethodNotAllowed, NotFound, Refusal, RequestTimeout
from mailkeep.core.page import DEFAULT_LIMIT, MAX_LIMIT
from mailkeep.web import openapi_errors
from mailkeep.web.decode import requires_body
from mailkeep.web.docs import docs_endpoints
from mailkeep.web.endpoint import PREFIX, Call, Endpoint, Example, HttpResponse
from mailkeep.web.openapi_examples import EXAMPLE_TIME, example_id, example_value, fill_placeholders
from mailkeep.web.openapi_webhooks import webhook_operation
from mailkeep.web.schemas import Schema, Schemas

_JSON = "application/json"
_STREAM = "text/event-stream"


def openapi_endpoints(endpoints: Sequence[Endpoint]) -> tuple[Endpoint, ...]:
    """The endpoints of the OpenAPI document and of the page that shows it."""

    @cache
    def render() -> bytes:
        return msgspec.json.encode(document((*endpoints, *documentation)))

    async def _document(_: Any, call: Call) -> HttpResponse:
        return HttpResponse(content=await asyncio.to_thread(render))  # takes 0.2 s the first time

    openapi = Endpoint(
        method="GET",
        path="/openapi.json",
        handler=_document,
        action=None,
        summary="Get this document",
        description="OpenAPI 3.1, without the envelope.",
        tag="Documentation",
        data=dict[str, Any],
        enveloped=False,
        bare=True,
        examples=(Example(),),
    )
    documentation = (openapi, *docs_endpoints())
    return documentation


def document(endpoints: Iterable[Endpoint], version: str = __version__) -> dict[str, Any]:
    """The document of all documented endpoints, in their order."""
    documented = [endpoint for endpoint in endpoints if endpoint.documented]
    webhooks = {kind: payload for endpoint in documented for kind, payload in endpoint.webhook_payloads.items()}
    types = (kind for endpoint in documented for kind in (endpoint.body, endpoint.data) if kind is not None)
    schemas = Schemas([*types, *(shape for shape, _ in webhooks.values())])
    paths: dict[str, dict[str, Any]] = {}
    errors: dict[str, Any] = {}
    for endpoint in documented:
        item = paths.setdefault(endpoint.path, {} if endpoint.prefixed else {"servers": [{"url": "/"}]})
        operation = item[endpoint.method.lower()] = _operation(endpoint, schemas)
        for status, group in groupby(openapi_errors.refusals(endpoint), key=lambda each: each.status):
            name, response = _error_response(status, list(group))
            if endpoint.is_page and status in {each.status for each in endpoint.refusals}:
                # JSON where the path can't be decoded: that is no such endpoint.
                content = response["content"] | {endpoint.content: {"schema": {"type": "string"}}}
                operation["responses"][str(status)] = response | {"content": content}
                continue
            errors[name] = response
            operation["responses"][str(status)] = {"$ref": f"#/components/responses/{name}"}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Mailkeep",
            "version": version,
            "summary": "A self-hosted mail server, managed through one JSON HTTP API.",
            "description": _conventions(documented),
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": PREFIX}],
        "security": [{"session": []}, {"api_key": []}],
        "tags": _tags(documented),
        "paths": paths,
        "webhooks": {
            kind: webhook_operation(kind, schemas.of(shape), shape, data) for kind, (shape, data) in webhooks.items()
        },
        "components": {
            "schemas": {**_SCHEMAS, **schemas.components},
            "responses": dict(sorted(errors.items())),
            "headers": _HEADERS,
            "parameters": _PARAMETERS,
            "securitySchemes": openapi_errors.SECURITY_SCHEMES,
        },
    }


def operation_id(endpoint: Endpoint) -> str:
    """A unique name for an endpoint, from method and path: `getDomainsById`."""
    words: list[str] = []
    for segment in endpoint.path.strip("/").split("/"):
        name = segment.strip("{}")
        words += ["by"] if name != segment else []
        words += name.replace(".", "-").replace("_", "-").split("-")
    return endpoint.method.lower() + "".join(word[:1].upper() + word[1:] for word in words)


def _conventions(endpoints: Iterable[Endpoint]) -> str:
    """The conventions of the API, and the table of error codes."""
    text = (resources.files("mailkeep.web") / "docs_page" / "conventions.md").read_text("utf-8")
    declared = {each for endpoint in endpoints for each in openapi_errors.refusals(endpoint)}
    # With the errors of the router and the listener, which belong to no endpoint.
    errors = openapi_errors.sort_errors(
        declared | {NotFound, MethodNotAllowed, BadRequest, RequestTimeout, HeadTooLarge}
    )
    rows = [f"| {each.status} | `{each.code}` | {each.text} |" for each in errors]
    return "\n".join([text.rstrip(), "", "| Status | Code | Meaning |", "|---|---|---|", *rows])


def _tags(endpoints: Iterable[Endpoint]) -> list[dict[str, str]]:
    """Tags in the order of their first path; their descriptions are the first paragraph of the feature's docstring."""
    tags: dict[str, str] = {}
    for endpoint in endpoints:
        package = sys.modules.get(endpoint.handler.__module__.rpartition(".")[0])
        feature = package is not None and package.__name__.startswith("mailkeep.features.")
        docstring = inspect.cleandoc(package.__doc__ or "") if package and feature else ""
        first = docstring.partition("\n\n")[0].replace("\n", " ").removeprefix(f"{endpoint.tag}: ")
        tags.setdefault(endpoint.tag, first[:1].upper() + first[1:])
    return [{"name": name} | ({"description": text} if text else {}) for name, text in tags.items()]


def _operation(endpoint: Endpoint, schemas: Schemas) -> dict[str, Any]:
    examples = endpoint.examples or (Example(),)
    operation: dict[str, Any] = {
        "operationId": operation_id(endpoint),
        "summary": endpoint.summary,
        "tags": [endpoint.tag],
        "security": openapi_errors.security_requirements(endpoint),
    }
    if endpoint.description:
        operation["description"] = endpoint.description
    if role := openapi_errors.minimum_role(endpoint):
        operation["x-required-role"] = role
    if rule := openapi_errors.scoped_key_rule(endpoint):
        operation["x-scoped-keys"] = rule
    if parameters := _parameters(endpoint, schemas, examples[0]):
        operation["parameters"] = parameters
    if endpoint.body is not None:
        bodies = {
            f"example{number}": {"value": fill_placeholders(each.body)} for number, each in enumerate(examples, 1)
        }
        content = {"schema": schemas.of(endpoint.body), "examples": bodies}
        media_types: Schema = {_JSON: content}
        if endpoint.csv_rows:
            media_types["text/csv"] = {"schema": {"type": "string"}}
        operation["requestBody"] = {"required": requires_body(endpoint.body), "content": media_types}
    operation["responses"] = {str(endpoint.status): _success_response(endpoint, schemas, examples[0])}
    return operation


def _parameters(endpoint: Endpoint, schemas: Schemas, example: Example) -> list[Schema]:
    parameters = [
        _parameter("path", name, _path_schema(name), True, example.path)
        for segment in endpoint.path.split("/")
        if segment.startswith("{") and (name := segment[1:-1])
    ]
    for name, meaning in endpoint.header_parameters.items():
        parameters.append(_parameter("header", name, _path_schema("id") | {"description": meaning}, False, {}))
    if endpoint.recover is not None:
        parameters.append({"$ref": "#/components/parameters/idempotencyKey"})
    if endpoint.versioned and endpoint.takes_if_match:
        parameters.append({"$ref": "#/components/parameters/ifMatch"})
    if endpoint.query is not None:
        required = schemas.required_fields(endpoint.query)
        for name, schema in schemas.fields(endpoint.query).items():
            parameters.append(_parameter("query", name, schema, name in required, example.query))
    if endpoint.listing is not None:
        sorts = endpoint.listing.sorts
        parameters += [{"$ref": f"#/components/parameters/{name}"} for name in ("cursor", "limit")]
        sort = {"type": "string", "enum": list(sorts), "default": sorts[0]}
        parameters += [_parameter("query", "sort", sort, False, {})]
        parameters += [{"$ref": "#/components/parameters/order"}]
    return parameters


def _parameter(where: str, name: str, schema: Schema, required: bool, examples: Mapping[str, str]) -> Schema:
    parameter: Schema = {"name": name, "in": where, "required": required, "schema": schema}
    if description := schema.get("description"):
        parameter["description"] = description
    if name in examples:
        parameter["example"] = _convert_example(fill_placeholders(examples[name]), schema)
    return parameter


def _convert_example(text: str, schema: Schema) -> Any:
    """An example of a query parameter in the type of its schema."""
    if schema.get("type") == "boolean":
        return text == "true"
    return int(text) if schema.get("type") == "integer" else text


def _path_schema(name: str) -> Schema:
    return {"type": "string", "format": "uuid"} if name == "id" or name.endswith("_id") else {"type": "string"}


def _success_response(endpoint: Endpoint, schemas: Schemas, example: Example) -> dict[str, Any]:
    description = HTTPStatus(endpoint.status).phrase
    if endpoint.content != _JSON:
        # No schema for a stream: tools would apply it to each event, and OpenAPI 3.1 can't express that.
        content: dict[str, Any] = {} if endpoint.content == _STREAM else {"schema": {"type": "string"}}
        if isinstance(example.response, str):
            content["example"] = example.response
    elif not endpoint.enveloped:
        content = {"schema": schemas.of(endpoint.data)}
        if example.response is not None:
            content["example"] = example.response
    else:
        meta = "PageMeta" if endpoint.listing else "Meta"
        properties = {
            "data": schemas.of(endpoint.data),
            "error": {"type": "null"},
            "meta": {"$ref": f"#/components/schemas/{meta}"},
        }
        schema = {"type": "object", "properties": properties, "required": ["data", "error", "meta"]}
        content = {"schema": schema, "example": _example_response(endpoint, example)}
    alternatives = {other: {"schema": {"type": "string"}} for other in endpoint.alternative_content}
    # A deleted object has no version.
    etag = "ETag" if endpoint.versioned and endpoint.method != "DELETE" else None
    return {
        "description": description,
        "headers": _headers(etag),
        "content": {endpoint.content: content, **alternatives},
    }


def _example_response(endpoint: Endpoint, example: Example) -> dict[str, Any]:
    """The response to an example in its envelope: the data of the example, or example values for the type."""
    parameters = {**example.path, **example.query, **cast(Mapping[str, Any], example.body or {})}
    data = (
        example.response
        if example.response is not None
        else example_value(endpoint.data, fill_placeholders(parameters))
    )
    meta: dict[str, Any] = {"request_id": example_id("request_id"), "timestamp": EXAMPLE_TIME}
    if endpoint.listing:
        meta["pagination"] = {"next_cursor": "", "has_more": False}
    return {"data": fill_placeholders(data), "error": None, "meta": meta}


def _error_response(status: int, group: Sequence[type[Refusal]]) -> tuple[str, dict[str, Any]]:
    """The name and response object for a status: its error codes, their meanings and an example of each."""
    codes = {"type": "object", "properties": {"code": {"enum": [each.code for each in group]}}}
    schema = {"allOf": [{"$ref": "#/components/schemas/Refusal"}, {"properties": {"error": codes}}]}
    meta = {"request_id": example_id("request_id"), "timestamp": EXAMPLE_TIME}
    examples = {
        each.code: {
            "value": {
                "data": None,
                "error": {"code": each.code, "message": each.text, "details": None},
                "meta": meta,
            }
        }
        for each in group
    }
    return f"{status}.{'.'.join(each.code for each in group)}", {
        "description": "\n\n".join(f"`{each.code}` {each.text}" for each in group),
        "headers": _headers("Retry-After" if status in (429, 503) else None),
        "content": {_JSON: {"schema": schema, "examples": examples}},
    }


def _headers(additional: str | None = None) -> dict[str, Any]:
    names = ["X-Request-Id", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"]
    return {name: {"$ref": f"#/components/headers/{name}"} for name in [*names, *([additional] if additional else [])]}


def _integer_header(description: str) -> Schema:
    return {"description": description, "schema": {"type": "integer", "minimum": 0}}


_HEADERS: dict[str, Schema] = {
    "X-Request-Id": {
        "description": "The id of the request, as in `meta.request_id`.",
        "required": True,
        "schema": {"type": "string", "format": "uuid"},
    },
    "RateLimit-Limit": _integer_header("Requests allowed in the window; absent without a limit."),
    "RateLimit-Remaining": _integer_header("Remaining requests in the window."),
    "RateLimit-Reset": _integer_header(
        "With an API key, or after 429: seconds until the next request is accepted (0: now). Otherwise: seconds "
        "until all requests of the limit are available again."
    ),
    "ETag": {
        "description": "The version of the object, for If-Match. A replayed response has none.",
        "schema": {"type": "string"},
    },
    "Retry-After": _integer_header("Seconds to wait before the next attempt."),
}

_PARAMETERS: dict[str, Schema] = {
    "idempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "description": "Requests with the same key and body have their effect once; keys are stored for 24 hours.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    },
    "ifMatch": {
        "name": "If-Match",
        "in": "header",
        "required": False,
        "description": "The ETag of the object as the caller knows it: if it has changed since, PRECONDITION_FAILED.",
        "schema": {"type": "string"},
    },
    "cursor": {
        "name": "cursor",
        "in": "query",
        "required": False,
        "description": "`meta.pagination.next_cursor` of the previous page; empty or absent: the first page.",
        "schema": {"type": "string"},
    },
    "limit": {
        "name": "limit",
        "in": "query",
        "required": False,
        "description": "Items per page.",
        "schema": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
    },
    "order": {
        "name": "order",
        "in": "query",
        "required": False,
        "description": "Default: `desc` for times (newest first), `asc` for other fields.",
        "schema": {"type": "string", "enum": ["asc", "desc"]},
    },
}

_META: Schema = {
    "type": "object",
    "properties": {
        "request_id": {"type": "string", "format": "uuid"},
        "timestamp": {"type": "string", "format": "date-time"},
    },
    "required": ["request_id", "timestamp"],
}

_SCHEMAS: dict[str, Schema] = {
    "Meta": {"description": "Metadata of every response."} | _META,
    "PageMeta": {
        "description": "Metadata of a page of a list.",
        "type": "object",
        "properties": {
            **_META["properties"],
            "pagination": {
                "type": "object",
                "properties": {
                    "next_cursor": {"type": "string", "description": "Empty on the last page."},
                    "has_more": {"type": "boolean"},
                },
                "required": ["next_cursor", "has_more"],
            },
        },
        "required": [*_META["required"], "pagination"],
    },
    "Refusal": {
        "description": "Every error response.",
        "type": "object",
        "properties": {
            "data": {"type": "null"},
            "error": {
                "type": "object",
                "properties": {
                    "code": {"type": "string"},
                    "message": {"type": "string"},
                    "details": {"type": ["object", "null"]},
                },
                "required": ["code", "message", "details"],
            },
            "meta": {"$ref": "#/components/schemas/Meta"},
        },
        "required": ["data", "error", "meta"],
    },
}
