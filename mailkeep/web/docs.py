"""The documentation page: static files beside this module, made alive by the OpenAPI document.

It works without the Internet and under a policy that allows nothing but our own files. The paths in it are
relative, so that it is the same page at `/docs` and under the prefix.
"""

from __future__ import annotations

from importlib import resources
from typing import Any

from mailkeep.web.endpoint import Call, Endpoint, Example, HttpResponse

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)

_FILES = {
    "/docs/page.css": "text/css",
    "/docs/page.js": "text/javascript",
    "/docs/icon.svg": "image/svg+xml",
}


def docs_endpoints() -> tuple[Endpoint, ...]:
    """The page, and its files."""
    page = _static("index.html", "text/html")
    files = (
        _endpoint(path, _static(path.rpartition("/")[2], kind), kind, documented=False) for path, kind in _FILES.items()
    )
    return (
        _endpoint("/docs", page, "text/html"),
        *files,
    )


def _endpoint(path: str, handler: Any, kind: str, **more: Any) -> Endpoint:
    return Endpoint(
        method="GET",
        path=path,
        handler=handler,
        action=None,
        summary="Read the documentation",
        description="A page for people, made from the OpenAPI document.",
        tag="Documentation",
        data=str,
        content=kind,
        bare=True,
        examples=(Example(),),
        **more,
    )


def _static(name: str, kind: str) -> Any:
    content = (resources.files("mailkeep.web") / "docs_page" / name).read_bytes()
    headers = {"content-security-policy": CONTENT_SECURITY_POLICY, "cache-control": "no-cache"}

    async def _answer(_: Any, call: Call) -> HttpResponse:
        return HttpResponse(content=content, content_type=kind, headers=dict(headers))

    return _answer
