"""The queue screen: list, filters, selection and actions, and the profile without a queue."""

from __future__ import annotations

import re

import psycopg
import pytest
from playwright.async_api import Browser, Locator, Page, Route, expect

from mailkeep.db.postgres import running_urls
from mailkeep.mail.postfix.queue import PostqueueEntry, PostqueueRecipient
from tests.browser.front import Front
from tests.browser.scene import Scene
from tests.browser.screens import FaultRecorder, open_context, open_page, visit
from tests.browser.test_canaries import MARKUP, REPORT_INJECTIONS
from tests.browser.test_click_everything import crawl
from tests.browser.test_screens import AXE, find_faults, find_violations

WRITERS = ("admin",)  # the lowest role with the right; the super administrator clicks everything


def row(page: Page, text: str) -> Locator:
    return page.get_by_role("row").filter(has_text=text)


async def expect_notification(page: Page, text: str) -> None:
    await expect(page.locator(".mantine-Notifications-root").get_by_text(text)).to_be_visible()


@pytest.mark.parametrize("role", WRITERS)
async def test_the_queue_shows_the_last_remote_response(browser: Browser, front: Front, role: str):
    async with open_page(browser, front, role) as page:
        await visit(page, front.http, "/messages")
        await page.get_by_role("navigation", name="Messages").get_by_role("link", name="Queue").click()
        await expect(page.get_by_role("heading", level=1, name="Queue")).to_be_visible()
        await expect(row(page, "zoe@elsewhere.test")).to_contain_text("451 4.7.1 Greylisting in action")
        await expect(page.get_by_role("row")).to_have_count(5)
        await page.get_by_role("link", name="ann@far.test").click()
        dialog = page.get_by_role("dialog")
        for name in ("ann", "ben", "cleo"):
            await expect(dialog.get_by_text(f"{name}@far.test")).to_be_visible()
        await expect(page).to_have_url(re.compile(r"shown=4jW9T11P7xz2"))
        await page.keyboard.press("Escape")
        await expect(page).not_to_have_url(re.compile("shown"))
        await page.get_by_label("Recipient").fill("zoe@")
        await expect(page.get_by_role("row")).to_have_count(2)
        await page.get_by_role("button", name="Clear", exact=True).click()
        await page.get_by_role("combobox", name="State").click()
        await page.get_by_role("option", name="On hold").click()
        await expect(row(page, "owen@elsewhere.test")).to_be_visible()
        await expect(page.get_by_role("row")).to_have_count(2)
        await page.get_by_label("Recipient").fill("nobody")
        await expect(page.get_by_text("No matching messages")).to_be_visible()


@pytest.mark.parametrize("role", WRITERS)
async def test_selected_messages_are_held_released_retried_and_deleted(browser: Browser, front: Front, role: str):
    async with open_page(browser, front, role) as page:
        dialog = page.get_by_role("dialog")

        async def open_dialog(name: str, text: str) -> Locator:
            await page.get_by_role("button", name=name, exact=True).click()
            await expect(dialog.get_by_role("status")).to_have_text(text)
            return dialog.get_by_role("button", name=name, exact=True)

        await visit(page, front.http, "/queue")
        await page.get_by_label("Select 4jW9T10K2mz1").check()
        await page.get_by_label("Select 4jW9T12Q9rz3").check()
        await expect(page.get_by_text("2 messages selected")).to_be_visible()
        await (await open_dialog("Hold", "1 message will be held.")).click()  # the other is already on hold
        await expect_notification(page, "1 message held.")
        await expect(row(page, "zoe@elsewhere.test").get_by_text("on hold", exact=True)).to_be_visible()
        await page.get_by_label("Select 4jW9T10K2mz1").check()
        await (await open_dialog("Release", "1 message will be released.")).click()
        await expect_notification(page, "1 message released.")
        await page.get_by_label("Select 4jW9T11P7xz2").check()
        await (await open_dialog("Retry now", "1 message will be retried.")).click()
        await expect_notification(page, "1 message retried.")
        await page.get_by_label("Select 4jW9T10K2mz1").check()
        button = await open_dialog("Delete", "1 message will be deleted.")
        await expect(button).to_be_disabled()
        await dialog.get_by_role("textbox").fill("4jW9T10K2mz1")
        await button.click()
        await expect_notification(page, "1 message deleted.")
        await expect(row(page, "zoe@elsewhere.test")).to_have_count(0)
    assert [action for action, _ in front.waiters.done] == ["hold", "release", "flush", "delete"]


