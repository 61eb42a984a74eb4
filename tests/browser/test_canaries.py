"""What strangers write never runs: a canary in each field that others fill is shown as the text that it is."""

from __future__ import annotations

import base64
import smtplib
from collections.abc import Awaitable, Callable
from email import policy
from email.message import EmailMessage
from urllib.parse import quote

import aiohttp
import psycopg
import pytest
from playwright.async_api import Browser, Page, expect

from mailkeep.db import postgres
from tests.browser.scene import COOKIE, EXAMPLE, PASSWORD, Scene, until
from tests.browser.screens import SCREENS, context, ready, turn_to, visit

# Sings where it is taken for HTML, wherever in the page: the tests' own script listens in every document.
SONG = "<img src=x onerror=sing({})>"
LISTEN = "window.sing = (which) => console.error(`canary ${which} sings at ${location.href}`)"
SECRETS = "<script>sing({})</script>"

FIELDS = (
    "description of a domain", "name of a mailbox", "reason of a suspension", "name of a key",
    "name of the sender", "name of the recipient", "subject", "text", "file name", "tag", "metadata", "own header",
    "name of reply-to", "inbound subject", "inbound sender", "inbound recipient", "inbound message id",
    "inbound text", "user agent", "fault of a webhook", "answer of a webhook", "words of the remote server",
    "name of the remote server", "search in the address", "routing in the address",
)  # fmt: skip
assert len(FIELDS) == 25


def canary(field: str) -> str:
    return SONG.format(FIELDS.index(field))


async def create_canaries(scene: Scene) -> dict[str, str]:
    """Put a canary into every field; the ids of what holds them."""
    ask = scene.sue.ask
    domain = await ask("POST", "/domains", {"name": "canary.test", "description": canary("description of a domain")})
    mailbox = {"domain_id": domain["id"], "local_part": "bird", "password": PASSWORD}
    made = await ask("POST", "/mailboxes", {**mailbox, "name": canary("name of a mailbox")})
    await ask("POST", f"/mailboxes/{made['id']}/suspend", {"reason": canary("reason of a suspension")})
    await ask("POST", "/api-keys", {"name": canary("name of a key")})
    webhook = await ask(
        "POST", "/webhooks", {"url": scene.sink.url("/500"), "events": ["*"], "domain_id": domain["id"]}
    )
    sent = await _send(ask, domain["name"])
    await _words_of_others(scene, sent["id"], webhook["id"])
    received = await _receive(scene)
    await _log_in(scene)
    sandboxed = next(each for each in await ask("GET", "/sandbox/messages") if each["subject"] == canary("subject"))
    return {
        "domain_id": domain["id"], "mailbox_id": made["id"], "message_id": sent["id"], "webhook_id": webhook["id"],
        "sandbox_id": sandboxed["id"], "received_id": received,
    }  # fmt: skip


async def _send(ask: Callable[..., Awaitable[dict[str, str]]], domain: str) -> dict[str, str]:
    content = base64.b64encode(b"tweet").decode()
    body = {
        "from": {"email": f"shop@{domain}", "name": canary("name of the sender")},
        "to": [{"email": "customer@elsewhere.test", "name": canary("name of the recipient")}],
        "reply_to": {"email": "answers@elsewhere.test", "name": canary("name of reply-to")},
        "subject": canary("subject"),
        "text_body": canary("text"),
        "html_body": SONG.format("html") + SECRETS.format("html"),
        "attachments": [{"filename": canary("file name"), "content_type": "text/plain", "content": content}],
        "headers": {"X-Own": canary("own header")},
        "tags": [canary("tag")],
        "metadata": {"from": canary("metadata")},
    }
    return await ask("POST", "/send", body)


async def _words_of_others(scene: Scene, message_id: str, webhook_id: str) -> None:
    """Nobody outside is asked by the sandbox, and our receiver is polite: what others would say is put where it is
    kept, once all is settled.
    """
    await until(scene, f"/messages/{message_id}", lambda message: message["status"] == "delivered")
    tried = f"/webhooks/{webhook_id}/deliveries?state=waiting_for_retry"
    await until(scene, tried, lambda rows: len(rows) >= 2)
    urls = postgres.running_urls(scene.instance.data_dir)
    assert urls is not None
    async with await psycopg.AsyncConnection.connect(urls.owner, autocommit=True) as conn:
        await conn.execute(
            "UPDATE message_recipients SET diagnostic = %s, remote_host = %s WHERE message_id = %s",
            (canary("words of the remote server"), canary("name of the remote server"), message_id),
        )
        await conn.execute(
            """
            UPDATE webhook_deliveries
            SET attempts = jsonb_set(jsonb_set(attempts, '{0,response_excerpt}', to_jsonb(%s::text)),
                                     '{0,error}', to_jsonb(%s::text))
            WHERE webhook_id = %s AND jsonb_array_length(attempts) > 0
            """,
            (canary("answer of a webhook"), canary("fault of a webhook"), webhook_id),
        )


