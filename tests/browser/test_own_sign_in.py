"""The page for mailbox owners: signing in and out, second factor, password, sessions."""

from __future__ import annotations

import re
from base64 import b32decode

import psycopg
import pytest
from playwright.async_api import Browser, Page, expect

from mailkeep.db import postgres
from tests.browser.owners import LOGIN, make_owner, open_own_page, sign_in
from tests.browser.scene import COOKIE, PASSWORD, Scene
from tests.browser.screens import open_context, visit
from tests.browser.test_getting_in import code_of

OVERVIEW = re.compile(r"/me$")


async def enter(page: Page, address: str, password: str = PASSWORD) -> None:
    await page.get_by_label("Email address").fill(address)
    await page.get_by_label("Password", exact=True).fill(password)
    await page.get_by_role("button", name="Sign in", exact=True).click()


async def leave(page: Page) -> None:
    await page.get_by_role("button", name="Sign out").click()
    await expect(page.get_by_role("heading", name="Sign in to your mailbox")).to_be_visible()


async def test_an_owner_signs_in_returns_to_the_requested_screen_and_signs_out(browser: Browser, scene: Scene):
    _, address = await make_owner(scene)
    async with open_own_page(browser, scene.http, None) as page:
        await page.goto(f"{scene.http}/me/device")
        await enter(page, address, "a wrong password")
        alert = page.get_by_role("alert")
        await expect(alert).to_contain_text("Wrong")
        await expect(alert).to_contain_text("App passwords do not work here.")
        await enter(page, address)
        await expect(page.get_by_role("heading", level=1, name="Set up a device")).to_be_visible()
        await expect(page).to_have_url(f"{scene.http}/me/device")
        await expect(page.get_by_role("banner")).to_contain_text(address)
        [session] = await page.context.cookies()
        assert session.get("name") == "svc_mailbox"
        assert [session.get(name) for name in ("httpOnly", "sameSite")] == [True, "Strict"]
        await leave(page)
        assert await page.context.cookies() == []
        await page.go_back()
        await expect(page.get_by_role("heading", name="Sign in to your mailbox")).to_be_visible()


@pytest.mark.parametrize("next_path", ["//evil.test/", "/\\evil.test", "https://evil.test/", "/domains", "/mean"])
async def test_signing_in_never_redirects_elsewhere(browser: Browser, scene: Scene, next_path: str):
    _, address = await make_owner(scene)
    async with open_own_page(browser, scene.http, None) as page:
        await page.goto(f"{scene.http}{LOGIN}?next={next_path}")
        await enter(page, address)
        await expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
        assert page.url == f"{scene.http}/me"


async def test_the_sessions_of_an_administrator_and_an_owner_are_separate(browser: Browser, scene: Scene):
    """Both cookies in one browser: neither page uses the other's, and each ends its own."""
    _, address = await make_owner(scene)
    admin = await scene.login("admin")
    async with open_own_page(browser, scene.http, None) as page:
        await page.context.add_cookies([{"name": COOKIE, "value": admin.token, "url": scene.http}])
        await visit(page, scene.http, "/me")
        await expect(page.get_by_role("heading", name="Sign in to your mailbox")).to_be_visible()
        await enter(page, address)
        await expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
        await leave(page)
        assert [each.get("name") for each in await page.context.cookies()] == [COOKIE]
    assert (await admin.call("GET", "/auth/me"))["role"] == "admin"
    async with open_context(browser, None) as browser_context:
        await (await sign_in(scene.http, address)).enter(browser_context)
        page = await browser_context.new_page()
        await page.goto(f"{scene.http}/mailboxes")
        await expect(page.get_by_role("heading", name="Sign in to Mailkeep")).to_be_visible()


async def test_self_service_turned_off_is_explained_and_ends_the_session(browser: Browser, scene: Scene):
    call = scene.super_admin.call
    domain = await call("POST", "/domains", {"name": "no-self-service.test"})
    mailbox_id, address = await make_owner(scene, domain_id=domain["id"])
    async with open_own_page(browser, scene.http, await sign_in(scene.http, address)) as page:
        await visit(page, scene.http, "/me")
        await call("PATCH", f"/domains/{domain['id']}", {"self_service": False})
        await page.get_by_role("link", name="App passwords").first.click()
        await expect(page.get_by_role("heading", name="Sign in to your mailbox")).to_be_visible()
        await enter(page, address)
        await expect(page.get_by_role("alert")).to_contain_text("can't sign in here")
    await call("DELETE", f"/mailboxes/{mailbox_id}?purge=true")
    await call("DELETE", f"/domains/{domain['id']}")


async def test_too_many_wrong_passwords_are_explained(browser: Browser, scene: Scene):
    _, address = await make_owner(scene)
    async with open_own_page(browser, scene.http, None) as page:
        answered = {
            "json": {
                "data": None,
                "error": {"code": "RATE_LIMIT_EXCEEDED", "message": "Too many wrong passwords.", "details": None},
                "meta": {"request_id": "0199", "timestamp": "2026-01-01T00:00:00.000Z"},
            },
            "status": 429,
            "headers": {"Retry-After": "840"},
        }
        await page.route("**/api/v1/me/login", lambda route: route.fulfill(**answered))
        await page.goto(f"{scene.http}{LOGIN}")
        await enter(page, address)
        await expect(page.get_by_role("alert")).to_contain_text("Try again in 14 min.")


