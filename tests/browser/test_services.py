"""The screen Services in the embedded profile. tests/stack/14-dashboard shows it with the daemons."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, expect

from tests.browser.scene import PASSWORD, Scene
from tests.browser.screens import open_page, visit, wait_until_loaded

RESTART = "smtp.max_sessions"


@pytest.fixture
async def _no_stored_settings(scene: Scene) -> AsyncIterator[None]:
    yield
    await scene.super_admin.call("POST", "/config/revisions/0/rollback", {"current_password": PASSWORD})


async def test_the_embedded_profile_has_one_process(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/services")
        await expect(page.get_by_text("need the full profile")).to_be_visible()
        rows = page.get_by_role("table", name="Services").get_by_role("row")
        await expect(rows).to_have_count(2)
        await expect(rows.nth(1)).to_contain_text("mailkeep")
        await expect(rows.nth(1)).to_contain_text("running")
        assert await rows.nth(1).get_by_role("button").count() == 0
        await page.get_by_role("tab", name="Drift").click()
        await expect(page.get_by_text("The embedded profile has no daemons")).to_be_visible()
        await page.get_by_role("tab", name="Operations").click()
        await expect(page.get_by_text("No operations yet")).to_be_visible()
        await page.get_by_role("tab", name="Generations").click()
        await expect(page.get_by_text("keeps no configurations")).to_be_visible()


@pytest.mark.usefixtures("_no_stored_settings")
async def test_the_plan_has_the_settings_that_wait(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/services?tab=plan")
        await expect(page.get_by_text("Nothing would change")).to_be_visible()
        await scene.super_admin.call("PATCH", "/config", {"changes": {RESTART: 7}, "current_password": PASSWORD})
        await page.get_by_role("button", name="Plan again").click()
        await expect(page.get_by_text("1 setting will take effect")).to_be_visible()
        await expect(page.get_by_text("takes effect when you restart Mailkeep on the server")).to_be_visible()
        action = page.get_by_role("table", name="Actions").get_by_role("row").filter(has_text="mailkeep")
        await expect(action).to_contain_text(RESTART)
        await expect(page.get_by_role("button", name="Apply")).to_have_count(0)
        await page.get_by_role("link", name="View these settings").click()
        await expect(page.locator("[data-setting]")).to_have_count(1)


async def test_tabs_are_reached_with_the_keyboard(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/")
        await page.keyboard.press("g")
        await page.keyboard.press("v")
        await expect(page.get_by_role("heading", name="Services", exact=True)).to_be_visible()
        await wait_until_loaded(page)
        await page.get_by_role("tab", name="State").focus()
        for name in ("Plan", "Drift", "Operations"):
            await page.keyboard.press("ArrowRight")
            await expect(page.get_by_role("tab", name=name)).to_be_focused()
            await expect(page.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")
        await expect(page.get_by_text("No operations yet")).to_be_visible()


@pytest.mark.parametrize("role", ["admin", "domain_admin"])
async def test_administrators_of_lower_rank_see_no_services(browser: Browser, scene: Scene, role: str):
    async with open_page(browser, scene, role) as page:
        await visit(page, scene.http, "/services")
        await expect(page.get_by_text("Only super administrators have access.")).to_be_visible()
        await expect(page.get_by_role("table")).to_have_count(0)
