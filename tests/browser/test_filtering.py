"""Filtering in the dashboard: settings with inherited values, lists, the test of a message; and for owners."""

from __future__ import annotations

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.browser.owners import make_owner, open_own_page, sign_in
from tests.browser.scene import EXAMPLE, GTUBE, Scene
from tests.browser.screens import find_link, open_page, visit

pytestmark = pytest.mark.timeout(120)
NARROW: dict[str, int] = {"width": 320, "height": 800}


def row_of(page: Page, setting: str) -> Locator:
    """The row of a setting, by its label."""
    return page.locator(f"[data-setting='{setting}']")


async def expect_notification(page: Page, text: str) -> None:
    await expect(page.get_by_role("status").filter(has_text=text)).to_be_visible()


async def expect_after_saving(page: Page, place: str, scores: str) -> None:
    row = page.get_by_role("table", name="Which scores go where").get_by_role("row").filter(has_text=place)
    await expect(row.get_by_role("cell").last).to_have_text(scores)


async def test_a_threshold_of_the_server_is_overridden_inherited_and_reset(browser: Browser, scene: Scene):
    mailbox = f"/mailboxes/{scene.ids['mailbox_id']}?tab=filtering"
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/")
        await (await find_link(page, "Filtering")).click()
        await expect(page.get_by_text("The embedded profile has no spam filter")).to_be_visible()
        refuse = row_of(page, "Refuse")
        await expect(refuse.get_by_text("default", exact=True)).to_be_visible()
        await refuse.get_by_role("button", name="Override").click()
        field = page.locator("input[name=reject_score]")
        await expect(field).to_be_focused()
        await field.fill("2000")
        await page.get_by_role("button", name="Save").click()
        await expect(refuse).to_contain_text("1000")  # in the server's words
        await field.fill("12.5")
        await expect_after_saving(page, "Refused", "from 12.5")
        await expect_after_saving(page, "Junk", "6 to below 12.5")
        await expect(page.get_by_text("From 12.5 on, mail is refused")).to_be_visible()
        await page.get_by_role("button", name="Save").click()
        await expect_notification(page, "It applies to the next message.")
        await expect(refuse).to_contain_text("set here")
        # The mailbox inherits it, and overrides it.
        await visit(page, scene.http, mailbox)
        await expect(refuse).to_contain_text("from the server")
        await expect(refuse).to_contain_text("From 12.5 on")
        await refuse.get_by_role("button", name="Override").click()
        await refuse.get_by_label("Refuse: off").check()
        await expect(page.get_by_text("No mail is refused because of its score any more.")).to_be_visible()
        await page.get_by_role("button", name="Save").click()
        await expect_notification(page, "It applies to the next message.")
        await visit(page, scene.http, mailbox)
        await refuse.get_by_role("button", name="Use default").click()
        await expect_after_saving(page, "Refused", "not known")
        await page.get_by_role("button", name="Save").click()
        await expect(refuse).to_contain_text("from the server")
        await visit(page, scene.http, "/filtering")
        await refuse.get_by_role("button", name="Use default").click()
        await page.get_by_role("button", name="Save").click()
        await expect(refuse.get_by_text("default", exact=True)).to_be_visible()


async def test_entries_are_added_found_imported_and_removed(browser: Browser, scene: Scene):
    path = f"/domains/{scene.ids['domain_id']}?tab=filtering&view=list"
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, path)
        await expect(page.get_by_text("anybody can write any address into From")).to_be_visible()
        await page.get_by_role("button", name="Add entry").first.click()
        dialog = page.get_by_role("dialog")
        value = dialog.locator("input[name=value]")
        await value.fill("not a domain")
        await dialog.get_by_role("button", name="Add entry").click()
        await expect(value).to_have_attribute("aria-invalid", "true")
        await value.fill("spam.example")
        await expect(dialog.get_by_text("Domain, with its sub-domains")).to_be_visible()
        await dialog.locator("input[name=comment]").fill("Sends the same letter every day")
        await dialog.get_by_label("Enforced").check()
        await dialog.get_by_role("button", name="Add entry").click()
        await expect_notification(page, "spam.example is on the deny list.")
        table = page.get_by_role("table", name="Allow and deny list")
        entry = table.get_by_role("row").filter(has_text="spam.example")
        await expect(entry).to_contain_text("enforced")
        await expect(entry).to_contain_text("Sends the same letter")
        await page.get_by_role("button", name="Import", exact=True).click()
        rows = b"list,value,comment\nallow,partner.example,Our partner\nallow,192.0.2.0/24,\nperhaps,x.example,\n"
        async with page.expect_file_chooser() as chooser:
            await dialog.get_by_role("button", name="Choose file").click()
        await (await chooser.value).set_files({"name": "list.csv", "mimeType": "text/csv", "buffer": rows})
        await dialog.get_by_role("button", name="Import", exact=True).click()
        await expect_notification(page, "2 of 3 rows imported.")
        errors = dialog.get_by_role("table", name="Errors")
        await expect(errors.get_by_role("row").nth(1)).to_contain_text("x.example")
        await expect(errors).to_be_in_viewport()
        fields, shown = await dialog.locator(".form-fields").bounding_box(), await errors.bounding_box()
        assert fields is not None
        assert shown is not None
        assert shown["y"] + 60 < fields["y"] + fields["height"], "the errors are scrolled out of sight"
        await dialog.get_by_role("button", name="Close").last.click()
        await page.get_by_role("searchbox").fill("partner")
        await expect(table.get_by_role("row")).to_have_count(2)
        await page.get_by_role("searchbox").fill("nothing like that")
        await expect(page.get_by_role("heading", name="No matching entries")).to_be_visible()
        await page.get_by_role("button", name="Clear filters").click()
        await page.get_by_label("Select all loaded entries").check()
        await page.get_by_role("button", name="Remove", exact=True).click()
        await expect(dialog).to_contain_text("Remove 3 entries")
        await dialog.get_by_role("button", name="Remove", exact=True).click()
        await expect_notification(page, "3 entries removed.")
        await expect(page.get_by_role("heading", name="No entries")).to_be_visible()


