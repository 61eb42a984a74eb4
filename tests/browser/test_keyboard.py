"""Use without a mouse: shortcuts, the command palette, and the focus after each action."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime, timedelta

from playwright.async_api import Browser, Locator, Page, Route, expect

from tests.browser.scene import EXAMPLE, PASSWORD, Scene
from tests.browser.screens import open_context, open_page, visit


def expect_title(page: Page, text: str):
    return expect(page.get_by_role("heading", level=1, name=text, exact=True))


async def type_after(page: Page, keys: str, field: Locator) -> None:
    """Type as soon as `field` has the focus."""
    await expect(field).to_be_focused()
    await page.keyboard.type(keys)


async def test_the_palette_opens_screens_and_runs_commands(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/")
        search = page.get_by_role("combobox", name="Search screens")
        await page.keyboard.press("Control+k")
        await type_after(page, "audit", search)
        await expect(page.get_by_role("option", name="Audit log")).to_have_attribute("aria-selected", "true")
        await page.keyboard.press("Enter")
        await expect_title(page, "Audit log").to_be_visible()
        await expect(search).to_have_count(0)
        await page.keyboard.press("Control+k")
        await search.fill(f"alice@{EXAMPLE.partition('.')[0]}")  # other tests may create an alice in other domains
        await expect(page.get_by_role("option", name=f"alice@{EXAMPLE} Mailbox")).to_be_visible()
        await page.keyboard.press("Enter")
        await expect_title(page, f"alice@{EXAMPLE}").to_be_visible()
        await page.keyboard.press("Control+k")
        await search.fill(f"anybody@{EXAMPLE}")
        await page.get_by_role("option", name=f"Test routing for anybody@{EXAMPLE}").click()
        await expect(page.get_by_text(f"Mail for anybody@{EXAMPLE}")).to_be_visible()
        await page.keyboard.press("Control+k")
        await search.fill("new mailbox")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog", name="New mailbox")).to_be_visible()


async def test_the_palette_finds_messages(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, "/")
        await page.keyboard.press("Control+k")
        await type_after(page, "invoice 2026-1041", page.get_by_role("combobox", name="Search screens"))
        await page.get_by_role("option", name="Your invoice 2026-1041").click()
        await expect_title(page, "Your invoice 2026-1041").to_be_visible()


async def test_a_screen_recovers_when_the_server_is_back(browser: Browser, scene: Scene):
    is_unavailable = True
    error = {"code": "UNAVAILABLE", "message": "The database is not available.", "details": None}
    response = {"data": None, "error": error, "meta": {"request_id": "0190aaaa-0000-7000-8000-000000000000"}}

    async def answer(route: Route) -> None:
        if is_unavailable:
            await route.fulfill(status=503, headers={"retry-after": "2"}, json=response)
        else:
            await route.continue_()

    async with open_context(browser, scene.super_admin) as browser_context:
        page = await browser_context.new_page()
        await page.route("**/api/v1/domains?*", answer)
        await visit(page, scene.http, f"/domains?q={EXAMPLE}")
        alert = page.locator("main").get_by_role("alert")
        await expect(alert).to_contain_text("Try again in 2 s.")
        await expect(alert).to_contain_text("request 0190aaaa-0000-7000-8000-000000000000")
        is_unavailable = False
        await expect(page.get_by_role("link", name=EXAMPLE, exact=True)).to_be_visible()
        await expect(alert).to_have_count(0)


async def test_times_are_local_with_utc_on_hover(browser: Browser, scene: Scene):
    message = await scene.super_admin.call("GET", f"/messages/{scene.ids['message_id']}")
    at = datetime.fromisoformat(message["created_at"])
    async with open_page(browser, scene, "admin", timezone_id="Asia/Kathmandu") as page:
        await visit(page, scene.http, f"/messages/{message['id']}")
        shown = page.locator(".page-lead time")
        await expect(shown).to_have_attribute("title", f"{at:%Y-%m-%d %H:%M:%S} UTC")
        await expect(shown).to_contain_text(f"{at + timedelta(hours=5, minutes=45):%H:%M:%S}")
        await page.clock.set_fixed_time(at + timedelta(days=800))
        await visit(page, scene.http, f"/messages/{message['id']}")
        await expect(shown).to_contain_text(f"{at + timedelta(hours=5, minutes=45):%Y}")


async def test_single_key_shortcuts_work_and_can_be_turned_off(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "admin") as page:
        await visit(page, scene.http, "/")
        # The second key must follow within 1.5 seconds. On a busy machine it may not: try again.
        for _ in range(5):
            await page.keyboard.type("gd")
            with suppress(AssertionError):
                await expect_title(page, "Domains").to_be_visible(timeout=6_000)
                break
        await expect_title(page, "Domains").to_be_visible()
        await page.keyboard.press("/")
        await expect(page.get_by_label("Search by name")).to_be_focused()
        await page.keyboard.type("gmc")  # in a text field, keys are not shortcuts
        await expect(page.get_by_label("Search by name")).to_have_value("gmc")
        await expect(page).to_have_url(re.compile(r"\?q=gmc$"))  # otherwise the next screen may get the parameter
        await page.get_by_role("heading", level=1).focus()
        await page.keyboard.press("c")
        await expect_title(page, "Send").to_be_visible()
        await page.get_by_role("heading", level=1).focus()
        await page.keyboard.press("?")
        await page.get_by_role("switch", name="Single-key shortcuts").uncheck()
        await page.keyboard.press("Escape")
        await page.reload()
        await expect_title(page, "Send").to_be_visible()
        await page.keyboard.type("gm")
        await expect_title(page, "Send").to_be_visible()


async def test_focus_moves_to_new_screens_and_dialogs_and_back(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/")
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
        await page.get_by_role("navigation").get_by_role("link", name="Domains").press("Enter")
        await expect(page.get_by_role("heading", level=1, name="Domains")).to_be_focused()
        button = page.get_by_role("button", name="New domain")
        await button.press("Enter")
        await expect(page.get_by_label("Domain name")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(button).to_be_focused()


async def test_an_error_of_one_screen_does_not_affect_others(browser: Browser, scene: Scene):
    # The newest mailbox is on the first page, however many other tests have created.
    latest = {"domain_id": scene.ids["domain_id"], "local_part": "latest", "password": PASSWORD}
    await scene.super_admin.call("POST", "/mailboxes", latest)
    async with open_page(browser, scene, "admin") as page:
        await visit(page, scene.http, "/mailboxes")
        await visit(page, scene.http, "/mailboxes/0199aaaa-0000-7000-8000-000000000000")
        alert = page.locator("main").get_by_role("alert")
        await expect(alert).to_contain_text("NOT_FOUND")
        await expect(alert.get_by_role("button", name="Copy request ID")).to_be_visible()
        await page.goto(f"{scene.http}/mailboxes?sort=nonsense")
        await expect(page.locator("main").get_by_role("alert")).to_contain_text("Reset the sorting")
        await page.get_by_role("button", name="Reset sorting").click()
        await expect(page.get_by_role("link", name=f"latest@{EXAMPLE}")).to_be_visible()
        await page.get_by_role("navigation").get_by_role("link", name="Domains").click()
        await expect_title(page, "Domains").to_be_visible()
