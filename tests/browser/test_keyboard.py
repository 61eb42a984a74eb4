"""Without a mouse: shortcuts, the command palette, and where the focus is after each."""

from __future__ import annotations

from playwright.async_api import Browser, Page, expect

from tests.browser.scene import EXAMPLE, PASSWORD, Scene
from tests.browser.screens import visit, watched


def title(page: Page, text: str):
    return expect(page.get_by_role("heading", level=1, name=text, exact=True))


async def test_the_palette_goes_finds_and_does(browser: Browser, scene: Scene):
    async with watched(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/")
        found = page.get_by_role("combobox", name="Search screens")
        await page.keyboard.press("Control+k")
        await page.keyboard.type("audit")
        await expect(page.get_by_role("option", name="Audit log")).to_have_attribute("aria-selected", "true")
        await page.keyboard.press("Enter")
        await title(page, "Audit log").to_be_visible()
        await expect(found).to_have_count(0)
        await page.keyboard.press("Control+k")
        await found.fill("alice@")
        await expect(page.get_by_role("option", name=f"alice@{EXAMPLE}")).to_be_visible()
        await page.keyboard.press("Enter")
        await title(page, f"alice@{EXAMPLE}").to_be_visible()
        await page.keyboard.press("Control+k")
        await found.fill(f"anybody@{EXAMPLE}")
        await page.get_by_role("option", name=f"Where would mail for anybody@{EXAMPLE} go?").click()
        await expect(page.get_by_text("is delivered")).to_be_visible()
        await page.keyboard.press("Control+k")
        await found.fill("new mailbox")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("dialog", name="New mailbox")).to_be_visible()


async def test_single_keys_lead_anywhere_and_can_be_switched_off(browser: Browser, scene: Scene):
    async with watched(browser, scene, "admin") as page:
        await visit(page, scene.http, "/")
        await page.keyboard.type("gd")
        await title(page, "Domains").to_be_visible()
        await page.keyboard.press("/")
        await expect(page.get_by_label("Find by name")).to_be_focused()
        await page.keyboard.type("gmc")  # what is typed is no shortcut
        await expect(page.get_by_label("Find by name")).to_have_value("gmc")
        await page.get_by_role("heading", level=1).focus()
        await page.keyboard.press("c")
        await title(page, "Send").to_be_visible()
        await page.get_by_role("heading", level=1).focus()
        await page.keyboard.press("?")
        await page.get_by_role("switch", name="Shortcuts of single keys").uncheck()
        await page.keyboard.press("Escape")
        await page.reload()
        await title(page, "Send").to_be_visible()
        await page.keyboard.type("gm")
        await title(page, "Send").to_be_visible()


async def test_the_focus_goes_to_the_new_screen_into_dialogs_and_back(browser: Browser, scene: Scene):
    async with watched(browser, scene, "super_admin") as page:
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


async def test_a_screen_that_breaks_says_so_and_nothing_else_breaks_with_it(browser: Browser, scene: Scene):
    # The latest is on the first page, however many others have made.
    latest = {"domain_id": scene.ids["domain_id"], "local_part": "latest", "password": PASSWORD}
    await scene.sue.ask("POST", "/mailboxes", latest)
    async with watched(browser, scene, "admin") as page:
        await visit(page, scene.http, "/mailboxes")
        await visit(page, scene.http, "/mailboxes/0199aaaa-0000-7000-8000-000000000000")
        wrong = page.locator("main").get_by_role("alert")
        await expect(wrong).to_contain_text("NOT_FOUND")
        await expect(wrong.get_by_role("button", name="Copy request id")).to_be_visible()
        await page.goto(f"{scene.http}/mailboxes?cursor=nonsense")
        await expect(page.locator("main").get_by_role("alert")).to_contain_text("go back to its first page")
        await page.get_by_role("button", name="First page").click()
        await expect(page.get_by_role("link", name=f"latest@{EXAMPLE}")).to_be_visible()
        await page.get_by_role("navigation").get_by_role("link", name="Domains").click()
        await title(page, "Domains").to_be_visible()
