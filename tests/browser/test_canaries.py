"""Stored cross-site scripting: HTML in each field that others can set is shown as text and never runs."""

from __future__ import annotations

import base64
import smtplib
from datetime import UTC, datetime, timedelta
from email import policy
from email.message import EmailMessage
from typing import Any
from urllib.parse import quote

import aiohttp
import psycopg
import pytest
from playwright.async_api import Browser, Page, expect

from mailkeep.db import postgres
from tests.browser.scene import COOKIE, EXAMPLE, PASSWORD, Scene, wait_until
from tests.browser.screens import SCREENS, navigate, open_context, visit, wait_until_loaded

# Calls `reportInjection` if a browser parses it as HTML. REPORT_INJECTIONS defines that function in every document.
MARKUP = "<img src=x onerror=reportInjection({})>"
REPORT_INJECTIONS = "window.reportInjection = (field) => console.error(`markup of ${field} ran at ${location.href}`)"
SCRIPT = "<script>reportInjection({})</script>"

FIELDS = (
    "description of a domain", "name of a mailbox", "reason of a suspension", "note of an incident", "name of a key",
    "name of the sender", "name of the recipient", "subject", "text", "file name", "tag", "metadata", "custom header",
    "name of reply-to", "inbound subject", "inbound sender", "inbound recipient", "inbound message id",
    "inbound text", "user agent", "error of a webhook", "response of a webhook", "reply of the remote server",
    "name of the remote server", "search in the address", "routing in the address",
    "name of a template", "subject of a template", "text of a template", "example of a variable", "name of a group",
)  # fmt: skip
assert len(FIELDS) == 31


def markup_for(field: str) -> str:
    return MARKUP.format(FIELDS.index(field))


async def create_objects(scene: Scene) -> dict[str, str]:
    """Create objects with markup in every field; return their IDs for the screens."""
    call = scene.super_admin.call
    domain = await call(
        "POST", "/domains", {"name": "canary.test", "description": markup_for("description of a domain")}
    )
    mailbox = {"domain_id": domain["id"], "local_part": "bird", "password": PASSWORD}
    mailbox_record = await call("POST", "/mailboxes", {**mailbox, "name": markup_for("name of a mailbox")})
    await call("POST", f"/mailboxes/{mailbox_record['id']}/suspend", {"reason": markup_for("reason of a suspension")})
    incident = {
        "subject": {"type": "mailbox", "id": mailbox_record["id"]},
        "actions": ["block_app_passwords"],
        "note": markup_for("note of an incident"),
    }
    incident_id = (await call("POST", "/abuse/incidents", incident))["id"]
    await call("POST", "/api-keys", {"name": markup_for("name of a key")})
    webhook = await call(
        "POST", "/webhooks", {"url": scene.sink.url("/500"), "events": ["*"], "domain_id": domain["id"]}
    )
    template = await call("POST", "/templates", _template(domain["id"]))
    await call("POST", "/unsubscribe-groups", {"name": markup_for("name of a group"), "domain_id": domain["id"]})
    sent = await call("POST", "/send", _mail(domain["name"]))
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    scheduled = await call("POST", "/send", _mail(domain["name"]) | {"scheduled_at": tomorrow})
    await _store_remote_replies(scene, sent["id"], webhook["id"])
    received = await _receive(scene)
    await _log_in(scene)
    sandboxed = next(
        each for each in await call("GET", "/sandbox/messages") if each["subject"] == markup_for("subject")
    )
    return {
        "domain_id": domain["id"], "mailbox_id": mailbox_record["id"], "message_id": sent["id"],
        "webhook_id": webhook["id"], "sandbox_id": sandboxed["id"], "received_id": received,
        "template_id": template["id"], "scheduled_id": scheduled["id"], "backup_id": scene.ids["backup_id"],
        "incident_id": incident_id,
    }  # fmt: skip


def _template(domain_id: str) -> dict[str, Any]:
    return {
        "name": markup_for("name of a template"),
        "domain_id": domain_id,
        "subject": markup_for("subject of a template"),
        "html_body": MARKUP.format("template") + SCRIPT.format("template") + "{{ name }}",
        "text_body": markup_for("text of a template"),
        "variables": [{"name": "name", "example": markup_for("example of a variable")}],
    }


def _mail(domain: str) -> dict[str, Any]:
    content = base64.b64encode(b"tweet").decode()
    return {
        "from": {"email": f"shop@{domain}", "name": markup_for("name of the sender")},
        "to": [{"email": "customer@elsewhere.test", "name": markup_for("name of the recipient")}],
        "reply_to": {"email": "answers@elsewhere.test", "name": markup_for("name of reply-to")},
        "subject": markup_for("subject"),
        "text_body": markup_for("text"),
        "html_body": MARKUP.format("html") + SCRIPT.format("html"),
        "attachments": [{"filename": markup_for("file name"), "content_type": "text/plain", "content": content}],
        "headers": {"X-Own": markup_for("custom header")},
        "tags": [markup_for("tag")],
        "metadata": {"from": markup_for("metadata")},
    }


