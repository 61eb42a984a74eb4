"""An instance with data for the browser: domains, mailboxes, aliases, mail of every delivery outcome, API keys,
webhooks, accounts of each role.

`Scene.caller(role)` calls the API with the session of a role: `super_admin` (admin@localhost), `admin`
(adam@example.test) or `domain_admin` (dora@example.test, assigned to example.test).
"""

from __future__ import annotations

import asyncio
import json
import re
import smtplib
import struct
import time
import zlib
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email import policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import aiohttp

from mailkeep.backup.layout import Counts
from mailkeep.core.address import parse_address
from mailkeep.core.ids import uuid7
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.abuse.model import SendCharge
from mailkeep.features.mailflow.receiving import rules as receiving
from mailkeep.features.operations.backups import store as backups
from mailkeep.features.operations.backups.model import Backup
from mailkeep.features.operations.machine import service as machine, store as measurements
from mailkeep.features.record.alerts import service as alerts
from mailkeep.features.record.alerts.model import AlertProblem
from mailkeep.run.runtime.context import attach
from tests.support import instance as instances
from tests.support.backups import place_repository
from tests.support.figures import insert_figures
from tests.support.instance import Instance
from tests.support.reports import DAY, Dmarc, Record, tls_report
from tests.support.webhook_sink import Sink, authority, run_sink

ROLES = ("super_admin", "admin", "domain_admin")
PASSWORD = "a long way to Tipperary"
COOKIE = "svc_session"
EXAMPLE, SHOP = "example.test", "shop.test"
GTUBE = receiving.GTUBE.decode()  # spam for every filter
HTML = (
    '<div style="font-family:sans-serif"><img src="cid:sofa@shop" alt="A sofa" width="192" '
    'style="image-rendering:pixelated"><h1 style="color:#24507f">Thank you</h1><p>Your sofa is on its way.</p></div>'
)
TEMPLATE_HTML = """\
<style>h1 { color: #24507f; font-family: sans-serif } td { padding: 4px 12px 4px 0 }</style>
<h1>Hello {{ name }},</h1>
<p>your order {{ order.id }} is on its way.</p>
<table>
  {% for line in order.lines %}
  <tr><td>{{ line.name }}</td><td>{{ line.price }} €</td></tr>
  {% endfor %}
</table>
{% if note %}
<p>{{ note }}</p>
{% endif %}
"""
_SOFA_PIXELS = (
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
    """A PNG image with three colours, for an inline attachment."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = b"".join(b"\0" + bytes(".#+".index(point) for point in row) for row in _SOFA_PIXELS)
    head = struct.pack(">IIBBBBB", len(_SOFA_PIXELS[0]), len(_SOFA_PIXELS), 8, 3, 0, 0, 0)
    colours = bytes.fromhex("ffffff24507fb5cde6")
    parts = (b"IHDR", head), (b"PLTE", colours), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, content) for kind, content in parts)


class ApiCallFailed(AssertionError):
    """A call of the API returned an error."""


@dataclass
class Caller:
    """Calls the API with a session."""

    http: str
    token: str

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        """Return `data` of the response."""
        headers = {"Cookie": f"{COOKIE}={self.token}"}
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.request(method, f"{self.http}/api/v1{path}", json=body) as response,
        ):
            envelope = await response.json(content_type=None)
        if envelope["error"]:
            raise ApiCallFailed(f"{method} {path}: {envelope['error']}")
        return envelope["data"]


@dataclass
class Scene:
    """A running instance. `ids`: the IDs for the placeholders of `Screen.path`."""

    instance: Instance
    sink: Sink
    callers: dict[str, Caller] = field(default_factory=dict[str, Caller])
    ids: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def http(self) -> str:
        return self.instance.http

    def caller(self, role: str) -> Caller:
        return self.callers[role]

    @property
    def super_admin(self) -> Caller:
        """The first administrator."""
        return self.callers["super_admin"]

    def password(self, role: str) -> tuple[str, str]:
        """Email and password."""
        if role == "super_admin":
            return "admin@localhost", PASSWORD
        return f"{'adam' if role == 'admin' else 'dora'}@{EXAMPLE}", PASSWORD

    async def login(self, role: str) -> Caller:
        """Open another session of a role."""
        return await log_in(self.http, *self.password(role))

    async def send(self, **changes: Any) -> Any:
        """POST /send as the super administrator; a field that is None is omitted."""
        body: dict[str, Any] = {
            "from": {"email": f"shop@{EXAMPLE}", "name": "The Shop"},
            "to": [{"email": "customer@elsewhere.test"}],
            "subject": "Your order is on its way",
            "text_body": "It should arrive on Tuesday.",
        }
        return await self.super_admin.call(
            "POST", "/send", {name: value for name, value in (body | changes).items() if value is not None}
        )

    async def deliver(
        self, to: str, subject: str, sender: str = "Nora <nora@elsewhere.test>", text: str = "", **headers: str
    ) -> None:
        """Send a message from an external sender to the SMTP listener. `headers`: with underscores for hyphens."""
        mail = EmailMessage(policy=policy.SMTP)
        mail["From"], mail["To"], mail["Subject"] = sender, to, subject
        for name, value in headers.items():
            mail[name.replace("_", "-")] = value
        mail.set_content(f"Good to meet you. Grüße!\n{text}\n", charset="iso-8859-1", cte="8bit")
        await asyncio.to_thread(self._deliver, to, mail)

    def _deliver(self, to: str, mail: EmailMessage) -> None:
        host, _, port = self.instance.smtp.rpartition(":")
        with smtplib.SMTP(host, int(port), timeout=60) as channel:
            try:
                channel.sendmail("nora@elsewhere.test", [to], mail.as_bytes())
            except (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError):
                return  # a rejected message is in the history too


async def log_in(http: str, email: str, password: str) -> Caller:
    """Open a session."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{http}/api/v1/auth/login", json={"email": email, "password": password}) as answer,
    ):
        assert answer.status == 200, await answer.text()
        return Caller(http, answer.cookies[COOKIE].value)


