"""The documentation page shows every call of the document, in the browser that reads it."""

from __future__ import annotations

import json

from playwright.async_api import Browser, expect

from tests.browser.scene import Scene
from tests.browser.screens import ROOT, watched

METHODS = {"get", "post", "put", "patch", "delete"}


async def test_every_call_is_shown_with_its_fields(browser: Browser, scene: Scene):
    document = json.loads((ROOT / "docs/reference/openapi.json").read_text())
    calls = [
        call["operationId"] for item in document["paths"].values() for name, call in item.items() if name in METHODS
    ]
    async with watched(browser, scene, "super_admin") as page:
        await page.goto(f"{scene.http}/docs")
        await expect(page.locator("article.call")).to_have_count(len(calls))
        shown = await page.locator("article.call").evaluate_all("(all) => all.map((each) => each.id)")
        assert sorted(shown) == sorted(calls)
        login = page.locator("#postAuthLogin")
        await expect(login.get_by_text("Or the body")).to_have_count(2)
        await expect(login.get_by_text("recovery_code", exact=True).first).to_be_visible()
