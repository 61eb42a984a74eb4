"""An incident in the browser, to its undo."""

from __future__ import annotations

from playwright.async_api import Browser, expect

from tests.browser.owners import make_owner
from tests.browser.scene import Scene, report_alert
from tests.browser.screens import open_page, visit
from tests.browser.test_everyday import expect_notification


async def test_from_an_alert_to_an_incident_to_its_undo(browser: Browser, scene: Scene):
    mailbox_id, address = await make_owner(scene)
    await report_alert(scene, address)
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, "/")
        await page.get_by_role("link", name="View alerts").click()
        row = page.get_by_role("row").filter(has_text=address)
        await expect(row).to_contain_text("bounced for good")
        await page.get_by_role("button", name="Clear").click()
        await row.get_by_role("button", name="Acknowledge").click()
        await page.get_by_role("dialog").get_by_label("Note").fill("I look after it.")
        await page.get_by_role("dialog").get_by_role("button", name="Acknowledge").click()
        await expect(row).to_contain_text("acknowledged")
        await row.get_by_role("link", name="New incident").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_label("Address of the mailbox")).to_have_value(address)
        assert await dialog.get_by_role("checkbox", name="Hold queued mail").count() == 0  # needs the full profile
        await dialog.get_by_label("Address of the mailbox").fill(f"un{address}")
        await dialog.get_by_role("button", name="Carry out").click()
        await expect(dialog.get_by_role("alert")).to_contain_text(f"There is no mailbox un{address}.")
        await dialog.get_by_label("Address of the mailbox").fill(address)
        await dialog.get_by_label("Note").fill("wrote to everybody\nat night")  # pasted: one line
        await dialog.get_by_role("button", name="Carry out").click()
        await expect_notification(page, "The incident is open.")
        await expect(page.get_by_role("heading", level=1)).to_have_text(address)
        results = page.get_by_role("list", name="Results").get_by_role("listitem")
        await expect(results).to_have_count(5)
        await expect(results.filter(has_text="Suspend")).to_contain_text("done")
        await expect(results.filter(has_text="Disable app passwords")).to_contain_text("was so before")
        mailbox = await scene.super_admin.call("GET", f"/mailboxes/{mailbox_id}")
        assert mailbox["suspended"]["reason"] == "wrote to everybody at night"

        await page.get_by_role("button", name="Undo").click()
        await page.get_by_role("dialog").get_by_role("button", name="Undo").click()
        await expect_notification(page, "The incident is undone.")
        await expect(results.filter(has_text="Suspend")).to_contain_text("restored")
        await expect(results.filter(has_text="End sessions")).to_contain_text("can’t be restored")
        await expect(page.get_by_role("button", name="Undo")).to_have_count(0)
        await page.get_by_role("link", name="← Incidents").click()
        await expect(page.get_by_role("row").filter(has_text=address)).to_contain_text("undone")
        await page.get_by_role("navigation", name="Abuse").get_by_role("link", name="Alerts").click()
        await row.get_by_role("button", name="Resolve").click()
        lift = page.get_by_role("dialog").get_by_label("Lift the suspension")
        await expect(lift).to_have_count(0)  # whom the API would refuse
        await page.get_by_role("dialog").get_by_label("Delete all app passwords").check()
        await page.get_by_role("dialog").get_by_role("button", name="Resolve").click()
        await expect_notification(page, "The alert is resolved.")
        await expect(row).to_contain_text("resolved")
    assert (await scene.super_admin.call("GET", f"/mailboxes/{mailbox_id}"))["suspended"] is None


async def test_an_incident_is_opened_from_the_mailbox(browser: Browser, scene: Scene):
    mailbox_id, address = await make_owner(scene)
    async with open_page(browser, scene, "admin") as page:
        await visit(page, scene.http, f"/mailboxes/{mailbox_id}?tab=settings")
        await page.get_by_role("link", name="New incident").click()
        await expect(page.get_by_role("dialog").get_by_label("Address of the mailbox")).to_have_value(address)


async def test_what_another_admin_has_undone_meanwhile_is_shown(browser: Browser, scene: Scene):
    mailbox_id, _ = await make_owner(scene)
    body = {"subject": {"type": "mailbox", "id": mailbox_id}, "actions": ["suspend"]}
    incident = await scene.super_admin.call("POST", "/abuse/incidents", body)
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, f"/incidents/{incident['id']}")
        await page.get_by_role("button", name="Undo").click()
        await scene.super_admin.call("POST", f"/abuse/incidents/{incident['id']}/undo")
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name="Undo").click()
        await dialog.get_by_text("The incident is undone.").wait_for()
        await dialog.get_by_role("button", name="Cancel").click()
        await expect(page.get_by_role("list", name="Results")).to_contain_text("restored")
        await expect(page.get_by_role("button", name="Undo")).to_have_count(0)


async def test_a_key_that_an_incident_disables_is_shown_as_disabled(browser: Browser, scene: Scene):
    call = scene.super_admin.call
    key = (await call("POST", "/api-keys", {"name": "Old till"}))["api_key"]
    body = {"subject": {"type": "api_key", "id": key["id"]}, "actions": ["disable_keys"]}
    incident = await call("POST", "/abuse/incidents", body)
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/api-keys")
        row = page.get_by_role("row").filter(has_text="Old till")
        await row.get_by_role("link", name="Old till is disabled").click()
        await page.locator("main [data-screen='/incidents'] h1").wait_for()
        await page.get_by_role("row").filter(has_text="Old till").get_by_role("link").click()
        await page.get_by_role("button", name="Undo").click()
        await page.get_by_role("dialog").get_by_role("button", name="Undo").click()
        await expect_notification(page, "The incident is undone.")
        await visit(page, scene.http, "/api-keys")
        await expect(row).not_to_contain_text("disabled")
    assert (await call("GET", f"/abuse/incidents/{incident['id']}"))["undone_at"]


async def test_a_domain_admin_sees_no_incident_of_another_domain(browser: Browser, scene: Scene):
    call = scene.super_admin.call
    box = await call(
        "POST", "/mailboxes", {"domain_id": scene.ids["shop_id"], "local_part": "till", "password": "s3cret-Till-1"}
    )
    body = {"subject": {"type": "mailbox", "id": box["id"]}, "actions": ["end_sessions"]}
    incident = await call("POST", "/abuse/incidents", body)
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, "/incidents")
        await expect(page.get_by_role("row").filter(has_text="bob@example.test")).to_have_count(1)
        await expect(page.get_by_text(box["address"])).to_have_count(0)
        await visit(page, scene.http, f"/incidents/{incident['id']}")
        await expect(page.get_by_text(box["address"])).to_have_count(0)
