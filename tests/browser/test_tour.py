"""The README's tour, in the dashboard instead of with curl."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.browser.scene import PASSWORD, Scene
from tests.browser.screens import find_link, open_page, visit

DOMAIN = "tour.test"


async def open_screen(page: Page, name: str) -> None:
    """Open a screen from the sidebar."""
    await (await find_link(page, name)).click()
    await expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()


async def select_domain(page: Page, dialog: Locator) -> None:
    await dialog.get_by_role("combobox", name="Domain", exact=True).click()
    await page.get_by_role("option", name=DOMAIN, exact=True).click()


@pytest.mark.timeout(120)
async def test_the_tour_in_the_dashboard(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "super_admin") as page:
        dialog = page.get_by_role("dialog")
        await visit(page, scene.http, "/")
        await open_screen(page, "Domains")
        await page.get_by_role("button", name="New domain").click()
        await dialog.get_by_label("Domain name").fill(DOMAIN)
        await dialog.get_by_role("button", name="Create domain").click()
        await page.get_by_role("tab", name="DKIM").click()
        await expect(page.get_by_text(f"._domainkey.{DOMAIN}").first).to_be_visible()
        for name in ("alice", "bob"):
            await open_screen(page, "Mailboxes")
            await page.get_by_role("button", name="New mailbox").click()
            await dialog.get_by_label("Local part").fill(name)
            await select_domain(page, dialog)
            await dialog.get_by_label("Password", exact=True).fill(PASSWORD)
            await dialog.get_by_role("button", name="Create mailbox").click()
            await expect(page.get_by_role("heading", level=1, name=f"{name}@{DOMAIN}")).to_be_visible()
        await _create_alias(page, dialog)
        key = await _create_api_key(page, dialog)
        assert key.startswith("svc_")
        await _send_message(page)
        await _check_messages(page, scene)


async def _create_alias(page: Page, dialog: Locator) -> None:
    await open_screen(page, "Aliases")
    await page.get_by_role("button", name="New alias").click()
    await dialog.get_by_label("Local part").fill("team")
    await select_domain(page, dialog)
    for name in ("alice", "bob"):
        await dialog.get_by_role("textbox", name="Destinations").fill(f"{name}@{DOMAIN}")
        await page.keyboard.press("Enter")
    await dialog.get_by_role("button", name="Create alias").click()
    await expect(dialog).to_have_count(0)
    await open_screen(page, "Routing")
    await page.get_by_role("main").get_by_role("textbox").first.fill(f"team+june@{DOMAIN}")
    await expect(page.get_by_role("main").get_by_text(f"bob@{DOMAIN}").first).to_be_visible()


async def _create_api_key(page: Page, dialog: Locator) -> str:
    await open_screen(page, "API keys")
    await page.get_by_role("button", name="New API key").first.click()
    await dialog.get_by_label("Name").fill("shop of the tour")
    await dialog.get_by_role("combobox", name="Domains").click()
    await page.get_by_role("option", name=DOMAIN, exact=True).click()
    await page.keyboard.press("Escape")
    await dialog.get_by_role("button", name="Create key").click()
    key = await dialog.get_by_test_id("secret").inner_text()
    await dialog.get_by_role("button", name="I've saved it").click()
    return key


async def _send_message(page: Page) -> None:
    await open_screen(page, "Send")
    main = page.get_by_role("main")
    await main.get_by_label("From", exact=True).fill(f"shop@{DOMAIN}")
    await main.get_by_role("textbox", name="To", exact=True).fill("customer@elsewhere.test")
    await page.keyboard.press("Enter")
    await main.get_by_label("Subject").fill("By hand")
    await page.locator("#compose-body").fill("It should arrive on Tuesday.")
    await main.get_by_role("button", name="Send", exact=True).click()
    await expect(page.get_by_text("By hand").first).to_be_visible()


async def _check_messages(page: Page, scene: Scene) -> None:
    await scene.deliver(f"team@{DOMAIN}", "Good to meet you")
    await open_screen(page, "Sandbox")
    await page.get_by_role("link", name="By hand").click()
    await expect(page.locator("pre[aria-label=Text]")).to_contain_text("It should arrive on Tuesday.")
    await open_screen(page, "Messages")
    await expect(page.get_by_role("row").filter(has_text="By hand").get_by_text("delivered")).to_be_visible()
    await expect(page.get_by_role("row").filter(has_text="Good to meet you").first).to_contain_text("received")
    await open_screen(page, "Audit log")
    await expect(page.get_by_role("row").filter(has_text="message.send").first).to_be_visible()
    await expect(page.get_by_role("row").filter(has_text="alias.create").filter(has_text=DOMAIN).first).to_be_visible()
