"""What a message's screen shows of its content, test addresses in the send form, and the totals of the overview."""

from __future__ import annotations

import asyncio
import smtplib
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.policy import SMTP

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.scene import EXAMPLE, Scene, wait_until
from tests.browser.screens import open_context, open_page, visit

PIXEL = "R0lGODlhAQABAAAAACwAAAAAAQABAAA="
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>top.document.title = "taken"</script></svg>'
HOSTILE = """<!doctype html><html><head>
<link rel=preconnect href="{url}/preconnect"><link rel=dns-prefetch href="{url}/dns">
<link rel=prefetch href="{url}/prefetch"><link rel=preload as=image href="{url}/preload">
<link rel=stylesheet href="{url}/sheet"><meta http-equiv=refresh content="1;url={url}/refresh"><base href="{url}/">
<style>@import "{url}/import"; p {{ background: url({url}/background) }}</style>
<script src="{url}/script"></script><script>top.document.title = "taken"; fetch("{url}/fetch")</script></head>
<body background="{url}/body"><p>Hello <b>you</b></p><img alt="ours" src="cid:logo@shop">
<img src="{url}/image" srcset="{url}/set 2x">
<img src="x" onerror="fetch('{url}/onerror')"><iframe src="{url}/frame"></iframe><object data="{url}/object"></object>
<iframe srcdoc="<img src='{url}/srcdoc'>"></iframe><video src="{url}/video" poster="{url}/poster" autoplay></video>
<svg onload="fetch('{url}/svg')"><image href="{url}/svg-image"/></svg>
<form action="{url}/form"><button>Submit</button></form>
<a href="{url}/link" ping="{url}/ping" target=_top>A link</a></body></html>"""