async def test_a_second_factor_is_set_up_required_and_turned_off(browser: Browser, scene: Scene):
    _, address = await make_owner(scene)
    async with open_own_page(browser, scene.http, None) as page:
        await page.goto(f"{scene.http}{LOGIN}?next=/me/security")
        await enter(page, address)
        await page.get_by_role("button", name="Set up an authenticator").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_role("img", name="QR code")).to_be_visible()
        secret = b32decode(await dialog.get_by_test_id("secret").inner_text() or "")
        await dialog.get_by_label("Code", exact=True).fill(code_of(secret, 0))
        await dialog.get_by_role("button", name="Confirm").click()
        items = page.get_by_role("list", name="Recovery codes").get_by_role("listitem")
        await expect(items).to_have_count(10)
        codes = await items.all_inner_texts()
        await page.get_by_role("button", name="I've saved them").click()
        await expect(page.get_by_role("button", name="New recovery codes")).to_be_visible()
        await leave(page)
        await enter(page, address)
        await expect(page.get_by_role("heading", name="Two-factor authentication")).to_be_visible()
        await page.get_by_label("Code", exact=True).fill(code_of(secret, 1))  # the current code was used for the setup
        await page.get_by_role("button", name="Sign in", exact=True).click()
        await expect(page).to_have_url(OVERVIEW)
        await leave(page)
        await enter(page, address)
        await page.get_by_role("button", name="Use a recovery code").click()
        await page.get_by_label("Recovery code").fill(codes[0])
        await page.get_by_role("button", name="Sign in", exact=True).click()
        await page.get_by_role("link", name="Password and sign-in").click()
        await page.get_by_role("button", name="Turn off").click()
        await dialog.get_by_label("Code", exact=True).fill(codes[1])
        await dialog.get_by_role("button", name="Turn off").click()
        await expect(page.get_by_role("button", name="Set up an authenticator")).to_be_visible()


async def test_changes_of_a_sign_in_that_is_not_recent_ask_for_the_password(browser: Browser, scene: Scene):
    mailbox_id, address = await make_owner(scene)
    async with open_own_page(browser, scene.http, await sign_in(scene.http, address)) as page:
        urls = postgres.running_urls(scene.instance.data_dir)
        assert urls is not None
        age = "UPDATE owner_sessions SET created_at = created_at - interval '1 hour' WHERE mailbox_id = %s"
        async with await psycopg.AsyncConnection.connect(urls.owner, autocommit=True) as conn:
            await conn.execute(age, [mailbox_id])
        await visit(page, scene.http, "/me/app-passwords")
        await page.get_by_role("button", name="New app password").first.click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Name").fill("Phone")
        await dialog.get_by_role("button", name="Create app password").click()
        await dialog.get_by_label("Your password").fill("not the one")
        await dialog.get_by_role("button", name="Create app password").click()
        await expect(dialog.get_by_text("The current password is wrong.")).to_be_visible()
        await dialog.get_by_label("Your password").fill(PASSWORD)
        await dialog.get_by_role("button", name="Create app password").click()
        await expect(dialog.get_by_test_id("secret")).to_be_visible()
        await dialog.get_by_role("button", name="I've saved it").click()
        await page.get_by_role("button", name="Delete Phone").click()
        await dialog.get_by_role("button", name="Delete").click()
        await dialog.get_by_label("Your password").fill(PASSWORD)
        await dialog.get_by_role("button", name="Delete").click()
        await expect(page.get_by_text("No app passwords yet")).to_be_visible()
        await page.get_by_role("link", name="Password and sign-in").click()
        await page.get_by_role("button", name="Set up an authenticator").click()
        await dialog.get_by_label("Your password").fill(PASSWORD)
        await dialog.get_by_role("button", name="Continue").click()
        await expect(dialog.get_by_role("img", name="QR code")).to_be_visible()


async def test_the_password_is_changed_and_other_sessions_end(browser: Browser, scene: Scene):
    _, address = await make_owner(scene)
    other = await sign_in(scene.http, address)
    new = "sleeping on the ceiling"
    async with (
        open_own_page(browser, scene.http, await sign_in(scene.http, address)) as page,
        open_own_page(browser, scene.http, other) as other_page,
    ):
        await visit(other_page, scene.http, "/me")
        await visit(page, scene.http, "/me/security")
        await expect(page.get_by_text("current", exact=True)).to_have_count(1)
        await page.get_by_label("Current password", exact=True).fill("not the one")
        await page.get_by_label("New password", exact=True).fill(new)
        await page.get_by_role("button", name="Change password").click()
        await expect(page.get_by_role("alert")).to_contain_text("INVALID_CREDENTIALS")
        await page.get_by_label("Current password", exact=True).fill(PASSWORD)
        await page.get_by_label("New password", exact=True).fill("short")
        await page.get_by_role("button", name="Change password").click()
        await expect(page.get_by_label("New password", exact=True)).to_have_attribute("aria-invalid", "true")
        await page.get_by_label("New password", exact=True).fill(new)
        await page.get_by_role("button", name="Change password").click()
        await expect(page.get_by_text("Password changed. 1 other session ended.")).to_be_visible()
        await other_page.get_by_role("link", name="Forwarding").last.click()
        await other_page.reload()
        await expect(other_page.get_by_role("heading", name="Sign in to your mailbox")).to_be_visible()
        await enter(other_page, address, new)
        await expect(other_page.get_by_role("heading", level=1, name="Forwarding")).to_be_visible()
        await page.get_by_role("button", name="End all sessions").click()
        await page.get_by_role("dialog").get_by_role("button", name="End all sessions").click()
        await expect(page.get_by_role("heading", name="Sign in to your mailbox")).to_be_visible()
