"""Pages for people outside the dashboard, without scripts: those of links with a token in the path."""

from __future__ import annotations

from html import escape
from typing import Any

from mailkeep.web.endpoint import Call, Endpoint, HttpResponse
from mailkeep.web.static_files import static_endpoint

_POLICY = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
_STYLE = b"""\
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 32rem; margin: 15vh auto 0; padding: 0 1.25rem; overflow-wrap: anywhere; }
h1 { font-size: 1.375rem; line-height: 1.3; }
button, .button { font: inherit; font-weight: 600; padding: 0.5rem 1.25rem; border: 0; border-radius: 0.375rem;
  color: #fff; background: #1d4ed8; cursor: pointer; }
:focus-visible { outline: 3px solid #93c5fd; outline-offset: 2px; }
"""


def respond(page: tuple[str, str], style_path: str, status: int = 200) -> HttpResponse:
    """The response with a page: its title, and its content in HTML, in which what others wrote is escaped."""
    title, content = page
    html = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">'
        f'<title>{escape(title)}</title><link rel="stylesheet" href="{style_path}"></head>'
        f"<body><main><h1>{escape(title)}</h1>{content}</main></body></html>"
    )
    headers = {"content-security-policy": _POLICY}
    return HttpResponse(content=html.encode(), content_type="text/html; charset=utf-8", headers=headers, status=status)


def style_endpoint(path: str, more: bytes = b"") -> Endpoint:
    """The endpoint of the pages' style, with rules for some of them."""

    async def style(_: Any, call: Call) -> HttpResponse:
        return HttpResponse(content=_STYLE + more, content_type="text/css; charset=utf-8")

    return static_endpoint(path, style, "text/css", "The style of a public page")
