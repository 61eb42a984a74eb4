"""Screens of the page for mailbox owners, and helpers that sign owners in."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from playwright.async_api import Browser, BrowserContext, Page

from tests.browser.scene import PASSWORD, Scene
from tests.browser.screens import BUILT, FaultRecorder, Screen, open_context

COOKIE = "svc_mailbox"
SCREENS = (
    Screen("own-overview", "/me"),
    Screen("own-junk", "/me/junk"),
    Screen("own-spam", "/me/spam"),
    Screen("own-mail", "/me/mail"),
    Screen("own-vacation", "/me/vacation"),
    Screen("own-forwarding", "/me/forwarding"),
    Screen("own-filters", "/me/filters"),
    Screen("own-security", "/me/security"),
    Screen("own-app-passwords", "/me/app-passwords"),
    Screen("own-device", "/me/device"),
)
LOGIN = "/me/login"
# Everything that the page may call: the owner's own paths, and what is the same for everybody.
ALLOWED_CALLS = re.compile(r"/api/v1/(me|me/.+|version|sieve/(validate|test))")
# Bytes of the first load: the page and its files, without the API.
SIZE = """() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .filter((each) => !each.name.includes('/api/')).reduce((sum, each) => sum + each.transferSize, 0)"""
_NUMBERS = itertools.count()


def list_built_paths() -> set[str]:
    """The paths that the build lists for the page."""
    return set(json.loads(BUILT.read_text())["me.html"])


async def make_owner(scene: Scene, **more: Any) -> tuple[str, str]:
    """A new mailbox in Berlin's time zone, whose password is `PASSWORD`: its ID and address."""
    local_part = f"owner{next(_NUMBERS)}"
    body = {"domain_id": scene.ids["domain_id"], "local_part": local_part, "name": "Olga Owner", "password": PASSWORD}
    created = await scene.super_admin.call("POST", "/mailboxes", body | {"time_zone": "Europe/Berlin"} | more)
    return created["id"], created["address"]


@dataclass(frozen=True)
class Owner:
    """The session of a mailbox's owner."""

    http: str
    token: str

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        """Call the API below `/me`; returns `data`."""
        headers = {"Cookie": f"{COOKIE}={self.token}"}
        url = f"{self.http}/api/v1/me{path}"
        async with aiohttp.ClientSession(headers=headers) as session, session.request(method, url, json=body) as answer:
            envelope = await answer.json()
        assert envelope["error"] is None, envelope["error"]
        return envelope["data"]

    async def enter(self, browser_context: BrowserContext) -> None:
        """Give a browser the session's cookie."""
        await browser_context.add_cookies([{"name": COOKIE, "value": self.token, "url": self.http}])


async def sign_in(http: str, address: str, password: str = PASSWORD) -> Owner:
    """Open a session of an owner."""
    body = {"address": address, "password": password}
    async with aiohttp.ClientSession() as session, session.post(f"{http}/api/v1/me/login", json=body) as answer:
        assert answer.status == 200, await answer.text()
        return Owner(http, answer.cookies[COOKIE].value)


@asynccontextmanager
async def open_own_page(browser: Browser, http: str, owner: Owner | None, **options: Any) -> AsyncIterator[Page]:
    """A page with the session of an owner, or none. Fails at the end if anything was recorded (`FaultRecorder`), or if
    the page has called anything but `ALLOWED_CALLS`.
    """
    async with open_context(browser, None, **options) as browser_context:
        if owner:
            await owner.enter(browser_context)
        page = await browser_context.new_page()
        recorder = FaultRecorder(http)
        recorder.attach(page)
        called: set[str] = set()
        page.on("request", lambda request: called.add(urlsplit(request.url).path))
        yield page
        assert recorder.faults == [], recorder.faults
        foreign = {path for path in called if path.startswith("/api/") and not ALLOWED_CALLS.fullmatch(path)}
        assert foreign == set(), foreign