@asynccontextmanager
async def run_tracker() -> AsyncIterator[tuple[str, list[str]]]:
    """The URL of a server of the message's sender, and the first lines of what reaches it."""
    hits: list[str] = []

    async def record(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hits.append("a connection")
        hits.append((await reader.readline()).decode("latin-1"))
        writer.close()

    server = await asyncio.start_server(record, "127.0.0.2", 0)
    async with server:
        yield f"http://127.0.0.2:{server.sockets[0].getsockname()[1]}", hits


async def open_content(page: Page, scene: Scene, message_id: str) -> None:
    await visit(page, scene.http, f"/messages/{message_id}")
    await page.get_by_role("tab", name="Content").click()


async def test_rendered_mail_runs_no_script_and_loads_nothing(browser: Browser, scene: Scene):
    async with run_tracker() as (url, hits):
        html = HOSTILE.format(url=url)
        # Without the policy and the frame, the browser does load from there.
        unprotected = await browser.new_page()
        await unprotected.set_content(html, wait_until="domcontentloaded")
        async with asyncio.timeout(30):
            while not hits:
                await asyncio.sleep(0.05)
        await unprotected.close()
        hits.clear()
        logo = {"filename": "logo.gif", "content_type": "image/gif", "content": PIXEL, "content_id": "logo@shop"}
        sent = await scene.send(subject="Hostile", html_body=html, attachments=[logo | {"disposition": "inline"}])
        # `open_page` would report the attempts, which are blocked.
        async with open_context(browser, scene.caller("domain_admin")) as browser_context:
            page = await browser_context.new_page()
            await open_content(page, scene, sent["id"])
            frame = page.frame_locator("iframe")
            await expect(frame.get_by_text("Hello you")).to_be_visible()
            await expect(frame.get_by_alt_text("ours")).to_have_js_property("naturalWidth", 1)
            await page.wait_for_timeout(1500)  # longer than the refresh
            await expect(frame.get_by_text("Hello you")).to_be_visible()
            await frame.get_by_role("button", name="Submit").click()
            await frame.get_by_text("A link").click()
            await page.wait_for_timeout(300)
            assert await page.title() == "Hostile · Mailkeep"
            assert page.url == f"{scene.http}/messages/{sent['id']}?tab=content"
            await page.get_by_text("Text", exact=True).click()
            await expect(page.locator("pre[aria-label=Text]")).to_contain_text("It should arrive on Tuesday.")
            await page.get_by_role("tab", name="Headers").click()
            await expect(page.get_by_text("DKIM-Signature").first).to_be_visible()
        assert hits == []


async def test_attachments_are_saved_one_by_one_and_never_shown_as_pages(browser: Browser, scene: Scene):
    drawing = {"filename": "drawing.svg", "content_type": "image/svg+xml", "content": b64encode(SVG).decode()}
    document = {"filename": "<b>Übersicht.html", "content_type": "text/html", "content": "PHNjcmlwdD4="}
    sent = await scene.send(subject="With files", attachments=[drawing, document])
    async with open_page(browser, scene, "domain_admin") as page:
        await open_content(page, scene, sent["id"])
        for name, content in (("drawing.svg", SVG), ("<b>Übersicht.html", b"<script>")):
            async with page.expect_download() as download:
                await page.get_by_role("link", name=name).click()
            assert (await (await download.value).path()).read_bytes() == content
        path = f"/api/v1/messages/{sent['id']}/attachments/1"
        answer = await page.request.get(scene.http + path)
        assert (await answer.body(), answer.headers["content-type"]) == (SVG, "application/octet-stream")
        assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''drawing.svg"
        assert answer.headers["x-content-type-options"] == "nosniff"
        async with page.expect_download() as download:
            await page.evaluate("(path) => { location.href = path }", path)
        assert (await download.value).suggested_filename == "drawing.svg"
        assert await page.title() == "With files · Mailkeep"


@pytest.mark.parametrize("role", ["domain_admin", "admin"])
async def test_received_mail_is_shown_to_administrators_on_request(browser: Browser, scene: Scene, role: str):
    mail = EmailMessage(policy=SMTP)
    mail["From"], mail["To"], mail["Subject"] = "nora@elsewhere.test", f"alice@{EXAMPLE}", f"Formatted for {role}"
    mail.set_content("Plain words.")
    mail.add_alternative("<p>Rich words.</p>", subtype="html")

    def deliver() -> None:
        host, _, port = scene.instance.smtp.rpartition(":")
        with smtplib.SMTP(host, int(port), timeout=60) as channel:
            channel.sendmail("nora@elsewhere.test", [f"alice@{EXAMPLE}"], mail.as_bytes())

    await asyncio.to_thread(deliver)
    path = f"/messages?direction=inbound&subject=Formatted%20for%20{role}"
    await wait_until(scene, path, bool)
    [received] = await scene.super_admin.call("GET", path)
    async with open_page(browser, scene, role) as page:
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        await open_content(page, scene, received["id"])
        if role == "domain_admin":
            await expect(page.get_by_text("Only administrators have access.").first).to_be_visible()
        else:
            await expect(page.get_by_text("recorded in the audit log")).to_be_visible()
            assert not [each for each in requests if each.endswith(("/content", "/html"))]
            await page.get_by_role("button", name="Show content").click()
            await expect(page.frame_locator("iframe").get_by_text("Rich words.")).to_be_visible()
            await page.get_by_text("Text", exact=True).click()
            await expect(page.locator("pre[aria-label=Text]")).to_contain_text("Plain words.")
            # Not asked again for the other parts.
            await page.get_by_role("tab", name="Headers").click()
            await expect(page.get_by_text("Return-Path").first).to_be_visible()
    entries = await scene.super_admin.call("GET", f"/audit?resource_id={received['id']}&action=message.read_content")
    parts = {"content", "html"} if role == "admin" else set[str]()
    assert {each["details"]["part"] for each in entries} == parts


async def test_a_scheduled_message_is_shown_as_it_will_be_sent(browser: Browser, scene: Scene):
    due = (datetime.now(UTC) + timedelta(days=3)).isoformat()
    sent = await scene.send(subject="Not yet", html_body="<p>Rich words.</p>", scheduled_at=due)
    async with open_page(browser, scene, "domain_admin") as page:
        await open_content(page, scene, sent["id"])
        await expect(page.frame_locator("iframe").get_by_text("Rich words.")).to_be_visible()
        await page.get_by_role("tab", name="Raw").click()
        await expect(page.get_by_text("The source exists once the message is sent.")).to_be_visible()
    await scene.super_admin.call("POST", f"/messages/{sent['id']}/cancel")


async def test_a_test_address_is_chosen_and_its_outcome_explained(browser: Browser, scene: Scene):
    async with open_page(browser, scene, "domain_admin") as page:
        await visit(page, scene.http, f"/send?from=shop@{EXAMPLE}&subject=Trial")
        for name in ("bounce@", "complaint@", "suppressed@"):
            await page.get_by_role("button", name="Test addresses").click()
            await page.get_by_role("menuitem", name=name).click()
        await page.get_by_role("textbox", name="Message").fill("For a test.")
        await page.get_by_role("button", name="Send", exact=True).click()
        await expect(page.get_by_role("heading", level=1, name="Trial")).to_be_visible()
        recipients = page.locator("main section", has_text="Recipients").get_by_role("listitem")
        bounced = recipients.filter(has_text="bounce@sandbox.example")
        await expect(bounced).to_contain_text("550 5.1.1 No such user here (sandbox)")
        await expect(bounced).to_contain_text("The address does not exist at the recipient’s server.")
        left_out = recipients.filter(has_text="suppressed@sandbox.example")
        await expect(left_out).to_contain_text(
            "Not sent: mail to it was returned. It is a test address of the sandbox."
        )
        await expect(page.locator(".timeline").get_by_text("reported as spam")).to_be_visible()


async def test_the_overview_counts_what_its_links_list(browser: Browser, scene: Scene):
    """With more messages than a page of a list, for a domain_admin: only those of its domains."""
    items = [
        {
            "from": {"email": f"list@{EXAMPLE}"},  # which is suspended because of this
            "to": [{"email": "bounce@elsewhere.test"}],
            "subject": f"Counted {number}",
            "text_body": "x",
        }
        for number in range(100)
    ]
    for _ in range(2):
        await scene.super_admin.call("POST", "/send/batch", {"messages": items})
    await wait_until(scene, "/messages/totals", lambda counted: counted["totals"]["queued"] == 0)
    for role in ("super_admin", "domain_admin"):
        counted = await scene.caller(role).call("GET", "/messages/totals")
        async with open_page(browser, scene, role) as page:
            await visit(page, scene.http, "/")
            tile = page.locator(".tile", has_text="Bounced")
            assert counted["totals"]["bounced"] > 200
            await expect(tile.locator(".tile-count")).to_have_text(str(counted["totals"]["bounced"]))
            await page.get_by_role("link", name="Bounced", exact=True).click()
            await expect(page.get_by_role("link", name="Counted 99", exact=True).first).to_be_visible()
            assert "since=" in page.url
            if role == "super_admin":
                await visit(page, scene.http, "/")
                await page.locator("main").get_by_role("link", name="Suspensions", exact=True).click()
                await expect(page).to_have_url(f"{scene.http}/suspensions")