async def test_a_message_is_tested_and_one_of_the_history_explained(browser: Browser, scene: Scene):
    """The deciding step is marked, and "Why?" leads from a message to its test."""
    call, mailbox_id = scene.super_admin.call, scene.ids["mailbox_id"]
    entries = f"/mailboxes/{mailbox_id}/filtering/entries"
    entry = await call("POST", entries, {"list": "deny", "kind": "domain", "value": "elsewhere.test"})
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, f"/mailboxes/{mailbox_id}?tab=filtering&view=test")
        await page.locator("input[name=client_address]").fill("nowhere")
        await page.get_by_role("button", name="Test", exact=True).click()
        await expect(page.locator("input[name=client_address]")).to_have_attribute("aria-invalid", "true")
        await page.locator("input[name=client_address]").fill("192.0.2.1")
        await page.locator("input[name=from]").fill("nora@elsewhere.test")
        await page.locator("input[name=mail_from]").fill("nora@elsewhere.test")
        await page.get_by_role("button", name="Test", exact=True).click()
        deciding = page.get_by_role("listitem").filter(has=page.get_by_text("decides", exact=True))
        await expect(deciding).to_have_count(1)
        await expect(deciding).to_contain_text("elsewhere.test")
        await expect(page.get_by_text("refused", exact=True)).to_be_visible()
        await page.get_by_text("Received mail", exact=True).click()
        await page.get_by_role("combobox", name="Received message").click()
        await page.get_by_role("option").filter(has_text="Question about the sofa").first.click()
        await expect(deciding).to_contain_text("elsewhere.test")
    await call("DELETE", f"{entries}/{entry['id']}")


async def test_an_owner_sets_a_threshold_and_denies_a_sender(browser: Browser, scene: Scene):
    mailbox_id, address = await make_owner(scene)
    owner = await sign_in(scene.http, address)
    async with open_own_page(browser, scene.http, owner, viewport=NARROW) as page:
        await visit(page, scene.http, "/me/spam")
        junk = row_of(page, "Junk")
        await junk.get_by_role("button", name="Override").click()
        await page.locator("input[name=junk_score]").fill("4")
        await page.get_by_role("button", name="Save").click()
        await expect_notification(page, "It applies to the next message.")
        await expect(junk).to_contain_text("set for this mailbox")
        await page.get_by_text("Allow and deny", exact=True).click()
        await page.get_by_role("button", name="Add entry").first.click()
        dialog = page.get_by_role("dialog")
        await dialog.locator("input[name=value]").fill(f"bob@{EXAMPLE}")
        await expect(dialog.get_by_label("Enforced")).to_have_count(0)
        await dialog.get_by_role("button", name="Add entry").click()
        await expect_notification(page, f"bob@{EXAMPLE} is on the deny list.")
    stored = await scene.super_admin.call("GET", f"/mailboxes/{mailbox_id}/filtering")
    assert (stored["junk_score"], stored["effective"]["junk_score"]) == (4, {"value": 4, "scope": "mailbox"})
    [entry] = await scene.super_admin.call("GET", f"/mailboxes/{mailbox_id}/filtering/entries")
    assert (entry["list"], entry["kind"], entry["value"]) == ("deny", "address", f"bob@{EXAMPLE}")


async def test_an_owner_releases_junk_allows_its_sender_and_takes_that_back(browser: Browser, scene: Scene):
    mailbox_id, address = await make_owner(scene)
    owner = await sign_in(scene.http, address)
    await scene.deliver(address, "You have won", text=GTUBE)
    async with open_own_page(browser, scene.http, owner, viewport=NARROW) as page:
        await visit(page, scene.http, "/me/junk")
        row = page.get_by_role("table", name="Junk and refused mail").get_by_role("row").filter(has_text="You have won")
        await expect(row).to_contain_text("in Junk")
        await row.get_by_role("button", name="Release").click()
        dialog = page.get_by_role("dialog")
        await dialog.locator("input[name=allow]").check()
        await dialog.get_by_role("button", name="Release").click()
        note = page.get_by_role("status").filter(has_text="You have won is in the inbox.")
        await expect(note).to_contain_text("does not prove")  # the embedded profile checks no authentication
        await expect(row.get_by_role("button", name="Release")).to_have_count(0)
        await expect(row).to_contain_text("no longer in Junk")
        [entry] = await owner.call("GET", "/filtering/entries")
        assert (entry["list"], entry["value"]) == ("allow", "nora@elsewhere.test")
        await note.get_by_role("button", name="Undo").click()
        await expect(note).to_contain_text("no longer on the allow list")
        assert await owner.call("GET", "/filtering/entries") == []
        await row.get_by_role("link", name="Why?").click()
        await expect(page.get_by_text("decides", exact=True)).to_have_count(1)
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, f"/mailboxes/{mailbox_id}?tab=junk")
        await page.get_by_text("Refused", exact=True).click()
        await expect(page.get_by_role("heading", name="No refused mail")).to_be_visible()
        await page.get_by_text("In Junk", exact=True).click()
        await page.get_by_role("link", name="Details").click()
        result = page.locator("section").filter(has=page.get_by_role("heading", name="Spam filter"))
        await expect(result).to_contain_text("Junk")
        await result.get_by_role("link", name="Why?").click()
        await expect(page.get_by_role("heading", level=1, name=address)).to_be_visible()
        await expect(page.get_by_text("decides", exact=True)).to_have_count(1)
