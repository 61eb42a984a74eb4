"""The JSON envelope of responses, and header fields of refusals."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from mailkeep.core.clock import iso
from mailkeep.core.errors import MethodNotAllowed, Refusal
from mailkeep.web.endpoint import Rate

_encoder = msgspec.json.Encoder()


def success(data: Any, request_id: UUID, now: datetime, **meta: Mapping[str, Any] | None) -> bytes:
    """The envelope of a successful response; `meta` has its optional members; those that are None are left out."""
    return _encoder.encode({"data": data, "error": None, "meta": _meta(request_id, now, meta)})


def failure(refusal: Refusal, request_id: UUID, now: datetime) -> bytes:
    """The envelope of an error response."""
    error = {"code": refusal.code, "message": refusal.message, "details": refusal.details}
    return _encoder.encode({"data": None, "error": error, "meta": _meta(request_id, now, {})})


def _meta(request_id: UUID, now: datetime, members: Mapping[str, Any]) -> dict[str, Any]:
    required = {"request_id": str(request_id), "timestamp": iso(now)}
    return required | {name: value for name, value in members.items() if value is not None}


def refusal_headers(refusal: Refusal) -> dict[str, str]:
    """Header fields of a refusal: Retry-After, Allow, WWW-Authenticate (RFC 9110 §10.2.3, §10.2.1, §11.6.1)."""
    headers: dict[str, str] = {}
    if refusal.retry_after is not None:
        headers["retry-after"] = str(refusal.retry_after)
    if isinstance(refusal, MethodNotAllowed) and refusal.details:
        headers["allow"] = ", ".join(refusal.details["allow"])
    if refusal.status == 401:
        headers["www-authenticate"] = 'Bearer realm="mailkeep"'
    return headers


def rate_headers(rate: Rate | None) -> list[tuple[bytes, bytes]]:
    """RateLimit-Limit, -Remaining and -Reset (seconds), empty without a limit."""
    if rate is None:
        return []
    return [
        (b"ratelimit-limit", b"%d" % rate.limit),
        (b"ratelimit-remaining", b"%d" % rate.remaining),
        (b"ratelimit-reset", b"%d" % rate.reset),
    ]