async def _store_remote_replies(scene: Scene, message_id: str, webhook_id: str) -> None:
    """Store markup as replies of remote servers, which the sandbox and the test's webhook receiver never send."""
    await wait_until(scene, f"/messages/{message_id}", lambda message: message["status"] == "delivered")
    path = f"/webhooks/{webhook_id}/deliveries?state=waiting_for_retry"
    await wait_until(scene, path, lambda rows: len(rows) >= 2)
    urls = postgres.running_urls(scene.instance.data_dir)
    assert urls is not None
    async with await psycopg.AsyncConnection.connect(urls.owner, autocommit=True) as conn:
        await conn.execute(
            "UPDATE message_recipients SET diagnostic = %s, remote_host = %s WHERE message_id = %s",
            (markup_for("reply of the remote server"), markup_for("name of the remote server"), message_id),
        )
        await conn.execute(
            """
            UPDATE webhook_deliveries
            SET attempts = jsonb_set(jsonb_set(attempts, '{0,response_excerpt}', to_jsonb(%s::text)),
                                     '{0,error}', to_jsonb(%s::text))
            WHERE webhook_id = %s AND jsonb_array_length(attempts) > 0
            """,
            (markup_for("response of a webhook"), markup_for("error of a webhook"), webhook_id),
        )


async def _receive(scene: Scene) -> str:
    mail = EmailMessage(policy=policy.SMTP)
    mail["Subject"] = markup_for("inbound subject")
    mail["From"] = f'"{markup_for("inbound sender")}" <stranger@elsewhere.test>'
    mail["To"] = f'"{markup_for("inbound recipient")}" <alice@{EXAMPLE}>'
    mail["Message-ID"] = "<to-be-replaced@elsewhere.test>"
    mail.set_content(markup_for("inbound text"))
    # EmailMessage would change this Message-ID.
    content = mail.as_bytes().replace(b"<to-be-replaced@elsewhere.test>", markup_for("inbound message id").encode())
    host, _, port = scene.instance.smtp.rpartition(":")
    with smtplib.SMTP(host, int(port), timeout=60) as channel:
        channel.sendmail("stranger@elsewhere.test", [f"alice@{EXAMPLE}"], content)
    messages = await scene.super_admin.call("GET", "/messages?direction=inbound")
    return next(each["id"] for each in messages if each["subject"] == markup_for("inbound subject"))


async def _log_in(scene: Scene) -> None:
    email, password = scene.password("super_admin")
    async with (
        aiohttp.ClientSession(headers={"User-Agent": markup_for("user agent")}) as session,
        session.post(f"{scene.http}/api/v1/auth/login", json={"email": email, "password": password}) as answer,
    ):
        assert COOKIE in answer.cookies


_VISIBLE_TEXT = """() => [document.title, document.body.innerText,
  ...[...document.querySelectorAll('input, textarea')].map((each) => each.value)].join('\\n')"""


@pytest.mark.timeout(120)
async def test_no_injected_script_runs_and_each_text_is_shown(browser: Browser, scene: Scene):
    ids = await create_objects(scene)
    injections: list[str] = []
    texts: list[str] = []
    async with open_context(browser, scene.super_admin) as browser_context:
        await browser_context.add_init_script(REPORT_INJECTIONS)
        page = await browser_context.new_page()
        page.on("console", lambda message: injections.append(message.text) if " ran at " in message.text else None)
        page.on("dialog", lambda dialog: injections.append(dialog.message))
        await visit(page, scene.http, "/")
        for screen in SCREENS:
            await navigate(page, screen.path_for(ids))
            texts.append(await page.evaluate(_VISIBLE_TEXT))
        for path, controls in detail_paths(ids).items():
            await navigate(page, path)
            if "?view=" in path:  # the screen stays, only the view changes
                await expect(page.locator(f"input[type=radio][value={path.rpartition('=')[2]}]")).to_be_checked()
                await wait_until_loaded(page)
            texts.append(await page.evaluate(_VISIBLE_TEXT))
            for control in controls:
                await _open(page, control)
                texts.append(await page.evaluate(_VISIBLE_TEXT))
        await visit(page, scene.http, f"/login?error={quote(MARKUP.format('login'))}")
        texts.append(await page.evaluate(_VISIBLE_TEXT))
    assert injections == []
    all_text = "\n".join(texts)
    assert [field for field in FIELDS if markup_for(field) not in all_text] == []


def detail_paths(ids: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """Paths, and the names of the controls that show more on each."""
    sandboxed = f"/sandbox/{ids['sandbox_id']}"
    return {
        f"/messages?q={quote(markup_for('search in the address'))}": (),
        f"/routing?address={quote(markup_for('routing in the address'))}": (),
        f"/messages/{ids['message_id']}": ("Content", "Headers", "Raw"),
        f"/templates/{ids['template_id']}": ("Text",),
        f"/messages/{ids['received_id']}": ("Content", "Show content", "Headers", "Raw"),
        f"{sandboxed}?view=html": (),
        f"{sandboxed}?view=text": (),
        f"{sandboxed}?view=header": (),
        f"{sandboxed}?view=source": (),
        f"/webhooks/{ids['webhook_id']}?state=waiting_for_retry": ("mail.sent",),
        "/events": (),
        "/audit?action=auth.login": ("auth.login",),
    }


async def _open(page: Page, name: str) -> None:
    control = page.get_by_role("tab", name=name).or_(page.get_by_role("button", name=name))
    await control.or_(page.get_by_label("Body format").get_by_text(name, exact=True)).first.click()
    await wait_until_loaded(page)
    if name in ("mail.sent", "auth.login"):
        await expect(page.get_by_role("dialog")).to_be_visible()
        await wait_until_loaded(page)
