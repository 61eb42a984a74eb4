"""Invitations, the password that must be changed, and the generator of passwords."""

from __future__ import annotations

from urllib.parse import urlsplit

from playwright.async_api import Browser, Page, expect

from tests.browser.scene import EXAMPLE, PASSWORD, Scene
from tests.browser.screens import PHONE, FaultRecorder, open_context, open_page, visit
from tests.browser.test_getting_in import expect_signed_in, sign_in
from tests.browser.test_screens import AXE, find_violations


async def shown_link(page: Page, scene: Scene) -> str:
    """The link in the dialog, at the address of the test's instance."""
    link = urlsplit(await page.get_by_test_id("secret").inner_text())
    assert link.path == "/invitation"
    return f"{scene.http}/invitation#{link.fragment}"


async def test_an_administrator_is_invited_sets_a_generated_password_and_signs_in(browser: Browser, scene: Scene):
    email = f"nora.invited@{EXAMPLE}"
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/admins?new=yes")
        dialog = page.get_by_role("dialog", name="New administrator")
        await dialog.get_by_label("Email").fill(email)
        await dialog.get_by_text("Invite the owner to set it").click()
        await dialog.get_by_role("button", name="Create administrator").click()
        invitation = page.get_by_role("dialog", name="Invitation")
        link = await shown_link(page, scene)
        await page.keyboard.press("Escape")  # would lose the link
        await expect(invitation).to_be_visible()
        await invitation.get_by_role("button", name="I've saved it").click()
        await expect(invitation).to_have_count(0)
    requested: list[str] = []
    async with open_context(browser, None, permissions=["clipboard-read", "clipboard-write"]) as context:
        page = await context.new_page()
        recorder = FaultRecorder(scene.http)
        recorder.attach(page)
        page.on("request", lambda request: requested.append(f"{request.method} {request.url} {request.headers}"))
        await page.goto(link)
        await expect(page.get_by_role("heading", name="Set your password")).to_be_visible()
        await expect(page.get_by_label("Email")).to_have_value(email)
        field = page.get_by_label("New password")
        await expect(field).to_be_focused()
        await page.keyboard.type("short")
        await page.keyboard.press("Enter")
        await expect(field).to_have_attribute("aria-invalid", "true")
        await page.get_by_role("button", name="Generate password").click()
        password = await field.input_value()
        assert len(password) == 20
        await expect(field).to_have_attribute("type", "text")
        await page.get_by_role("button", name="Copy password").click()
        await expect(page.get_by_role("button", name="Copied password")).to_be_visible()
        assert await page.evaluate("navigator.clipboard.readText()") == password
        await page.get_by_role("button", name="Set password").click()
        await expect(page.get_by_role("heading", name="Password set")).to_be_visible()
        assert page.url == f"{scene.http}/invitation"
        await page.get_by_role("link", name="Sign in", exact=True).click()
        await sign_in(page, email, password)
        await expect_signed_in(page)
        token = link.partition("#")[2]
        # Only the call that uses the link up has the token in its path, as the contract says; no Referer has it.
        assert {each.split()[0] + " " + each.split()[1] for each in requested if token in each} == {
            f"POST {scene.http}/api/v1/invitations/{token}"
        }
        await page.goto(link)
        await expect(page.get_by_role("heading", name="This link has ended")).to_be_visible()
        assert recorder.faults == []


async def test_the_owner_of_a_mailbox_is_invited_and_invited_again(browser: Browser, scene: Scene):
    local = "ivan.invited"
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, "/mailboxes?new=yes")
        dialog = page.get_by_role("dialog", name="New mailbox")
        await dialog.get_by_label("Local part").fill(local)
        if await dialog.get_by_role("combobox", name="Domain").input_value() != EXAMPLE:
            await dialog.get_by_role("combobox", name="Domain").click()
            await page.get_by_role("option", name=EXAMPLE, exact=True).click()
        await dialog.get_by_text("Invite the owner to set it").click()
        await dialog.get_by_role("button", name="Create mailbox").click()
        old = await shown_link(page, scene)
        await page.get_by_role("button", name="I've saved it").click()
        await expect(page.get_by_role("heading", level=1, name=f"{local}@{EXAMPLE}")).to_be_visible()
        await page.get_by_role("tab", name="Settings").click()
        await page.get_by_role("button", name="Invite the owner").click()
        await page.get_by_role("button", name="Create link").click()
        new = await shown_link(page, scene)
    async with open_context(browser, None) as context:
        page = await context.new_page()
        await page.goto(old)
        await expect(page.get_by_role("heading", name="This link has ended")).to_be_visible()
        await page.goto("about:blank")
        await page.goto(new)
        await expect(page.get_by_label("Mailbox")).to_have_value(f"{local}@{EXAMPLE}")
        await page.get_by_label("New password").fill("seven green bottles")
        await page.keyboard.press("Enter")
        await expect(page.get_by_text(f"Use {local}@{EXAMPLE}")).to_be_visible()
        await expect(page.get_by_role("link", name="Sign in", exact=True)).to_have_count(0)


