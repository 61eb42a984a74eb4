"""Controls never move: not while the user types, not when errors, previews or responses arrive."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, Page, Route, expect

from tests.browser.scene import EXAMPLE, Scene
from tests.browser.screens import SCREENS, navigate, open_page, visit

# `positions`: the positions of the controls in `region` but not in `notIn`, independent of scrolling. `mark` stores
# them; `moved` lists the controls that have moved since.
SCRIPT = """
window.positions = (region, notIn) => {
  const controls = 'a[href], button, input, textarea, summary, [role=tab]'
  const found = new Map()
  for (const each of document.querySelectorAll(region)) {
    for (const control of each.querySelectorAll(controls)) {
      if (notIn && control.closest(notIn)) continue
      const box = control.getBoundingClientRect()
      if (!box.width || getComputedStyle(control).visibility === 'hidden') continue
      const scrolled = control.closest('.form-actions') ? null : control.closest('.mantine-Modal-body, pre')
      const pinned = control.closest('[role=dialog], header.top, aside')
      found.set(control, [box.x, box.y + (scrolled ? scrolled.scrollTop : 0) + (pinned ? 0 : window.scrollY)])
    }
  }
  return found
}
window.mark = (...where) => { window.marked = [where, positions(...where)] }
window.moved = () => {
  const [where, before] = window.marked
  const now = positions(...where)
  const name = (each) => each.getAttribute('aria-label') || each.innerText || each.placeholder || each.outerHTML
  return [...before].flatMap(([each, [x, y]]) => {
    if (!now.has(each)) return []
    const [left, top] = now.get(each)
    return Math.abs(left - x) + Math.abs(top - y) > 0.5 ? [`${name(each)}: ${x},${y} -> ${left},${top}`] : []
  })
}
"""
# May move: the values in an input of several values, and notifications. RESULTS: also the results of a filter.
VALUES = (
    ".mantine-Pill-root, .mantine-TagsInput-inputField, .mantine-MultiSelect-inputField, .error-bar, "
    ".mantine-Notifications-root"
)
RESULTS = f"{VALUES}, .list-card, .card .empty, .results"


@dataclass(frozen=True)
class Form:
    """`buttons`: clicked to open the form, if its path does not; `submit`: the button, where the input is rejected."""

    name: str
    path: str
    submit: str
    buttons: tuple[str, ...] = ()


FORMS = (
    Form("new domain", "/domains?new=yes", "Create domain"),
    Form("domain", "/domains/{domain_id}?tab=settings", ""),
    Form("new DKIM key", "/domains/{domain_id}?tab=dkim", "Create key", ("New key",)),
    Form("import DKIM key", "/domains/{domain_id}?tab=dkim", "Import key", ("Import key",)),
    Form("new mailbox", "/mailboxes?new=yes", "Create mailbox"),
    Form("mailbox", "/mailboxes/{mailbox_id}?tab=settings", ""),
    Form("new app password", "/mailboxes/{mailbox_id}?tab=app-passwords", "", ("New app password",)),
    Form("forward", "/mailboxes/{mailbox_id}?tab=vacation", ""),
    Form("filter settings", "/domains/{shop_id}?tab=filtering", ""),
    Form("filtering test", "/filtering?tab=test", "Test"),
    Form("new filter entry", "/domains/{domain_id}?tab=filtering&view=list&new=yes", "Add entry"),
    Form("import filter entries", "/filtering?tab=list", "", ("Import",)),
    Form("new incident", "/incidents?new=yes", "Carry out"),
    Form("suspend", "/mailboxes/{mailbox_id}?tab=settings", "", ("Suspend sending",)),
    Form("invite", "/mailboxes/{mailbox_id}?tab=settings", "", ("Invite the owner",)),
    Form("delete mailbox", "/mailboxes/{mailbox_id}?tab=settings", "", ("Delete mailbox",)),
    Form("new alias", "/aliases?new=yes", "Create alias"),
    Form("new suppression", "/suppressions?new=yes", "Add suppression"),
    Form("import suppressions", "/suppressions", "", ("Import",)),
    Form("new unsubscribe group", "/unsubscribe-groups?new=yes", "Create group"),
    Form("new key", "/api-keys?new=yes", "Create key"),
    Form("new webhook", "/webhooks?new=yes", "Create webhook"),
    Form("webhook", "/webhooks/{webhook_id}?tab=settings", "Save"),
    Form("delete webhook", "/webhooks/{webhook_id}?tab=settings", "", ("Delete webhook",)),
    Form("new administrator", "/admins?new=yes", "Create administrator"),
    Form("send", "/send", "Send"),
    Form("send a template", "/send?template={template_id}", "Send"),
    Form("new template", "/templates?new=yes", ""),
    Form("template", "/templates/{template_id}", ""),
    Form("delete template", "/templates/{template_id}?tab=settings", "", ("Delete template",)),
    Form("reschedule", "/messages/{scheduled_id}", "", ("Reschedule",)),
    Form("backup policy", "/backups?tab=policy", ""),
    Form("restore", "/backups/{backup_id}", "", (f"Restore {EXAMPLE}",)),
    Form("account", "/account", "Change password"),
    Form("new passkey", "/account", "", ("Add a passkey",)),
)
# Where a form moves, it moves on a narrow screen. Of each kind one is filled on a wide one too: in a dialog, with rows,
# and on a screen of its own.
WIDE_FORMS = tuple(form for form in FORMS if form.name in ("new mailbox", "new alias", "send", "template"))
FILTERED = tuple(
    screen for screen in SCREENS if screen.name in ("domains", "mailboxes", "messages", "audit-log", "routing")
)


@asynccontextmanager
async def open_measured_page(
    browser: Browser, scene: Scene, role: str = "super_admin", **options: Any
) -> AsyncIterator[Page]:
    async with open_page(browser, scene, role, **options) as page:
        await page.add_init_script(SCRIPT)
        yield page


async def expect_nothing_moved(page: Page, what: str, after: int = 0) -> None:
    """`after`: milliseconds to wait. Debounced requests (250 ms) have been answered after 400."""
    await page.wait_for_timeout(after)
    moved: list[str] = await page.evaluate("moved()")
    assert moved == [], (what, moved)


async def type_in_each(page: Page, within: Locator, name: str, selector: str = "") -> None:
    """Type into every field, or those that the selector names too; a comma or a space completes a value in inputs of
    several values.
    """
    fields = within.locator("input:not([type=checkbox]):not([type=radio]):not([type=file]), textarea")
    if selector:
        fields = fields.and_(within.locator(selector))
    for field in await fields.filter(visible=True).all():
        if await field.get_attribute("readonly") is not None or not await field.is_enabled():
            continue
        await field.click()
        for text in ("x", "@y.example,", f" team@{EXAMPLE}, "):
            await page.keyboard.insert_text(text)
            await page.keyboard.press("End")
        await page.keyboard.press("Tab")
        label = await field.get_attribute("aria-label") or await field.get_attribute("id")
        await expect_nothing_moved(page, f"{name}: typing in {label}")
    await expect_nothing_moved(page, f"{name}: typed", 400)


@pytest.mark.parametrize(
    "width, forms", [(320, FORMS[:18]), (320, FORMS[18:]), (1280, WIDE_FORMS)], ids=["320", "320 too", "1280"]
)
@pytest.mark.timeout(240)
async def test_no_form_moves_while_it_is_filled_rejected_and_corrected(
    browser: Browser, scene: Scene, width: int, forms: Sequence[Form]
):
    viewport = {"width": width, "height": 800}
    async with open_measured_page(browser, scene, viewport=viewport, reduced_motion="reduce") as page:
        await visit(page, scene.http, "/")
        is_in_dialog = False
        for form in forms:
            path = form.path.format(**scene.ids)
            if is_in_dialog:  # the last one: what was typed is gone with it
                await navigate(page, path)
            else:
                await page.evaluate("sessionStorage.clear()")
                await visit(page, scene.http, path)
            await fill_form(page, form)
            is_in_dialog = region_of(form) != "main"
        await page.context.clear_cookies()
        await visit(page, scene.http, "/login")
        await fill_form(page, Form("login", "/login", "Sign in"))


def region_of(form: Form) -> str:
    return "[role=dialog]" if "new=" in form.path or form.buttons else "main"


async def fill_form(page: Page, form: Form) -> None:
    """Open a form, fill it with invalid values, submit it, and fill it again."""
    for button in form.buttons:
        await page.get_by_role("button", name=button, exact=True).click()
    region = region_of(form)
    within = page.locator(region)
    await within.locator("form").first.wait_for()
    await page.wait_for_timeout(100)
    await page.evaluate("(where) => mark(...where)", [region, VALUES])
    await type_in_each(page, within, form.name)
    if form.submit:
        await within.get_by_role("button", name=form.submit, exact=True).click()
        await within.get_by_role("alert").first.wait_for()
        await expect_nothing_moved(page, f"{form.name}: rejected", 100)
        # A field loses its error, and the attribute, while somebody types.
        await within.locator("[aria-invalid=true]").evaluate_all("(all) => all.forEach((e) => (e.dataset.wrong = ''))")
        await type_in_each(page, within, f"{form.name}, corrected", "[data-wrong]")
    if region != "main":
        await page.keyboard.press("Escape")
        discard = page.get_by_role("button", name="Discard", exact=True)
        await expect(within.filter(visible=True).or_(discard)).not_to_have_count(1)
        if await discard.count():
            await discard.click()
        await expect(within).to_have_count(0)


async def test_no_filter_moves_its_surroundings(browser: Browser, scene: Scene):
    async with open_measured_page(browser, scene, viewport={"width": 1280, "height": 800}) as page:
        await visit(page, scene.http, "/")
        for screen in FILTERED:
            await navigate(page, screen.path_for(scene.ids))
            await page.evaluate("(where) => mark(...where)", ["main", RESULTS])
            fields = page.locator("main").locator("input[type=search], input[data-main-search]").filter(visible=True)
            assert await fields.count(), screen.name
            for field in await fields.all():
                await field.fill("team")
                await expect_nothing_moved(page, f"{screen.name}: filtered", 400)
                await field.fill("")
                await expect_nothing_moved(page, f"{screen.name}: filter cleared", 400)


@pytest.mark.timeout(120)
async def test_no_screen_moves_while_it_loads(browser: Browser, scene: Scene):
    async def delay(route: Route) -> None:
        # Responses arrive after different times.
        nonlocal count
        count += 1
        await asyncio.sleep(0.15 * (count % 4))
        await route.fallback()

    async with open_measured_page(browser, scene, viewport={"width": 1280, "height": 800}) as page:
        await visit(page, scene.http, "/send")
        await page.route("**/api/v1/**", delay)
        for screen in SCREENS:
            if screen.name in ("queue", "send", "events"):
                continue
            count = 0
            await start_navigation(page, screen.path_for(scene.ids))
            moved: list[str] = []
            for _ in range(9):
                await page.evaluate("(where) => mark(...where)", ["main", VALUES])
                await page.wait_for_timeout(120)
                moved += await page.evaluate("moved()")
            assert moved == [], (screen.name, moved)
            await page.evaluate("history.pushState({}, '', '/send')")
            await navigate(page, "/send")


async def start_navigation(page: Page, path: str) -> None:
    """Open another screen and wait for its heading only."""
    await page.evaluate(
        "(path) => { history.pushState({}, '', path); dispatchEvent(new PopStateEvent('popstate', {state: {}})) }", path
    )
    await page.locator(f"main [data-screen='{path.partition('?')[0]}'] h1").first.wait_for()


@pytest.mark.parametrize(
    "label, path, field",
    [
        ("Create alias", "/aliases?new=yes", "Destinations"),
        ("Create mailbox", "/mailboxes?new=yes", "Forward to"),
    ],
)
async def test_a_click_is_not_lost_while_the_routing_preview_arrives(
    browser: Browser, scene: Scene, label: str, path: str, field: str
):
    """Issue 17, 22: the value is accepted when the field loses the focus, at the mouse-down on the button."""
    local = f"clicked-{label.split()[1]}"
    async with open_measured_page(browser, scene) as page:
        await visit(page, scene.http, path)
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Local part").fill(local)
        await dialog.get_by_role("combobox", name="Domain").click()
        await page.get_by_role("option", name=EXAMPLE, exact=True).click()
        if field == "Forward to":
            await dialog.get_by_label("Password", exact=True).fill("a long way to Tipperary")
        await dialog.get_by_role("textbox", name=field).fill(f"bob@{EXAMPLE}")
        button = dialog.get_by_role("button", name=label)
        box = await button.bounding_box()
        assert box
        await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        await page.mouse.down()
        await page.wait_for_timeout(400)  # the preview arrives 250 ms after the value
        await page.mouse.up()
        await expect(page.get_by_role("status").filter(has_text="reated")).to_be_visible()