async def test_all_matching_messages_are_deleted_after_confirmation(browser: Browser, front: Front):
    async with open_page(browser, front, "super_admin") as page:
        await visit(page, front.http, "/queue?state=deferred")
        await expect(page.get_by_text("All matching messages", exact=True)).to_be_visible()
        await page.get_by_role("button", name="Delete", exact=True).click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_role("status")).to_have_text("2 messages will be deleted.")
        await dialog.get_by_role("textbox").fill("2 messages")
        await dialog.get_by_role("button", name="Delete", exact=True).click()
        await expect_notification(page, "2 messages deleted.")
        await expect(page.get_by_text("No matching messages")).to_be_visible()
        await page.get_by_role("button", name="Clear", exact=True).click()
        await expect(page.get_by_role("row")).to_have_count(3)
        await page.get_by_role("button", name="Release", exact=True).click()
        await expect(dialog.get_by_role("status")).to_have_text("1 message will be released.")
        await page.keyboard.press("Escape")
    assert front.waiters.done == [("delete", ["4jW9T10K2mz1", "4jW9T11P7xz2"])]


async def test_an_action_without_matching_messages_is_disabled(browser: Browser, front: Front):
    async with open_page(browser, front, "admin") as page:
        await visit(page, front.http, "/queue?state=hold")
        await page.get_by_role("button", name="Retry now").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_text("No messages can be retried.")).to_be_visible()
        await expect(dialog.get_by_role("button", name="Retry now")).to_be_disabled()


async def test_a_domain_admin_cannot_see_the_queue(browser: Browser, front: Front):
    async with open_page(browser, front, "domain_admin") as page:
        await visit(page, front.http, "/queue")
        await expect(page.locator("main").get_by_text("Only administrators have access.")).to_be_visible()
        await expect(page.get_by_role("navigation").get_by_role("link", name="Queue")).to_have_count(0)


@pytest.mark.parametrize("role", WRITERS)
async def test_without_a_queue_the_screen_says_so_and_sends_no_request(browser: Browser, scene: Scene, role: str):
    reason = "Available in the full profile only"
    async with open_page(browser, scene, role) as page:
        await visit(page, scene.http, "/messages")
        await expect(page.get_by_role("navigation").get_by_role("link", name="Queue")).to_have_count(0)
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url) if request.url.endswith("/queue") else None)
        await visit(page, scene.http, "/queue")
        await expect(page.locator("main").get_by_text(reason)).to_be_visible()
        await page.get_by_role("link", name="View deferred messages").click()
        await expect(page).to_have_url(re.compile(r"/messages\?status=deferred$"))
    assert [url for url in requests if "/api/" in url] == []


async def test_the_full_profile_has_no_sandbox_screen(browser: Browser, front: Front):
    async with open_page(browser, front, "super_admin") as page:
        await visit(page, front.http, "/sandbox")
        await expect(page.locator("main").get_by_text("delivers outbound mail to its recipients")).to_be_visible()
        await expect(page.get_by_text("is captured")).to_have_count(0)


async def test_a_queue_error_shows_the_request_id_and_can_be_retried(browser: Browser, front: Front):
    queued_messages = front.waiters.messages
    front.waiters.messages = None  # type: ignore[assignment] - makes reading the queue fail

    async def delay_retry(route: Route) -> None:
        """Keep the screen from refetching before the button is clicked."""
        response = await route.fetch()
        await route.fulfill(response=response, headers=response.headers | {"retry-after": "600"})

    async with open_context(browser, front.caller("admin")) as browser_context:
        page = await browser_context.new_page()
        await page.route("**/api/v1/queue?*", delay_retry)
        await visit(page, front.http, "/queue")
        alert = page.locator("main").get_by_role("alert")
        await expect(alert).to_contain_text("UNAVAILABLE")
        await expect(alert).to_contain_text(re.compile(r"request [0-9a-f-]{36}"))
        front.waiters.messages = queued_messages
        await page.get_by_role("button", name="Try again").click()
        await expect(row(page, "zoe@elsewhere.test")).to_be_visible()