async def test_only_the_form_for_the_password_is_shown_until_it_is_changed(browser: Browser, scene: Scene):
    email = f"must.change@{EXAMPLE}"
    body = {"email": email, "password": PASSWORD, "must_change_password": True}
    await scene.super_admin.call("POST", "/admins", body)
    async with open_context(browser, None) as context:
        page = await context.new_page()
        await page.goto(f"{scene.http}/login?next=/audit")
        await sign_in(page, email, PASSWORD)
        await expect(page.get_by_role("heading", name="Change your password")).to_be_visible()
        for path in ("/", "/domains", "/account"):
            await page.goto(scene.http + path)
            await expect(page.get_by_role("heading", name="Change your password")).to_be_visible()
            await expect(page.get_by_role("navigation")).to_have_count(0)
        await page.goto(f"{scene.http}/audit")
        await page.get_by_label("Current password").fill(PASSWORD)
        await page.get_by_label("New password").fill(PASSWORD)
        await page.get_by_role("button", name="Change password").click()
        await expect(page.get_by_label("New password")).to_have_attribute("aria-invalid", "true")
        await page.get_by_label("New password").fill("seven green bottles")
        await page.get_by_role("button", name="Change password").click()
        await expect(page.get_by_role("heading", level=1, name="Audit log")).to_be_visible()


async def test_it_is_shown_as_soon_as_an_administrator_demands_it(browser: Browser, scene: Scene):
    email = f"demanded@{EXAMPLE}"
    admin = await scene.super_admin.call("POST", "/admins", {"email": email, "password": PASSWORD})
    async with open_context(browser, None) as context:
        page = await context.new_page()
        await page.goto(f"{scene.http}/login?next=/domains")
        await sign_in(page, email, PASSWORD)
        await expect(page.get_by_role("heading", level=1, name="Domains")).to_be_visible()
        await scene.super_admin.call("PATCH", f"/admins/{admin['id']}", {"must_change_password": True})
        await page.get_by_role("link", name="Mailboxes").first.click()
        await expect(page.get_by_role("heading", name="Change your password")).to_be_visible()
        await page.get_by_role("button", name="Sign out").click()
        await expect(page.get_by_role("heading", name="Sign in to Mailkeep")).to_be_visible()


async def test_an_administrator_is_disabled_and_enabled(browser: Browser, scene: Scene):
    email = f"on.and.off@{EXAMPLE}"
    await scene.super_admin.call("POST", "/admins", {"email": email, "password": PASSWORD})
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/admins")
        row = page.get_by_role("row").filter(has_text=email)
        for state in (1, 0):
            await page.get_by_role("button", name=f"Edit {email}").click()
            dialog = page.get_by_role("dialog", name=f"Edit {email}")
            await dialog.get_by_label("Active").click()
            await dialog.get_by_role("button", name="Save").click()
            await expect(dialog).to_be_hidden()
            await expect(row.get_by_text("inactive")).to_have_count(state)


async def test_axe_finds_nothing_on_the_pages_without_a_session(browser: Browser, scene: Scene):
    admin = await scene.super_admin.call("POST", "/admins", {"email": f"axe@{EXAMPLE}", "password": PASSWORD})
    link = await scene.super_admin.call("POST", f"/admins/{admin['id']}/invite", {})
    token = link["url"].partition("#")[2]
    await scene.super_admin.call("PATCH", f"/admins/{admin['id']}", {"must_change_password": True})
    violations: list[str] = []
    for options in ({}, {"viewport": PHONE}):
        async with open_context(browser, None, bypass_csp=True, reduced_motion="reduce", **options) as context:
            page = await context.new_page()
            for path, heading in (
                (f"/invitation#{token}", "Set your password"),
                ("/invitation", "This link has ended"),
            ):
                await page.goto("about:blank")
                await page.goto(scene.http + path)
                await expect(page.get_by_role("heading", name=heading)).to_be_visible()
                await page.add_script_tag(path=AXE)
                violations += [f"{path}: {each}" for each in await find_violations(page)]
            await page.goto(f"{scene.http}/login")
            await sign_in(page, f"axe@{EXAMPLE}", PASSWORD)
            await expect(page.get_by_role("heading", name="Change your password")).to_be_visible()
            await page.add_script_tag(path=AXE)
            violations += [f"/password: {each}" for each in await find_violations(page)]
    assert violations == []
