"""Alias domains, further senders, and the status and search of aliases."""

from __future__ import annotations

from playwright.async_api import Browser, expect

from tests.browser.scene import EXAMPLE, Scene
from tests.browser.screens import open_page, visit
from tests.browser.test_everyday import choose, expect_notification


async def test_a_domain_becomes_an_alias_domain(browser: Browser, scene: Scene):
    call = scene.super_admin.call
    domain = await call("POST", "/domains", {"name": "second-name.test"})
    async with open_page(browser, scene, "admin") as page:
        await visit(page, scene.http, f"/domains/{domain['id']}?tab=settings")
        await choose(page, "Alias of", EXAMPLE)
        await page.get_by_role("button", name="Save").click()
        await expect_notification(page, "Saved second-name.test.")
        await page.get_by_role("tab", name="Overview").click()
        await expect(page.get_by_role("definition").get_by_role("link", name=EXAMPLE)).to_be_visible()
        await visit(page, scene.http, f"/domains/{scene.ids['domain_id']}")
        await expect(page.get_by_role("link", name="second-name.test")).to_be_visible()
        await page.get_by_role("tab", name="Settings").click()
        await expect(page.get_by_role("combobox", name="Alias of")).to_be_disabled()
        await visit(page, scene.http, "/domains?q=second-name")
        await expect(page.get_by_role("row").filter(has_text="second-name.test")).to_contain_text(f"alias of {EXAMPLE}")
        # It has no addresses of its own.
        await visit(page, scene.http, "/aliases?new=yes")
        await page.get_by_role("dialog").get_by_role("combobox", name="Domain", exact=True).click()
        await expect(page.get_by_role("option", name=EXAMPLE, exact=True)).to_be_visible()
        await expect(page.get_by_role("option", name="second-name.test")).to_have_count(0)
        await visit(page, scene.http, "/routing?address=alice@second-name.test")
        await expect(page.get_by_text("Alias domain", exact=True)).to_be_visible()
    await call("DELETE", f"/domains/{domain['id']}")


async def test_a_mailbox_gets_further_senders(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, f"/mailboxes/{scene.ids['mailbox_id']}?tab=settings")
        field = page.get_by_role("textbox", name="May also send as")
        await field.fill("sales@strangers.test")
        await field.press("Enter")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("alert")).to_contain_text("highlighted")
        await expect(page.get_by_text("strangers.test is not a domain of this server").first).to_be_visible()
        await field.press("Backspace")
        await field.fill(f"sales@{EXAMPLE}")
        await field.press("Enter")
        await page.get_by_role("button", name="Save").click()
        await expect_notification(page, "Saved")
        await page.get_by_role("tab", name="Overview").click()
        await expect(page.get_by_text(f"sales@{EXAMPLE}")).to_be_visible()
    await scene.super_admin.call("PATCH", f"/mailboxes/{scene.ids['mailbox_id']}", {"send_as": []})


async def test_the_list_says_why_mail_does_not_arrive_and_is_searched(browser: Browser, scene: Scene):
    call = scene.super_admin.call
    domain = await call("POST", "/domains", {"name": "lists.test"})
    domain_field = {"domain_id": domain["id"]}
    made = [
        await call("POST", "/aliases", {**domain_field, "source_local_part": source, "destination": to})
        for source, to in (("lost-mail", "nobody-here@lists.test"), ("found-mail", f"bob@{EXAMPLE}"))
    ]
    async with open_page(browser, scene, "admin") as page:
        await visit(page, scene.http, "/aliases")
        await page.get_by_role("searchbox", name="Search by address or destination").fill("nobody-HERE")
        row = page.get_by_role("row").filter(has_text="lost-mail")
        await expect(row).to_contain_text("leads nowhere")
        # The reason leaves room for the destinations.
        cell = page.get_by_role("cell").filter(has=page.get_by_title("nobody-here@lists.test"))
        assert await cell.evaluate("each => each.scrollWidth <= each.clientWidth")
        await expect(row).to_contain_text("nobody-here@lists.test leads nowhere: nobody has this address")
        await expect(page.get_by_role("row").filter(has_text="found-mail")).to_have_count(0)
        await row.get_by_role("button", name="Edit lost-mail").click()
        await expect(page.get_by_role("dialog").get_by_text("nobody has this address").first).to_be_visible()
        await page.keyboard.press("Escape")
        await page.get_by_role("searchbox").fill("found-mail@")
        await expect(page.get_by_role("row").filter(has_text="found-mail")).to_contain_text("active")
        await expect(row).to_have_count(0)
        await page.get_by_role("searchbox").fill("matches nothing")
        await expect(page.get_by_text("No matching aliases")).to_be_visible()
    for alias in made:
        await call("DELETE", f"/aliases/{alias['id']}")
    await call("DELETE", f"/domains/{domain['id']}")
