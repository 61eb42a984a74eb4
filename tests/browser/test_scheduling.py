"""Send later, reschedule, cancel, send again and retry, in the dashboard."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from playwright.async_api import Browser, Page, expect

from tests.browser.scene import EXAMPLE, Scene
from tests.browser.screens import open_page, visit
from tests.browser.test_everyday import choose, expect_notification
from tests.browser.test_screens import AXE, find_faults

ZONE = "Asia/Kolkata"  # five and a half hours before UTC, never anything else
OFFSET = timedelta(hours=5, minutes=30)


def local(at: datetime) -> str:
    return (at + OFFSET).strftime("%Y-%m-%dT%H:%M")


async def press(page: Page, name: str) -> None:
    """Press a button of the screen, then the one of this name in its dialog."""
    await page.get_by_role("button", name=name, exact=True).click()
    await page.get_by_role("dialog").get_by_role("button", name=name, exact=True).click()


async def test_a_message_is_scheduled_rescheduled_and_cancelled(browser: Browser, scene: Scene):
    due = datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(days=2)
    async with open_page(browser, scene, "domain_admin", timezone_id=ZONE) as page:
        await visit(page, scene.http, f"/send?from=shop@{EXAMPLE}&to=zoe@elsewhere.test&subject=Later")
        await page.get_by_role("textbox", name="Message").fill("Not now.")
        await page.get_by_label("Send later").fill(local(due + timedelta(days=60)))
        await page.get_by_role("button", name="Send", exact=True).click()
        await expect(page.get_by_text("at most 30 days ahead").first).to_be_visible()
        await page.get_by_label("Send later").fill(local(due))
        await page.get_by_role("button", name="Send", exact=True).click()
        await expect_notification(page, "Scheduled for zoe@elsewhere.test.")
        await expect(page.get_by_role("heading", level=1, name="Later")).to_be_visible()
        [message] = await scene.super_admin.call("GET", "/messages?status=scheduled&subject=Later")
        assert message["scheduled_at"] == due.strftime("%Y-%m-%dT%H:%M:00.000Z")

        await page.get_by_role("button", name="Reschedule", exact=True).click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_label("Send at")).to_have_value(local(due))
        later = due + timedelta(hours=3)
        await dialog.get_by_label("Send at").fill(local(later))
        await dialog.get_by_role("button", name="Reschedule", exact=True).click()
        await expect_notification(page, "The message is rescheduled.")
        changed = await scene.super_admin.call("GET", f"/messages/{message['id']}")
        assert changed["scheduled_at"] == later.strftime("%Y-%m-%dT%H:%M:00.000Z")

        await visit(page, scene.http, "/messages")
        await choose(page, "Status", "scheduled waiting for its time")
        await page.get_by_role("link", name="Later", exact=True).click()
        await press(page, "Cancel message")
        await expect_notification(page, "The message is cancelled.")
        await expect(page.locator(".timeline").get_by_text("cancelled", exact=True)).to_be_visible()
        await expect(page.locator(".timeline").get_by_text("rescheduled", exact=True)).to_be_visible()
        await expect(page.locator(".timeline").get_by_text("attempt 0")).to_have_count(0)
        await expect(page.get_by_role("button", name="Reschedule", exact=True)).to_have_count(0)


async def test_axe_finds_nothing_in_the_dialogs_of_a_scheduled_message(browser: Browser, scene: Scene):
    violations: list[str] = []
    async with open_page(browser, scene, "domain_admin", reduced_motion="reduce") as page:
        await visit(page, scene.http, f"/messages/{scene.ids['scheduled_id']}")
        await page.evaluate(AXE.read_text())
        dialog = page.get_by_role("dialog")
        for name in ("Reschedule", "Cancel message"):
            await page.get_by_role("button", name=name, exact=True).click()
            await expect(dialog).to_be_visible()
            violations += [f"{name}: {each}" for each in await find_faults(page)]
            await page.keyboard.press("Escape")
            await expect(dialog).to_have_count(0)
    assert violations == []


async def test_a_time_that_has_passed_or_a_message_that_is_gone_is_explained(browser: Browser, scene: Scene):
    """Somebody cancels the message while another dialog is open: the screen says what it is now."""
    due = datetime.now(UTC).replace(microsecond=0) + timedelta(days=2)
    sent = await scene.send(subject="Two hands", scheduled_at=due.isoformat())
    async with open_page(browser, scene, "domain_admin", timezone_id=ZONE) as page:
        await visit(page, scene.http, f"/messages/{sent['id']}")
        await page.get_by_role("button", name="Reschedule", exact=True).click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Send at").fill(local(due - timedelta(days=4)))
        await dialog.get_by_role("button", name="Reschedule", exact=True).click()
        await expect(dialog.get_by_text("must be in the future").first).to_be_visible()
        await dialog.get_by_label("Send at").fill(local(due))
        await scene.super_admin.call("POST", f"/messages/{sent['id']}/cancel")
        await dialog.get_by_role("button", name="Reschedule", exact=True).click()
        await expect(page.get_by_text("this one is cancelled").first).to_be_visible()


async def test_a_bounced_message_is_sent_again_and_a_deferred_one_retried(browser: Browser, scene: Scene):
    bounced = await scene.send(subject="Once more", to=[{"email": "bounce@elsewhere.test"}])
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, f"/messages/{bounced['id']}")
        link = page.get_by_role("link", name="Suppressions of this address")
        await expect(link).to_have_attribute("href", re.compile(r"/suppressions\?q=bounce(%40|@)elsewhere\.test$"))
        await press(page, "Send again")
        await expect_notification(page, "Sent again as a new message.")
        await expect(page).not_to_have_url(f"{scene.http}/messages/{bounced['id']}")
        await expect(page.get_by_role("heading", level=1, name="Once more")).to_be_visible()
        deferred = await scene.send(subject="Try harder", to=[{"email": "fail@elsewhere.test"}])
        await visit(page, scene.http, f"/messages/{deferred['id']}")
        await press(page, "Retry now")
        await expect_notification(page, "The mail server is trying again.")


async def test_a_sending_key_is_created(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "super_admin", timezone_id=ZONE) as page:
        await visit(page, scene.http, "/api-keys?new=yes")
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Name").fill("checkout")
        await choose(dialog, "Permissions", "Send, and see its own messages")
        await expect(dialog.get_by_label("Expires at")).to_be_disabled()
        await choose(dialog, "Expires", "At an exact time")
        await dialog.get_by_label("Expires at").fill("2035-06-01T12:00")
        await dialog.get_by_role("button", name="Create key").click()
        port = scene.instance.smtp.rpartition(":")[2]
        await expect(dialog.get_by_text(f"{port} (STARTTLS)", exact=True)).to_be_visible()
        await expect(dialog.get_by_test_id("snippet")).to_contain_text("/auth/me")  # which a sending key may call
        await dialog.get_by_role("button", name="I've saved it").click()
        await expect(page.get_by_role("row").filter(has_text="checkout")).to_contain_text("sending")
    [key] = [each for each in await scene.super_admin.call("GET", "/api-keys") if each["name"] == "checkout"]
    assert (key["permissions"], key["expires_at"]) == ("sending", "2035-06-01T06:30:00.000Z")