async def test_axe_finds_nothing(browser: Browser, front: Front):
    violations: list[str] = []
    async with open_context(
        browser, front.caller("admin"), bypass_csp=True, reduced_motion="reduce"
    ) as browser_context:
        page = await browser_context.new_page()
        for path in ("/queue", "/queue?state=hold&recipient=x", "/queue?shown=4jW9T11P7xz2"):
            await visit(page, front.http, path)
            await page.add_script_tag(path=AXE)
            violations += [f"{path}: {each}" for each in await find_faults(page)]
        await visit(page, front.http, "/queue")
        await page.add_script_tag(path=AXE)
        await page.get_by_role("button", name="Delete", exact=True).click()
        await expect(page.get_by_role("dialog").get_by_text("4 messages will be deleted.")).to_be_visible()
        violations += [f"delete: {each}" for each in await find_faults(page)]
    assert violations == []


@pytest.mark.timeout(120)
async def test_every_control_of_the_queue_can_be_clicked(browser: Browser, front: Front):
    async with open_context(browser, front.caller("super_admin"), reduced_motion="reduce") as browser_context:
        page = await browser_context.new_page()
        recorder = FaultRecorder(front.http)
        recorder.attach(page)
        await visit(page, front.http, "/queue")
        assert await crawl(page, front.http, "/queue", "main", front.scene.password("super_admin")) > 15
        assert recorder.faults == []


async def test_no_injected_script_runs_in_the_queue(browser: Browser, front: Front):
    recipient = PostqueueRecipient(f"{MARKUP.format(2)}@far.test", MARKUP.format("the remote server"))
    front.waiters.messages = [
        PostqueueEntry("deferred", "4jW9T14S2tz5", 1_770_000_000, 1, MARKUP.format("the sender"), [recipient])
    ]
    injections: list[str] = []
    async with open_context(browser, front.caller("admin")) as browser_context:
        await browser_context.add_init_script(REPORT_INJECTIONS)
        page = await browser_context.new_page()
        page.on("console", lambda message: injections.append(message.text) if " ran at " in message.text else None)
        await visit(page, front.http, "/queue")
        text = await page.locator("main").inner_text()
        await page.get_by_role("link", name="@far.test").click()
        await expect(page.get_by_role("dialog").get_by_text("recipient remaining")).to_be_visible()
        text += await page.get_by_role("dialog").inner_text()
    assert injections == []
    for canary in (recipient.address, recipient.delay_reason, MARKUP.format("the sender")):
        assert text.count(canary) == 2, canary


@pytest.mark.parametrize("role", WRITERS)
async def test_what_a_restore_holds_is_shown_and_released(browser: Browser, front: Front, role: str):
    urls = running_urls(front.scene.instance.data_dir)
    assert urls is not None
    with psycopg.connect(urls.app, autocommit=True) as conn:
        conn.execute("INSERT INTO restored_backup SELECT true, gen_random_uuid(), now(), now()")
    async with open_page(browser, front, role, bypass_csp=True) as page:
        for path in ("/messages", "/queue"):
            await visit(page, front.http, path)
            banner = page.get_by_role("region", name="On hold after the restore")
            await expect(banner).to_contain_text(
                "1 message in the queue, 0 scheduled messages and 0 webhook deliveries"
            )
        await page.add_script_tag(path=AXE)
        assert await find_violations(page) == []
        await banner.get_by_role("button", name="Release all").click()
        await page.get_by_role("dialog").get_by_role("button", name="Release all").click()
        await expect_notification(page, "What was on hold is released.")
        await expect(banner).to_have_count(0)
    assert front.waiters.done == [("release", ["4jW9T12Q9rz3"])]
