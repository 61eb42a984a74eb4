"""Signing in and out: password, authenticator, recovery codes, passkeys, identity provider, sessions; first steps."""

from __future__ import annotations

import asyncio
import json
import re
import time
from base64 import b32decode
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

import pytest
from aiohttp import web
from playwright.async_api import Browser, FilePayload, Page, Route, expect

from mailkeep.core import totp
from tests.access.oidc.provider import CLIENT_ID, CLIENT_SECRET, Provider
from tests.browser.scene import EXAMPLE, PASSWORD, Scene, log_in
from tests.browser.screens import FaultRecorder, find_link, open_context, require_dashboard
from tests.support import instance as instances
from tests.support.instance import Instance, Launch
from tests.support.ports import free_port


@dataclass(frozen=True)
class LaunchOnPort(Launch):
    """Starts an instance on a fixed port, because passkeys belong to the public URL."""

    port: int = 0

    def command(self, data_dir: Path) -> list[str]:
        command = super().command(data_dir)
        command[command.index("--http") + 1] = f"127.0.0.1:{self.port}"
        return command


@pytest.fixture(scope="module")
async def provider() -> AsyncIterator[Provider]:
    """An identity provider that signs everybody in without asking."""
    provider = Provider(now=time.time)

    async def authorize(request: web.Request) -> web.Response:
        raise web.HTTPFound(f"{request.query['redirect_uri']}?{urlencode(provider.authorize(str(request.url)))}")

    provider.answers["/authorize"] = authorize
    await provider.start()
    yield provider
    await provider.stop()


