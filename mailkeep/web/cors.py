"""CORS (Fetch §3.2): by default no header at all; if enabled, exact origins without cookies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response

_EXPOSED = (
    "Content-Disposition, ETag, Idempotent-Replayed, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, "
    "Retry-After, X-Request-Id"
)


def add_headers(request: Mapping[str, str], origins: Sequence[str], response: MutableHeaders) -> None:
    """Add the CORS header fields for a request with the headers `request`; none if CORS is off."""
    if not origins:
        return
    response.add_vary_header("Origin")
    origin = request.get("origin")
    if origin is not None and origin in origins:
        response["access-control-allow-origin"] = origin
        response["access-control-expose-headers"] = _EXPOSED


def preflight(request: Request, origins: Sequence[str]) -> Response | None:
    """The response to a preflight request of an allowed origin, else None."""
    if request.method != "OPTIONS" or request.headers.get("origin") not in origins:
        return None
    if "access-control-request-method" not in request.headers:
        return None
    allowed = {
        "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
        "access-control-allow-headers": "Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID",
        "access-control-max-age": "600",
    }
    return Response(status_code=204, headers=allowed)
