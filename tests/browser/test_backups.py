"""The screens of backups: what is missing, the contents of a backup, a restore, the policy."""

from __future__ import annotations

from playwright.async_api import Browser, expect

from tests.browser.front import Front
from tests.browser.screens import open_page, visit
from tests.browser.test_everyday import expect_notification

EXAMPLE = "example.test"


async def test_a_backup_is_browsed_and_the_policy_changed(browser: Browser, front: Front):
    async with open_page(browser, front, "super_admin") as page:
        await visit(page, front.http, "/backups")
        await expect(page.get_by_text("There is no recovery key")).to_be_visible()
        table = page.get_by_role("table", name="Backups")
        await expect(table.get_by_text("succeeded", exact=True)).to_be_visible()
        await table.get_by_role("link").first.click()
        contents = page.get_by_role("table", name="Contents of the backup")
        await contents.get_by_role("button", name=EXAMPLE, exact=True).click()
        await contents.get_by_role("button", name=f"alice@{EXAMPLE}", exact=True).click()
        await expect(contents.get_by_role("cell", name="INBOX")).to_be_visible()
        await page.get_by_label("Find a message by its Message-ID").fill("<absent@example.test>")
        await expect(page.get_by_text("No message with this Message-ID is in the backup.")).to_be_visible()

        await visit(page, front.http, "/backups?tab=policy")
        await page.get_by_label("Days", exact=True).fill("9")
        await page.get_by_role("button", name="Save").click()
        await expect_notification(page, "The policy was saved.")
        policy = await front.scene.super_admin.call("GET", "/backups/policy")
        assert policy["retention"]["daily"] == 9
