"""Whoever presses every link and every button of every screen meets no error, no violation, no unhandled rejection.

What is changed by it was made for it: each screen is crawled by an account of its own, over things of its own. What
takes a dialog is pressed in the dialog too; what would end the session is pressed last.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import pytest
from playwright.async_api import Browser, Error, Locator, Page, expect

from tests.browser.scene import COOKIE, PASSWORD, Caller, Scene, log_in
from tests.browser.screens import SCREENS, Screen, Watch, context, turn_to, visit

PRESSABLE = "a[href], button, summary, label:has(input[type=radio]), input[type=checkbox]"
LEAVES = ("Sign out",)
LEADS_OUT = ("Documentation", "API reference", "API documentation")
# Of a list, the first rows: the others have the same controls.
ROWS = 2

_LABELS = """(all, rows) => all.map((each) => {
  const row = each.closest('tbody tr, .events > li')
  const label = (each.getAttribute('aria-label') || each.innerText || each.parentElement.innerText).trim()
  const late = row && [...row.parentElement.children].indexOf(row) >= rows
  return !late && each.getClientRects().length ? label : null
})"""


@dataclass(frozen=True)
class Control:
    """The `at`-th of those with this label in the region `within`."""

    within: str
    label: str
    at: int

    def find(self, page: Page) -> Locator:
        return page.locator(self.within).locator(PRESSABLE).filter(visible=True)


async def list_controls(page: Page, within: str) -> list[Control]:
    labels: list[str | None] = await page.locator(within).locator(PRESSABLE).evaluate_all(_LABELS, ROWS)
    found: list[Control] = []
    for label in labels:
        if label is not None:
            found.append(Control(within, label, sum(1 for each in found if each.label == label)))
    return found


async def click_control(page: Page, control: Control) -> bool:
    """Whether it was still there to be pressed."""
    for again in (True, True, False):
        target = await find_control(page, control)
        if target is None:
            return False
        try:
            # Those that are barred with a reason can be pressed too; nothing comes of it.
            await target.click(timeout=10_000, force=True)
            break
        except Error:
            # A control that moved or disappeared (a refreshed list, a closed dialog) is searched again and may be gone.
            if not again:
                raise
    await page.wait_for_timeout(80)
    if control.label in LEADS_OUT:
        await page.wait_for_url("**/docs")
        return True
    await expect(page.locator("[aria-label^=Loading]")).to_have_count(0)
    return True


async def find_control(page: Page, control: Control) -> Locator | None:
    """Where it is now, if anywhere."""
    region = page.locator(control.within).locator(PRESSABLE)
    labels: list[str | None] = await region.evaluate_all(_LABELS, ROWS)
    places = [place for place, label in enumerate(labels) if label == control.label]
    return region.nth(places[control.at]) if len(places) > control.at else None


async def return_to(page: Page, http: str, path: str, who: tuple[str, str]) -> None:
    """To the screen as it is at first, without a reload where that is not needed; in again where the session ended."""
    for _ in range(4):
        if not await page.locator("[role=dialog], [role=menu]").count():
            break
        if await page.get_by_role("button", name="Discard", exact=True).count():
            await page.get_by_role("button", name="Discard", exact=True).click()
        else:
            await page.keyboard.press("Escape")
        await page.wait_for_timeout(60)
    if "/login" in page.url:
        again = await log_in(http, *who)
        await page.context.add_cookies([{"name": COOKIE, "value": again.token, "url": http}])
    if not page.url.startswith(http) or not await page.locator("#root .frame").count():
        await visit(page, http, path)
    elif page.url != http + path:
        await turn_to(page, path)


async def crawl(page: Page, http: str, path: str, within: str, who: tuple[str, str]) -> int:
    pressed = 0
    for control in await list_controls(page, within):
        if control.label.startswith(LEAVES):
            continue
        await return_to(page, http, path, who)
        pressed += await click_control(page, control)
        await expect_no_screen_error(page, control)
        for deeper in ("[role=dialog]", "[role=menu]"):
            for inner in await list_controls(page, deeper) if await page.locator(deeper).count() == 1 else []:
                if inner.label.startswith(LEAVES):
                    continue
                if not await page.locator(deeper).count():
                    await return_to(page, http, path, who)
                    await click_control(page, control)
                pressed += await click_control(page, inner)
                await expect_no_screen_error(page, inner)
    return pressed


async def expect_no_screen_error(page: Page, control: Control) -> None:
    assert not await page.get_by_text("failed to load").count(), control


async def create_objects(scene: Scene) -> tuple[Caller, tuple[str, str], dict[str, str]]:
    """An account, its email and password, and for each screen of one thing a thing of its own."""
    ask, name = scene.sue.ask, f"c{secrets.token_hex(4)}"
    email = f"{name}@example.test"
    await ask("POST", "/admins", {"email": email, "password": PASSWORD, "role": "super_admin"})
    domain = await ask("POST", "/domains", {"name": f"{name}.test"})
    of_it = {"domain_id": domain["id"]}
    mailboxes = [
        await ask("POST", "/mailboxes", {**of_it, "local_part": local, "password": PASSWORD})
        for local in ("one", "two", "three")
    ]
    await ask("POST", f"/mailboxes/{mailboxes[2]['id']}/suspend", {"reason": "for trying"})
    for local in ("four", "five"):
        await ask("POST", "/aliases", {**of_it, "source_local_part": local, "destination": f"one@{name}.test"})
    webhook = {"url": scene.sink.url("/200/crawled"), "events": ["mail.sent"], **of_it}
    made = await ask("POST", "/webhooks", webhook)
    caller = await log_in(scene.http, email, PASSWORD)
    await caller.ask("POST", "/api-keys", {"name": name})
    own = {"domain_id": domain["id"], "mailbox_id": mailboxes[0]["id"], "webhook_id": made["id"]}
    return caller, (email, PASSWORD), scene.ids | own


@pytest.mark.parametrize("screen", SCREENS, ids=[screen.name for screen in SCREENS])
@pytest.mark.timeout(180)
async def test_every_control_of_a_screen_can_be_clicked(browser: Browser, scene: Scene, screen: Screen):
    caller, who, ids = await create_objects(scene)
    async with context(browser, caller, reduced_motion="reduce") as made:
        page = await made.new_page()
        watch = Watch(scene.http)
        watch.begin(page)
        path = screen.at(ids)
        await visit(page, scene.http, path)
        assert await crawl(page, scene.http, path, "main", who) > 0
        assert watch.faults == []


@pytest.mark.timeout(120)
async def test_every_control_around_the_screens_can_be_clicked(browser: Browser, scene: Scene):
    caller, who, _ = await create_objects(scene)
    async with context(browser, caller, reduced_motion="reduce") as made:
        page = await made.new_page()
        watch = Watch(scene.http)
        watch.begin(page)
        await visit(page, scene.http, "/")
        for region in ("header.top", "aside"):
            assert await crawl(page, scene.http, "/", region, who) > 3
        await return_to(page, scene.http, "/", who)
        await page.get_by_role("button", name="Account of").click()
        await page.get_by_role("menuitem", name="Sign out").click()
        await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        assert watch.faults == []
