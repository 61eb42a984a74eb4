"""An instance with data for the browser: domains, mailboxes, aliases, mail of every delivery outcome, API keys,
webhooks, accounts of each role.

`Scene.by(role)` asks the API as one of the cast: `super_admin` (the first administrator), `admin` (Adam) and
`domain_admin` (Dora, who has example.test).
"""

from __future__ import annotations

import asyncio
import json
import smtplib
import struct
import time
import zlib
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import aiohttp

from tests.support import instance as instances
from tests.support.instance import Instance
from tests.support.webhook_sink import Sink, authority, run_sink

ROLES = ("super_admin", "admin", "domain_admin")
PASSWORD = "a long way to Tipperary"
COOKIE = "svc_session"
EXAMPLE, SHOP = "example.test", "shop.test"
HTML = (
    '<div style="font-family:sans-serif"><img src="cid:sofa@shop" alt="A sofa" width="192" '
    'style="image-rendering:pixelated"><h1 style="color:#24507f">Thank you</h1><p>Your sofa is on its way.</p></div>'
)
_SOFA = (
    "................",
    "...##########...",
    "..############..",
    ".##.########.##.",
    ".###++++++++###.",
    ".##############.",
    "..############..",
    "...#........#...",
)


def sofa() -> bytes:
    """A picture (PNG, palette of three) that a message brings along."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = b"".join(b"\0" + bytes(".#+".index(point) for point in row) for row in _SOFA)
    head = struct.pack(">IIBBBBB", len(_SOFA[0]), len(_SOFA), 8, 3, 0, 0, 0)
    colours = bytes.fromhex("ffffff24507fb5cde6")
    parts = (b"IHDR", head), (b"PLTE", colours), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, content) for kind, content in parts)


class Refused(AssertionError):
    """The API refused what the scene needs."""


@dataclass
class Caller:
    """Somebody who is logged in."""

    http: str
    token: str

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The `data` of the answer."""
        headers = {"Cookie": f"{COOKIE}={self.token}"}
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.request(method, f"{self.http}/api/v1{path}", json=body) as answer,
        ):
            envelope = await answer.json(content_type=None)
        if envelope["error"]:
            raise Refused(f"{method} {path}: {envelope['error']}")
        return envelope["data"]


@dataclass
class Scene:
    """`ids` fills the `{…}` of addresses of screens."""

    instance: Instance
    sink: Sink
    callers: dict[str, Caller] = field(default_factory=dict[str, Caller])
    ids: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def http(self) -> str:
        return self.instance.http

    def by(self, role: str) -> Caller:
        return self.callers[role]

    @property
    def sue(self) -> Caller:
        """The first administrator."""
        return self.callers["super_admin"]

    def password(self, role: str) -> tuple[str, str]:
        """Email and password."""
        if role == "super_admin":
            return "admin@localhost", PASSWORD
        return f"{'adam' if role == 'admin' else 'dora'}@{EXAMPLE}", PASSWORD

    async def login(self, role: str) -> Caller:
        """A session of its own."""
        return await log_in(self.http, *self.password(role))

    async def send(self, **changes: Any) -> Any:
        """POST /send as Sue; a field that is None is left out."""
        body: dict[str, Any] = {
            "from": {"email": f"shop@{EXAMPLE}", "name": "The Shop"},
            "to": [{"email": "customer@elsewhere.test"}],
            "subject": "Your order is on its way",
            "text_body": "It should arrive on Tuesday.",
        }
        return await self.sue.ask(
            "POST", "/send", {name: value for name, value in (body | changes).items() if value is not None}
        )

    async def deliver(self, to: str, subject: str, sender: str = "Nora <nora@elsewhere.test>", **headers: str) -> None:
        """A mail from outside, by SMTP."""
        mail = EmailMessage(policy=policy.SMTP)
        mail["From"], mail["To"], mail["Subject"] = sender, to, subject
        for name, value in headers.items():
            mail[name.replace("_", "-")] = value
        mail.set_content("Good to meet you. Grüße!\n", charset="iso-8859-1", cte="8bit")
        await asyncio.to_thread(self._deliver, to, mail)

    def _deliver(self, to: str, mail: EmailMessage) -> None:
        host, _, port = self.instance.smtp.rpartition(":")
        with smtplib.SMTP(host, int(port), timeout=60) as channel:
            try:
                channel.sendmail("nora@elsewhere.test", [to], mail.as_bytes())
            except smtplib.SMTPRecipientsRefused:
                return  # rejected mail is in the history too


