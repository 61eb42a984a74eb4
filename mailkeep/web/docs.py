"""The API reference at `/docs`: static files that show the OpenAPI document.

The page works without the Internet and under a Content-Security-Policy that allows only files of this server: see
docs/decisions/0041-api-reference-page.md. Its links are relative, so that it is the same at `/docs` and `/api/v1/docs`.
"""

from __future__ import annotations

from importlib import resources

from mailkeep.web.endpoint import Endpoint
from mailkeep.web.static_files import media_type, serve_file, static_endpoint

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
_FILES = ("page.css", "page.js", "icon.svg")


def docs_endpoints() -> tuple[Endpoint, ...]:
    """The page and its files."""
    return (_endpoint("/docs", "index.html", documented=True), *(_endpoint(f"/docs/{name}", name) for name in _FILES))


def _endpoint(path: str, name: str, *, documented: bool = False) -> Endpoint:
    return static_endpoint(
        path,
        serve_file(resources.files("mailkeep.web") / "docs_page" / name, CONTENT_SECURITY_POLICY),
        media_type(name) or "",
        "Read the documentation",
        description="A page for people, generated from the OpenAPI document.",
        prefixed=True,
        documented=documented,
    )
