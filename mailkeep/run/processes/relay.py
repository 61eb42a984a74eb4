"""The process `relay`: accepts mail from Postfix over LMTP and submits it to the sender's relay (`directory/relays`).

In LMTP each recipient has its own reply, and Postfix gets the relay's: nothing is stored here, and a message that the
relay has not accepted stays in Postfix's queue.
"""

from __future__ import annotations

import asyncio
import grp
from collections.abc import Sequence

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Failure, Unavailable
from mailkeep.features.directory.relays import rules, service as relays
from mailkeep.mail.smtp.client import ConnectionLost, OutgoingEnvelope, SmtpRefusal
from mailkeep.mail.smtp.data import BareNewline
from mailkeep.mail.smtp.dialogue import RECIPIENT_OK
from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.mail.smtp.server import SmtpServer
from mailkeep.mail.smtp.session import SmtpEnvelope, SmtpLimits, SmtpSession
from mailkeep.mail.smtp.spool import ReceivedMessage
from mailkeep.run.runtime.process import Process

log = structlog.get_logger("mailkeep.relay")

_GRACE_SECONDS = 4.0
_SUBMIT_SECONDS = 1140.0  # seconds for a message; Postfix waits 1200 s (master.cf)


class RelayHandler:
    """Accepts every recipient; replies for each with the relay's reply."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def mail(self, session: SmtpSession, envelope: SmtpEnvelope) -> SmtpReply | None:
        """Accept any sender: Postfix has accepted the message."""
        return None

    async def rcpt(self, session: SmtpSession, address: str) -> SmtpReply:
        """Accept any recipient: the relay decides."""
        return RECIPIENT_OK

    async def data(self, session: SmtpSession, message: ReceivedMessage) -> SmtpReply | Sequence[SmtpReply]:
        """The relay's replies."""
        envelope = session.envelope
        assert envelope is not None
        try:
            relay = await relays.choose_relay(self._app, envelope.mail_from)
        except relays.NoRelay as error:
            return SmtpReply(451, "4.3.5", str(error))
        except Unavailable:
            return SmtpReply(451, "4.3.0", "The database is not available, try again later")
        submission = OutgoingEnvelope(
            envelope.mail_from, envelope.rcpt_to, None, envelope.body == "8BITMIME", envelope.smtputf8
        )
        try:
            async with asyncio.timeout(_SUBMIT_SECONDS):
                result = await relays.submit(self._app, relay, submission, message.chunks(), stuffed=False)
        except TimeoutError:
            return SmtpReply(451, "4.4.2", f"{relay.host} did not accept the message within {_SUBMIT_SECONDS:g} s")
        except (SmtpRefusal, ConnectionLost) as error:
            log.warning("the relay did not accept a message", relay=relay.host, why=str(error))
            result = error
        except (BareNewline, ValueError) as error:
            return SmtpReply(554, "5.6.0", f"The message can't be relayed: {error}")
        return rules.to_replies(relay.host, envelope.rcpt_to, result)

    def note_rejection(self, session: SmtpSession, mail_from: str, rcpt_to: str | None, reply: SmtpReply) -> None:
        """Do nothing: the history uses Postfix's log."""


async def serve(app: App, process: Process) -> None:
    """Serve until stopped; running deliveries get some seconds to finish."""
    limits = SmtpLimits.for_postfix(app.settings, app.data_dir)
    server = SmtpServer(RelayHandler(app), limits, "lmtp", app.settings.server.name)
    try:
        await server.listen_unix(process.paths.relay_socket, 0o660, grp.getgrnam("postfix").gr_gid)
    except (OSError, KeyError) as error:
        raise Failure(f"The process relay can't listen: {error}", permanent=True) from error
    process.report_ready()
    await process.stop_requested.wait()
    await server.close(_GRACE_SECONDS)
    await app.relay_pools.close()
