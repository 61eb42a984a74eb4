"""Two people edit one object: the second sees what has changed, and nothing is overwritten unseen."""

from __future__ import annotations

from playwright.async_api import Browser, Page, expect

from tests.browser.scene import EXAMPLE, PASSWORD, Scene
from tests.browser.screens import open_context, open_page, visit
from tests.browser.test_everyday import expect_notification
from tests.browser.test_screens import AXE, find_faults


async def create_mailbox(scene: Scene, local_part: str) -> str:
    body = {"domain_id": scene.ids["domain_id"], "local_part": local_part, "password": PASSWORD, "name": "First"}
    return (await scene.super_admin.call("POST", "/mailboxes", body))["id"]


async def edit(page: Page, scene: Scene, mailbox_id: str) -> None:
    await visit(page, scene.http, f"/mailboxes/{mailbox_id}?tab=settings")


async def test_the_second_editor_sees_the_difference_and_chooses(browser: Browser, scene: Scene):
    mailbox_id = await create_mailbox(scene, "conflict")
    async with open_page(browser, scene, "super_admin") as first, open_page(browser, scene, "admin") as second:
        for page in (first, second):
            await edit(page, scene, mailbox_id)
        await first.get_by_label("Owner's name").fill("Saved first")
        await first.get_by_label("Quota").fill("7")
        await first.get_by_role("button", name="Save").click()
        await expect_notification(first, f"Saved conflict@{EXAMPLE}.")

        await second.get_by_label("Owner's name").fill("Saved second")
        await second.get_by_label("POP3").uncheck()
        await second.get_by_role("button", name="Save").click()
        dialog = second.get_by_role("dialog", name="Changed meanwhile")
        await expect(dialog.get_by_role("row", name="Owner's name Saved second Saved first")).to_be_visible()
        await expect(dialog.get_by_role("row").filter(has_text="Quota")).to_contain_text("7")
        await expect(dialog.get_by_role("row")).to_have_count(4)  # the header, name, quota and POP3
        # What the second one has not touched takes the current value.
        await expect(
            dialog.get_by_role("radiogroup", name="Value of Quota to use").get_by_label("Current")
        ).to_be_checked()
        await dialog.get_by_role("button", name="Keep editing").click()
        await expect(second.get_by_label("Owner's name")).to_have_value("Saved second")
        await expect(second.get_by_label("Quota")).to_have_value("7 GB")
        await second.get_by_role("button", name="Save").click()
        await expect_notification(second, f"Saved conflict@{EXAMPLE}.")
    saved = await scene.super_admin.call("GET", f"/mailboxes/{mailbox_id}")
    assert (saved["name"], saved["quota_bytes"], saved["protocols"]["pop3"]) == ("Saved second", 7 << 30, False)


async def test_the_current_values_can_be_taken_as_a_whole(browser: Browser, scene: Scene):
    mailbox_id = await create_mailbox(scene, "conflict-whole")
    async with open_page(browser, scene, "super_admin") as page:
        await edit(page, scene, mailbox_id)
        await page.get_by_label("Owner's name").fill("Mine")
        await page.get_by_label("POP3").uncheck()
        await scene.super_admin.call("PATCH", f"/mailboxes/{mailbox_id}", {"name": "Theirs", "quota_bytes": 1 << 30})
        await page.get_by_role("button", name="Save").click()
        dialog = page.get_by_role("dialog", name="Changed meanwhile")
        await dialog.get_by_role("button", name="Use all current values").click()
        await dialog.get_by_role("button", name="Save").click()
        await expect_notification(page, "Saved conflict-whole")
        await expect(page.get_by_label("Owner's name")).to_have_value("Theirs")
    saved = await scene.super_admin.call("GET", f"/mailboxes/{mailbox_id}")
    assert (saved["name"], saved["quota_bytes"], saved["protocols"]["pop3"]) == ("Theirs", 1 << 30, True)


async def test_axe_finds_nothing_in_the_dialog(browser: Browser, scene: Scene):
    mailbox_id = await create_mailbox(scene, "conflict-axe")
    async with open_context(browser, scene.super_admin, bypass_csp=True, reduced_motion="reduce") as context:
        page = await context.new_page()
        await edit(page, scene, mailbox_id)
        await page.get_by_label("Owner's name").fill("Mine")
        await scene.super_admin.call("PATCH", f"/mailboxes/{mailbox_id}", {"name": "Theirs"})
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("dialog", name="Changed meanwhile").get_by_role("row")).to_have_count(2)
        await page.add_script_tag(path=AXE)
        assert await find_faults(page) == []
