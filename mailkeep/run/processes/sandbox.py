"""The sandbox's port: an MTA on loopback that accepts and stores all mail."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from mailkeep.app import App
from mailkeep.features.mailflow.sandbox import service
from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.mail.smtp.server import SmtpServer, serve
from mailkeep.mail.smtp.session import SmtpEnvelope, SmtpLimits, SmtpSession
from mailkeep.mail.smtp.spool import ReceivedMessage

_OK = SmtpReply(250, "2.1.5", "Ok")


class SandboxHandler:
    """Accepts every recipient; signs, stores and queues the message."""

    def __init__(self, app: App, wake: asyncio.Event) -> None:
        self._app = app
        self._wake = wake

    async def mail(self, session: SmtpSession, envelope: SmtpEnvelope) -> SmtpReply | None:
        """Accept any sender: the port is on loopback."""
        return None

    async def rcpt(self, session: SmtpSession, address: str) -> SmtpReply:
        """Accept any recipient."""
        return _OK

    async def data(self, session: SmtpSession, message: ReceivedMessage) -> SmtpReply | Sequence[SmtpReply]:
        """Store and queue the message before the 250."""
        envelope = session.envelope
        assert envelope is not None
        try:
            stored = await service.accept(self._app, envelope.mail_from, list(envelope.rcpt_to), message)
        except service.NoSigningKey as error:
            return SmtpReply(451, "4.7.1", f"The domain {error.domain} has no usable DKIM key")
        self._wake.set()
        return SmtpReply(250, "2.0.0", f"Ok: queued as {stored.queue_id}")

    def note_rejection(self, session: SmtpSession, mail_from: str, rcpt_to: str | None, reply: SmtpReply) -> None:
        """Do nothing: the sender gets the reply."""


async def start(app: App, wake: asyncio.Event) -> SmtpServer:
    """Listen on loopback, on the configured port or a free one."""
    limits = SmtpLimits(
        message_size=app.settings.limits.largest_message_bytes,
        recipients=1001,
        sessions=0,
        sessions_per_source=0,
        idle_commands=1_000_000,
        session_seconds=86_400.0,
        spool_folder=app.data_dir / "tmp",
    )
    return await serve("127.0.0.1", app.settings.mta.sandbox_port, SandboxHandler(app, wake), limits)
