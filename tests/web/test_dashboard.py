"""The dashboard's files: paths, caching, content security policy."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from mailkeep.web.dashboard import CONTENT_SECURITY_POLICY, dashboard_endpoints, not_found_pages
from mailkeep.web.pipeline import Pipeline
from mailkeep.web.router import Router
from tests.support.caller import Caller
from tests.web.pipeline_setup import PipelineSetup

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "dashboard/src").rglob("*.ts*"))
SCRIPT = b"console.log('the dashboard')\n" * 20
_MARKUP = (
    r"dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|"
    r"\beval\(|new Function|javascript:"
)
PAGE = b"<!doctype html><title>Mailkeep</title>"
OWNERS_PAGE = b"<!doctype html><title>Your mailbox</title>"


@pytest.fixture
def caller(tmp_path: Path) -> Caller:
    (tmp_path / "assets").mkdir()
    screens = {"index.html": ["/", "/domains", "/domains/{id}"], "me.html": ["/me", "/me/vacation"]}
    (tmp_path / "screens.json").write_text(json.dumps(screens))
    (tmp_path / "index.html").write_bytes(PAGE)
    (tmp_path / "me.html").write_bytes(OWNERS_PAGE)
    (tmp_path / "scheme.js").write_bytes(b"// theme")
    (tmp_path / "assets/index-a1b2c3d4.js").write_bytes(SCRIPT)
    (tmp_path / "assets/index-a1b2c3d4.js.gz").write_bytes(gzip.compress(SCRIPT))
    (tmp_path / "assets/index-e5f6a7b8.css").write_bytes(b"body{}")
    return serve(tmp_path)


def serve(folder: Path, *origins: str) -> Caller:
    setup = PipelineSetup()
    setup.app.change("cors", origins=origins)
    return Caller(
        Pipeline(
            setup.app, Router(dashboard_endpoints(folder), not_found=not_found_pages(folder)), setup.access.control
        )
    )


@pytest.mark.parametrize(
    "path", ["/", "/domains", "/domains/0199", "/domains?q=x&new=yes", "/?error=FORBIDDEN", "/me", "/me/vacation?x=y"]
)
async def test_the_path_of_each_screen_returns_its_page(caller: Caller, path: str):
    answer = await caller("GET", path)
    assert (answer.status, answer.body) == (200, OWNERS_PAGE if path.startswith("/me") else PAGE)
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY


@pytest.mark.parametrize("path", ["/nowhere", "/domains/a/b", "/api/v1/domains", "/assets/", "/assets/../scheme.js",
                                  "/assets/index-a1b2c3d4.js.gz", "/screens.json", "/me.html", "/me/"])  # fmt: skip
async def test_other_paths_return_the_apis_not_found(caller: Caller, path: str):
    answer = await caller("GET", path)
    assert (answer.status, answer.code) == (404, "NOT_FOUND")


_BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.parametrize("path", ["/nowhere", "/domains/a/b", "/domains/", "/nowhere?x=y", "/me/x", "/me/", "/mean"])
async def test_an_unknown_path_shows_a_browser_the_dashboards_page(caller: Caller, path: str):
    """Issue 17, number 24: it showed raw JSON."""
    answer = await caller("GET", path, {"accept": _BROWSER})
    assert (answer.status, answer.body) == (404, OWNERS_PAGE if path.startswith("/me/") else PAGE)
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    for accept in ("*/*", "application/json", "text/html;q=0, */*", ""):
        answer = await caller("GET", path, {"accept": accept})
        assert (answer.status, answer.code) == (404, "NOT_FOUND")
    answer = await caller("POST", path, {"accept": _BROWSER})
    assert (answer.status, answer.code) == (404, "NOT_FOUND")


async def test_an_unknown_path_of_the_api_stays_the_apis_for_browsers_too(caller: Caller):
    answer = await caller("GET", "/api/v1/nowhere", {"accept": _BROWSER})
    assert (answer.status, answer.code) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    "accepted, compressed",
    [("gzip, deflate, br", True), ("br;q=1.0, gzip;q=0.8", True), ("GZIP", True), ("", False), ("br", False),
     ("gzip;q=0", False), ("gzip; q=0.0, br", False), ("xgzip", False)],
)  # fmt: skip
async def test_assets_are_immutable_and_compressed_if_accepted(caller: Caller, accepted: str, compressed: bool):
    answer = await caller("GET", "/assets/index-a1b2c3d4.js", {"accept-encoding": accepted})
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["vary"] == "accept-encoding"
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers.get("content-encoding") == ("gzip" if compressed else None)
    assert (gzip.decompress(answer.body) if compressed else answer.body) == SCRIPT


async def test_vary_names_encoding_and_origin(tmp_path: Path, caller: Caller):
    answer = await serve(tmp_path, "https://app.example")("GET", "/assets/index-a1b2c3d4.js")
    assert answer.headers["vary"] == "accept-encoding, Origin"


async def test_files_without_a_hash_in_their_name_are_revalidated(caller: Caller):
    assert (await caller("GET", "/scheme.js")).headers["cache-control"] == "no-cache"


async def test_without_a_build_the_start_page_says_how_to_build_it(tmp_path: Path):
    answer = await serve(tmp_path)("GET", "/")
    assert answer.status == 200
    assert b"make setup" in answer.body


def test_the_policy_allows_no_inline_script_or_style_and_no_other_host():
    assert "default-src 'none'" in CONTENT_SECURITY_POLICY
    assert not re.search(r"unsafe|https?:|\*|data:", CONTENT_SECURITY_POLICY)


def test_the_page_has_no_inline_script_or_style():
    page = (ROOT / "dashboard/index.html").read_text() + (ROOT / "dashboard/me.html").read_text()
    assert not re.search(r"<style|style=|<script>|\son[a-z]+=|(?:src|href)=\"(?:https?:)?//", page)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "dashboard/src")))
def test_no_source_turns_text_into_markup(source: Path):
    """But for the frame of HTML of messages, which is isolated: without scripts, by two ways."""
    text = source.read_text()
    if source.name == "HtmlFrame.tsx":
        assert re.findall(_MARKUP, text) == ["innerHTML"]
        assert "page = frame.current?.contentDocument" in text
        assert "page.documentElement.innerHTML = html" in text
        assert re.findall(r'(?:sandbox|src)="[^"]*"', text) == ['sandbox="allow-same-origin"', 'src="/message-frame"']
    else:
        assert not re.search(_MARKUP, text)
