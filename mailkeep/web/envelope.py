"""The envelope of every answer, and the one place where a refusal becomes an HTTP answer."""

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

SECURITY_HEADERS: tuple[tuple[str, str], ...] = (
    ("cache-control", "no-store"),
    ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
)


def success(data: Any, request_id: UUID, now: datetime, **more: Mapping[str, Any] | None) -> bytes:
    """The envelope around `data`; `more` (pagination, details) stands in `meta` where it is not None."""
    return _encoder.encode({"data": data, "error": None, "meta": _meta(request_id, now, more)})


def refusal(wrong: Refusal, request_id: UUID, now: datetime) -> bytes:
    """The envelope around a refusal."""
    error = {"code": wrong.code, "message": wrong.message, "details": wrong.details}
    return _encoder.encode({"data": None, "error": error, "meta": _meta(request_id, now, {})})


def _meta(request_id: UUID, now: datetime, more: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in more.items() if value is not None}
    return {"request_id": str(request_id), "timestamp": iso(now)} | given


def refusal_headers(wrong: Refusal) -> dict[str, str]:
    """What goes with it: Retry-After, Allow, WWW-Authenticate (RFC 9110 §10.2.3, §10.2.1, §11.6.1)."""
    headers: dict[str, str] = {}
    if wrong.retry_after is not None:
        headers["retry-after"] = str(wrong.retry_after)
    if isinstance(wrong, MethodNotAllowed) and wrong.details:
        headers["allow"] = ", ".join(wrong.details["allow"])
    if wrong.status == 401:
        headers["www-authenticate"] = 'Bearer realm="mailkeep"'
    return headers


def rate_headers(rate: Rate | None) -> dict[str, str]:
    """RateLimit-Limit, -Remaining and -Reset (seconds), empty where nothing is limited."""
    if rate is None:
        return {}
    return {
        "ratelimit-limit": str(rate.limit),
        "ratelimit-remaining": str(rate.remaining),
        "ratelimit-reset": str(rate.reset),
    }
