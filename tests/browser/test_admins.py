"""The forms for administrators, when changes of administrators need a recent sign-in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, expect

from tests.browser.scene import PASSWORD, Scene
from tests.browser.screens import open_context, visit
from tests.browser.test_everyday import expect_notification
from tests.browser.test_settings import age_session, read, store

SETTING, EMAIL = "auth.confirm_admin_changes", "careful@example.test"


@pytest.fixture(autouse=True)
async def _setting(scene: Scene) -> AsyncIterator[None]:
    await store(scene, {SETTING: True})
    async with asyncio.timeout(30):
        while not (await read(scene, SETTING))["value"]:
            await asyncio.sleep(0.1)
    yield
    await scene.super_admin.call("POST", "/config/revisions/0/rollback", {"current_password": PASSWORD})
    for each in await scene.super_admin.call("GET", "/admins"):
        if EMAIL in each["email"]:
            await scene.super_admin.call("DELETE", f"/admins/{each['id']}")


async def test_the_form_asks_for_the_password_and_keeps_its_values(browser: Browser, scene: Scene):
    caller = await scene.login("super_admin")
    await age_session(scene, caller)
    async with open_context(browser, caller) as context:
        page = await context.new_page()
        await visit(page, scene.http, "/admins?new=yes")
        dialog = page.get_by_role("dialog", name="New administrator")
        await dialog.get_by_label("Email").fill(EMAIL)
        await dialog.get_by_label("Password", exact=True).fill("short")
        await dialog.get_by_role("button", name="Create administrator").click()
        own = dialog.get_by_label("Your password")
        await own.fill("wrong word here")
        await dialog.get_by_role("button", name="Create administrator").click()
        await expect(own).to_have_attribute("aria-invalid", "true")
        await own.fill(PASSWORD)
        await dialog.get_by_role("button", name="Create administrator").click()
        # The server accepts the own password and rejects the new one: the form is shown again, with its values.
        await expect(dialog.get_by_label("Email")).to_have_value(EMAIL)
        await dialog.get_by_label("Password", exact=True).fill("seven green bottles")
        await dialog.get_by_role("button", name="Create administrator").click()
        await expect_notification(page, f"Created {EMAIL}.")
        await page.get_by_role("button", name=f"Edit {EMAIL}").click()
        dialog = page.get_by_role("dialog", name=f"Edit {EMAIL}")
        await dialog.get_by_label("Email").fill(f"very.{EMAIL}")
        await dialog.get_by_role("button", name="Save").click()
        await dialog.get_by_label("Your password").fill(PASSWORD)
        await dialog.get_by_role("button", name="Save").click()
        await expect_notification(page, f"Saved very.{EMAIL}.")
        await page.get_by_role("button", name=f"Delete very.{EMAIL}").click()
        dialog = page.get_by_role("dialog", name=f"Delete very.{EMAIL}")
        await dialog.get_by_label("to confirm").fill(f"very.{EMAIL}")
        await dialog.get_by_role("button", name="Delete").click()
        await dialog.get_by_label("Your password").fill(PASSWORD)
        await dialog.get_by_role("button", name="Delete").click()
        await expect(page.get_by_role("button", name=f"Delete very.{EMAIL}")).to_have_count(0)
