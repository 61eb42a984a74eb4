"""The plain page where a login by browser starts and ends: three static files, without the dashboard.

It stands at `/login` until a built dashboard has a page of its own there, and always at `/login/plain`. Its policy
allows nothing but these files and calls of the API; what it shows of answers are text nodes.
"""

from __future__ import annotations

from importlib import resources
from typing import Any

from mailkeep.web.endpoint import Call, Endpoint, HttpResponse
from mailkeep.web.pages import page_endpoint

PATH = "/login"
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)


def login_endpoints(*, replaced: bool) -> tuple[Endpoint, ...]:
    """The page and its files; `replaced`: another page stands at `/login`."""
    page = _static("index.html", "text/html")
    paths = ("/login/plain",) if replaced else (PATH, "/login/plain")
    return (
        *(_endpoint(path, page, "text/html", is_page=True) for path in paths),
        _endpoint("/login/page.css", _static("page.css", "text/css"), "text/css"),
        _endpoint("/login/page.js", _static("page.js", "text/javascript"), "text/javascript"),
    )


def _endpoint(path: str, handler: Any, kind: str, *, is_page: bool = False) -> Endpoint:
    return page_endpoint(path, handler, kind, "Log in by browser", is_page=is_page)


def _static(name: str, kind: str) -> Any:
    content = (resources.files("mailkeep.web") / "login_page" / name).read_bytes()
    headers = {"content-security-policy": CONTENT_SECURITY_POLICY, "cache-control": "no-cache"}

    async def _answer(_: Any, call: Call) -> HttpResponse:
        return HttpResponse(content=content, content_type=kind, headers=dict(headers))

    return _answer
