"""The tab Vacation and forwarding of a mailbox, in both profiles."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.front import Front
from tests.browser.scene import EXAMPLE, Scene
from tests.browser.screens import PHONE, open_context, open_page, visit
from tests.browser.test_screens import AXE, find_violations

NUMBERS = itertools.count()


async def make_mailbox(scene: Scene, **more: Any) -> tuple[str, str]:
    """A new mailbox in Berlin's time zone: its ID and address."""
    local_part = f"vacation{next(NUMBERS)}"
    body = {"domain_id": scene.ids["domain_id"], "local_part": local_part, "password": "correct horse battery"}
    created = await scene.super_admin.call("POST", "/mailboxes", body | {"time_zone": "Europe/Berlin"} | more)
    return created["id"], f"{local_part}@{EXAMPLE}"


async def stored(front: Front, mailbox_id: str) -> dict[str, Any]:
    return await front.caller("domain_admin").call("GET", f"/mailboxes/{mailbox_id}/vacation")


async def expect_stored(front: Front, mailbox_id: str, expected: dict[str, Any]) -> None:
    assert await stored(front, mailbox_id) == expected


async def save(page: Page) -> None:
    await page.get_by_role("button", name="Save vacation").click()


async def test_a_vacation_is_set_in_the_mailboxs_time_zone_changed_and_deleted(browser: Browser, front: Front):
    mailbox_id, address = await make_mailbox(front.scene)
    async with open_page(browser, front, "domain_admin") as page:
        await visit(page, front.http, f"/mailboxes/{mailbox_id}")
        await page.get_by_role("tab", name="Vacation and forwarding").click()
        await expect(page.get_by_text("Off. Each sender gets one reply")).to_be_visible()
        await expect(page.get_by_role("button", name="Delete", exact=True)).to_have_count(0)
        await save(page)
        text = page.get_by_label("Reply", exact=True)
        await expect(text).to_have_attribute("aria-invalid", "true")
        await expect(page.get_by_text("Enter the reply.")).to_be_visible()
        await page.get_by_label("Send replies").check()
        await text.fill('I am away.\n"Bob" can help.')
        await page.get_by_label("Start", exact=True).fill("2036-08-01T18:00")
        await page.get_by_label("End", exact=True).fill("2036-07-01T00:00")
        await expect(page.get_by_text("Time zone Europe/Berlin")).to_be_visible()
        await save(page)
        await expect(page.get_by_text("Must be after the start.")).to_be_visible()
        await page.get_by_label("End", exact=True).fill("2036-12-01T00:00")
        await save(page)
        await expect(page.get_by_text(f"Saved the vacation of {address}.")).to_be_visible()
        await expect(page.get_by_text("Starts ")).to_be_visible()
        first = await stored(front, mailbox_id)
        assert first == {
            "active": True, "subject": None, "text": 'I am away.\n"Bob" can help.', "html": None, "days": 7,
            "start_at": "2036-08-01T16:00:00.000Z", "end_at": "2036-11-30T23:00:00.000Z",
        }  # fmt: skip
        # Somebody else changes it meanwhile; seconds of times that are not edited are kept.
        other = first | {"text": "By phone only.", "start_at": "2036-08-01T16:00:30.500Z"}
        body = {name: value for name, value in other.items() if value is not None}
        await front.caller("admin").call("PUT", f"/mailboxes/{mailbox_id}/vacation", body)
        await page.get_by_label("Subject").fill("Away")
        await save(page)
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_text("By phone only.")).to_be_visible()
        await dialog.get_by_role("button", name="Save").click()
        await expect(dialog).to_have_count(0)
        await expect(text).to_have_value("By phone only.")
        await expect_stored(front, mailbox_id, other | {"subject": "Away"})
        await page.get_by_label("Send replies").uncheck()
        await save(page)
        await expect(page.get_by_text("Off. Each sender gets one reply")).to_be_visible()
        await expect_stored(front, mailbox_id, other | {"subject": "Away", "active": False})
        await page.get_by_role("button", name="Delete", exact=True).click()
        await dialog.get_by_role("button", name="Delete").click()
        await expect(page.get_by_role("button", name="Delete", exact=True)).to_have_count(0)
        await expect(text).to_have_value("")
        assert (await stored(front, mailbox_id))["text"] is None


async def test_a_forward_without_a_copy_warns(browser: Browser, front: Front):
    mailbox_id, address = await make_mailbox(front.scene)
    vacation = {"text": "I am away.", "html": "<p>I am <b>away</b>.</p>"}
    await front.caller("admin").call("PUT", f"/mailboxes/{mailbox_id}/vacation", vacation)
    async with open_page(browser, front, "domain_admin") as page:
        await visit(page, front.http, f"/mailboxes/{mailbox_id}?tab=vacation")
        await expect(page.get_by_label("Reply as HTML")).to_have_value(vacation["html"])
        forward = page.get_by_role("textbox", name="Forward to")
        await forward.fill(address)
        await forward.press("Enter")
        await page.get_by_role("button", name="Save forward").click()
        await expect(page.get_by_text("leads back to this mailbox").first).to_be_visible()
        await forward.press("Backspace")
        await forward.fill("away@elsewhere.test")
        await forward.press("Enter")
        await page.get_by_label("Keep a copy in this mailbox").uncheck()
        await page.get_by_role("button", name="Save forward").click()
        await expect(page.get_by_text(f"Saved the forward of {address}.")).to_be_visible()
        await expect(page.get_by_text("This mailbox only forwards its mail.")).to_be_visible()
    mailbox = await front.caller("admin").call("GET", f"/mailboxes/{mailbox_id}")
    assert mailbox["forward"] == {"destinations": ["away@elsewhere.test"], "keep_copy": False}
    # In the embedded profile only the forward is there.
    async with open_page(browser, front.scene, "domain_admin") as page:
        await visit(page, front.scene.http, f"/mailboxes/{mailbox_id}?tab=vacation")
        await expect(page.get_by_text("No vacation replies in the embedded profile")).to_be_visible()
        await expect(page.get_by_role("button", name="Save forward")).to_be_visible()


@pytest.mark.parametrize(
    "options", [{"color_scheme": "light"}, {"color_scheme": "dark", "viewport": PHONE}], ids=["light", "dark"]
)
async def test_axe_finds_nothing(browser: Browser, front: Front, options: dict[str, Any]):
    forward = {"destinations": ["away@elsewhere.test"], "keep_copy": False}
    mailbox_id, _ = await make_mailbox(front.scene, forward=forward)
    await front.caller("admin").call("PUT", f"/mailboxes/{mailbox_id}/vacation", {"text": "I am away.", "html": "<p>"})
    async with open_context(
        browser, front.caller("admin"), bypass_csp=True, reduced_motion="reduce", **options
    ) as context:
        page = await context.new_page()
        await visit(page, front.http, f"/mailboxes/{mailbox_id}?tab=vacation")
        await expect(page.get_by_label("Reply", exact=True)).to_be_visible()
        await page.add_script_tag(path=AXE)
        assert await find_violations(page) == []
        width = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert width <= 0
