"""The overview of abuse, and the limits of domains and mailboxes."""

from __future__ import annotations

import re

from playwright.async_api import Browser, expect

from tests.browser.owners import make_owner
from tests.browser.scene import EXAMPLE, Scene, count_recipients, report_alert
from tests.browser.screens import open_page, visit
from tests.browser.test_everyday import expect_notification


async def test_the_overview_leads_to_messages_limits_and_an_incident(browser: Browser, scene: Scene):
    mailbox_id, address = await make_owner(scene)
    body = {"scope": "mailbox", "id": mailbox_id, "values": {"sender_per_hour": 50}}
    await scene.super_admin.call("PATCH", "/abuse/thresholds", body)
    await count_recipients(scene, address, 45)
    await report_alert(scene, address, "spike")
    suspended_id, _ = await make_owner(scene)
    reason = "74 of 250 recipients do not exist (29.6 %) in the last hour; the limit is 8 % (bounce_act). " * 2
    await scene.super_admin.call("POST", f"/mailboxes/{suspended_id}/suspend", {"reason": reason.strip()})
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, "/abuse")
        await expect(page.get_by_text(reason.strip())).to_be_visible()
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await scene.super_admin.call("POST", f"/mailboxes/{suspended_id}/unsuspend")
        near = page.get_by_role("table", name="Near a limit").get_by_role("row").filter(has_text=address)
        await expect(near).to_contain_text("45 of 50 recipients")
        for table in ("Top senders", "Spikes"):
            await expect(
                page.get_by_role("table", name=table).get_by_role("row").filter(has_text=address)
            ).to_be_visible()
        suspended = page.get_by_role("table", name="Suspended senders")
        await expect(suspended.get_by_role("row").filter(has_text=f"carla@{EXAMPLE}")).to_contain_text("administrator")
        await near.get_by_role("link", name=f"Limits of {address}").click()
        limit = page.get_by_role("listitem").filter(has_text="Recipients of a sender per hour")
        await expect(limit).to_contain_text("set for this mailbox")
        await page.go_back()
        await near.get_by_role("link", name="New incident").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_label("Address of the mailbox")).to_have_value(address)
        await dialog.get_by_role("button", name="Cancel").click()
        await page.get_by_role("navigation", name="Abuse").get_by_role("link", name="Overview").click()
        await near.get_by_role("link", name=address, exact=True).click()
        await expect(page).to_have_url(re.compile(r"/messages\?.*from="))


async def test_a_domain_admin_lowers_a_limit_which_the_mailbox_inherits(browser: Browser, scene: Scene):
    domain_id = scene.ids["domain_id"]
    mailbox_id, _ = await make_owner(scene)
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, f"/domains/{domain_id}?tab=settings")
        limit = page.get_by_role("listitem").filter(has_text="Recipients of a sender per hour")
        await expect(limit).to_contain_text("from the settings")
        await expect(limit).to_contain_text("At most 1,000.")
        await limit.get_by_role("button", name="Override").click()
        await limit.get_by_role("textbox").fill("1001")
        await page.get_by_role("button", name="Apply limits").click()
        await expect(limit).to_contain_text("Must be at most 1000")
        await limit.get_by_role("textbox").fill("400")
        await page.get_by_role("button", name="Apply limits").click()
        await expect_notification(page, "Saved. It applies to the next message.")
        await expect(limit).to_contain_text("set for this domain")

        await visit(page, scene.http, f"/mailboxes/{mailbox_id}?tab=settings")
        await expect(limit).to_contain_text("from the domain")
        await expect(limit).to_contain_text("400")
        await visit(page, scene.http, f"/domains/{domain_id}?tab=settings")
        await limit.get_by_role("button", name="Use default").click()
        await expect(limit).to_contain_text("not saved")
        await page.get_by_role("button", name="Apply limits").click()
        await expect(limit).to_contain_text("from the settings")
        await expect(limit).to_contain_text("1,000")
    shown = await scene.super_admin.call("GET", f"/abuse/thresholds?scope=mailbox&id={mailbox_id}")
    assert shown["values"]["sender_per_hour"]["source"] == "global"
