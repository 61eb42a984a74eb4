"""The running product with a smarthost that accepts everything, and a plain program that does the same."""

from __future__ import annotations

import asyncio
import base64
import json
import shutil
import sys
import urllib.request
from collections.abc import Mapping
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import make_msgid
from pathlib import Path
from typing import Any

import aiosmtplib
import uvloop
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from bench.rig.calls import serving
from tests.support import instance as instances
from tests.support.scratch import new_directory

LIMITS = {
    "MAILKEEP_LIMITS__REQUESTS_PER_SECOND": "10000",
    "MAILKEEP_ABUSE__SENDER_PER_HOUR": "1000000000",
    "MAILKEEP_ABUSE__DOMAIN_PER_HOUR": "1000000000",
}


class Product:
    """A running instance with a domain and a key that may send for it."""

    def __init__(
        self, sink_port: int | None, settings: Mapping[str, str] | None = None, checkout: Path | None = None
    ) -> None:
        """Mail goes to the sink; without one to the sandbox. `settings`: further environment variables; `checkout`: the
        folder of another version.
        """
        self.folder = new_directory("mailkeep-bench-", 0o755)
        (self.folder / "data").mkdir(mode=0o711)
        (self.folder / "data").chmod(0o711)
        way_out = {
            "MAILKEEP_MTA__MODE": "smtp",
            "MAILKEEP_MTA__HOST": "127.0.0.1",
            "MAILKEEP_MTA__PORT": str(sink_port),
            "MAILKEEP_MTA__TLS": "none",
        }
        environ = LIMITS | (way_out if sink_port else {}) | dict(settings or {})
        if checkout:
            environ |= {"PYTHONPATH": str(checkout)}
        launch = instances.Launch(environ=environ, folder=checkout or instances.ROOT)
        self.running = instances.start(self.folder / "data", seconds=120, launch=launch)
        self.port = int(self.running.http.rpartition(":")[2])
        self.pid = self.running.process.pid
        password = (self.folder / "data" / "initial-admin").read_text().strip()
        cookie = self.ask("/auth/login", {"email": "admin@localhost", "password": password})[1]
        self.ask("/domains", {"name": "example.test"}, {"cookie": cookie})
        key = self.ask("/api-keys", {"name": "bench", "rate_limit": 1_000_000}, {"cookie": cookie})[0]["key"]
        self.headers = {"authorization": f"Bearer {key}"}

    def ask(self, path: str, body: dict[str, Any], headers: dict[str, str] | None = None) -> tuple[Any, str]:
        """POST; return `data` and the cookie."""
        request = urllib.request.Request(
            f"{self.running.http}/api/v1{path}",
            json.dumps(body).encode(),
            {"content-type": "application/json", **(headers or {})},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)["data"], (answer.headers["set-cookie"] or "").partition(";")[0]

    def end(self) -> None:
        self.running.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def message(**more: Any) -> dict[str, Any]:
    """A body of /send: 2 KB of text."""
    return {
        "from": {"email": "shop@example.test", "name": "The Shop"},
        "to": [{"email": "customer@elsewhere.test", "name": "A Customer"}],
        "subject": "Your order",
        "text_body": "Hello Bob, here is your invoice. Thank you.\n" * 46,
    } | more


class Box(BaseModel):
    email: str
    name: str = ""


class File(BaseModel):
    filename: str
    content_type: str
    content: str


class Letter(BaseModel):
    """What FastAPI would declare for the same body."""

    sender: Box
    to: list[Box]
    subject: str
    text_body: str
    attachments: list[File] = []


def plain(smtp_port: int) -> Starlette:
    """Starlette and pydantic (as in FastAPI), EmailMessage and aiosmtplib; no database, no permissions."""
    clients: asyncio.Queue[aiosmtplib.SMTP] = asyncio.Queue()

    async def send(request: Request) -> JSONResponse:
        given = await request.json()
        letter = Letter.model_validate(given | {"sender": given["from"]})
        mail = EmailMessage(policy=SMTP)
        mail["From"] = f"{letter.sender.name} <{letter.sender.email}>"
        mail["To"] = ", ".join(f"{box.name} <{box.email}>" for box in letter.to)
        mail["Subject"] = letter.subject
        mail["Message-ID"] = make_msgid(domain="example.test")
        mail.set_content(letter.text_body)
        for file in letter.attachments:
            main, _, sub = file.content_type.partition("/")
            data = base64.b64decode(file.content, validate=True)
            mail.add_attachment(data, maintype=main, subtype=sub, filename=file.filename)
        if clients.empty():
            client = aiosmtplib.SMTP(hostname="127.0.0.1", port=smtp_port, use_tls=False)
            await client.connect()
        else:
            client = clients.get_nowait()
        await client.send_message(mail, sender=letter.sender.email, recipients=[box.email for box in letter.to])
        clients.put_nowait(client)
        return JSONResponse({"data": {"message_id": mail["Message-ID"]}})

    return Starlette(routes=[Route("/api/v1/send", send, methods=["POST"])])


if __name__ == "__main__":
    uvloop.run(serving([plain(int(sys.argv[1]))]))
