"""The dashboard's page and files, built beside this module by `make setup` or with the wheel.

The same page is served at the path of every screen. The build lists these paths in `screens.json`; all other paths are
the API's. Files under `/assets/` have a hash of their content in their name and are cached forever; the page is not
cached. The Content-Security-Policy allows only files of this server.
"""

from __future__ import annotations

import json
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from mailkeep.web.endpoint import Call, Endpoint, HttpResponse
from mailkeep.web.static_files import Handler, media_type, serve_file, static_endpoint

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; "
    "font-src 'self'; frame-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
_CACHE_FOREVER = "public, max-age=31536000, immutable"
_NOT_BUILT = (
    b"<!doctype html><html lang=en><title>Mailkeep</title><h1>The dashboard is not built</h1>"
    b"<p>Run <code>make setup</code> to build it. The API works without it: see <a href=/docs>its documentation</a>."
)


def dashboard_endpoints(folder: Traversable | None = None) -> tuple[Endpoint, ...]:
    """The page at each screen's path, and its files. If the dashboard is not built, a page that says so."""
    folder = folder or resources.files("mailkeep.web") / "dashboard_page"
    if not (folder / "screens.json").is_file():
        return tuple(_endpoint(path, _not_built, "text/html", any_query=True) for path in ("/", "/login"))
    screens: list[str] = json.loads((folder / "screens.json").read_text("utf-8"))
    page = serve_file(folder / "index.html", CONTENT_SECURITY_POLICY, "no-store")
    return (
        *(_endpoint(path, page, "text/html", any_query=True) for path in screens),
        *(
            _endpoint(f"/{file.name}", serve_file(file, CONTENT_SECURITY_POLICY), kind)
            for file in folder.iterdir()
            if file.is_file() and (kind := media_type(file.name)) and kind != "text/html"
        ),
        *(
            _endpoint(f"/assets/{file.name}", _asset(file, folder / "assets" / f"{file.name}.gz"), kind)
            for file in (folder / "assets").iterdir()
            if (kind := media_type(file.name))
        ),
    )


def not_found_page(folder: Traversable | None = None) -> Endpoint | None:
    """The page for unknown paths, with status 404: the dashboard shows an error. None if it is not built."""
    folder = folder or resources.files("mailkeep.web") / "dashboard_page"
    if not (folder / "screens.json").is_file():
        return None
    page = serve_file(folder / "index.html", CONTENT_SECURITY_POLICY, "no-store", status=404)
    return _endpoint("/{unknown}", page, "text/html", any_query=True)


def _endpoint(path: str, handler: Handler, content_type: str, **options: Any) -> Endpoint:
    return static_endpoint(path, handler, content_type, "Show the dashboard", **options)


def _asset(file: Traversable, gzipped: Traversable) -> Handler:
    return serve_file(file, CONTENT_SECURITY_POLICY, _CACHE_FOREVER, gzipped=gzipped)


async def _not_built(_: Any, call: Call) -> HttpResponse:
    return HttpResponse(content=_NOT_BUILT, content_type="text/html", headers={"cache-control": "no-store"})
