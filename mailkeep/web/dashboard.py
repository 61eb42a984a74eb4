"""The pages of the dashboard and of mailbox owners (`/me`), and their files, built beside this module by `make setup`
or with the wheel.

A page is served at the path of each of its screens. The build lists these paths by page in `screens.json`; all other
paths are the API's. Files under `/assets/` have a hash of their content in their name and are cached forever; the pages
are not cached. The Content-Security-Policy allows only files of this server.
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
# A frame of the dashboard shows HTML of messages, which may have styles, but no scripts, requests or frames of its own.
_FRAME_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; form-action 'none'"
)
_FRAME = b"<!doctype html><html lang=en><title>Message</title></html>"
_CACHE_FOREVER = "public, max-age=31536000, immutable"
_NOT_BUILT = (
    b"<!doctype html><html lang=en><title>Mailkeep</title><h1>The dashboard is not built</h1>"
    b"<p>Run <code>make setup</code> to build it. The API works without it: see <a href=/docs>its documentation</a>."
)


def dashboard_endpoints(folder: Traversable | None = None) -> tuple[Endpoint, ...]:
    """The pages at their screens' paths, and their files. If the dashboard is not built, a page that says so."""
    folder = folder or resources.files("mailkeep.web") / "dashboard_page"
    if not (folder / "screens.json").is_file():
        return tuple(_endpoint(path, _not_built, "text/html", any_query=True) for path in ("/", "/login", "/me"))
    screens: dict[str, list[str]] = json.loads((folder / "screens.json").read_text("utf-8"))
    return (
        _endpoint("/message-frame", _show_frame, "text/html"),
        *(
            _endpoint(path, _page(folder / name), "text/html", any_query=True)
            for name, paths in screens.items()
            for path in paths
        ),
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


def not_found_pages(folder: Traversable | None = None) -> dict[str, Endpoint]:
    """The pages for unknown paths, with status 404, by the start of the path: they show an error. None if not built."""
    folder = folder or resources.files("mailkeep.web") / "dashboard_page"
    if not (folder / "screens.json").is_file():
        return {}
    return {
        start: _endpoint("/{unknown}", _page(folder / name, 404), "text/html", any_query=True)
        for start, name in (("/me/", "me.html"), ("/", "index.html"))
    }


def _page(file: Traversable, status: int = 200) -> Handler:
    return serve_file(file, CONTENT_SECURITY_POLICY, "no-store", status=status)


def _endpoint(path: str, handler: Handler, content_type: str, **options: Any) -> Endpoint:
    return static_endpoint(path, handler, content_type, "Show the dashboard", **options)


def _asset(file: Traversable, gzipped: Traversable) -> Handler:
    return serve_file(file, CONTENT_SECURITY_POLICY, _CACHE_FOREVER, gzipped=gzipped)


async def _show_frame(_: Any, call: Call) -> HttpResponse:
    """An empty page whose content the dashboard sets (`HtmlFrame.tsx`)."""
    headers = {"content-security-policy": _FRAME_POLICY, "x-frame-options": "SAMEORIGIN", "cache-control": "no-cache"}
    headers["x-dns-prefetch-control"] = "off"
    return HttpResponse(content=_FRAME, content_type="text/html; charset=utf-8", headers=headers)


async def _not_built(_: Any, call: Call) -> HttpResponse:
    return HttpResponse(content=_NOT_BUILT, content_type="text/html", headers={"cache-control": "no-store"})