@pytest.fixture(scope="module")
async def fresh(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> AsyncIterator[Instance]:
    """An empty instance at `localhost` with an identity provider. Domain administrators need a second factor."""
    require_dashboard()
    port = free_port()
    provider_settings = {"id": "acme", "name": "Acme", "issuer": provider.issuer, "client_id": CLIENT_ID}
    provider_settings["client_secret"] = CLIENT_SECRET
    environ = {
        "MAILKEEP_ADMIN_EMAIL": f"sue@{EXAMPLE}",
        "MAILKEEP_ADMIN_PASSWORD": PASSWORD,
        "MAILKEEP_HTTP__PUBLIC_URL": f"http://localhost:{port}",
        "MAILKEEP_AUTH__REQUIRE_SECOND_FACTOR": '["domain_admin"]',
        "MAILKEEP_OIDC__ALLOWED_NETWORKS": '["127.0.0.0/8"]',
        "MAILKEEP_OIDC__PROVIDERS": json.dumps([provider_settings]),
    }
    launch = LaunchOnPort(environ=environ, port=port)
    running = await asyncio.to_thread(instances.start, tmp_path_factory.mktemp("fresh") / "data", None, 90, launch)
    running.http = f"http://localhost:{port}"
    yield running
    assert await asyncio.to_thread(running.stop, seconds=60) == 0, running.log


async def sign_in(page: Page, email: str, password: str) -> None:
    await page.get_by_label("Email").fill(email)
    await page.get_by_label("Password").fill(password)
    await page.get_by_role("button", name="Sign in", exact=True).click()


async def sign_out(page: Page) -> None:
    await page.get_by_role("button", name=re.compile("^Account of")).click()
    await page.get_by_role("menuitem", name="Sign out").click()
    await expect(page.get_by_role("heading", name="Sign in to Mailkeep")).to_be_visible()


async def expect_signed_in(page: Page) -> None:
    await expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()


async def test_signing_in_returns_to_the_requested_screen(browser: Browser, scene: Scene):
    async with open_context(browser, None) as browser_context:
        page = await browser_context.new_page()
        recorder = FaultRecorder(scene.http)
        recorder.attach(page)
        await page.goto(f"{scene.http}/messages?q=invoice")
        await sign_in(page, scene.password("domain_admin")[0], "a wrong password")
        alert = page.get_by_role("alert")
        await expect(alert).to_contain_text("Wrong email or password.")
        await expect(alert).to_contain_text(re.compile(r"request [0-9a-f-]{36}"))
        await sign_in(page, *scene.password("domain_admin"))
        await expect(page.get_by_role("link", name="Your invoice 2026-1041")).to_be_visible()
        assert page.url.endswith("/messages?q=invoice")
        await sign_out(page)
        await page.go_back()
        await expect(page.get_by_role("heading", name="Sign in to Mailkeep")).to_be_visible()
        assert recorder.faults == []


@pytest.mark.parametrize("next_path", ["//evil.test/", "/\\evil.test", "https://evil.test/", "javascript:alert(1)"])
async def test_signing_in_never_redirects_to_another_site(browser: Browser, scene: Scene, next_path: str):
    async with open_context(browser, None) as browser_context:
        page = await browser_context.new_page()
        await page.goto(f"{scene.http}/login?next={next_path}")
        await sign_in(page, *scene.password("admin"))
        await expect_signed_in(page)
        assert page.url == f"{scene.http}/"


async def test_an_authenticator_is_set_up_required_and_turned_off(browser: Browser, scene: Scene):
    email = f"totp@{EXAMPLE}"
    await scene.super_admin.call("POST", "/admins", {"email": email, "password": PASSWORD, "role": "admin"})
    async with open_context(browser, None) as browser_context:
        page = await browser_context.new_page()
        recorder = FaultRecorder(scene.http)
        recorder.attach(page)
        await page.goto(f"{scene.http}/login?next=/account")
        await sign_in(page, email, PASSWORD)
        await page.get_by_role("button", name="Set up an authenticator").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_role("img", name="QR code")).to_be_visible()
        secret = b32decode(await dialog.get_by_test_id("secret").inner_text() or "")
        await dialog.get_by_label("Code", exact=True).fill("000000")
        await dialog.get_by_role("button", name="Confirm").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("TOTP_INVALID")
        await dialog.get_by_label("Code", exact=True).fill(code_of(secret, 0))
        await dialog.get_by_role("button", name="Confirm").click()
        items = page.get_by_role("list", name="Recovery codes").get_by_role("listitem")
        await expect(items).to_have_count(10)
        codes = await items.all_inner_texts()
        await page.get_by_role("button", name="I've saved them").click()
        await expect(page.get_by_text("on", exact=True)).to_be_visible()
        await sign_out(page)
        await sign_in(page, email, PASSWORD)
        await expect(page.get_by_role("heading", name="Two-factor authentication")).to_be_visible()
        await page.get_by_label("Code", exact=True).fill(code_of(secret, 1))  # the current code was used for the setup
        await page.get_by_role("button", name="Sign in", exact=True).click()
        await expect_signed_in(page)
        await sign_out(page)
        await sign_in(page, email, PASSWORD)
        await page.get_by_role("button", name="Use a recovery code").click()
        await page.get_by_label("Recovery code").fill(codes[0])
        await page.get_by_role("button", name="Sign in", exact=True).click()
        await expect_signed_in(page)
        await page.goto(f"{scene.http}/account")
        await page.get_by_role("button", name="Turn off").click()
        await dialog.get_by_label("Code", exact=True).fill(codes[1])
        await dialog.get_by_role("button", name="Turn off").click()
        await expect(page.get_by_role("button", name="Set up an authenticator")).to_be_visible()
        assert recorder.faults == []


def code_of(secret: bytes, steps_ahead: int) -> str:
    return totp.hotp(secret, totp.step_of(datetime.now(UTC)) + steps_ahead)


async def test_an_ended_session_opens_the_sign_in_screen_and_returns(browser: Browser, scene: Scene):
    session = await scene.login("admin")
    async with open_context(browser, session) as browser_context:
        page = await browser_context.new_page()
        await page.goto(f"{scene.http}/domains")
        await expect(page.get_by_role("heading", level=1, name="Domains")).to_be_visible()
        events_page = await browser_context.new_page()
        await events_page.goto(f"{scene.http}/events")
        await expect(events_page.get_by_text("live", exact=True)).to_be_visible()
        [current] = [each for each in await session.call("GET", "/auth/sessions") if each["current"]]
        await scene.caller("admin").call("DELETE", f"/auth/sessions/{current['id']}")
        await expect(events_page).to_have_url(f"{scene.http}/login?next=%2Fevents")
        await page.get_by_role("link", name="Mailboxes").first.click()
        await expect(page.get_by_role("heading", name="Sign in to Mailkeep")).to_be_visible()
        await sign_in(page, *scene.password("admin"))
        await expect(page.get_by_role("heading", level=1, name="Mailboxes")).to_be_visible()


