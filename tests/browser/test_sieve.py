"""The tab Sieve of a mailbox: errors at their lines, templates, tests, and who sees it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.front import Front
from tests.browser.scene import EXAMPLE, Scene
from tests.browser.screens import PHONE, open_context, open_page, visit
from tests.browser.test_canaries import MARKUP
from tests.browser.test_screens import AXE, find_violations
from tests.directory.sieve.conftest import PIGEONHOLE

NUMBERS = itertools.count()


async def make_mailbox(scene: Scene) -> tuple[str, str]:
    """A new mailbox: its ID and address."""
    local_part = f"sieve{next(NUMBERS)}"
    body = {"domain_id": scene.ids["domain_id"], "local_part": local_part, "password": "correct horse battery"}
    created = await scene.super_admin.call("POST", "/mailboxes", body)
    return created["id"], f"{local_part}@{EXAMPLE}"


async def put(front: Front, mailbox_id: str, name: str, script: str) -> None:
    await front.caller("admin").call("PUT", f"/mailboxes/{mailbox_id}/sieve/{name}", {"script": script})


async def open_script(page: Page, front: Front, mailbox_id: str, name: str) -> None:
    await visit(page, front.http, f"/mailboxes/{mailbox_id}?tab=sieve&script={name}")
    await expect(page.get_by_label("Script", exact=True)).to_be_visible()


@PIGEONHOLE
async def test_a_script_is_written_from_a_template_corrected_saved_and_activated(browser: Browser, front: Front):
    mailbox_id, _ = await make_mailbox(front.scene)
    async with open_page(browser, front, "admin") as page:
        await visit(page, front.http, f"/mailboxes/{mailbox_id}")
        await page.get_by_role("tab", name="Sieve").click()
        await expect(page.get_by_text("No scripts yet")).to_be_visible()
        await page.get_by_role("button", name="New script").click()
        await page.get_by_role("button", name="Continue").click()
        await page.get_by_role("button", name="Add a filter").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name="Add to script").click()
        await expect(dialog.get_by_text("Required.").first).to_be_visible()
        await dialog.get_by_label("Sender").fill('nora"@elsewhere.test')
        await dialog.get_by_label("Folder").fill("Nora")
        await dialog.get_by_role("button", name="Add to script").click()
        field = page.get_by_label("Script", exact=True)
        await expect(field).to_have_value(
            'require ["fileinto", "mailbox"];\nif address :is "from" "nora\\"@elsewhere.test" {\n'
            '  fileinto :create "Nora";\n  stop;\n}\n'
        )
        await field.fill('require "fileinto";\nkeep;\nfoo;\n')
        await page.get_by_role("button", name="Save", exact=True).click()
        error = page.get_by_role("button", name="Line 3: unknown command 'foo'")
        await expect(error).to_be_visible()
        await expect(field).to_have_attribute("aria-invalid", "true")
        await expect(page.locator(".code-lines > .code-line-bad")).to_have_text("3")
        described = await field.get_attribute("aria-describedby")
        await expect(page.locator(f"[id='{described}']")).to_contain_text("Line 3: unknown command 'foo'")
        await error.click()
        await expect(field).to_be_focused()
        assert await field.evaluate("each => each.value.slice(each.selectionStart, each.selectionEnd)") == "foo;"
        await page.keyboard.type("stop;")
        await expect(error).to_have_count(0)
        await page.get_by_role("button", name="Check").click()
        await expect(page.get_by_text("No errors found.")).to_be_visible()
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.get_by_text("Saved main. It is not active yet.")).to_be_visible()
        await page.get_by_role("button", name="Activate main").click()
        await expect(page.get_by_text("main filters new mail from now on.")).to_be_visible()
        await expect(page.get_by_role("button", name="Deactivate main")).to_be_visible()
    stored = await front.caller("admin").call("GET", f"/mailboxes/{mailbox_id}/sieve/main")
    assert stored == {"name": "main", "active": True, "script": 'require "fileinto";\nkeep;\nstop;\n'}


@PIGEONHOLE
async def test_a_script_is_tried_with_received_and_pasted_mail(browser: Browser, front: Front):
    mailbox_id, address = await make_mailbox(front.scene)
    await front.scene.deliver(address, f"Invoice {MARKUP}")
    script = 'require "fileinto";\nif header :contains "subject" "Invoice" { fileinto "<b>Bills</b>"; }\n'
    await put(front, mailbox_id, "main", script)
    async with open_page(browser, front, "admin") as page:
        await open_script(page, front, mailbox_id, "main")
        await page.get_by_role("button", name="Test script").click()
        await expect(page.get_by_text("File the message into “<b>Bills</b>”")).to_be_visible()
        await page.get_by_text("Pasted message").first.click()
        await page.get_by_role("button", name="Test script").click()
        await expect(
            page.get_by_text("Keep the message in the inbox, because nothing else was decided")
        ).to_be_visible()
        await page.get_by_label("Script", exact=True).fill("foo;\n")
        await page.get_by_role("button", name="Test script").click()
        await expect(page.get_by_text("The script fails:")).to_be_visible()
        await page.get_by_label("Script", exact=True).fill(script)  # nothing is unsaved


@PIGEONHOLE
async def test_a_script_changed_meanwhile_is_not_overwritten(browser: Browser, front: Front):
    mailbox_id, _ = await make_mailbox(front.scene)
    await put(front, mailbox_id, "main", "keep;\n")
    async with open_page(browser, front, "super_admin") as page:
        await open_script(page, front, mailbox_id, "main")
        await put(front, mailbox_id, "main", "discard;\n")
        await page.get_by_label("Script", exact=True).fill("stop;\n")
        await page.get_by_role("button", name="Save", exact=True).click()
        dialog = page.get_by_role("dialog", name="Changed meanwhile")
        await expect(dialog.get_by_text("discard;")).to_be_visible()
        await dialog.get_by_role("button", name="Save").click()
        await expect(page.get_by_text("Saved main.")).to_be_visible()
    assert (await front.caller("admin").call("GET", f"/mailboxes/{mailbox_id}/sieve/main"))["script"] == "stop;\n"


async def test_who_sees_the_tab(browser: Browser, front: Front):
    mailbox_id, _ = await make_mailbox(front.scene)
    async with open_page(browser, front, "domain_admin") as page:
        await visit(page, front.http, f"/mailboxes/{mailbox_id}?tab=sieve")
        await expect(page.get_by_role("tab", name="Overview")).to_be_visible()
        await expect(page.get_by_role("tab", name="Sieve")).to_have_count(0)
    async with open_page(browser, front.scene, "admin") as page:
        await visit(page, front.scene.http, f"/mailboxes/{mailbox_id}?tab=sieve")
        await expect(page.get_by_text("No Sieve scripts in the embedded profile")).to_be_visible()


@PIGEONHOLE
@pytest.mark.parametrize(
    "options", [{"color_scheme": "light"}, {"color_scheme": "dark", "viewport": PHONE}], ids=["light", "dark"]
)
async def test_axe_finds_nothing(browser: Browser, front: Front, options: dict[str, Any]):
    mailbox_id, _ = await make_mailbox(front.scene)
    await put(front, mailbox_id, "main", "keep;\n")
    async with open_context(
        browser, front.caller("admin"), bypass_csp=True, reduced_motion="reduce", **options
    ) as context:
        page = await context.new_page()
        await open_script(page, front, mailbox_id, "main")
        await page.add_script_tag(path=AXE)
        await page.get_by_label("Script", exact=True).fill('foo;\nif header "x y" "z" { keep; }\n')
        await page.get_by_role("button", name="Check").click()
        await expect(page.get_by_role("button", name="Line 1: unknown command 'foo'")).to_be_visible()
        assert await find_violations(page) == []
        width = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert width <= 0
        await page.get_by_role("button", name="Add a filter").click()
        await page.get_by_role("dialog").wait_for()
        assert await find_violations(page) == []
