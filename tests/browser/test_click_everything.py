"""Every link and button of every screen can be clicked without an error, a policy violation or a rejected promise.

The screen of an object is crawled with a new one, because clicks change it; some screens share an account and a page,
which costs as much as their clicks. Controls in dialogs and menus that open are clicked too, "Sign out" last.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from playwright.async_api import Browser, Error, Locator, Page, expect

from tests.browser.scene import COOKIE, PASSWORD, Caller, Scene, log_in
from tests.browser.screens import SCREENS, FaultRecorder, Screen, navigate, open_context, visit, wait_until_loaded

CLICKABLE = "a[href], button, summary, label:has(input[type=radio]), input[type=checkbox]"
SIGN_OUT = ("Sign out",)
LINKS_TO_DOCS = ("Documentation", "API reference", "API documentation")
HASH = "{SHA}2jmj7l5rSw0yVb/vlWAYkK/YBwk="  # nobody signs in to these mailboxes
# Only the controls of the first row of a list are clicked; the other rows have the same. Of links to the same screen,
# such as those of several messages, or from several screens, only the first is followed.
MAX_ROWS = 1
MAX_UNNAMED = 3  # a group of checkboxes has the same behaviour throughout
PLACEHOLDER = re.compile(r"\{(\w+)\}")
CREATED = {"domain_id", "mailbox_id", "webhook_id", "scheduled_id"}  # by `create_objects`
followed: set[str] = set()
GROUPS = [SCREENS[number : number + 6] for number in range(0, len(SCREENS), 6)]

_LABELS = """(all, rows) => {
  const targets = new Set()
  const targetOf = (each) => each.href && each.origin === location.origin
    ? each.pathname.replace(/[0-9a-f-]{36}/g, 'ID') + each.search.replace(/=[^&]*/g, '=') : ''
  return all.map((each) => {
    const row = each.closest('tbody tr, .events > li, .settings > li')
    const label = (each.getAttribute('aria-label') || each.innerText || each.parentElement.innerText).trim()
    const late = row && [...row.parentElement.children].indexOf(row) >= rows
    if (late || !each.getClientRects().length) return null
    const target = targetOf(each)
    if (target && targets.has(target)) return null
    targets.add(target)
    return [label, target]
  })
}"""


@dataclass(frozen=True)
class Control:
    """The control number `index` (from 0) of those with this label in the region `within` (a selector). `target`: the
    path that a link leads to, without the IDs and values in it.
    """

    within: str
    label: str
    index: int
    target: str

    def find(self, page: Page) -> Locator:
        return page.locator(self.within).locator(CLICKABLE).filter(visible=True)


async def list_controls(page: Page, within: str) -> list[Control]:
    found: list[tuple[str, str] | None] = await page.locator(within).locator(CLICKABLE).evaluate_all(_LABELS, MAX_ROWS)
    controls: list[Control] = []
    for label, target in filter(None, found):
        index = sum(1 for each in controls if each.label == label)
        if label or index < MAX_UNNAMED:
            controls.append(Control(within, label, index, target))
    return controls


async def click_control(page: Page, control: Control) -> bool:
    """Click a control; False if it no longer exists."""
    if control.target:
        followed.add(control.target)
    for can_retry in (True, True, False):
        target = await find_control(page, control)
        if target is None:
            return False
        try:
            # Disabled controls are clicked too (force): nothing may happen.
            await target.click(timeout=10_000, force=True)
            break
        except Error:
            # A control that moved or disappeared (a refreshed list, a closed dialog) is searched again and may be gone.
            if not can_retry:
                raise
    await page.wait_for_timeout(80)
    if control.label in LINKS_TO_DOCS:
        await page.wait_for_url("**/docs")
        return True
    await expect(page.locator("[aria-label^=Loading]")).to_have_count(0)
    return True


async def find_control(page: Page, control: Control) -> Locator | None:
    """The control in the current page; None if it no longer exists."""
    region = page.locator(control.within).locator(CLICKABLE)
    found: list[tuple[str, str] | None] = await region.evaluate_all(_LABELS, MAX_ROWS)
    positions = [position for position, each in enumerate(found) if each and each[0] == control.label]
    return region.nth(positions[control.index]) if len(positions) > control.index else None


async def return_to(page: Page, http: str, path: str, credentials: tuple[str, str]) -> None:
    """Close dialogs, sign in again if the session ended, and open the screen; reload only if necessary."""
    for _ in range(4):
        if not await page.locator("[role=dialog], [role=menu]").count():
            break
        if await page.get_by_role("button", name="Discard", exact=True).count():
            # It may be of a dialog that is just fading out.
            with suppress(Error):
                await page.get_by_role("button", name="Discard", exact=True).click(timeout=2_000)
        else:
            await page.keyboard.press("Escape")
        await page.wait_for_timeout(60)
    if "/login" in page.url:
        caller = await log_in(http, *credentials)
        await page.context.add_cookies([{"name": COOKIE, "value": caller.token, "url": http}])
    if not page.url.startswith(http) or not await page.locator("#root .frame").count():
        await visit(page, http, path)
    elif page.url != http + path:
        await navigate(page, path)


async def crawl(page: Page, http: str, path: str, within: str, credentials: tuple[str, str]) -> int:
    """Click every control of the region and of the dialogs that open; return the number of clicks, and of links that
    were followed before.
    """
    clicked = 0
    for control in await list_controls(page, within):
        if control.label.startswith(SIGN_OUT):
            continue
        if control.target in followed:
            clicked += 1
            continue
        await return_to(page, http, path, credentials)
        clicked += await click_control(page, control)
        await expect_no_screen_error(page, control)
        for overlay in ("[role=dialog]", "[role=menu]"):
            for inner in await list_controls(page, overlay) if await page.locator(overlay).count() == 1 else []:
                if inner.label.startswith(SIGN_OUT) or inner.target in followed:
                    continue
                if not await page.locator(overlay).count():
                    await return_to(page, http, path, credentials)
                    await click_control(page, control)
                clicked += await click_control(page, inner)
                await expect_no_screen_error(page, inner)
    return clicked


async def expect_no_screen_error(page: Page, control: Control) -> None:
    assert not await page.get_by_text("failed to load").count(), control


def region_of(screen: Screen) -> str:
    """Of a further tab its content: what is around it is clicked with the first one."""
    return "main [role=tabpanel]" if "?tab=" in screen.path else "main"


async def create_account(scene: Scene) -> tuple[Caller, tuple[str, str]]:
    """Create an account with a key; return a session, email and password."""
    email = f"c{secrets.token_hex(4)}@example.test"
    await scene.super_admin.call("POST", "/admins", {"email": email, "password": PASSWORD, "role": "super_admin"})
    caller = await log_in(scene.http, email, PASSWORD)
    await caller.call("POST", "/api-keys", {"name": email})
    return caller, (email, PASSWORD)


async def create_objects(scene: Scene) -> dict[str, str]:
    """Create objects; return the IDs for the screens."""
    call, name = scene.super_admin.call, f"c{secrets.token_hex(4)}"
    domain = await call("POST", "/domains", {"name": f"{name}.test"})
    domain_field = {"domain_id": domain["id"]}
    mailboxes = [
        await call("POST", "/mailboxes", {**domain_field, "local_part": local, "password_hash": HASH})
        for local in ("one", "two", "three")
    ]
    await call("POST", f"/mailboxes/{mailboxes[2]['id']}/suspend", {"reason": "test"})
    for local in ("four", "five"):
        await call("POST", "/aliases", {**domain_field, "source_local_part": local, "destination": f"one@{name}.test"})
    webhook = {"url": scene.sink.url("/200/crawled"), "events": ["mail.sent"], **domain_field}
    webhook_record = await call("POST", "/webhooks", webhook)
    next_week = (datetime.now(UTC) + timedelta(days=7)).isoformat()
    scheduled = await scene.send(subject=f"Scheduled by {name}", scheduled_at=next_week)
    ids = {"domain_id": domain["id"], "mailbox_id": mailboxes[0]["id"], "webhook_id": webhook_record["id"]}
    ids["scheduled_id"] = scheduled["id"]
    return scene.ids | ids


@pytest.mark.parametrize("screens", GROUPS, ids=[each[0].name for each in GROUPS])
@pytest.mark.timeout(600)
async def test_every_control_of_a_screen_can_be_clicked(browser: Browser, scene: Scene, screens: Sequence[Screen]):
    caller, credentials = await create_account(scene)
    async with open_context(browser, caller, reduced_motion="reduce") as browser_context:
        page = await browser_context.new_page()
        recorder = FaultRecorder(scene.http)
        recorder.attach(page)
        await visit(page, scene.http, "/")
        ids = await create_objects(scene)
        for screen in screens:
            if CREATED & set(PLACEHOLDER.findall(screen.path)):
                ids = await create_objects(scene)
            path = screen.path_for(ids)
            await return_to(page, scene.http, path, credentials)
            region = region_of(screen)
            await expect(page.locator(region).filter(visible=True)).to_have_count(1)
            clicked = await crawl(page, scene.http, path, region, credentials)
            assert clicked > 0 or screen.name == "mailbox-junk", screen  # a new mailbox has none
            assert recorder.faults == [], screen


@pytest.mark.timeout(120)
async def test_every_control_around_the_screens_can_be_clicked(browser: Browser, scene: Scene):
    caller, credentials = await create_account(scene)
    async with open_context(browser, caller, reduced_motion="reduce") as browser_context:
        page = await browser_context.new_page()
        recorder = FaultRecorder(scene.http)
        recorder.attach(page)
        await visit(page, scene.http, "/")
        for region in ("header.top", "aside"):
            assert await crawl(page, scene.http, "/", region, credentials) > 3
        await return_to(page, scene.http, "/", credentials)
        await wait_until_loaded(page)  # a request that is answered after the session's end is an error of its own
        await page.get_by_role("button", name="Account of").click()
        await page.get_by_role("menuitem", name="Sign out").click()
        await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        assert recorder.faults == []
