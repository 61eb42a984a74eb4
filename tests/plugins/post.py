"""`post`: the application with mail: sandbox, SMTP listener, and queues that run on demand."""

from __future__ import annotations

import asyncio
import smtplib
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message
from typing import Any
from uuid import UUID

import pytest

from mailkeep.features.directory.dkim import service as dkim
from mailkeep.features.mailflow.receiving import jobs as receiving
from mailkeep.features.mailflow.sandbox import service as sandbox_service
from mailkeep.mail.smtp.connection import Relay
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.run.processes import sandbox, smtp
from mailkeep.run.runtime.listener_certificate import ListenerCertificate
from tests.support.caller import Answer
from tests.support.client import DOMAIN_IDS, EXAMPLE, Api

_SMTP_CLIENTS = ThreadPoolExecutor(64, thread_name_prefix="stranger")
LETTER = b"From: Someone <someone@elsewhere.test>\r\nSubject: Hello\r\nMessage-ID: <1@elsewhere.test>\r\n\r\nHi.\r\n"


def letter(**changes: Any) -> dict[str, Any]:
    """A valid body of /send; fields that are None are omitted."""
    body: dict[str, Any] = {
        "from": {"email": f"shop@{EXAMPLE}", "name": "The Shop"},
        "to": [{"email": "customer@elsewhere.test"}],
        "subject": "Your order",
        "text_body": "It is on its way.",
    }
    return {name: value for name, value in (body | changes).items() if value is not None}


@dataclass(frozen=True)
class SmtpResult:
    """The reply to the message (code 0 if it was not sent), and the refused recipients."""

    code: int
    text: str
    refused: dict[str, tuple[int, str]]


@dataclass
class Post:
    """`api` with mail. The sandbox's queue runs only in `run_queue`."""

    api: Api
    inbound: smtp.InboundHandler
    port: int

    async def send(self, **changes: Any) -> Answer:
        """POST /send as Sue."""
        return await self.api.sue.post("/send", letter(**changes))

    async def run_queue(self, seconds: float = 0) -> None:
        """Advance the clock and deliver all due messages of the sandbox."""
        self.api.clock.advance(seconds=seconds)
        while await sandbox_service.deliver_due(self.api.app):
            pass

    async def run_forwards(self) -> None:
        while await receiving.forward_due(self.api.app):
            pass

    async def deliver(
        self, *recipients: str, content: bytes = LETTER, sender: str = "someone@elsewhere.test", utf8: bool = False
    ) -> SmtpResult:
        """Deliver by SMTP from outside."""

        def talk() -> SmtpResult:
            with smtplib.SMTP("127.0.0.1", self.port, timeout=60) as client:
                client.ehlo("elsewhere.test")
                client.mail(sender, ["SMTPUTF8"] if utf8 else [])
                answers = {each: client.docmd(f"RCPT TO:<{each}>") for each in recipients}
                refused = {each: (code, text.decode()) for each, (code, text) in answers.items() if code != 250}
                if len(refused) == len(recipients):
                    return SmtpResult(0, "", refused)
                code, text = client.data(content)
                return SmtpResult(code, text.decode(), refused)

        # A separate thread pool: the server in this process needs threads of the default one.
        result = await asyncio.get_running_loop().run_in_executor(_SMTP_CLIENTS, talk)
        await self.inbound.wait_for_records()
        return result

    def mail_of(self, mailbox_id: UUID) -> list[Message]:
        """The unread messages in a mailbox."""
        folder = self.api.app.data_dir / "mail" / str(mailbox_id) / "Maildir" / "new"
        return [message_from_bytes(path.read_bytes()) for path in sorted(folder.glob("*"))] if folder.exists() else []

    async def messages(self, **query: Any) -> list[dict[str, Any]]:
        """GET /messages as Sue."""
        return (await self.api.sue.get("/messages", **query)).data

    async def caught(self) -> list[dict[str, Any]]:
        """GET /sandbox/messages as Sue, newest first."""
        return (await self.api.sue.get("/sandbox/messages")).data

    async def events(self) -> list[tuple[str, dict[str, Any]]]:
        """All events, oldest first."""
        return [(row["kind"], row["data"]) for row in await self.api.sql("SELECT kind, data FROM events ORDER BY id")]


@pytest.fixture
async def post(api: Api) -> AsyncIterator[Post]:
    async with open_post(api) as opened:
        yield opened


@asynccontextmanager
async def open_post(api: Api) -> AsyncIterator[Post]:
    """An application with mail whose domain signs."""
    key = dkim.generate_key(api.app.vault, DOMAIN_IDS[EXAMPLE], api.clock(), "ed25519")
    async with api.app.db.tx() as conn:
        await dkim.insert(conn, key)
    async with with_mail(api) as opened:
        yield opened


@asynccontextmanager
async def with_mail(api: Api) -> AsyncIterator[Post]:
    """Start the mail listeners of an application."""
    (api.app.data_dir / "tmp").mkdir()
    sandbox_server = await sandbox.start(api.app, asyncio.Event())
    api.app.mta = SmtpPool(Relay("127.0.0.1", sandbox_server.port))
    inbound = smtp.InboundHandler(api.app)
    certificate = ListenerCertificate(api.app.settings, api.app.data_dir, api.app.clock)
    listener = await smtp.start(api.app, inbound, certificate)
    try:
        yield Post(api, inbound, listener.port)
    finally:
        await api.app.mta.close()
        await listener.close(0)
        await sandbox_server.close(0)
        await api.app.parser.close()
