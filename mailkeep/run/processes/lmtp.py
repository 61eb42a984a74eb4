"""The process `lmtp`: between Postfix and Dovecot (`features/mailflow/local_delivery`)."""

from __future__ import annotations

import asyncio
import grp
from collections.abc import Mapping, Sequence
from functools import partial
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Failure
from mailkeep.core.ids import uuid7
from mailkeep.features.directory.mailbox_usage.service import ArrivalRecorder
from mailkeep.features.mailflow.filtering.service import HitCounter
from mailkeep.features.mailflow.local_delivery import service as inbox
from mailkeep.features.mailflow.local_delivery.journal import Journal
from mailkeep.features.mailflow.local_delivery.model import LmtpRecipient
from mailkeep.features.mailflow.local_delivery.rules import (
    client_address,
    compose_copy,
    compose_external,
    is_local,
    is_sender_authenticated,
    read_queue_id,
)
from mailkeep.features.mailflow.receiving.model import InboundMail, SpamVerdict
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.mail.message import srs
from mailkeep.mail.message.header_fields import MAX_HEAD, parse_head
from mailkeep.mail.smtp.client import AcceptedSubmission, OutgoingEnvelope
from mailkeep.mail.smtp.connection import ConnectionLost, Relay, SmtpRefusal, Timeouts
from mailkeep.mail.smtp.dialogue import RECIPIENT_OK
from mailkeep.mail.smtp.lmtp_client import LmtpClient
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.mail.smtp.server import SmtpServer
from mailkeep.mail.smtp.session import SmtpEnvelope, SmtpLimits, SmtpSession
from mailkeep.mail.smtp.spool import ReceivedMessage
from mailkeep.run.runtime.process import Process

log = structlog.get_logger("mailkeep.lmtp")

_GRACE_SECONDS = 4.0
_CONNECTIONS = 4
_TIMEOUTS = Timeouts(acceptance=120.0)  # no filter; less than Postfix waits for our answer
_RECIPIENTS = "recipients"
_NO_MAILBOXES = SmtpReply(451, "4.3.0", "The mailboxes are not available, try again later")


