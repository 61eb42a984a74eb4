"""The `webhooks` of the OpenAPI document: the requests that Mailkeep sends to the URLs of webhooks."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from mailkeep.web.openapi_examples import EXAMPLE_TIME, example_id
from mailkeep.web.schemas import Schema

_SIGNATURE_HEADERS = {
    "webhook-id": "The event's id, the same in every attempt.",
    "webhook-timestamp": "Time of the attempt, in seconds since 1970.",
    "webhook-signature": (
        "`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. Its key is the part of the secret after `whsec_`, "
        "base64-decoded."
    ),
    "X-Svc-Signature": "The HMAC-SHA256 of the body in hex, keyed with the whole secret as text, `whsec_` included.",
    "X-Svc-Event": "The kind of the event.",
}


def webhook_operation(kind: str, data: Schema, payload: type[Struct], example: Mapping[str, Any]) -> dict[str, Any]:
    """The Path Item of a kind of event (OpenAPI 3.1 §4.8.9); `data` is the schema of `payload`."""
    uuid: Schema = {"type": "string", "format": "uuid"}
    properties: dict[str, Schema] = {
        "id": {**uuid, "description": "The message's id, or the event's id if there is no message."},
        "event": {"type": "string", "const": kind},
        "event_id": uuid,
        "timestamp": {"type": "string", "format": "date-time"},
        "data": data,
    }
    event_id = example_id("event_id")
    body = {
        "id": example_id("message_id") if "message_id" in example else event_id,
        "event": kind,
        "event_id": event_id,
        "timestamp": EXAMPLE_TIME,
        "data": example,
    }
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    operation = {
        "operationId": "on" + "".join(word.capitalize() for word in kind.replace("_", ".").split(".")),
        "summary": kind,
        "description": inspect.cleandoc(payload.__doc__ or ""),
        "tags": ["Webhooks"],
        "security": [],
        "parameters": [
            {"name": name, "in": "header", "required": True, "schema": {"type": "string"}, "description": meaning}
            for name, meaning in _SIGNATURE_HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema, "example": body}}},
        "responses": {"2XX": {"description": "Delivered. After any other response the delivery is retried."}},
    }
    return {"post": operation}