async def log_in(http: str, email: str, password: str) -> Caller:
    """A session."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{http}/api/v1/auth/login", json={"email": email, "password": password}) as answer,
    ):
        assert answer.status == 200, await answer.text()
        return Caller(http, answer.cookies[COOKIE].value)


@asynccontextmanager
async def run_scene(folder: Path) -> AsyncIterator[Scene]:
    """An instance of its own, furnished, and ended with the block."""
    path = folder / "authority.pem"
    authority().cert_pem.write_to_path(str(path))
    environ = {
        "MAILKEEP_ADMIN_EMAIL": "admin@localhost",
        "MAILKEEP_ADMIN_PASSWORD": PASSWORD,
        "MAILKEEP_WEBHOOKS__ALLOWED_NETWORKS": json.dumps(["127.0.0.0/8"]),
        "MAILKEEP_WEBHOOKS__EXTRA_CA_FILE": str(path),
    }
    async with run_sink() as receiver:
        running = await asyncio.to_thread(instances.start, folder / "data", environ, 90)
        try:
            scene = Scene(running, receiver)
            await _furnish(scene)
            yield scene
        finally:
            code = await asyncio.to_thread(running.stop, seconds=60)
            assert code == 0, running.log


async def _furnish(scene: Scene) -> None:
    scene.callers["super_admin"] = await scene.login("super_admin")
    await _domains(scene)
    await _accounts(scene)
    await _webhooks(scene)
    await _mail(scene)


async def _domains(scene: Scene) -> None:
    ask = scene.sue.ask
    example = await ask("POST", "/domains", {"name": EXAMPLE, "description": "Everything that the shop sends"})
    await ask("POST", "/domains", {"name": SHOP})
    await ask("POST", "/domains", {"name": "bücher.test", "description": "The second-hand books"})
    made = {
        name: await ask(
            "POST",
            "/mailboxes",
            {"domain_id": example["id"], "local_part": name, "name": name.title(), "password": PASSWORD},
        )
        for name in ("alice", "bob", "carla")
    }
    await ask("POST", f"/mailboxes/{made['carla']['id']}/suspend", {"reason": "sent the same letter 4,000 times"})
    for source, destination in (
        ("team", f"alice@{EXAMPLE}, bob@{EXAMPLE}"),
        ("sales", "sales@elsewhere.test"),
        ("", f"bob@{EXAMPLE}"),
    ):
        alias = {"domain_id": example["id"], "source_local_part": source, "destination": destination}
        await ask("POST", "/aliases", alias)
    scene.ids |= {"domain_id": example["id"], "mailbox_id": made["alice"]["id"]}


async def _accounts(scene: Scene) -> None:
    ask, domain = scene.sue.ask, scene.ids["domain_id"]
    for role in ("admin", "domain_admin"):
        email, password = scene.password(role)
        assigned = {"domain_ids": [domain]} if role == "domain_admin" else {}
        await ask("POST", "/admins", {"email": email, "password": password, "role": role, **assigned})
        scene.callers[role] = await scene.login(role)
    await ask("POST", "/api-keys", {"name": "newsletter", "rate_limit": 120, "expires_in_days": 365})
    await ask("POST", "/api-keys", {"name": "shop", "scoped_domain_ids": [domain]})


async def _webhooks(scene: Scene) -> None:
    ask = scene.sue.ask
    good = await ask("POST", "/webhooks", {"url": scene.sink.url("/200/shop"), "events": ["*"]})
    bad = {"url": scene.sink.url("/500/crm"), "events": ["mail.bounced"], "domain_id": scene.ids["domain_id"]}
    await ask("POST", "/webhooks", bad)
    scene.ids["webhook_id"] = good["id"]


async def _mail(scene: Scene) -> None:
    text = {"filename": "order.txt", "content_type": "text/plain", "content": "b25lIHNvZmE="}
    picture = {"filename": "sofa.png", "content_type": "image/png", "content": b64encode(sofa()).decode()}
    inline = picture | {"content_id": "sofa@shop", "disposition": "inline"}
    sent = await scene.send(html_body=HTML, attachments=[inline, text], tags=["orders"])
    await scene.send(subject="Welcome to the shop", to=[{"email": "zoe@elsewhere.test", "name": "Zoë"}])
    await scene.send(subject="Your invoice 2026-1041", to=[{"email": "bounce@elsewhere.test"}])
    await scene.send(subject="Are you still there?", to=[{"email": "fail@elsewhere.test"}])
    await scene.deliver(f"team@{EXAMPLE}", "Question about the sofa")
    await scene.deliver("nobody@shop.test", "You have won")
    scene.ids |= {"message_id": sent["id"]}
    await until(scene, "/sandbox/messages", lambda rows: len(rows) >= 4)
    [*_, first] = await scene.sue.ask("GET", "/sandbox/messages")
    scene.ids["sandbox_id"] = first["id"]
    delivered = f"/webhooks/{scene.ids['webhook_id']}/deliveries?state=delivered"
    await until(scene, delivered, lambda rows: len(rows) >= 5)


async def until(scene: Scene, path: str, enough: Any, seconds: float = 60) -> None:
    """Wait until what a path answers is `enough`."""
    end = time.monotonic() + seconds
    while not enough(await scene.sue.ask("GET", path)):
        assert time.monotonic() < end, f"{path} does not come to what was waited for"
        await asyncio.sleep(0.1)
