"""Suppressions and unsubscribe groups: the main actions, import and export, and the public page of a link."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from playwright.async_api import Browser, Page, expect

from tests.browser.scene import EXAMPLE, Scene, send_to_group
from tests.browser.screens import PHONE, open_context, open_page, visit
from tests.browser.test_bulk import choose_file
from tests.browser.test_everyday import choose, expect_notification
from tests.browser.test_screens import AXE, find_violations


async def read_export(page: Page) -> list[dict[str, str]]:
    async with page.expect_download() as download:
        await page.get_by_role("link", name="Export").click()
    file = await download.value
    assert file.suggested_filename == "suppressions.csv"
    return list(csv.DictReader(io.StringIO(Path(await file.path()).read_text())))


async def test_an_address_is_suppressed_found_and_gets_mail_again(browser: Browser, scene: Scene):
    address = "annoyed@elsewhere.test"
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, "/suppressions")
        await page.get_by_role("button", name="Add suppression").first.click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Address").fill("not an address")
        await choose(dialog, "Sending domain", EXAMPLE)
        await dialog.get_by_role("button", name="Add suppression").click()
        await expect(dialog.get_by_role("textbox", name="Address")).to_have_attribute("aria-invalid", "true")
        await dialog.get_by_label("Address").fill(address)
        await dialog.get_by_role("button", name="Add suppression").click()
        await expect_notification(page, f"{address} is suppressed.")
        await page.get_by_role("searchbox", name="Search by address").fill("annoyed")
        row = page.get_by_role("row").filter(has_text=address)
        await expect(row).to_contain_text("Manual")
        await expect(row).to_contain_text("all mail")
        await expect(page.get_by_role("row")).to_have_count(2)
        assert [each["address"] for each in await read_export(page)] == [address]
        await page.get_by_role("button", name=f"Remove {address}").click()
        await page.get_by_role("dialog").get_by_label("Note").fill("asked for it")
        await page.get_by_role("dialog").get_by_role("button", name="Remove").click()
        await expect_notification(page, f"{address} gets mail again.")
        await expect(row).to_have_count(0)
    removal = "/audit?action=suppression.delete"
    entries = await scene.super_admin.call("GET", removal)
    assert entries[0]["details"]["note"] == "asked for it"


async def test_an_import_reports_each_bad_row_and_an_export_can_be_imported(browser: Browser, scene: Scene):
    table = (
        f"address,reason,domain\r\na@import.test,complaint,{EXAMPLE}\r\nno address,,{EXAMPLE}\r\nb@import.test,,\r\n"
    )
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, "/suppressions")
        await page.get_by_role("button", name="Import", exact=True).click()
        dialog = page.get_by_role("dialog")
        await choose_file(page, "list.csv", b"mail\r\na@import.test\r\n")
        await expect(dialog.get_by_role("alert")).to_contain_text("names no column")
        await choose_file(page, "list.csv", table.encode())
        await expect(dialog.get_by_role("status")).to_contain_text("list.csv: 3 rows")
        await choose(dialog, "Sending domain", EXAMPLE)
        await dialog.get_by_role("button", name="Import", exact=True).click()
        await expect_notification(page, "2 of 3 rows imported.")
        errors = dialog.get_by_role("table", name="Errors")
        await expect(errors.get_by_role("row")).to_have_count(2)
        await expect(errors.get_by_role("row").nth(1)).to_contain_text("no address")
        await dialog.get_by_role("button", name="Close").last.click()
        await visit(page, scene.http, "/suppressions?q=import.test")
        exported = await read_export(page)
        assert {(each["address"], each["reason"]) for each in exported} == {
            ("a@import.test", "complaint"), ("b@import.test", "manual"),
        }  # fmt: skip
        for each in ("a@import.test", "b@import.test"):
            await page.get_by_role("button", name=f"Remove {each}").click()
            await page.get_by_role("dialog").get_by_role("button", name="Remove").click()
            await expect(page.get_by_role("row").filter(has_text=each)).to_have_count(0)
        again = io.StringIO()
        writer = csv.DictWriter(again, list(exported[0]))
        writer.writeheader()
        writer.writerows(exported)
        await visit(page, scene.http, "/suppressions?import=yes")
        await choose_file(page, "suppressions.csv", again.getvalue().encode())
        await page.get_by_role("dialog").get_by_role("button", name="Import", exact=True).click()
        await expect_notification(page, "2 addresses imported.")


async def test_a_group_is_created_renamed_and_deleted(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, "/unsubscribe-groups")
        await page.get_by_role("button", name="New group").first.click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Name").fill("Offers")
        await choose(dialog, "Sending domain", EXAMPLE)
        await dialog.get_by_role("button", name="Create group").click()
        await expect_notification(page, "Group created.")
        await page.get_by_role("button", name="Edit Offers").click()
        await dialog.get_by_label("Name").fill("Weekly offers")
        await dialog.get_by_role("button", name="Save").click()
        await expect_notification(page, "Group saved.")
        await page.get_by_role("link", name="Show suppressions of Weekly offers").click()
        await expect(page).to_have_url(re.compile(r"/suppressions\?group="))
        await expect(page.get_by_role("heading", name="No matching suppressions")).to_be_visible()
        await visit(page, scene.http, "/unsubscribe-groups")
        await page.get_by_role("button", name="Delete Weekly offers").click()
        await page.get_by_role("dialog").get_by_role("button", name="Delete group").click()
        await expect_notification(page, "Group deleted.")
        await expect(page.get_by_role("row").filter(has_text="Weekly offers")).to_have_count(0)


async def test_the_page_of_a_link_needs_no_javascript(browser: Browser, scene: Scene):
    """As a person uses it: the link in the message, the button, and an address that was mistyped."""
    call, reader = scene.super_admin.call, "reader@elsewhere.test"
    # Another test deletes groups of the scene.
    created = await call("POST", "/unsubscribe-groups", {"domain_id": scene.ids["domain_id"], "name": "News of May"})
    group = scene.ids["group_id"] = created["id"]
    message_id, path = await send_to_group(scene, reader)
    for options in ({}, {"viewport": PHONE}):
        async with open_context(browser, None, bypass_csp=True, **options) as context:  # to inject axe
            page = await context.new_page()
            for shown, heading in ((path, "Unsubscribe"), ("/u/mistyped", "This link is not valid")):
                await page.goto(scene.http + shown)
                await expect(page.get_by_role("heading", level=1)).to_have_text(heading)
                await page.add_script_tag(path=AXE)
                assert await find_violations(page) == []
                width = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert width <= 0
    async with open_context(browser, None, java_script_enabled=False) as context:
        page = await context.new_page()
        await page.goto(scene.http + path)
        await expect(page.get_by_text(reader)).to_be_visible()
        await page.get_by_role("button", name="Unsubscribe").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("You are unsubscribed")
        await page.reload()  # a repetition
        await expect(page.get_by_role("heading", level=1)).to_have_text("You are unsubscribed")
    (row,) = await call("GET", f"/suppressions?group_id={group}&address={reader}")
    assert (row["reason"], row["source_message_id"]) == ("unsubscribe", message_id)
    await call("DELETE", f"/suppressions/{row['id']}")
