"""Bulk actions of lists, import and export, and the folders of a mailbox."""

from __future__ import annotations

import asyncio
import csv
import io
import re
from pathlib import Path

from playwright.async_api import Browser, Page, expect

from tests.browser.scene import Scene
from tests.browser.screens import PHONE, open_context, open_page, visit
from tests.browser.test_screens import AXE, find_violations

HASH = "{SHA}2jmj7l5rSw0yVb/vlWAYkK/YBwk="
SERVER_SECONDS = 60_000  # a worker looks for operations every second, on a busy machine


async def choose_file(page: Page, name: str, content: bytes) -> None:
    async with page.expect_file_chooser() as chooser:
        await page.get_by_role("button", name="Choose file").click()
    await (await chooser.value).set_files({"name": name, "mimeType": "text/csv", "buffer": content})


async def add_mailboxes(scene: Scene, page: Page, names: list[str]) -> None:
    items = [{"address": f"{name}@example.test", "password_hash": HASH} for name in names]
    answer = await page.request.post(f"{scene.http}/api/v1/mailboxes/bulk", data={"action": "create", "items": items})
    assert answer.status == 202, await answer.text()
    operation = f"{scene.http}/api/v1/operations/{(await answer.json())['data']['operation_id']}"
    async with asyncio.timeout(SERVER_SECONDS / 1000):
        while (await (await page.request.get(operation)).json())["data"]["state"] == "running":
            await asyncio.sleep(0.2)


async def test_a_table_is_mapped_checked_and_imported(browser: Browser, scene: Scene):
    table = "\r\n".join(
        [
            "Mail;Who;crypt;Space;On",
            f"lena@example.test;Lena;{HASH};1000;yes",
            f"not an address;Max;{HASH};;yes",
            f"=nils@example.test;=1+1;{HASH};2000;no",
            f"olga@unknown.test;Olga;{HASH};;yes",
        ]
    )
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, "/mailboxes")
        await page.get_by_role("link", name="Import").click()
        await expect(page.get_by_role("heading", level=1, name="Import mailboxes")).to_be_visible()
        await choose_file(page, "staff.csv", b"\xff\xfe\x00")
        await expect(page.get_by_role("alert")).to_contain_text("not UTF-8")
        await choose_file(page, "staff.csv", table.encode())
        await expect(page.get_by_text("4 rows, 5 columns")).to_be_visible()
        await expect(page.get_by_text("Columns of the file that are not imported: Who, Space, On.")).to_be_visible()
        # "Mail" and "crypt" are known names; the others are mapped by hand.
        for label, column in (("Name", "Who"), ("Quota in bytes", "Space"), ("Active", "On")):
            await page.get_by_role("combobox", name=label, exact=True).click()
            await page.get_by_role("option", name=column, exact=True).click()
        preview = page.get_by_role("table", name="First rows")
        await expect(preview).to_contain_text("lena@example.test")
        await expect(preview).not_to_contain_text(HASH)
        await page.get_by_role("button", name="Check 4 rows").click()
        errors = page.get_by_role("table", name="Errors")
        await expect(errors.get_by_role("row")).to_have_count(3, timeout=SERVER_SECONDS)
        await expect(errors.get_by_role("row").nth(1)).to_contain_text("not an address")
        await expect(errors.get_by_role("row").nth(1).get_by_role("cell").first).to_have_text("3")
        await expect(errors.get_by_role("row").nth(2)).to_contain_text("DOMAIN_NOT_FOUND")
        found = await page.request.get(f"{scene.http}/api/v1/mailboxes?q=lena")
        assert (await found.json())["data"] == []  # nothing is written before
        async with page.expect_download() as download:
            await page.get_by_role("button", name="Download errors").click()
        [head, *rows] = csv.reader(io.StringIO(Path(await (await download.value).path()).read_text()))
        assert (head, [row[0] for row in rows]) == (["row", "name", "code", "reason"], ["3", "5"])
        await page.get_by_role("button", name="Create 2 mailboxes").click()
        await expect(page.get_by_text("Started.")).to_be_visible()
        await page.get_by_role("navigation").get_by_role("link", name="Mailboxes").click()
        await expect(page.get_by_role("link", name="lena@example.test")).to_be_visible(timeout=SERVER_SECONDS)
        await expect(page.get_by_role("row").filter(has_text="=nils@example.test")).to_contain_text("inactive")


