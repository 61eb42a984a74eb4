"""DNS in the browser: the records of a domain and of the server are checked, and a DKIM key is rotated."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.browser.names import ADDRESS, HOST, Names, run_names
from tests.browser.scene import EXAMPLE, Scene
from tests.browser.screens import open_context, open_page, require_dashboard, visit
from tests.browser.test_screens import AXE, find_faults

CHECK_MS = 90_000  # a check waits up to 10 seconds after the last one, and for a worker of a busy machine


@pytest.fixture(scope="module")
async def names(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Names]:
    require_dashboard()
    async with run_names(tmp_path_factory.mktemp("names")) as names:
        yield names


def record(page: Page, title: str) -> Locator:
    return page.locator("details.dns-record").filter(has=page.get_by_text(title, exact=True))


async def check(page: Page) -> None:
    """Press "Check now", and wait until the check has ended."""
    time = page.locator(".row").filter(has_text="Checked ").locator("time")
    before = await time.get_attribute("datetime") if await time.count() else None
    await page.get_by_role("button", name="Check now").press("Enter")
    await expect(page.get_by_role("button", name="Check now")).to_be_focused()
    if before:
        await expect(time).not_to_have_attribute("datetime", before, timeout=CHECK_MS)
    await expect(page.get_by_text("The check has ended.")).to_be_visible(timeout=CHECK_MS)


@pytest.mark.timeout(300)
async def test_missing_records_are_published_and_turn_green(browser: Browser, names: Names):
    async with open_page(browser, names, "super_admin", permissions=["clipboard-read", "clipboard-write"]) as page:
        # A new domain: its records are listed, and missing.
        await visit(page, names.http, "/domains?new=yes")
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Domain name").fill("shop.test")
        await dialog.get_by_role("button", name="Create domain").click()
        await page.get_by_role("tab", name="DNS").click()
        await check(page)
        await expect(page.get_by_text("required records of 5 are missing or wrong")).to_be_visible()
        required = page.get_by_role("list", name="Required records")
        await expect(required.get_by_text("missing", exact=True)).to_have_count(5)
        mx = record(page, "Incoming mail (MX)")
        await expect(mx.get_by_text("There is no MX record.")).to_be_visible()
        # Each field is copied alone, and all together.
        await mx.get_by_role("button", name="Copy mail server of shop.test").click()
        assert await page.evaluate("navigator.clipboard.readText()") == HOST
        await page.get_by_role("button", name="Zone file").click()
        await page.get_by_role("menuitem", name="Copy all").click()
        await expect(page.get_by_text("Copied all records.")).to_be_visible()
        zone = await page.evaluate("navigator.clipboard.readText()")
        assert f"shop.test. 3600 IN MX 10 {HOST}." in zone
        await page.get_by_role("button", name="Zone file").click()
        async with page.expect_download() as download:
            await page.get_by_role("menuitem", name="Download for BIND").click()
        assert (await (await download.value).path()).read_text() == zone

        # One name server does not have them yet: the tab says so. Then all have them.
        domain_id = page.url.partition("/domains/")[2].partition("?")[0]
        await names.publish(f"/domains/{domain_id}/dns", names.servers[:1])
        await check(page)
        await expect(mx.get_by_text("not yet visible everywhere: 1 of 2")).to_be_visible()
        await names.publish(f"/domains/{domain_id}/dns")
        await check(page)
        await expect(required.get_by_text("ok", exact=True)).to_have_count(5)
        await expect(mx).not_to_have_attribute("open", "")
        await expect(page.get_by_text("5 of 5 are ok.")).to_be_visible()

        # Records that Mailkeep is to write itself: the tab says why it can't.
        await names.call("PATCH", f"/domains/{domain_id}", {"dns_managed": True})
        await page.reload()
        await expect(page.get_by_text("Mailkeep can’t write these records:")).to_be_visible(timeout=CHECK_MS)
        await names.call("PATCH", f"/domains/{domain_id}", {"dns_managed": False})

        # The list shows it, and filters by it.
        await visit(page, names.http, "/domains")
        await page.get_by_role("combobox", name="DNS").click()
        await page.get_by_role("option", name="Failing").click()
        await expect(page.get_by_role("link", name="shop.test", exact=True)).to_have_count(0)
        await page.get_by_role("combobox", name="DNS").click()
        await page.get_by_role("option", name=re.compile("OK|Attention")).first.click()
        await expect(page).to_have_url(re.compile(r"dns_status=(ok|attention)"))


async def test_name_servers_without_an_answer_are_no_failure(browser: Browser, names: Names):
    for server in names.servers:
        server.fail(f"*.{EXAMPLE}", "servfail")
        server.fail(EXAMPLE, "servfail")
    try:
        async with open_page(browser, names, "domain_admin") as page:
            await visit(page, names.http, f"/domains/{names.domain_id}?tab=dns")
            await check(page)
            await expect(page.get_by_text("No name server answered about")).to_be_visible()
            await expect(page.get_by_role("list", name="Required records").get_by_text("no answer")).to_have_count(5)
    finally:
        for server in names.servers:
            server.fail(f"*.{EXAMPLE}", None)
            server.fail(EXAMPLE, None)


@pytest.mark.timeout(300)
async def test_a_key_is_rotated(browser: Browser, names: Names):
    path = f"/domains/{names.domain_id}"
    async with open_page(browser, names, "super_admin") as page:
        await visit(page, names.http, f"{path}?tab=dkim")
        keys = page.get_by_role("list", name="DKIM keys").locator("> li")
        await expect(keys).to_have_count(2)
        await page.get_by_role("button", name="New key").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Selector").fill("mail2027")
        await dialog.get_by_role("button", name="Create key").click()
        new = keys.filter(has_text="mail2027")
        await expect(new).to_contain_text("pending")

        # It is not activated before every name server has its record.
        await new.get_by_role("button", name="Activate mail2027").click()
        await dialog.get_by_role("button", name="Activate", exact=True).click()
        await expect(dialog.get_by_text("The record is not published yet")).to_be_visible()
        [created] = [key for key in await names.call("GET", f"{path}/dkim-keys") if key["selector"] == "mail2027"]
        names.publish_record(created["dns"], names.servers[:1])
        await dialog.get_by_role("button", name="Ask again").click()
        await expect(dialog.get_by_text("1 name server of 2 can’t see the record yet")).to_be_visible()
        answers = dialog.get_by_role("table", name="Answers of the name servers").get_by_role("row")
        await expect(answers.filter(has_text=names.servers[0].address)).to_contain_text("ok")
        await expect(answers.filter(has_text=names.servers[1].address)).to_contain_text("missing")
        names.publish_record(created["dns"])
        await dialog.get_by_role("button", name="Ask again").click()
        await expect(new).to_contain_text("active")
        await expect(new.get_by_text("ok", exact=True)).to_be_visible()
        await expect(keys.filter(has_text="retiring")).to_have_count(1)

        # A key is retired only while another one signs.
        other = keys.filter(has_text="Ed25519")
        await other.get_by_role("button", name="Retire").click()
        await dialog.get_by_role("button", name="Retire key").click()
        await expect(other).to_contain_text("retiring")
        await expect(new.get_by_role("button", name="Retire")).to_have_attribute("aria-disabled", "true")


async def test_an_imported_key_is_kept_nowhere_in_the_browser(browser: Browser, names: Names):
    secret = "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g"
    pem = f"-----BEGIN PRIVATE KEY-----\n{secret}\n-----END PRIVATE KEY-----"
    async with open_page(browser, names, "super_admin") as page:
        await visit(page, names.http, f"/domains/{names.domain_id}?tab=dkim")
        await page.get_by_role("button", name="Import key").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Private key").fill("nonsense")
        await dialog.get_by_role("button", name="Import key").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("PEM")
        await dialog.get_by_label("Private key").fill(pem)
        await dialog.get_by_label("Selector").fill("imported")
        await dialog.get_by_role("button", name="Import key").click()
        key = page.get_by_role("list", name="DKIM keys").locator("> li").filter(has_text="imported")
        await expect(key).to_contain_text("Ed25519")
        kept = "JSON.stringify([{...sessionStorage}, {...localStorage}])"
        assert secret not in await page.evaluate(kept)
        await page.get_by_role("button", name="API requests of this screen").click()
        await expect(page.get_by_test_id("snippet")).to_contain_text("private_key")
        await expect(page.get_by_test_id("snippet")).not_to_contain_text(secret)
        await page.keyboard.press("Escape")
        await key.get_by_role("button", name="Delete imported").click()
        await dialog.get_by_role("button", name="Delete key").click()
        await expect(key).to_have_count(0)


async def test_domain_administrators_read_keys_only(browser: Browser, names: Names):
    async with open_page(browser, names, "domain_admin") as page:
        await visit(page, names.http, f"/domains/{names.domain_id}?tab=dkim")
        await expect(page.get_by_role("list", name="DKIM keys").get_by_role("heading")).not_to_have_count(0)
        for label in ("New key", "Import key", "Activate", "Retire", "Delete"):
            await expect(page.get_by_role("button", name=label)).to_have_count(0)
        await visit(page, names.http, "/domains")
        await expect(page.get_by_role("link", name="Server’s DNS")).to_have_count(0)


@pytest.mark.timeout(180)
async def test_the_server_has_records_and_blocklists(browser: Browser, names: Names):
    names.list_address("bl.mailkeep.test")
    await names.publish("/dns/server")
    async with open_page(browser, names, "super_admin") as page:
        await visit(page, names.http, "/domains")
        await page.get_by_role("link", name="Server’s DNS").click()
        await check(page)
        await expect(record(page, "Reverse DNS (PTR)").get_by_text("ok", exact=True)).to_be_visible()
        row = page.get_by_role("table", name="Blocklists").get_by_role("row").filter(has_text=ADDRESS)
        await expect(row).to_contain_text("listed")
        await expect(row).to_contain_text("Listed for sending to a trap")


async def test_everything_asks_for_the_name_of_the_server_first(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "super_admin") as page:
        for path in (f"/domains/{scene.ids['domain_id']}?tab=dns", "/server-dns", "/start"):
            await visit(page, scene.http, path)
            await expect(page.locator("main")).to_contain_text("server.hostname")
            await page.get_by_role("link", name=re.compile("Set the (server’s )?name")).click()
            await expect(page.locator("[data-setting='server.hostname']")).to_be_visible()


@pytest.mark.timeout(180)
async def test_axe_finds_nothing(browser: Browser, names: Names):
    violations: list[str] = []
    caller = names.caller("super_admin")
    async with open_context(browser, caller, bypass_csp=True, reduced_motion="reduce") as context:
        page = await context.new_page()
        for path in (f"/domains/{names.domain_id}?tab=dns", f"/domains/{names.domain_id}?tab=dkim", "/server-dns"):
            await visit(page, names.http, path)
            await page.add_script_tag(path=AXE)
            closed = page.locator("details:not([open]) > summary")
            for _ in range(await closed.count()):
                await closed.first.press("Enter")
            violations += [f"{path}: {each}" for each in await find_faults(page)]
    assert violations == []
