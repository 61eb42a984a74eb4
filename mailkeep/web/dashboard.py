"""The dashboard's page and files, as `make setup` (or the wheel's build) has put them beside this module.

The page is the same at the address of every screen; which addresses these are the build tells (`screens.json`), so
that the rest of the paths stay the API's, with its own words for what does not exist. Files under `/assets/` have
their content's hash in their name and are kept for ever; the page itself is asked for anew each time. The policy
allows nothing but our own files: no script, no style element and no address of another host stands in the page.
"""

from __future__ import annotations

import json
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from mailkeep.web.endpoint import Call, Endpoint, HttpResponse
from mailkeep.web.pages import page_endpoint

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; "
    "font-src 'self'; frame-src 'self' blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
_FOR_EVER = "public, max-age=31536000, immutable"
_NOT_BUILT = (
    b"<!doctype html><html lang=en><title>Mailkeep</title><h1>The dashboard is not built</h1>"
    b"<p>In a clone <code>make setup</code> builds it. "
    b"The API is there, and so are <a href=/docs>its documentation</a> and <a href=/login/plain>a plain login</a>."
)
_KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}


def dashboard_endpoints(folder: Traversable | None = None) -> tuple[Endpoint, ...]:
    """The page at each screen's address, and its files; where it was not built, the start page says so."""
    folder = folder or resources.files("mailkeep.web") / "dashboard_page"
    if not (folder / "screens.json").is_file():
        return (_endpoint("/", _not_built, "text/html", is_page=True),)
    screens: list[str] = json.loads((folder / "screens.json").read_text("utf-8"))
    page = _file(folder / "index.html", None, "no-store")
    files = [each for each in folder.iterdir() if each.is_file() and _suffix(each.name) in (".js", ".svg")]
    assets = [each for each in (folder / "assets").iterdir() if _suffix(each.name) in _KINDS]
    return (
        *(_endpoint(path, page, "text/html", is_page=True) for path in screens),
        *(_endpoint(f"/{each.name}", _file(each, None, "no-cache"), _KINDS[_suffix(each.name)]) for each in files),
        *(
            _endpoint(
                f"/assets/{each.name}",
                _file(each, folder / "assets" / f"{each.name}.gz", _FOR_EVER),
                _KINDS[_suffix(each.name)],
            )
            for each in assets
        ),
    )


def not_found_page(folder: Traversable | None = None) -> Endpoint | None:
    """The same page for unknown paths, with the status 404: it shows that there is no such screen."""
    folder = folder or resources.files("mailkeep.web") / "dashboard_page"
    if not (folder / "screens.json").is_file():
        return None
    shown = _file(folder / "index.html", None, "no-store")

    async def handler(app: Any, call: Call) -> HttpResponse:
        reply = await shown(app, call)
        reply.status = 404
        return reply

    return _endpoint("/{unknown}", handler, "text/html", is_page=True)


async def _not_built(_: Any, call: Call) -> HttpResponse:
    return HttpResponse(content=_NOT_BUILT, content_type="text/html", headers={"cache-control": "no-store"})


def _suffix(name: str) -> str:
    return f".{name.rpartition('.')[2]}"


def _endpoint(path: str, handler: Any, kind: str, *, is_page: bool = False) -> Endpoint:
    return page_endpoint(path, handler, kind, "Show the dashboard", is_page=is_page)


def _file(file: Traversable, packed_file: Traversable | None, caching: str) -> Any:
    content = file.read_bytes()
    packed = packed_file.read_bytes() if packed_file and packed_file.is_file() else None
    kind = _KINDS[_suffix(file.name)]
    headers = {"content-security-policy": CONTENT_SECURITY_POLICY, "cache-control": caching}
    if packed:
        headers["vary"] = "accept-encoding"

    async def _answer(_: Any, call: Call) -> HttpResponse:
        if packed and _takes_gzip(call.headers.get("accept-encoding", "")):
            return HttpResponse(content=packed, content_type=kind, headers={**headers, "content-encoding": "gzip"})
        return HttpResponse(content=content, content_type=kind, headers=dict(headers))

    return _answer


def _takes_gzip(accepted: str) -> bool:
    """Whether gzip is named, and not with a weight of nothing (RFC 9110 §12.5.3)."""
    for each in accepted.split(","):
        coding, _, weight = each.partition(";")
        if coding.strip().lower() == "gzip":
            return weight.strip().replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