class LmtpHandler:
    """Accepts every recipient, and replies for each when it has read the message."""

    def __init__(
        self,
        app: App,
        dovecot: LmtpClient,
        verified: LmtpClient,
        postfix: SmtpPool,
        report_usage: inbox.ReportUsage,
        journal: Journal,
    ) -> None:
        """`postfix`: where external copies are returned to."""
        self._app = app
        self._dovecot = dovecot
        self._verified = verified
        self._postfix = postfix
        self.hits = HitCounter(app)
        self._recorder = inbox.DeliveryRecorder(app, report_usage, journal, self.hits, app.clock())
        self._rewriter = srs.rewriter(app.vault, app.settings)

    async def mail(self, session: SmtpSession, envelope: SmtpEnvelope) -> SmtpReply | None:
        """Accept any sender: Postfix has checked it."""
        session.state[_RECIPIENTS] = []
        return None

    async def rcpt(self, session: SmtpSession, address: str) -> SmtpReply:
        """Accept any recipient; the reply after the data says whether it has a mailbox."""
        _session_recipients(session).append(LmtpRecipient(address, session.original_recipient or address))
        return RECIPIENT_OK

    async def data(self, session: SmtpSession, message: ReceivedMessage) -> SmtpReply | Sequence[SmtpReply]:
        """Deliver and record the message before the 250."""
        envelope = session.envelope
        assert envelope is not None
        head = parse_head(message.head(MAX_HEAD))
        mail = InboundMail(
            # A retry has the same queue ID; with a new one it would create a second copy.
            queue_id=read_queue_id(session.forwarded, head) or uuid7(self._app.clock()).hex,
            # SRS rewrites senders for external recipients only.
            mail_from=self._rewriter.restore(envelope.mail_from) or envelope.mail_from,
            recipients=[],
            head=head,
            size=message.size,
            content=message.chunks,
            source="system" if is_local(session.forwarded) else "smtp",
            client_address=client_address(session.forwarded),
        )
        try:
            recipients = _session_recipients(session)
            # Of several addresses that lead to a mailbox, the first one counts.
            originals = {each.address: each.original for each in reversed(recipients)}
            hand_over = partial(self._deliver, mail, originals)
            return_copies = partial(self._return_copies, mail, envelope.mail_from)
            return await inbox.deliver(self._app, self._recorder, mail, recipients, hand_over, return_copies)
        except (ConnectionLost, SmtpRefusal) as error:
            log.warning("Dovecot did not accept a message", queue_id=mail.queue_id, why=str(error))
            return _NO_MAILBOXES

    async def _deliver(
        self,
        mail: InboundMail,
        originals: Mapping[str, str],
        addresses: Sequence[str],
        since: float | None,
        verdict: SpamVerdict | None,
    ) -> list[SmtpReply]:
        content = compose_copy(mail.queue_id, since, verdict, mail.content())
        # No script replies to the null sender; redirected mail with it must not be dropped as a reply.
        may_reply = not mail.mail_from or is_sender_authenticated(mail)
        dovecot = self._verified if may_reply else self._dovecot
        return await dovecot.deliver(mail.mail_from, addresses, content, originals)

    async def _return_copies(
        self, mail: InboundMail, sender: str, marker: UUID, addresses: Sequence[str]
    ) -> AcceptedSubmission:
        """Submit external copies, with the rewritten sender (SRS) of the message."""
        eight_bit = await asyncio.to_thread(lambda: any(not chunk.isascii() for chunk in mail.content()))
        utf8 = not all(address.isascii() for address in (sender, *addresses))
        envelope = OutgoingEnvelope(sender, addresses, eight_bit=eight_bit or utf8, smtputf8=utf8)
        return await self._postfix.submit(envelope, compose_external(marker, mail.content()))

    def note_rejection(self, session: SmtpSession, mail_from: str, rcpt_to: str | None, reply: SmtpReply) -> None:
        """Do nothing: the delivery is in the history, or Postfix retries it."""


def _session_recipients(session: SmtpSession) -> list[LmtpRecipient]:
    recipients = session.state[_RECIPIENTS]
    assert isinstance(recipients, list)
    return recipients  # pyright: ignore[reportUnknownVariableType] only this module puts it there


async def serve(app: App, process: Process) -> None:
    """Serve until stopped; running deliveries get some seconds to finish."""
    hostname = app.settings.server.name
    dovecot = LmtpClient(process.paths.dovecot_lmtp, hostname)
    verified = LmtpClient(process.paths.dovecot_lmtp_verified, hostname)
    postfix = SmtpPool(Relay(str(process.paths.returned_smtp), 0, helo=hostname, timeouts=_TIMEOUTS), size=_CONNECTIONS)
    limits = SmtpLimits.for_postfix(app.settings, app.data_dir, mta_extensions=True)
    arrivals = ArrivalRecorder(app)
    try:
        journal = Journal(process.paths.lmtp_journal, app.clock)
    except OSError as error:
        raise Failure(f"The process lmtp can't open its journal: {error}") from error
    handler = LmtpHandler(app, dovecot, verified, postfix, arrivals.add, journal)
    server = SmtpServer(handler, limits, "lmtp", hostname)
    try:
        await server.listen_unix(process.paths.lmtp_socket, 0o660, grp.getgrnam("postfix").gr_gid)
    except (OSError, KeyError) as error:
        raise Failure(f"The process lmtp can't listen: {error}", permanent=True) from error
    writing = asyncio.create_task(arrivals.keep_writing()), asyncio.create_task(handler.hits.run())
    process.report_ready()
    await process.stop_requested.wait()
    await server.close(_GRACE_SECONDS)
    await dovecot.close()
    await verified.close()
    await postfix.close()
    await cancel_all(*writing)
    journal.close()