async def test_axe_finds_nothing_in_the_result_of_a_check(browser: Browser, scene: Scene):
    options = {"bypass_csp": True, "reduced_motion": "reduce", "viewport": PHONE}
    async with open_context(browser, scene.caller("domain_admin"), **options) as context:
        page = await context.new_page()
        await visit(page, scene.http, "/aliases/import")
        await choose_file(page, "aliases.csv", b"domain,alias,goto\nexample.test,x,nonsense\n")
        await page.get_by_role("button", name="Check 1 row").click()
        await expect(page.get_by_role("table", name="Errors")).to_contain_text("nonsense", timeout=SERVER_SECONDS)
        await page.add_script_tag(path=AXE)
        assert await find_violations(page) == []


async def test_selected_mailboxes_are_deactivated_and_deleted(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, "/mailboxes")
        await add_mailboxes(scene, page, ["pia", "quin"])
        await expect(page.get_by_role("checkbox", name="Select quin@example.test")).to_have_count(0)
        await page.reload()
        for name in ("pia", "quin"):
            await page.get_by_role("checkbox", name=f"Select {name}@example.test").check(timeout=SERVER_SECONDS)
        await expect(page.get_by_text("2 mailboxes selected")).to_be_visible()
        await page.get_by_role("button", name="Deactivate").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("pia@example.test")
        await dialog.get_by_role("button", name="Deactivate").click()
        await expect(page.get_by_role("row").filter(has_text="quin@")).to_contain_text(
            "inactive", timeout=SERVER_SECONDS
        )
        await expect(page.get_by_text("None selected")).to_be_visible()
        for name in ("pia", "quin"):
            await page.get_by_role("checkbox", name=f"Select {name}@example.test").check()
        await page.get_by_role("button", name="Delete", exact=True).click()
        await dialog.get_by_role("button", name="Delete").click()
        await expect(page.get_by_role("link", name="quin@example.test")).to_have_count(0, timeout=SERVER_SECONDS)


async def test_errors_of_an_operation_stay_in_the_header(browser: Browser, scene: Scene):
    """A mailbox is deleted elsewhere between its selection and the action; the error survives a reload."""
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/mailboxes")
        await add_mailboxes(scene, page, ["rosa"])
        await page.reload()
        await page.get_by_role("checkbox", name="Select rosa@example.test").check(timeout=SERVER_SECONDS)
        found = (await (await page.request.get(f"{scene.http}/api/v1/mailboxes?q=rosa")).json())["data"]
        await page.request.delete(f"{scene.http}/api/v1/mailboxes/{found[0]['id']}")
        await page.get_by_role("button", name="Delete", exact=True).click()
        await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        header = page.get_by_role("banner").get_by_role("button", name=re.compile("Deleting 1 mailbox: 1 of 1 failed"))
        await expect(header).to_be_visible(timeout=SERVER_SECONDS)
        await visit(page, scene.http, "/aliases")
        await header.click()
        await expect(page.get_by_role("dialog").get_by_role("table", name="Errors")).to_contain_text("NOT_FOUND")
        await page.get_by_role("dialog").get_by_role("button", name="Close", exact=True).last.click()
        await expect(header).to_have_count(0)


async def test_lists_are_exported(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "domain_admin") as page:
        for path, column in (("/mailboxes", "address"), ("/aliases", "domain")):
            await visit(page, scene.http, path)
            async with page.expect_download() as download:
                await page.get_by_role("link", name="Export").click()
            text = Path(await (await download.value).path()).read_text()
            assert text.startswith(f'"{column}",')
            assert "other.test" not in text


async def test_folders_and_usage_are_shown_and_recalculated(browser: Browser, scene: Scene):
    async with open_context(browser, scene.caller("domain_admin"), viewport=PHONE) as context:
        page = await context.new_page()
        await visit(page, scene.http, f"/mailboxes/{scene.ids['mailbox_id']}")
        folders = page.get_by_role("table", name="Folders")
        await expect(folders.get_by_role("row").filter(has_text="INBOX")).to_be_visible()
        await page.get_by_role("button", name="Recalculate usage").click()
        await expect(page.locator(".mantine-Notifications-root").get_by_text("Recalculated:")).to_be_visible()
