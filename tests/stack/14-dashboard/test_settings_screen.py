"""The screen Settings of a full instance: a change is reviewed with its plan, saved and applied."""

from __future__ import annotations

import asyncio
from typing import Any

from playwright.async_api import Browser, Locator, Page, expect

from tests.browser.scene import log_in
from tests.browser.screens import PHONE, WIDE, FaultRecorder, open_context, require_dashboard, visit
from tests.browser.test_screens import AXE, find_violations
from tests.stack.harness import ADMIN, PASSWORD, Stack, eventually

KEY = "overlays.rspamd"


async def review(page: Page, value: str) -> Locator:
    """Enter the value with the keyboard, and open the review."""
    await page.get_by_role("button", name=f"Change {KEY}", exact=True).press("Enter")
    await page.get_by_role("textbox", name=KEY, exact=True).fill(value)
    await page.get_by_role("button", name="Review", exact=True).press("Enter")
    dialog = page.get_by_role("dialog", name="Review changes")
    await expect(dialog.get_by_role("heading", name="Plan", exact=True)).to_be_visible(timeout=60_000)
    return dialog


async def test_a_change_is_reviewed_with_its_plan_and_applied(browser: Browser, alone: Stack) -> None:
    require_dashboard()
    session = await log_in(alone.api, ADMIN, PASSWORD)
    recorder, violations = FaultRecorder(alone.api), list[Any]()
    try:
        for viewport, days in ((PHONE, 3), (WIDE, 4)):
            options: dict[str, Any] = {"viewport": viewport, "bypass_csp": True, "reduced_motion": "reduce"}
            async with open_context(browser, session, **options) as context:
                page = await context.new_page()
                recorder.attach(page)
                await visit(page, alone.api, f"/settings?q={KEY}")
                await page.add_script_tag(path=AXE)
                row = page.locator(f"[data-setting='{KEY}']")
                await expect(row).to_contain_text("Needs an apply: reloads Rspamd")
                dialog = await review(page, f'{{"local.d/greylist.conf": "expire = {days}d;"}}')
                await expect(dialog.locator(".diff-added").filter(has_text=f"expire = {days}d;")).to_be_visible()
                action = dialog.get_by_role("table", name="Actions").get_by_role("row").filter(has_text="rspamd")
                await expect(action).to_contain_text("reload")
                violations += await find_violations(page)
                assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0, viewport
                await dialog.get_by_role("button", name="Save 1 change").press("Enter")
                note = page.get_by_role("region", name="Settings that are not applied yet")
                await expect(note).to_contain_text("1 saved setting does not apply yet")
                violations += await find_violations(page)
                if viewport is WIDE:
                    await apply(page, note)
                    await expect(note).to_have_count(0)
                    await expect(row).to_contain_text("expire = 4d;")
                    await expect(row.get_by_text("not applied yet")).to_have_count(0)
        assert (violations, recorder.faults) == ([], [])
    finally:
        await asyncio.to_thread(alone.do, "PATCH", "/config", {"changes": {KEY: None}, "current_password": PASSWORD})
        await asyncio.to_thread(apply_by_the_api, alone)


async def apply(page: Page, note: Locator) -> None:
    await note.get_by_role("button", name="Apply now").press("Enter")
    dialog = page.get_by_role("dialog", name="Apply the plan")
    await dialog.get_by_label("Watch the services").fill("5")
    await dialog.get_by_role("button", name="Apply").press("Enter")
    operation = page.get_by_role("dialog", name="Operation")
    await expect(operation.get_by_role("list").get_by_text("switch and reload rspamd")).to_be_visible(timeout=60_000)
    await expect(operation.get_by_role("status").first).to_have_text("succeeded", timeout=90_000)
    await page.keyboard.press("Escape")
    await expect(operation).to_have_count(0)


def apply_by_the_api(stack: Stack) -> None:
    plan_id = stack.do("GET", "/orchestrator/plan")["id"]
    operation_id = stack.do("POST", "/orchestrator/apply", {"plan_id": plan_id, "watch_seconds": 5})["operation_id"]
    eventually(lambda: stack.do("GET", f"/orchestrator/operations/{operation_id}")["state"] != "running", 120, "apply")