async def test_a_draft_survives_the_session_but_not_a_change_of_account(browser: Browser, scene: Scene):
    session = await scene.login("admin")
    async with open_context(browser, session) as browser_context:
        page = await browser_context.new_page()
        await page.goto(f"{scene.http}/send?from=shop@{EXAMPLE}&to=zoe@elsewhere.test")
        body, subject = page.get_by_role("textbox", name="Message"), page.get_by_label("Subject")
        large: FilePayload = {"name": "large.txt", "mimeType": "text/plain", "buffer": b"0123456789" * 60}
        await subject.fill("For Zoe alone")
        await body.fill("Between you and me")
        await page.locator("input[type=file]").set_input_files([large])
        await page.get_by_text("large.txt").wait_for()
        [current] = [each for each in await session.call("GET", "/auth/sessions") if each["current"]]
        await scene.caller("admin").call("DELETE", f"/auth/sessions/{current['id']}")
        await page.get_by_role("button", name="Send", exact=True).click()
        await sign_in(page, *scene.password("admin"))
        await expect(body).to_have_value("Between you and me")
        await expect(page.get_by_role("note")).to_contain_text("large.txt")
        await page.locator("input[type=file]").set_input_files([large])
        await page.get_by_text("600 B in total").wait_for()
        await page.get_by_role("button", name="Send", exact=True).click()
        await expect(page.get_by_role("heading", level=1, name="For Zoe alone")).to_be_visible()
        await page.go_back()
        await expect(body).to_have_value("")
        await page.get_by_role("button", name="API requests of this screen").click()
        snippet = page.get_by_test_id("snippet")
        await expect(snippet).to_contain_text("Between you and me")
        await expect(snippet).to_contain_text("…")
        await page.keyboard.press("Escape")
        await subject.fill("Never sent")
        await sign_out(page)
        await sign_in(page, *scene.password("super_admin"))
        await expect_signed_in(page)
        await page.get_by_role("link", name="Send", exact=True).first.click()
        await page.get_by_role("heading", level=1, name="Send").wait_for()
        await expect(subject).to_have_value("")
        await page.get_by_role("button", name="API requests of this screen").click()
        await expect(page.get_by_role("dialog")).to_be_visible()
        await expect(page.get_by_text("Between you and me")).to_have_count(0)
        assert "Never sent" not in await page.evaluate("JSON.stringify(sessionStorage)")


async def test_sessions_are_listed_and_ended(browser: Browser, scene: Scene):
    email = f"sessions@{EXAMPLE}"
    await scene.super_admin.call("POST", "/admins", {"email": email, "password": PASSWORD, "role": "admin"})
    async with (
        open_context(browser, None) as here,
        open_context(browser, None, user_agent="The other browser") as there,
    ):
        page, other = await here.new_page(), await there.new_page()
        for each in (page, other):
            await each.goto(f"{scene.http}/login?next=/account")
            await sign_in(each, email, PASSWORD)
            await expect(each.get_by_role("heading", level=1, name="Account")).to_be_visible()
        await page.reload()
        row = page.get_by_role("listitem").filter(has_text="The other browser")
        await row.get_by_role("button").click()
        await expect(row).to_have_count(0)
        await other.goto(f"{scene.http}/domains")
        await expect(other.get_by_role("heading", name="Sign in to Mailkeep")).to_be_visible()
        await page.get_by_label("Current password").fill(PASSWORD)
        await page.get_by_label("New password").fill("password")
        await page.get_by_role("button", name="Change password").click()
        await expect(page.get_by_label("New password")).to_have_attribute("aria-invalid", "true")
        await page.get_by_label("New password").fill(f"{PASSWORD}!")
        await page.get_by_role("button", name="Change password").click()
        await expect(page.get_by_role("status").filter(has_text="Password changed")).to_be_visible()
        await page.get_by_role("button", name="End all sessions").click()
        await page.get_by_role("dialog").get_by_role("button", name="End all sessions").click()
        await expect(page.get_by_role("heading", name="Sign in to Mailkeep")).to_be_visible()


