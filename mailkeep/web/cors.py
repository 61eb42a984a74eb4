"""Cross-origin calls (Fetch §3.2): off means no header at all; on means exact origins, without cookies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.requests import Request
from starlette.responses import Response

_EXPOSED = "Idempotent-Replayed, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Request-Id"


def headers(given: Mapping[str, str], origins: Sequence[str]) -> dict[str, str]:
    """The headers of an answer to `given`; empty where CORS is off or the origin is not allowed."""
    if not origins:
        return {}
    origin = given.get("origin")
    if origin is None or origin not in origins:
        return {"vary": "Origin"}
    return {
        "access-control-allow-origin": origin,
        "vary": "Origin",
        "access-control-expose-headers": _EXPOSED,
    }


def preflight(request: Request, origins: Sequence[str]) -> Response | None:
    """The answer to a preflight of an allowed origin, else None."""
    if request.method != "OPTIONS" or request.headers.get("origin") not in origins:
        return None
    if "access-control-request-method" not in request.headers:
        return None
    allowed = {
        "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE",
        "access-control-allow-headers": "Authorization, Content-Type, Idempotency-Key",
        "access-control-max-age": "600",
    }
    return Response(status_code=204, headers=allowed)
