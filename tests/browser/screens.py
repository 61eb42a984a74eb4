"""All screens of the dashboard, and helpers that open them in the browser and record what fails there."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Response, ViewportSize, expect

from tests.browser.scene import COOKIE, Caller

ROOT = Path(__file__).parents[2]
BUILT = ROOT / "mailkeep/web/dashboard_page/screens.json"  # `make dev` builds it
TIMEOUT_MS = 30_000
FOREIGN = re.compile(r"/messages/[0-9a-f-]{36}/html|/message-frame")
WIDE, PHONE = ViewportSize(width=1360, height=900), ViewportSize(width=390, height=844)


@dataclass(frozen=True)
class Screen:
    """`path`: with placeholders for the IDs of the scene's objects; `lowest`: the lowest role with access."""

    name: str
    path: str
    lowest: str = "domain_admin"

    def path_for(self, ids: dict[str, str]) -> str:
        return self.path.format(**ids)


SCREENS = (
    Screen("overview", "/"),
    Screen("first-steps", "/start"),
    Screen("domains", "/domains"),
    Screen("domain", "/domains/{domain_id}"),
    Screen("dns", "/domains/{domain_id}?tab=dns"),
    Screen("dkim", "/domains/{domain_id}?tab=dkim"),
    Screen("server-dns", "/server-dns", "super_admin"),
    Screen("reports", "/domains/{domain_id}?tab=reports"),
    Screen("domain-list", "/domains/{domain_id}?tab=filtering&view=list"),
    Screen("mailboxes", "/mailboxes"),
    Screen("mailbox", "/mailboxes/{mailbox_id}"),
    Screen("app-passwords", "/mailboxes/{mailbox_id}?tab=app-passwords"),
    Screen("mailbox-filtering", "/mailboxes/{mailbox_id}?tab=filtering"),
    Screen("mailbox-junk", "/mailboxes/{mailbox_id}?tab=junk"),
    Screen("import-mailboxes", "/mailboxes/import"),
    Screen("aliases", "/aliases"),
    Screen("import-aliases", "/aliases/import"),
    Screen("routing", "/routing?address=team%40example.test"),
    Screen("send", "/send"),
    Screen("templates", "/templates"),
    Screen("template", "/templates/{template_id}"),
    Screen("send-template", "/send?template={template_id}"),
    Screen("messages", "/messages"),
    Screen("message", "/messages/{message_id}"),
    Screen("message-content", "/messages/{message_id}?tab=content"),
    Screen("scheduled-message", "/messages/{scheduled_id}"),
    Screen("queue", "/queue", "admin"),
    Screen("certificates", "/certificates", "super_admin"),
    Screen("suppressions", "/suppressions"),
    Screen("unsubscribe-groups", "/unsubscribe-groups"),
    Screen("analytics", "/analytics"),
    Screen("abuse", "/abuse"),
    Screen("alerts", "/alerts"),
    Screen("suspensions", "/suspensions", "admin"),
    Screen("sign-in-blocks", "/sign-in-blocks", "admin"),
    Screen("incidents", "/incidents"),
    Screen("incident", "/incidents/{incident_id}"),
    Screen("health", "/server-health", "super_admin"),
    Screen("account", "/account"),
    Screen("api-keys", "/api-keys"),
    Screen("webhooks", "/webhooks", "admin"),
    Screen("webhook", "/webhooks/{webhook_id}", "admin"),
    Screen("events", "/events", "admin"),
    Screen("sandbox", "/sandbox", "super_admin"),
    Screen("sandbox-message", "/sandbox/{sandbox_id}", "super_admin"),
    Screen("settings", "/settings", "super_admin"),
    Screen("services", "/services", "super_admin"),
    Screen("backups", "/backups", "super_admin"),
    Screen("backup-policy", "/backups?tab=policy", "super_admin"),
    Screen("backup", "/backups/{backup_id}", "super_admin"),
    Screen("filtering", "/filtering", "super_admin"),
    Screen("filtering-test", "/filtering?tab=test", "super_admin"),
    Screen("administrators", "/admins"),
    Screen("audit-log", "/audit"),
)


def require_dashboard() -> None:
    assert BUILT.is_file(), "The dashboard is not built: run `make dev`."


def find_untested_paths() -> set[str]:
    """Paths of screens in the build that are not in this table."""
    tested = {screen.path.partition("?")[0] for screen in SCREENS} | {"/login", "/invitation", "/password"}
    shapes = {"/".join("{}" if "{" in part else part for part in path.split("/")) for path in tested}
    built: list[str] = json.loads(BUILT.read_text())["index.html"]
    return {path for path in built if "/".join("{}" if "{" in part else part for part in path.split("/")) not in shapes}