async def test_a_passkey_is_added_used_renamed_and_deleted(browser: Browser, fresh: Instance):
    async def enable_totp(route: Route) -> None:
        response = await (await route.fetch()).json()
        response["data"]["totp_enabled"] = True
        await route.fulfill(json=response)

    async with open_context(browser, None) as browser_context:
        page = await browser_context.new_page()
        recorder = FaultRecorder(fresh.http)
        recorder.attach(page)
        device = await browser_context.new_cdp_session(page)
        await device.send("WebAuthn.enable")
        options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
                   "isUserVerified": True, "automaticPresenceSimulation": True}  # fmt: skip
        await device.send("WebAuthn.addVirtualAuthenticator", {"options": options})
        await page.goto(f"{fresh.http}/login?next=/account")
        await sign_in(page, f"sue@{EXAMPLE}", PASSWORD)
        await page.get_by_role("button", name="Add a passkey").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Name").fill("My laptop")
        await dialog.get_by_role("button", name="Add").click()
        await page.get_by_role("button", name="I've saved them").click()
        await page.get_by_role("button", name="New recovery codes").click()
        await dialog.get_by_role("button", name="Generate new codes").click()
        await page.get_by_role("button", name="I've saved them").click()
        await sign_out(page)
        await page.get_by_role("button", name="Sign in with a passkey").click()
        await expect_signed_in(page)
        await sign_out(page)
        await sign_in(page, f"sue@{EXAMPLE}", PASSWORD)  # the password alone is not enough any more
        await page.get_by_role("button", name="Sign in with a passkey").click()
        await expect_signed_in(page)
        await page.goto(f"{fresh.http}/account")
        await page.get_by_role("button", name="Rename My laptop").click()
        await dialog.get_by_label("Name").fill("The old laptop")
        await dialog.get_by_role("button", name="Rename").click()
        await page.route("**/api/v1/auth/me", enable_totp)
        await page.reload()
        await page.get_by_role("button", name="Turn off").click()
        await expect(dialog.get_by_text("After your password, you confirm with a passkey.")).to_be_visible()
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="Delete The old laptop").click()
        await dialog.get_by_role("button", name="Delete passkey").click()
        await expect(page.get_by_text("No passkeys yet.")).to_be_visible()
        await page.unroute_all(behavior="wait")
        assert recorder.faults == []


async def test_a_required_second_factor_blocks_all_other_screens(browser: Browser, fresh: Instance):
    email = f"dora@{EXAMPLE}"
    super_admin = await log_in(fresh.http, f"sue@{EXAMPLE}", PASSWORD)
    await super_admin.call("POST", "/admins", {"email": email, "password": PASSWORD, "role": "domain_admin"})
    async with open_context(browser, None) as browser_context:
        page = await browser_context.new_page()
        recorder = FaultRecorder(fresh.http)
        recorder.attach(page)
        await page.goto(f"{fresh.http}/login?next=/messages")
        await sign_in(page, email, PASSWORD)
        await expect(page.get_by_text("Your role requires two-factor authentication", exact=True)).to_be_visible()
        for path in ("/", "/messages", "/domains"):
            await page.goto(fresh.http + path)
            await expect(page.get_by_role("heading", level=1, name="Account")).to_be_visible()
            assert page.url == f"{fresh.http}/account"
        await expect(page.get_by_role("navigation").get_by_role("link", name="Domains")).to_have_count(0)
        await expect(page.get_by_label("New password")).to_have_count(0)
        await page.get_by_role("button", name="Set up an authenticator").click()
        dialog = page.get_by_role("dialog")
        secret = b32decode(await dialog.get_by_test_id("secret").inner_text() or "")
        await dialog.get_by_label("Code", exact=True).fill(code_of(secret, 0))
        await dialog.get_by_role("button", name="Confirm").click()
        await page.get_by_role("button", name="I've saved them").click()
        await expect(page.get_by_text("Your role requires two-factor authentication", exact=True)).to_have_count(0)
        await page.get_by_role("link", name="Domains", exact=True).click()
        await expect(page.get_by_role("heading", level=1, name="Domains")).to_be_visible()
        # The second factor is still required after it is turned off.
        await page.goto(f"{fresh.http}/account")
        await page.get_by_role("button", name="Turn off").click()
        await dialog.get_by_label("Code", exact=True).fill(code_of(secret, 1))
        await dialog.get_by_role("button", name="Turn off").click()
        await expect(page.get_by_text("Your role requires two-factor authentication", exact=True)).to_be_visible()
        assert recorder.faults == []