@asynccontextmanager
async def run_scene(folder: Path) -> AsyncIterator[Scene]:
    """Start an instance with the scene's data; stop it at the end of the block."""
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
            await _create_data(scene)
            yield scene
        finally:
            code = await asyncio.to_thread(running.stop, seconds=60)
            assert code == 0, running.log


async def _create_data(scene: Scene) -> None:
    scene.callers["super_admin"] = await scene.login("super_admin")
    await _domains(scene)
    await _accounts(scene)
    await _webhooks(scene)
    await _templates(scene)
    domains = [UUID(scene.ids[name]) for name in ("domain_id", "shop_id")]
    await insert_figures(scene.instance.data_dir, domains)
    await _mail(scene)


async def _domains(scene: Scene) -> None:
    call = scene.super_admin.call
    example = await call("POST", "/domains", {"name": EXAMPLE, "description": "Mail of the shop"})
    shop = await call("POST", "/domains", {"name": SHOP})
    await call("PATCH", f"/domains/{shop['id']}/filtering", {"junk_score": 5, "reject_score": 12, "digest": "daily"})
    await call("POST", "/domains", {"name": "bücher.test", "description": "The second-hand books"})
    mailboxes = {
        name: await call(
            "POST",
            "/mailboxes",
            {"domain_id": example["id"], "local_part": name, "name": name.title(), "password": PASSWORD},
        )
        for name in ("alice", "bob", "carla")
    }
    await call("POST", f"/mailboxes/{mailboxes['carla']['id']}/suspend", {"reason": "sent the same letter 4,000 times"})
    for name, protocols in (("Phone", ["imap", "smtp"]), ("Laptop", ["imap", "smtp", "sieve"])):
        body = {"name": name, "protocols": protocols, "expires_at": "2036-01-01T00:00:00Z" if name == "Phone" else None}
        await call("POST", f"/mailboxes/{mailboxes['alice']['id']}/app-passwords", body)
    for source, destination in (
        ("team", f"alice@{EXAMPLE}, bob@{EXAMPLE}"),
        ("sales", "sales@elsewhere.test"),
        ("", f"bob@{EXAMPLE}"),
    ):
        alias = {"domain_id": example["id"], "source_local_part": source, "destination": destination}
        await call("POST", "/aliases", alias)
    scene.ids |= {"domain_id": example["id"], "shop_id": shop["id"], "mailbox_id": mailboxes["alice"]["id"]}
    incident = {
        "subject": {"type": "mailbox", "id": mailboxes["bob"]["id"]},
        "actions": ["block_app_passwords", "disable_forwards", "hold_queue"],
        "note": "clicked on a link in a false invoice",
    }
    scene.ids["incident_id"] = (await call("POST", "/abuse/incidents", incident))["id"]
    await report_alert(scene, f"carla@{EXAMPLE}")
    await _health(scene)
    await _reports(scene)


async def report_alert(scene: Scene, sender: str, kind: str = "bounce_rate", reason: str = "") -> None:
    """An open alert about a sender of example.test."""
    reason = reason or f"9.1 % of the mail of {sender} in 24 hours bounced for good (threshold 8 %)."
    async with attach(scene.instance.data_dir, "tests") as app, app.db.tx() as conn:
        problem = AlertProblem(kind, sender, UUID(scene.ids["domain_id"]), "critical", reason, 9.1, 8)
        await alerts.report(conn, app.clock(), "abuse", [problem], kinds=[kind], subjects=[sender])