# Runs in every document of the page, frames included, and reports violations with their URL.
_REPORT_VIOLATIONS = """
addEventListener('securitypolicyviolation', (e) =>
  console.error(`policy ${location.href}: ${e.effectiveDirective} ${e.blockedURI}`))
addEventListener('unhandledrejection', (e) => console.error(`unhandled rejection: ${e.reason}`))
"""
# The dashboard shows notifications for six seconds; a test on a slow machine would miss them. Here they stay for a
# minute, and clicks go through them.
_KEEP_NOTIFICATIONS = """{
  const soon = setTimeout
  window.setTimeout = (then, after, ...more) => soon(then, after === 6000 ? 60000 : after, ...more)
  const through = new CSSStyleSheet()
  through.replaceSync('.mantine-Notification-root { pointer-events: none }')
  document.adoptedStyleSheets = [through]
}"""


@dataclass
class FaultRecorder:
    """Records console errors, exceptions, server errors and requests to other hosts of a page."""

    http: str
    faults: list[str] = field(default_factory=list[str])

    def attach(self, page: Page) -> None:
        page.on("console", self._record_message)
        page.on("pageerror", lambda error: self.faults.append(f"{page.url}: {error.stack or error}"))
        page.on("response", self._record_response)
        page.on("request", lambda request: self._record_request(request.url))

    def _record_message(self, message: ConsoleMessage) -> None:
        # The HTML of a message is blocked in its frame as intended; these reports are expected.
        if FOREIGN.search(message.location.get("url", "") + message.text):
            return
        # The screens show failed requests; the browser logs them too.
        if message.type in ("error", "warning") and not message.text.startswith("Failed to load resource"):
            self.faults.append(f"{message.location.get('url', '')}: {message.text}")

    def _record_response(self, response: Response) -> None:
        # On a busy machine the instance may report that it is degraded.
        if response.status >= 500 and not (response.status == 503 and response.url.endswith("/health")):
            self.faults.append(f"{response.status} {response.url}")

    def _record_request(self, url: str) -> None:
        scheme, host, *_ = urlsplit(url)
        if scheme in ("http", "https") and host != urlsplit(self.http).netloc:
            self.faults.append(f"request to another host: {url}")


class Site(Protocol):
    """A server with the dashboard and its sessions: the scene, or its second address (`Front`)."""

    @property
    def http(self) -> str: ...

    def caller(self, role: str) -> Caller: ...


@asynccontextmanager
async def open_context(browser: Browser, caller: Caller | None, **options: Any) -> AsyncIterator[BrowserContext]:
    """A browser context with the session of `caller`, or none."""
    browser_context = await browser.new_context(**{"viewport": WIDE, "locale": "en-GB", "timezone_id": "UTC"} | options)
    browser_context.set_default_timeout(TIMEOUT_MS)
    await browser_context.add_init_script(_REPORT_VIOLATIONS + _KEEP_NOTIFICATIONS)
    if caller:
        await browser_context.add_cookies([{"name": COOKIE, "value": caller.token, "url": caller.http}])
    try:
        yield browser_context
    finally:
        await browser_context.close()


@asynccontextmanager
async def open_page(browser: Browser, scene: Site, role: str, **options: Any) -> AsyncIterator[Page]:
    """A page with the session of a role. Fails at the end if anything was recorded (`FaultRecorder`)."""
    async with open_context(browser, scene.caller(role), **options) as browser_context:
        page = await browser_context.new_page()
        recorder = FaultRecorder(scene.http)
        recorder.attach(page)
        yield page
        assert recorder.faults == [], recorder.faults


async def visit(page: Page, http: str, path: str) -> None:
    """Load a screen and wait until its content has loaded."""
    await page.goto(http + path, wait_until="load")
    await wait_until_loaded(page)


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


async def wait_until_loaded(page: Page) -> None:
    """Wait until the heading is shown and nothing is loading."""
    await page.locator("h1").first.wait_for()
    await expect(page.locator("[aria-label^=Loading]")).to_have_count(0, timeout=TIMEOUT_MS)


async def navigate(page: Page, path: str) -> None:
    """Open another screen without reloading the page, as links do."""
    await page.evaluate(_NAVIGATE, path)
    await page.locator(f"main [data-screen='{path.partition('?')[0]}'] h1").first.wait_for()
    await wait_until_loaded(page)


# As the back and forward buttons change the URL.
_NAVIGATE = """(path) => {
  history.pushState({}, '', path)
  dispatchEvent(new PopStateEvent('popstate', { state: {} }))
}"""