async def _receive(scene: Scene) -> str:
    mail = EmailMessage(policy=policy.SMTP)
    mail["Subject"] = canary("inbound subject")
    mail["From"] = f'"{canary("inbound sender")}" <stranger@elsewhere.test>'
    mail["To"] = f'"{canary("inbound recipient")}" <alice@{EXAMPLE}>'
    mail["Message-ID"] = "<to-be-replaced@elsewhere.test>"
    mail.set_content(canary("inbound text"))
    # The library would correct it.
    content = mail.as_bytes().replace(b"<to-be-replaced@elsewhere.test>", canary("inbound message id").encode())
    host, _, port = scene.instance.smtp.rpartition(":")
    with smtplib.SMTP(host, int(port), timeout=60) as channel:
        channel.sendmail("stranger@elsewhere.test", [f"alice@{EXAMPLE}"], content)
    found = await scene.sue.ask("GET", "/messages?direction=inbound")
    return next(each["id"] for each in found if each["subject"] == canary("inbound subject"))


async def _log_in(scene: Scene) -> None:
    email, password = scene.password("super_admin")
    async with (
        aiohttp.ClientSession(headers={"User-Agent": canary("user agent")}) as session,
        session.post(f"{scene.http}/api/v1/auth/login", json={"email": email, "password": password}) as answer,
    ):
        assert COOKIE in answer.cookies


_SHOWN = """() => [document.title, document.body.innerText,
  ...[...document.querySelectorAll('input, textarea')].map((each) => each.value)].join('\\n')"""


@pytest.mark.timeout(120)
async def test_no_injected_script_runs_and_each_text_is_shown(browser: Browser, scene: Scene):
    ids = await create_canaries(scene)
    heard: list[str] = []
    shown: list[str] = []
    async with context(browser, scene.sue) as made:
        await made.add_init_script(LISTEN)
        page = await made.new_page()
        page.on("console", lambda message: heard.append(message.text) if " sings at " in message.text else None)
        page.on("dialog", lambda dialog: heard.append(dialog.message))
        await visit(page, scene.http, "/")
        for screen in SCREENS:
            await turn_to(page, screen.at(ids))
            shown.append(await page.evaluate(_SHOWN))
        for path, openers in detail_paths(ids).items():
            await turn_to(page, path)
            if "?view=" in path:  # on the screen that is shown already
                await expect(page.locator(f"input[type=radio][value={path.rpartition('=')[2]}]")).to_be_checked()
                await ready(page)
            shown.append(await page.evaluate(_SHOWN))
            for opener in openers:
                await _open(page, opener)
                shown.append(await page.evaluate(_SHOWN))
        await visit(page, scene.http, f"/login?error={quote(SONG.format('login'))}")
        shown.append(await page.evaluate(_SHOWN))
    assert heard == []
    everything = "\n".join(shown)
    assert [field for field in FIELDS if canary(field) not in everything] == []


def detail_paths(ids: dict[str, str]) -> dict[str, tuple[str, ...]]:
    """Screens, and what is pressed on each to see more."""
    sandboxed = f"/sandbox/{ids['sandbox_id']}"
    return {
        f"/messages?q={quote(canary('search in the address'))}": (),
        f"/routing?address={quote(canary('routing in the address'))}": (),
        f"/messages/{ids['message_id']}": ("Raw",),
        f"/messages/{ids['received_id']}": ("Raw", "Show content"),
        f"{sandboxed}?view=html": (),
        f"{sandboxed}?view=text": (),
        f"{sandboxed}?view=header": (),
        f"{sandboxed}?view=source": (),
        f"/webhooks/{ids['webhook_id']}?state=waiting_for_retry": ("mail.sent",),
        "/events": (),
        "/audit?action=auth.login": ("auth.login",),
    }


async def _open(page: Page, name: str) -> None:
    await page.get_by_role("tab", name=name).or_(page.get_by_role("button", name=name)).first.click()
    await ready(page)
    if name in ("mail.sent", "auth.login"):
        await expect(page.get_by_role("dialog")).to_be_visible()
        await ready(page)