async def test_an_identity_is_linked_signs_in_and_is_unlinked(browser: Browser, fresh: Instance):
    email = f"adam@{EXAMPLE}"
    super_admin = await log_in(fresh.http, f"sue@{EXAMPLE}", PASSWORD)
    await super_admin.call("POST", "/admins", {"email": email, "password": PASSWORD, "role": "admin"})
    async with open_context(browser, None) as browser_context:
        page = await browser_context.new_page()
        await page.goto(f"{fresh.http}/login?next=/account")
        await sign_in(page, email, PASSWORD)
        await page.get_by_role("link", name="Link Acme").click()
        await expect(page.get_by_role("button", name="Disconnect")).to_be_visible()
        await sign_out(page)
        await page.get_by_role("link", name="Continue with Acme").click()
        await expect_signed_in(page)
        await (await find_link(page, "Account")).click()
        await page.get_by_role("button", name="Disconnect").click()
        await page.get_by_role("dialog").get_by_role("button", name="Disconnect").click()
        await expect(page.get_by_role("link", name="Link Acme")).to_be_visible()
        await expect(page.get_by_text("not linked", exact=True)).to_be_visible()
        await sign_out(page)
        await page.get_by_role("link", name="Continue with Acme").click()
        await expect(page.get_by_role("alert")).to_contain_text("No account on this server is linked to that identity")


async def test_the_first_steps_are_completed_automatically(browser: Browser, fresh: Instance):
    async with open_context(browser, None) as browser_context:
        page = await browser_context.new_page()
        recorder = FaultRecorder(fresh.http)
        recorder.attach(page)
        await page.goto(f"{fresh.http}/login?next=/start")
        await sign_in(page, f"sue@{EXAMPLE}", PASSWORD)
        dialog, next_step = page.get_by_role("dialog"), page.locator("[aria-current=step]")
        await expect(next_step).to_contain_text("Add a domain")
        await next_step.get_by_role("link").click()
        await dialog.get_by_label("Domain name").fill(EXAMPLE)
        await dialog.get_by_role("button", name="Create domain").click()
        await (await find_link(page, "First steps")).click()
        await expect(next_step).to_contain_text("Create a mailbox")
        await next_step.get_by_role("link").click()
        await dialog.get_by_label("Local part").fill("alice")
        await dialog.get_by_role("combobox", name="Domain", exact=True).click()
        await page.get_by_role("option", name=EXAMPLE).click()
        await dialog.get_by_label("Password", exact=True).fill(PASSWORD)
        await dialog.get_by_role("button", name="Create mailbox").click()
        await (await find_link(page, "First steps")).click()
        await expect(next_step).to_contain_text("Create an API key")
        await next_step.get_by_role("link").click()
        await dialog.get_by_label("Name").fill("shop")
        await dialog.get_by_role("button", name="Create key").click()
        await expect(page.get_by_test_id("secret")).to_contain_text("svc_sk_")
        await page.keyboard.press("Escape")
        await page.goto(f"{fresh.http}/start")
        await expect(next_step).to_contain_text("Send a message")
        await next_step.get_by_role("link").click()
        await page.get_by_label("From").fill(f"shop@{EXAMPLE}")
        await page.get_by_role("textbox", name="To", exact=True).fill(f"alice@{EXAMPLE}")
        await page.get_by_label("Subject").fill("The first")
        await page.get_by_role("textbox", name="Message").fill("Hello.")
        await page.get_by_role("button", name="Send", exact=True).click()
        await expect(page.get_by_role("heading", level=1, name="The first")).to_be_visible()
        await expect(page.locator(".timeline").get_by_text("delivered", exact=True)).to_be_visible()
        await (await find_link(page, "First steps")).click()
        await expect(page.get_by_text("All steps are complete.")).to_be_visible()
        assert recorder.faults == []


async def test_identity_providers_return_to_the_requested_screen(browser: Browser, scene: Scene):
    providers = [{"id": "one", "name": "Example One", "login_path": "/api/v1/auth/oidc/login/one"}]

    async def answer(route: Route) -> None:
        await route.fulfill(json={"data": providers, "error": None, "meta": {}})

    async with open_context(browser, None) as browser_context:
        page = await browser_context.new_page()
        await page.route("**/api/v1/auth/oidc/providers", answer)
        await page.goto(f"{scene.http}/login?next=/messages&error=FORBIDDEN&reason=no_account")
        await expect(page.get_by_role("alert")).to_contain_text("No account on this server is linked to that identity")
        link_to_provider = page.get_by_role("link", name="Continue with Example One")
        await expect(link_to_provider).to_have_attribute("href", "/api/v1/auth/oidc/login/one?next=%2Fmessages")
        await sign_in(page, *scene.password("admin"))
        await (await find_link(page, "Account")).click()
        link = page.get_by_role("link", name="Link Example One")
        await expect(link).to_have_attribute("href", "/api/v1/auth/oidc/login/one?link=1&next=%2Faccount")