async def count_recipients(scene: Scene, sender: str, recipients: int) -> None:
    """Count recipients for a sender of example.test."""
    async with attach(scene.instance.data_dir, "tests") as app:
        charge = SendCharge(parse_address(sender), UUID(scene.ids["domain_id"]), recipients)
        who = Principal(None, "tests", Role.ADMIN, ActorType.SYSTEM)
        assert await abuse.count(app, who, app.clock(), [charge]) == [None]


async def report_component(scene: Scene, component: str, reason: str) -> None:
    """An open alert about a component of the health."""
    async with attach(scene.instance.data_dir, "tests") as app, app.db.tx() as conn:
        problem = AlertProblem(f"health_{component}", component, None, "warning", reason)
        await alerts.report(conn, app.clock(), "health", [problem], kinds=[problem.kind])


async def _health(scene: Scene) -> None:
    """An alert about a component, and the use of a disk that grows, in the last 20 days."""
    reason = "192.0.2.1 is on bl.example (https://bl.example/removal). Find what sends unwanted mail."
    await report_component(scene, "blocklists", reason)
    async with attach(scene.instance.data_dir, "tests") as app, app.db.tx() as conn:
        now, usage = app.clock().replace(minute=0, second=0, microsecond=0), machine.measure_disk(app.data_dir)
        growth = min(usage.free_bytes, usage.used_bytes) // 40
        for day in range(1, 21):
            measured = replace(machine.to_measurement(usage, now), used_bytes=usage.used_bytes - day * growth)
            await measurements.add(conn, replace(measured, hour=now - timedelta(days=day)), now - timedelta(days=90))


async def _reports(scene: Scene) -> None:
    """DMARC reports of the last 20 days, and a TLS report."""
    midnight = int(time.time()) // DAY * DAY
    for number in range(1, 21):
        records = (
            Record("192.0.2.1", 40 + number),
            Record("198.51.100.7", 3 + number % 4, "fail", "fail", auth=(("spf", "crm.test", "", "pass"),)),
            Record("203.0.113.99", number % 6, "fail", "fail", "quarantine"),
        )
        begin = midnight - number * DAY
        report = Dmarc(records, report_id=f"scene-{number}", begin=begin, end=begin + DAY - 1)
        await upload_report(scene.super_admin, report.xml())
    await upload_report(scene.super_admin, tls_report(begin=midnight - DAY, certificate_expired=3))


async def upload_report(caller: Caller, content: bytes) -> None:
    """Upload a report."""
    await caller.call("POST", "/reports", {"filename": "report", "content": b64encode(content).decode()})


async def _accounts(scene: Scene) -> None:
    call, domain = scene.super_admin.call, scene.ids["domain_id"]
    for role in ("admin", "domain_admin"):
        email, password = scene.password(role)
        assigned = {"domain_ids": [domain]} if role == "domain_admin" else {}
        await call("POST", "/admins", {"email": email, "password": password, "role": role, **assigned})
        scene.callers[role] = await scene.login(role)
    await call("POST", "/api-keys", {"name": "newsletter", "rate_limit": 120, "expires_in_days": 365})
    await call("POST", "/api-keys", {"name": "shop", "scoped_domain_ids": [domain]})


async def _webhooks(scene: Scene) -> None:
    call = scene.super_admin.call
    good = await call("POST", "/webhooks", {"url": scene.sink.url("/200/shop"), "events": ["*"]})
    bad = {"url": scene.sink.url("/500/crm"), "events": ["mail.bounced"], "domain_id": scene.ids["domain_id"]}
    await call("POST", "/webhooks", bad)
    scene.ids["webhook_id"] = good["id"]


async def _templates(scene: Scene) -> None:
    call = scene.super_admin.call
    order = {
        "name": "Order sent",
        "domain_id": scene.ids["domain_id"],
        "subject": "Your order {{ order.id }} is on its way",
        "html_body": TEMPLATE_HTML,
        "variables": [
            {"name": "name", "example": "Alice"},
            {"name": "order.id", "example": "A-1041"},
            {"name": "order.lines", "example": [{"name": "Sofa", "price": 499}, {"name": "Lamp", "price": 39}]},
            {"name": "note", "required": False},
        ],
        "inline_css": True,
    }
    template = await call("POST", "/templates", order)
    scene.ids["template_id"] = template["id"]
    await call("POST", f"/templates/{template['id']}/publish", {})
    await call("PATCH", f"/templates/{template['id']}", {"subject": "Order {{ order.id }} is on its way"})
    greeting = {"name": "Welcome", "subject": "Welcome, {{ name }}", "text_body": "Hello {{ name }}."}
    await call("POST", "/templates", greeting | {"variables": [{"name": "name", "example": "Alice"}]})


