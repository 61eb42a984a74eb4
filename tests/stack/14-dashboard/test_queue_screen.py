"""The dashboard of a full instance: Postfix's queue and its actions."""

from __future__ import annotations

import asyncio
import re

from playwright.async_api import Browser, expect

from tests.browser.scene import log_in
from tests.browser.screens import FaultRecorder, open_context, require_dashboard, visit
from tests.stack.harness import ADMIN, PASSWORD, Stack, eventually

DOMAIN, RECIPIENT = "screen.test", "fail+screen@remote.test"


async def test_undelivered_mail_is_held_released_and_deleted(browser: Browser, stack: Stack) -> None:
    require_dashboard()
    caller = await log_in(stack.api, ADMIN, PASSWORD)
    async with open_context(browser, caller) as browser_context:
        page = await browser_context.new_page()
        recorder = FaultRecorder(stack.api)
        recorder.attach(page)
        await visit(page, stack.api, "/")
        await page.get_by_role("link", name="Messages", exact=True).click()
        await page.get_by_role("navigation", name="Messages").get_by_role("link", name="Queue").click()
        await expect(page.get_by_label("Recipient")).to_be_visible()
        # Sent only now, because this instance gives up after 20 seconds.
        await asyncio.to_thread(_defer, stack)
        await page.get_by_label("Recipient").fill("fail+screen")
        row = page.get_by_role("row").filter(has_text=RECIPIENT)
        await expect(row).to_contain_text("deferred")
        await expect(row).to_contain_text("said: 45")
        await expect(page.get_by_text("All matching messages", exact=True)).to_be_visible()
        dialog = page.get_by_role("dialog")
        # Released mail is retried immediately.
        for name, state in (("Hold", "on hold"), ("Release", re.compile("^(active|deferred)$"))):
            await page.get_by_role("button", name=name, exact=True).click()
            await expect(dialog.get_by_text("1 message will be")).to_be_visible()
            await dialog.get_by_role("button", name=name, exact=True).click()
            await expect(row.get_by_text(state, exact=True)).to_be_visible()
        await asyncio.to_thread(_wait_until_deferred, stack)
        await page.get_by_label("Select ", exact=False).last.check()
        await page.get_by_role("button", name="Delete", exact=True).click()
        await expect(dialog.get_by_text("1 message will be")).to_be_visible()
        await dialog.get_by_role("textbox").fill(await dialog.locator("label code").inner_text())
        await dialog.get_by_role("button", name="Delete", exact=True).click()
        await expect(page.get_by_text("No matching messages")).to_be_visible()
        await page.get_by_role("link", name="Messages", exact=True).click()
        await page.get_by_label("Search by sender, recipient").fill("fail+screen")
        await expect(page.get_by_role("row").filter(has_text="deferred once")).to_contain_text("failed")
        assert recorder.faults == []


def _defer(stack: Stack) -> None:
    stack.make_domain(DOMAIN)
    assert stack.send(f"shop@{DOMAIN}", RECIPIENT, subject="deferred once").status == 200
    _wait_until_deferred(stack)


def _wait_until_deferred(stack: Stack) -> None:
    eventually(lambda: stack.do("GET", "/queue?state=deferred&recipient=fail%2Bscreen"), what="the deferral")
