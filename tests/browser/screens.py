"""All screens of the dashboard, and helpers that open and watch them in the browser."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Response, expect

from tests.browser.scene import COOKIE, Caller

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "mailkeep/web/dashboard_page/screens.json"  # `make dev` builds it
TIMEOUT_MS = 30_000
FOREIGN = re.compile(r"/sandbox/messages/[0-9a-f-]{36}/html")
WIDE, PHONE = {"width": 1360, "height": 900}, {"width": 390, "height": 844}


@dataclass(frozen=True)
class Screen:
    """`path` with placeholders for the scene's IDs; `lowest`: the lowest role with access."""

    name: str
    path: str
    lowest: str = "domain_admin"

    def at(self, ids: dict[str, str]) -> str:
        return self.path.format(**ids)


SCREENS = (
    Screen("overview", "/"),
    Screen("first-steps", "/start"),
    Screen("domains", "/domains"),
    Screen("domain", "/domains/{domain_id}"),
    Screen("mailboxes", "/mailboxes"),
    Screen("mailbox", "/mailboxes/{mailbox_id}"),
    Screen("aliases", "/aliases"),
    Screen("routing", "/routing?address=team%40example.test"),
    Screen("send", "/send"),
    Screen("messages", "/messages"),
    Screen("message", "/messages/{message_id}"),
    Screen("queue", "/queue", "admin"),
    Screen("suspensions", "/suspensions", "admin"),
    Screen("account", "/account"),
    Screen("api-keys", "/api-keys"),
    Screen("webhooks", "/webhooks", "admin"),
    Screen("webhook", "/webhooks/{webhook_id}", "admin"),
    Screen("events", "/events", "admin"),
    Screen("sandbox", "/sandbox", "super_admin"),
    Screen("sandbox-message", "/sandbox/{sandbox_id}", "super_admin"),
    Screen("administrators", "/admins"),
    Screen("audit-log", "/audit"),
)


def require_dashboard() -> None:
    assert BUILT.is_file(), "The dashboard is not built: run `make dev`."


def untested_paths() -> set[str]:
    """Paths of screens in the build that are not in this table."""
    known = {screen.path.partition("?")[0] for screen in SCREENS} | {"/login"}
    shapes = {"/".join("{}" if "{" in part else part for part in path.split("/")) for path in known}
    built: list[str] = json.loads(BUILT.read_text())
    return {path for path in built if "/".join("{}" if "{" in part else part for part in path.split("/")) not in shapes}


# Runs in every document of the page, frames included, and reports violations with their URL.
_TELL = """
addEventListener('securitypolicyviolation', (e) =>
  console.error(`policy ${location.href}: ${e.effectiveDirective} ${e.blockedURI}`))
addEventListener('unhandledrejection', (e) => console.error(`unhandled rejection: ${e.reason}`))
"""
# The message about the outcome of an action is shown for six seconds, so a test that waits as long would not see it.
# Here it stays longer, and clicks pass through it.
_STAYS = """{
  const soon = setTimeout
  window.setTimeout = (then, after, ...more) => soon(then, after === 6000 ? 60000 : after, ...more)
  const through = new CSSStyleSheet()
  through.replaceSync('.mantine-Notification-root { pointer-events: none }')
  document.adoptedStyleSheets = [through]
}"""


@dataclass
class Watch:
    """What went wrong on a page, beside what the screens themselves tell."""

    http: str
    faults: list[str] = field(default_factory=list[str])

    def begin(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"{page.url}: {error.stack or error}"))
        page.on("response", self._answered)
        page.on("request", lambda request: self._asked(request.url))

    def _console(self, message: ConsoleMessage) -> None:
        # The HTML of a message is blocked in its frame as intended; these reports are expected.
        if FOREIGN.search(message.location.get("url", "") + message.text):
            return
        # Refused calls are shown by the screens; the browser writes them down as well.
        if message.type in ("error", "warning") and not message.text.startswith("Failed to load resource"):
            self.faults.append(f"{message.location.get('url', '')}: {message.text}")

    def _answered(self, response: Response) -> None:
        # On a machine with much to do the instance may rightly say that it is not well.
        if response.status >= 500 and not (response.status == 503 and response.url.endswith("/health")):
            self.faults.append(f"{response.status} {response.url}")

    def _asked(self, url: str) -> None:
        scheme, host, *_ = urlsplit(url)
        if scheme in ("http", "https") and host != urlsplit(self.http).netloc:
            self.faults.append(f"asked another host: {url}")


class Site(Protocol):
    """Where the dashboard is, and whom it knows: the scene, or another front of it."""

    @property
    def http(self) -> str: ...

    def by(self, role: str) -> Caller: ...


@asynccontextmanager
async def context(browser: Browser, caller: Caller | None, **options: Any) -> AsyncIterator[BrowserContext]:
    """A browser of one's own, logged in as `caller`."""
    made = await browser.new_context(**{"viewport": WIDE, "locale": "en-GB", "timezone_id": "UTC"} | options)
    made.set_default_timeout(TIMEOUT_MS)
    await made.add_init_script(_TELL + _STAYS)
    if caller:
        await made.add_cookies([{"name": COOKIE, "value": caller.token, "url": caller.http}])
    try:
        yield made
    finally:
        await made.close()


@asynccontextmanager
async def watched(browser: Browser, scene: Site, role: str, **options: Any) -> AsyncIterator[Page]:
    """A page of somebody with this role, on which nothing may go wrong."""
    async with context(browser, scene.by(role), **options) as made:
        page = await made.new_page()
        watch = Watch(scene.http)
        watch.begin(page)
        yield page
        assert watch.faults == [], watch.faults


async def visit(page: Page, http: str, path: str) -> None:
    """Go to a screen and wait until it shows what it has."""
    await page.goto(http + path, wait_until="load")
    await ready(page)


async def find_link(page: Page, name: str) -> Locator:
    """The link to a screen in the sidebar. Opens folded groups until it is visible."""
    sidebar = page.get_by_role("navigation", name="Screens")
    link = sidebar.get_by_role("link", name=name, exact=True)
    await sidebar.get_by_role("link").first.wait_for()
    for group in await sidebar.get_by_role("button").all():
        if await link.count():
            break
        if await group.get_attribute("aria-expanded") == "false":
            await group.click()
    return link


async def ready(page: Page) -> None:
    """Nothing is loading any more."""
    await page.locator("h1").first.wait_for()
    await expect(page.locator("[aria-label^=Loading]")).to_have_count(0, timeout=TIMEOUT_MS)


async def turn_to(page: Page, path: str) -> None:
    """Go to another screen within the page, as its links do. It may be on its way to yet another one."""
    await page.evaluate(_TURN, path)
    await page.locator(f"main [data-screen='{path.partition('?')[0]}'] h1").first.wait_for()
    await ready(page)


# The address as the browser's own buttons change it.
_TURN = """(path) => {
  history.pushState({}, '', path)
  dispatchEvent(new PopStateEvent('popstate', { state: {} }))
}"""
