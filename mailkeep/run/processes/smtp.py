"""The built-in SMTP listener: mail for managed domains, judged at RCPT, delivered before it is taken."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from datetime import datetime
from functools import partial

import structlog

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.errors import Unavailable
from mailkeep.core.ids import uuid7
from mailkeep.features.directory.routing.model import Route
from mailkeep.features.mailflow.abuse import service as abuse
from mailkeep.features.mailflow.receiving import rejections, service
from mailkeep.features.mailflow.receiving.model import InboundMail, RejectedRecipient
from mailkeep.mail.message.header_fields import MAX_HEAD, parse_head
from mailkeep.mail.message.headers import date_text
from mailkeep.mail.message.own_fields import first_octets, own_field_octets, without_own_fields
from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.mail.smtp.server import SmtpServer, serve
from mailkeep.mail.smtp.session import SmtpEnvelope, SmtpLimits, SmtpSession
from mailkeep.mail.smtp.spool import ReceivedMessage
from mailkeep.run.runtime.http import SMTP, port_failure
from mailkeep.settings import parse_endpoint
from mailkeep.web.metrics import Metrics

log = structlog.get_logger("mailkeep.smtp")

_ROUTES = "routes"


class InboundHandler:
    """Asks routing at RCPT; at the end of data delivers and files, then takes the message."""

    def __init__(self, app: App, metrics: Metrics | None = None) -> None:
        self._app = app
        self.metrics = metrics or Metrics()
        self._notes: set[asyncio.Task[None]] = set()
        self._rejection_limit = rejections.RejectionLimit()

    async def mail(self, session: SmtpSession, envelope: SmtpEnvelope) -> SmtpReply | None:
        """Any sender may write to us."""
        session.state[_ROUTES] = {}
        return None

    async def rcpt(self, session: SmtpSession, address: str) -> SmtpReply:
        """The routing function's word, and whether there is room."""
        declared = session.envelope.size if session.envelope else None
        reply, route = await service.check_recipient(self._app, address, declared or 0, self._copies(session))
        if reply.is_positive:
            _routes(session)[address] = route
            failpoint.reach("inbound.recipient_taken")
        return reply

    async def data(self, session: SmtpSession, message: ReceivedMessage) -> SmtpReply | Sequence[SmtpReply]:
        """Delivered, synced and filed before the 250."""
        envelope = session.envelope
        assert envelope is not None
        failpoint.reach("inbound.data_read")
        content = partial(without_own_fields, message.chunks)
        stripped = await asyncio.to_thread(own_field_octets, message.chunks())
        head = parse_head(first_octets(content(), MAX_HEAD) if stripped else message.head(MAX_HEAD))
        if head.hops > service.MAX_HOPS:
            return SmtpReply(554, "5.4.6", "Too many hops: the message goes round and round")
        at = self._app.clock()
        queue_id = uuid7(at).hex
        routes = _routes(session)
        arrived = InboundMail(
            queue_id=queue_id,
            mail_from=envelope.mail_from,
            recipients=[(address, routes[address]) for address in dict.fromkeys(envelope.rcpt_to)],
            head=head,
            size=message.size - stripped,
            content=content if stripped else message.chunks,
            source="smtp",
            trace=self._received_field(session, queue_id, at),
        )
        if refused := await self._charge(session, queue_id, at):
            return refused
        outcome = "unknown_user"
        try:
            outcome = await service.deliver(self._app, arrived)
        finally:
            if outcome != "deliver":
                await self._take_back(session, queue_id)
        if outcome != "deliver":
            return service.reply_to(outcome)
        return SmtpReply(250, "2.0.0", f"Ok: queued as {queue_id}")

    def _copies(self, session: SmtpSession) -> dict[str, int]:
        """The external copies of the recipients so far, by the domain that forwards them."""
        found: dict[str, int] = {}
        for address, route in _routes(session).items():
            if route.external:
                domain = service.forwarding_domain(self._app, address)
                found[domain] = found.get(domain, 0) + route.external
        return found

    async def _charge(self, session: SmtpSession, queue_id: str, at: datetime) -> SmtpReply | None:
        copies = self._copies(session)
        refusal = await abuse.charge_forwards(self._app, at, queue_id, copies) if copies else None
        if refusal is None:
            return None
        for_good = (refusal.details or {}).get("reason") == "message_above_threshold"
        return SmtpReply(550 if for_good else 450, "5.7.1" if for_good else "4.7.1", refusal.message)

    async def _take_back(self, session: SmtpSession, queue_id: str) -> None:
        if self._copies(session):
            with contextlib.suppress(Unavailable):
                async with self._app.db.autocommit() as conn:
                    await abuse.uncount_forwards(conn, [queue_id])

    def _received_field(self, session: SmtpSession, queue_id: str, at: datetime) -> bytes:
        """The trace field (RFC 5321 §4.4); `with` as RFC 3848 has it."""
        host = self._app.settings.server.hostname or "localhost"
        peer = session.peer[0]
        literal = f"[IPv6:{peer}]" if ":" in peer else f"[{peer}]"
        utf8 = bool(session.envelope and session.envelope.smtputf8)
        protocol = "UTF8SMTP" if utf8 else ("ESMTP" if session.extended else "SMTP")
        helo = session.helo if session.helo.isascii() and session.helo.isprintable() else "unknown"
        return (
            f"Received: from {helo[:255]} ({literal})\r\n\tby {host} (Mailkeep) with {protocol} id {queue_id};"
            f"\r\n\t{date_text(at)}\r\n"
        ).encode()

    def note_rejection(self, session: SmtpSession, mail_from: str, rcpt_to: str | None, reply: SmtpReply) -> None:
        """Keep what was refused for a recipient, beside the session."""
        self._app.counters.add("deliveries", "inbound", "rejected")
        if rcpt_to is None or not self._rejection_limit.allow(session.peer[0], self._app.clock()):
            return
        told = RejectedRecipient(session.peer[0], mail_from, rcpt_to, reply.code, reply.enhanced, reply.text)
        task = asyncio.create_task(self._record(told))
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)

    async def _record(self, told: RejectedRecipient) -> None:
        try:
            await rejections.record_rejection(self._app, told)
        except Unavailable:
            log.warning("a rejection was not recorded: the database is away", rcpt_to=told.rcpt_to)
        except Exception:
            log.exception("a rejection was not recorded", rcpt_to=told.rcpt_to)

    async def settle(self) -> None:
        """Wait for the rejections that are still being written."""
        if self._notes:
            await asyncio.wait(self._notes, timeout=2)


def _routes(session: SmtpSession) -> dict[str, Route]:
    found = session.state.setdefault(_ROUTES, {})
    assert isinstance(found, dict)
    return found  # pyright: ignore[reportUnknownVariableType] only this module puts it there


async def start(app: App, handler: InboundHandler) -> SmtpServer:
    """Listen where the settings say."""
    host, port = parse_endpoint(app.settings.smtp.listen)
    limits = SmtpLimits(
        message_size=app.settings.limits.largest_message_bytes,
        idle_seconds=app.settings.smtp.timeout_seconds,
        sessions=app.settings.smtp.max_sessions,
        sessions_per_source=app.settings.smtp.max_connections_per_address,
        spool_folder=app.data_dir / "tmp",
    )
    try:
        server = await serve(host, port, handler, limits, hostname=app.settings.server.hostname or "localhost")
    except OSError as error:
        raise port_failure(SMTP, host, port, error) from error
    server.on_session = partial(handler.metrics.smtp_session, "inbound")
    return server
