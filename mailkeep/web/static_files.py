"""Endpoints of pages and files that come with Mailkeep: open to everybody, without the JSON envelope."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.resources.abc import Traversable
from typing import Any

from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse

Handler = Callable[[Any, Call], Awaitable[HttpResponse]]

MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}


def media_type(name: str) -> str | None:
    """The media type of a file by its suffix; None for files that are not served."""
    return MEDIA_TYPES.get(f".{name.rpartition('.')[2]}")


def static_endpoint(path: str, handler: Handler, content_type: str, summary: str, **options: Any) -> Endpoint:
    """GET of one file, outside the API's prefix and not in the OpenAPI document unless `options` say otherwise."""
    defaults: dict[str, Any] = {"bare": True, "prefixed": False, "documented": False, "examples": (Example(),)}
    return Endpoint(
        method="GET",
        path=path,
        handler=handler,
        action=None,
        summary=summary,
        tag="Documentation",
        data=str,
        content=content_type,
        **(defaults | options),
    )


def serve_file(
    file: Traversable,
    policy: str,
    cache_control: str = "no-cache",
    *,
    gzipped: Traversable | None = None,
    status: int = 200,
) -> Handler:
    """A handler that answers the file, which is read now. `policy` is its Content-Security-Policy.

    `gzipped`: the same file compressed; if it exists, clients that accept gzip get it.
    """
    content = file.read_bytes()
    compressed = gzipped.read_bytes() if gzipped and gzipped.is_file() else None
    content_type = media_type(file.name) or "application/octet-stream"
    headers = {"content-security-policy": policy, "cache-control": cache_control}
    if compressed:
        headers["vary"] = "accept-encoding"

    async def _answer(_: Any, call: Call) -> HttpResponse:
        if compressed and _accepts_gzip(call.headers.get("accept-encoding", "")):
            encoded = headers | {"content-encoding": "gzip"}
            return HttpResponse(content=compressed, content_type=content_type, headers=encoded, status=status)
        return HttpResponse(content=content, content_type=content_type, headers=dict(headers), status=status)

    return _answer


def _accepts_gzip(accept_encoding: str) -> bool:
    """Whether gzip is named with a weight other than 0 (RFC 9110 §12.5.3)."""
    for each in accept_encoding.split(","):
        coding, _, weight = each.partition(";")
        if coding.strip().lower() == "gzip":
            return weight.strip().replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