async def _mail(scene: Scene) -> None:
    text = {"filename": "order.txt", "content_type": "text/plain", "content": "b25lIHNvZmE="}
    picture = {"filename": "sofa.png", "content_type": "image/png", "content": b64encode(sofa()).decode()}
    inline = picture | {"content_id": "sofa@shop", "disposition": "inline"}
    sent = await scene.send(html_body=HTML, attachments=[inline, text], tags=["orders"])
    await scene.send(subject="Welcome to the shop", to=[{"email": "zoe@elsewhere.test", "name": "Zoë"}])
    await scene.send(subject="Your invoice 2026-1041", to=[{"email": "bounce@elsewhere.test"}])
    domain = {"domain_id": scene.ids["domain_id"]}
    group = await scene.super_admin.call("POST", "/unsubscribe-groups", domain | {"name": "Monthly news"})
    scene.ids["group_id"] = group["id"]
    for address, reason in (("hugo@elsewhere.test", "complaint"), ("ines@elsewhere.test", "unsubscribe")):
        suppression = domain | {"address": address, "reason": reason}
        of_group = {"group_id": group["id"]} if reason == "unsubscribe" else {}
        await scene.super_admin.call("POST", "/suppressions", suppression | of_group)
    await scene.send(subject="Are you still there?", to=[{"email": "fail@elsewhere.test"}])
    await scene.deliver(f"team@{EXAMPLE}", "Question about the sofa")
    await scene.deliver("nobody@shop.test", "You have won")
    next_week = (datetime.now(UTC) + timedelta(days=7)).isoformat()
    reminder = await scene.send(subject="Your sofa arrives tomorrow", scheduled_at=next_week)
    scene.ids |= {"message_id": sent["id"], "scheduled_id": reminder["id"]}
    await wait_until(scene, "/sandbox/messages", lambda rows: len(rows) >= 4)
    [*_, first] = await scene.super_admin.call("GET", "/sandbox/messages")
    scene.ids["sandbox_id"] = first["id"]
    delivered = f"/webhooks/{scene.ids['webhook_id']}/deliveries?state=delivered"
    await wait_until(scene, delivered, lambda rows: len(rows) >= 5)
    await _older_backups(scene)
    await asyncio.to_thread(place_repository, scene.instance.data_dir)
    scene.ids["backup_id"] = (await scene.super_admin.call("POST", "/backups", {}))["id"]
    await wait_until(scene, f"/backups/{scene.ids['backup_id']}", lambda backup: backup["state"] == "succeeded")


async def _older_backups(scene: Scene) -> None:
    """Backups of the last weeks, for the chart; their repository is gone."""
    async with attach(scene.instance.data_dir, "scene") as app, app.db.tx() as conn:
        for days in range(20, 0, -1):
            at = app.clock() - timedelta(days=days)
            size, added = (60 << 20) - days * (1 << 20), (2 << 20) + (days % 3) * (1 << 20)
            backup = Backup(uuid7(at), "running", "schedule", at, version="1")
            await backups.insert_backup(conn, backup)
            counts = Counts(3, 3, 41_000 - 600 * days)
            ended = replace(
                backup, state="succeeded", finished_at=at, size_bytes=size, added_bytes=added, counts=counts
            )
            await backups.finish_backup(conn, ended)


async def send_to_group(scene: Scene, reader: str) -> tuple[str, str]:
    """Send a message with the unsubscribe group of the scene; return its ID and the path of its link."""
    sent = await scene.send(
        subject="News of May", to=[{"email": reader}], unsubscribe={"group_id": scene.ids["group_id"]}
    )
    rows = "/sandbox/messages"
    await wait_until(scene, rows, lambda found: any(each["rcpt_to"] == [reader] for each in found))
    message = next(each for each in await scene.super_admin.call("GET", rows) if each["rcpt_to"] == [reader])
    header = (await scene.super_admin.call("GET", f"{rows}/{message['id']}"))["header"]
    value = next(each["value"] for each in header if each["name"] == "List-Unsubscribe")
    return sent["id"], urlsplit(re.sub(r"[<>\s]", "", value)).path


async def wait_until(scene: Scene, path: str, condition: Callable[[Any], bool], seconds: float = 60) -> None:
    """GET a path until `condition` is true for its `data`."""
    end = time.monotonic() + seconds
    while not condition(await scene.super_admin.call("GET", path)):
        assert time.monotonic() < end, f"{path}: the condition was not met within {seconds} s"
        await asyncio.sleep(0.1)
