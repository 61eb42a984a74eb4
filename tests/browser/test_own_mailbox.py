"""The screens of the page for mailbox owners: one flow each, accessibility, size, and use without a mouse."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.front import Front
from tests.browser.owners import (
    LOGIN,
    SCREENS,
    SIZE,
    list_built_paths,
    make_owner,
    open_own_page,
    sign_in,
)
from tests.browser.scene import Scene
from tests.browser.screens import PHONE, navigate, open_context, open_page, visit
from tests.browser.test_layout import SCRIPT, Form, fill_form
from tests.browser.test_screens import AXE, find_faults, find_violations
from tests.directory.sieve.conftest import PIGEONHOLE

MOST_BYTES = 150 << 10
FORMS = (
    Form("vacation", "/me/vacation", ""),
    Form("forward", "/me/forwarding", ""),
    Form("spam filter", "/me/spam", ""),
    Form("new entry", "/me/spam?view=list&new=yes", "Add entry"),
    Form("password", "/me/security", "Change password"),
    Form("new passkey", "/me/security", "", ("Add a passkey",)),
    Form("new app password", "/me/app-passwords", "", ("New app password",)),
)


def test_every_screen_of_the_build_is_tested():
    assert list_built_paths() == {screen.path for screen in SCREENS} | {LOGIN}


async def test_the_first_load_is_small(browser: Browser, scene: Scene):
    _, address = await make_owner(scene)
    owner = await sign_in(scene.http, address)
    for path in (LOGIN, "/me"):
        async with open_own_page(browser, scene.http, owner if path == "/me" else None) as page:
            await visit(page, scene.http, path)
            await page.wait_for_load_state("networkidle")
            assert await page.evaluate(SIZE) < MOST_BYTES, path


@pytest.mark.timeout(120)
async def test_axe_finds_nothing(browser: Browser, front: Front):
    _, address = await make_owner(front.scene)
    violations: list[str] = []
    async with open_context(browser, None, bypass_csp=True, reduced_motion="reduce") as context:
        page = await context.new_page()
        await visit(page, front.http, LOGIN)
        await page.add_script_tag(path=AXE)
        violations += [f"login: {each}" for each in await find_faults(page)]
        await (await sign_in(front.http, address)).enter(context)
        await visit(page, front.http, "/me")
        await page.add_script_tag(path=AXE)
        for screen in SCREENS:
            await navigate(page, screen.path)
            violations += [f"{screen.name}: {each}" for each in await find_faults(page)]
        await page.set_viewport_size(PHONE)
        await page.get_by_role("button", name="Menu").click()
        violations += [f"menu: {each}" for each in await find_violations(page)]
    assert violations == []


@pytest.mark.timeout(120)
async def test_no_form_moves_while_it_is_filled(browser: Browser, front: Front):
    _, address = await make_owner(front.scene)
    options: dict[str, Any] = {"viewport": {"width": 320, "height": 800}, "reduced_motion": "reduce"}
    async with open_own_page(browser, front.http, await sign_in(front.http, address), **options) as page:
        await page.add_init_script(SCRIPT)
        for form in FORMS:
            await visit(page, front.http, form.path)
            await fill_form(page, form)
        await page.context.clear_cookies()
        await visit(page, front.http, LOGIN)
        await fill_form(page, Form("sign-in", LOGIN, "Sign in"))


async def test_a_vacation_and_a_forward_are_set_and_shown_on_the_overview(browser: Browser, front: Front):
    mailbox_id, address = await make_owner(front.scene)
    async with open_own_page(browser, front.http, await sign_in(front.http, address), viewport=PHONE) as page:
        await visit(page, front.http, "/me")
        await page.get_by_role("link", name="Vacation replies").click()
        await page.get_by_label("Send replies").check()
        await page.get_by_label("Reply", exact=True).fill("I am away.")
        await page.get_by_label("Start", exact=True).fill("2036-08-01T18:00")
        await expect(page.get_by_text("Time zone Europe/Berlin")).to_be_visible()
        await page.get_by_role("button", name="Save vacation").click()
        await expect(page.get_by_text(f"Saved the vacation of {address}.")).to_be_visible()
        await open_by_menu(page, "Forwarding")
        field = page.get_by_role("textbox", name="Forward to")
        await field.fill(address)
        await field.press("Enter")
        await page.get_by_role("button", name="Save forward").click()
        await expect(page.get_by_role("alert")).to_be_visible()
        await field.press("Backspace")
        await field.fill("olga@elsewhere.test")
        await field.press("Enter")
        await page.get_by_role("button", name="Save forward").click()
        await expect(page.get_by_text(f"Saved the forward of {address}.")).to_be_visible()
        # An administrator changes it meanwhile.
        other = {"forward": {"destinations": ["olga@elsewhere.test"], "keep_copy": False}}
        await front.caller("admin").call("PATCH", f"/mailboxes/{mailbox_id}", other)
        await field.fill("otto@elsewhere.test")
        await field.press("Enter")
        await page.get_by_role("button", name="Save forward").click()
        dialog = page.get_by_role("dialog", name="Changed meanwhile")
        await dialog.get_by_role("button", name="Save").click()
        await expect(dialog).to_have_count(0)
        await expect(page.get_by_label("Keep a copy in this mailbox")).not_to_be_checked()
        await open_by_menu(page, "Overview")
        states = page.get_by_role("listitem")
        await expect(states.filter(has_text="Vacation replies")).to_contain_text("Starts ")
        await expect(states.filter(has=page.get_by_role("link", name="Forwarding", exact=True)).last).to_contain_text(
            "To olga@elsewhere.test, otto@elsewhere.test, without a copy here"
        )
    stored = await front.caller("admin").call("GET", f"/mailboxes/{mailbox_id}")
    assert stored["forward"] == {"destinations": ["olga@elsewhere.test", "otto@elsewhere.test"], "keep_copy": False}
    vacation = await front.caller("admin").call("GET", f"/mailboxes/{mailbox_id}/vacation")
    assert (vacation["text"], vacation["start_at"]) == ("I am away.", "2036-08-01T16:00:00.000Z")


async def open_by_menu(page: Page, name: str) -> None:
    await page.get_by_role("button", name="Menu").click()
    await page.get_by_role("navigation", name="Screens").get_by_role("link", name=name, exact=True).click()
    await expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()


@PIGEONHOLE
async def test_a_filter_is_made_from_a_template_corrected_tried_and_activated(browser: Browser, front: Front):
    mailbox_id, address = await make_owner(front.scene)
    async with open_own_page(browser, front.http, await sign_in(front.http, address)) as page:
        await visit(page, front.http, "/me/filters")
        await page.get_by_role("button", name="New script").click()
        await page.get_by_role("button", name="Continue").click()
        await page.get_by_role("button", name="Add a filter").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Sender").fill("nora@elsewhere.example")
        await dialog.get_by_label("Folder").fill("Nora")
        await dialog.get_by_role("button", name="Add to script").click()
        field = page.get_by_label("Script", exact=True)
        script = await field.input_value()
        await field.fill(script + "foo;\n")
        await page.get_by_role("button", name="Save and activate").click()
        await expect(page.get_by_role("button", name="Line 6: unknown command 'foo'")).to_be_visible()
        await field.fill(script)
        await page.get_by_role("button", name="Test script").click()
        await expect(page.get_by_text("File the message into “Nora”")).to_be_visible()
        await page.get_by_role("button", name="Save and activate").click()
        await expect(page.get_by_text("main filters new mail from now on.")).to_be_visible()
        await expect(page.get_by_role("button", name="Save and activate")).to_have_count(0)
        await page.get_by_role("link", name="Overview").click()
        await expect(page.get_by_role("listitem").filter(has_text="Filters").last).to_contain_text("main")
    stored = await front.caller("admin").call("GET", f"/mailboxes/{mailbox_id}/sieve/main")
    assert (stored["active"], stored["script"]) == (True, script)


async def test_an_app_password_is_shown_once_and_deleted(browser: Browser, scene: Scene):
    mailbox_id, address = await make_owner(scene)
    async with open_own_page(browser, scene.http, await sign_in(scene.http, address), viewport=PHONE) as page:
        await visit(page, scene.http, "/me/app-passwords")
        await page.get_by_role("button", name="New app password").first.click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Name").fill("Phone")
        await dialog.get_by_role("button", name="Create app password").click()
        secret = await dialog.get_by_test_id("secret").inner_text()
        assert re.fullmatch(r"mk(-[a-z2-7]+)+", secret)
        await page.keyboard.press("Escape")
        await expect(dialog.get_by_test_id("secret")).to_be_visible()
        await dialog.get_by_role("button", name="I've saved it").click()
        await expect(page.get_by_role("table", name="App passwords")).to_contain_text("Phone")
        assert secret not in await page.content()
        [stored] = await scene.super_admin.call("GET", f"/mailboxes/{mailbox_id}/app-passwords")
        assert stored["name"] == "Phone"
        await page.get_by_role("button", name="Delete Phone").click()
        await dialog.get_by_role("button", name="Delete").click()
        await expect(page.get_by_text("No app passwords yet")).to_be_visible()
    assert await scene.super_admin.call("GET", f"/mailboxes/{mailbox_id}/app-passwords") == []


async def test_the_settings_of_a_device_can_be_copied(browser: Browser, front: Front):
    _, address = await make_owner(front.scene)
    owner = await sign_in(front.http, address)
    setup = await owner.call("GET", "/setup")
    permissions = {"permissions": ["clipboard-read", "clipboard-write"]}
    async with open_own_page(browser, front.http, owner, **permissions) as page:
        await visit(page, front.http, "/me/device")
        await page.get_by_role("button", name="Copy user name").click()
        await expect(page.get_by_role("button", name="Copied user name")).to_be_visible()
        assert await page.evaluate("navigator.clipboard.readText()") == address
        assert setup["services"]
        for service in setup["services"]:
            await expect(page.get_by_text(service["host"], exact=True).first).to_be_visible()
            await expect(page.get_by_text(str(service["port"]), exact=True).first).to_be_visible()
        await page.get_by_role("button", name="Copy port of IMAP").click()
        assert await page.evaluate("navigator.clipboard.readText()") == "993"


async def test_a_setup_link_opens_on_another_device_and_is_deleted(browser: Browser, front: Front):
    mailbox_id, address = await make_owner(front.scene)
    async with open_own_page(browser, front.http, await sign_in(front.http, address), viewport=PHONE) as page:
        await visit(page, front.http, "/me/device")
        await page.get_by_role("button", name="Create link").click()
        await expect(page.get_by_role("img", name="QR code of the setup link")).to_be_visible()
        await expect(page.get_by_text("Other devices can’t open this link")).to_be_visible()  # it is of 127.0.0.1
        url = await page.locator("section").filter(has_text="Setup link").locator(".copyable code").inner_text()
        async with open_context(browser, None) as other:
            shared = await other.new_page()
            target = front.http + urlsplit(url).path
            await shared.goto(target)
            await expect(shared.get_by_role("heading", level=1)).to_have_text("Set up your mail")
            await expect(shared.get_by_text(address).first).to_be_visible()
            await expect(shared.get_by_role("link", name="Download profile")).to_be_visible()
            box = await shared.locator("svg").bounding_box()
            assert box
            assert box["width"] > 100
            # An administrator sees the same link, and can delete it.
            async with open_page(browser, front, "domain_admin") as detail:
                await visit(detail, front.http, f"/mailboxes/{mailbox_id}")
                await expect(detail.get_by_text(url)).to_be_visible()
                await detail.get_by_role("button", name="Delete link").click()
                await expect(detail.get_by_text("There is no link.")).to_be_visible()
            answer = await shared.goto(target)
            assert answer
            assert answer.status == 404
            await expect(shared.get_by_role("heading", level=1)).to_have_text("This link does not work any more")


async def test_rejected_mail_is_listed_with_its_reason(browser: Browser, scene: Scene):
    mailbox_id, address = await make_owner(scene)
    owner = await sign_in(scene.http, address)
    await scene.super_admin.call("PATCH", f"/mailboxes/{mailbox_id}", {"quota_bytes": 1})
    await scene.deliver(address, "Too large")
    async with open_own_page(browser, scene.http, owner) as page:
        await visit(page, scene.http, "/me/mail")
        table = page.get_by_role("table", name="Rejected mail")
        await expect(table).to_contain_text("nora@elsewhere.test")
        await expect(table).to_contain_text("larger than the mailbox's quota")
        await visit(page, scene.http, "/me/junk")  # it was not the filter
        await expect(page.get_by_role("heading", name="No junk")).to_be_visible()


async def test_the_page_is_used_without_a_mouse(browser: Browser, front: Front):
    _, address = await make_owner(front.scene)
    async with open_own_page(browser, front.http, await sign_in(front.http, address), viewport=PHONE) as page:
        await visit(page, front.http, "/me")
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
        await page.keyboard.press("Tab")
        menu = page.get_by_role("button", name="Menu")
        await expect(menu).to_be_focused()
        screens = page.get_by_role("navigation", name="Screens")
        await expect(screens).to_be_hidden()
        await page.keyboard.press("Enter")
        await expect(screens).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(screens).to_be_hidden()
        await expect(menu).to_be_focused()
        await page.keyboard.press("Enter")
        await screens.get_by_role("link", name="Forwarding").focus()
        await page.keyboard.press("Enter")
        heading = page.get_by_role("heading", level=1, name="Forwarding")
        await expect(heading).to_be_focused()
        await expect(screens).to_be_hidden()


async def test_unsaved_input_is_asked_about_by_links_and_the_back_button(browser: Browser, front: Front):
    _, address = await make_owner(front.scene)
    async with open_own_page(browser, front.http, await sign_in(front.http, address)) as page:
        await visit(page, front.http, "/me")
        screens = page.get_by_role("navigation", name="Screens")
        await screens.get_by_role("link", name="Vacation").click()
        text = page.get_by_label("Reply", exact=True)
        await text.fill("I am away.")
        dialog = page.get_by_role("dialog", name="Discard changes?")
        await page.go_back()
        await dialog.get_by_role("button", name="Keep editing").click()
        await expect(dialog).to_have_count(0)
        await expect(page).to_have_url(f"{front.http}/me/vacation")
        await expect(text).to_have_value("I am away.")
        await screens.get_by_role("link", name="Overview").click()
        await expect(dialog).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)
        await page.go_back()
        await dialog.get_by_role("button", name="Discard").click()
        await expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
        await page.go_forward()
        await expect(text).to_have_value("")


async def test_an_unknown_path_shows_an_error_page(browser: Browser, scene: Scene):
    _, address = await make_owner(scene)
    async with open_own_page(browser, scene.http, await sign_in(scene.http, address)) as page:
        await visit(page, scene.http, "/me/nowhere")
        await expect(page.get_by_role("heading", level=1, name="Page not found")).to_be_visible()
        await page.get_by_role("main").get_by_role("link", name="Overview").click()
        await expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()


async def test_the_dashboard_shows_the_pages_address_and_turns_it_off(browser: Browser, scene: Scene):
    domain = await scene.super_admin.call("POST", "/domains", {"name": "switched.test"})
    mailbox_id, _ = await make_owner(scene, domain_id=domain["id"])
    async with open_page(browser, scene, "admin") as page:
        await visit(page, scene.http, f"/mailboxes/{mailbox_id}")
        await expect(page.get_by_text(f"{scene.http}/me", exact=True)).to_be_visible()
        await visit(page, scene.http, f"/domains/{domain['id']}?tab=settings")
        await page.get_by_label("Self-service").uncheck()
        await page.get_by_role("button", name="Save", exact=True).click()
        await expect(page.get_by_text("Saved switched.test.")).to_be_visible()
    assert (await scene.super_admin.call("GET", f"/domains/{domain['id']}"))["self_service"] is False
