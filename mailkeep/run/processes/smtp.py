"""The built-in SMTP listener: accepts mail for managed domains (`mailflow/receiving`), and after STARTTLS and AUTH with
an API key mail to everywhere (`mailflow/smtp_submission`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from uuid import UUID

import structlog

from mailkeep.app import App
from mailkeep.core import failpoint
from mailkeep.core.errors import Unavailable
from mailkeep.core.ids import uuid7
from mailkeep.features.directory.routing.model import Route
from mailkeep.features.mailflow.filtering.model import Facts
from mailkeep.features.mailflow.filtering.service import HitCounter
from mailkeep.features.mailflow.receiving import rejections, service
from mailkeep.features.mailflow.receiving.filters import Accounts
from mailkeep.features.mailflow.receiving.model import Denial, InboundMail, RejectedRecipient
from mailkeep.features.mailflow.receiving.rules import DENIED, smtp_reply
from mailkeep.features.mailflow.smtp_submission import service as smtp_submission
from mailkeep.features.mailflow.smtp_submission.model import SubmittedMail
from mailkeep.features.mailflow.smtp_submission.service import Submissions
from mailkeep.mail.message.header_fields import MAX_HEAD, parse_head
from mailkeep.mail.message.headers import date_text
from mailkeep.mail.message.own_fields import first_octets, foreign_field_octets, without_foreign_fields
from mailkeep.mail.smtp.message_rate import MessageRate
from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.mail.smtp.server import SmtpServer, serve
from mailkeep.mail.smtp.session import SmtpEnvelope, SmtpLimits, SmtpLogin, SmtpSession
from mailkeep.mail.smtp.spool import ReceivedMessage
from mailkeep.run.runtime.http import SMTP, port_failure
from mailkeep.run.runtime.listener_certificate import ListenerCertificate
from mailkeep.settings import parse_endpoint
from mailkeep.web.metrics import Metrics

log = structlog.get_logger("mailkeep.smtp")

_ROUTES, _KEY, _DENIAL = "routes", "key", "denial"
END_SECONDS = 1.0
"""How often the keys of open sessions are checked."""


class InboundHandler:
    """Checks each recipient at RCPT; delivers and records the message before the 250."""

    def __init__(self, app: App, metrics: Metrics | None = None) -> None:
        self._app = app
        self.metrics = metrics or Metrics()
        self.hits = HitCounter(app)
        self._records: set[asyncio.Task[None]] = set()
        self._rejection_limit = rejections.RejectionLimit()
        self._submissions = Submissions(app)
        self._messages = MessageRate()
        self._open: dict[int, tuple[UUID, SmtpSession]] = {}  # sessions of API keys

    async def mail(self, session: SmtpSession, envelope: SmtpEnvelope) -> SmtpReply | None:
        """Accept any sender of incoming mail, and of an API key those that it may use."""
        session.state[_ROUTES] = {}
        key_id = _key_of(session)
        if key_id is not None:
            return await smtp_submission.check_sender(self._app, key_id, session.peer[0], envelope.mail_from)
        limit = self._app.settings.smtp.client_message_rate
        return self._messages.count(session.peer[0], limit, self._app.clock())

    async def rcpt(self, session: SmtpSession, address: str) -> SmtpReply:
        """The reply of routing and quota for a recipient; any valid one is accepted from an API key."""
        if _key_of(session) is not None:
            return smtp_submission.check_recipient(address) or smtp_reply("deliver")
        size, routes = session.envelope.size if session.envelope else None, _session_routes(session)
        copies = service.count_copies(self._app, routes)
        reply, route = await service.check_recipient(self._app, address, size or 0, copies)
        if reply.is_positive:
            facts = Facts(session.peer[0], session.envelope.mail_from if session.envelope else "", is_at_rcpt=True)
            domain = service.forwarding_domain(self._app, address)
            if denial := await service.check_sender(self._app, address, route, domain, facts, self.hits.count):
                session.state[_DENIAL] = denial  # for `note_rejection`, which follows
                return DENIED
            routes[address] = route
            failpoint.reach("inbound.recipient_taken")
        return reply

    async def data(self, session: SmtpSession, message: ReceivedMessage) -> SmtpReply | Sequence[SmtpReply]:
        """Deliver and record the message, without the verdicts and `X-Mailkeep-*` fields that the sender wrote."""
        envelope = session.envelope
        assert envelope is not None
        failpoint.reach("inbound.data_read")
        key_id = _key_of(session)
        if key_id is not None:
            at = self._app.clock()
            trace = self._received_field(session, uuid7(at).hex, at)
            recipients = list(dict.fromkeys(envelope.rcpt_to))
            return await self._submissions.accept(
                SubmittedMail(key_id, session.peer[0], envelope.mail_from, recipients, message, trace)
            )
        content = partial(without_foreign_fields, message.chunks)
        removed_octets = await asyncio.to_thread(foreign_field_octets, message.chunks())
        at = self._app.clock()
        queue_id = uuid7(at).hex
        routes = _session_routes(session)
        mail = InboundMail(
            queue_id=queue_id,
            mail_from=envelope.mail_from,
            recipients=[(address, routes[address]) for address in dict.fromkeys(envelope.rcpt_to)],
            head=parse_head(first_octets(content(), MAX_HEAD) if removed_octets else message.head(MAX_HEAD)),
            size=message.size - removed_octets,
            content=content if removed_octets else message.chunks,
            source="smtp",
            trace=self._received_field(session, queue_id, at),
            client_address=session.peer[0],
        )
        accounts = Accounts(self.hits.count, lambda: self._rejection_limit.allow(session.peer[0], at))
        return await service.accept(self._app, mail, accounts)

    def _received_field(self, session: SmtpSession, queue_id: str, at: datetime) -> bytes:
        """The Received field (RFC 5321 §4.4) with the protocol name of RFC 3848."""
        host = self._app.settings.server.name
        peer = session.peer[0]
        address_literal = f"[IPv6:{peer}]" if ":" in peer else f"[{peer}]"
        utf8 = bool(session.envelope and session.envelope.smtputf8)
        protocol = "UTF8SMTP" if utf8 else ("ESMTP" if session.extended else "SMTP")
        protocol += "S" * session.is_encrypted + "A" * session.is_authenticated
        helo = session.helo if session.helo.isascii() and session.helo.isprintable() else "unknown"
        return (
            f"Received: from {helo[:255]} ({address_literal})\r\n\tby {host} (Mailkeep) with {protocol} id {queue_id};"
            f"\r\n\t{date_text(at)}\r\n"
        ).encode()

    def note_rejection(self, session: SmtpSession, mail_from: str, rcpt_to: str | None, reply: SmtpReply) -> None:
        """Count a rejection, and record it in the background."""
        if _key_of(session) is not None:
            return
        denial = session.state.pop(_DENIAL, None)
        self._app.counters.add("deliveries", "inbound", "rejected")
        # A message refused by filters has its rows.
        if rcpt_to is None or reply == smtp_reply("refused"):
            return
        if not self._rejection_limit.allow(session.peer[0], self._app.clock()):
            return
        rejection = RejectedRecipient(
            session.peer[0],
            mail_from,
            rcpt_to,
            reply.code,
            reply.enhanced,
            reply.text,
            denial if isinstance(denial, Denial) else None,
        )
        task = asyncio.create_task(self._record(rejection))
        self._records.add(task)
        task.add_done_callback(self._records.discard)

    async def _record(self, rejection: RejectedRecipient) -> None:
        try:
            await rejections.record_rejection(self._app, rejection)
        except Unavailable:
            log.warning("a rejection was not recorded: the database is not available", rcpt_to=rejection.rcpt_to)
        except Exception:
            log.exception("a rejection was not recorded", rcpt_to=rejection.rcpt_to)

    async def authenticate(self, session: SmtpSession, user: str, password: str) -> bool:
        """Whether the client presents a valid API key."""
        key_id = await smtp_submission.log_in(self._app, user, password, session.peer[0])
        if key_id is not None:
            session.state[_KEY] = key_id
            self._open[id(session)] = key_id, session
        return key_id is not None

    def forget(self, session: SmtpSession) -> None:
        """The session has ended."""
        self._open.pop(id(session), None)

    async def end_sessions(self) -> None:
        """End the sessions whose keys are not valid any more."""
        if self._open:
            valid = await smtp_submission.filter_valid(self._app, {key_id for key_id, _ in self._open.values()})
            for key_id, session in list(self._open.values()):
                if key_id not in valid:
                    log.info("ending a session", login=f"key:{key_id}", client=session.peer[0])
                    session.end()

    async def wait_for_records(self) -> None:
        """Wait at most two seconds until all rejections are recorded."""
        if self._records:
            await asyncio.wait(self._records, timeout=2)


def _session_routes(session: SmtpSession) -> dict[str, Route]:
    routes = session.state.setdefault(_ROUTES, {})
    assert isinstance(routes, dict)
    return routes  # pyright: ignore[reportUnknownVariableType] only this module puts it there


def _key_of(session: SmtpSession) -> UUID | None:
    key_id = session.state.get(_KEY)
    return key_id if isinstance(key_id, UUID) else None


async def start(app: App, handler: InboundHandler, certificate: ListenerCertificate) -> SmtpServer:
    """Listen on `smtp.listen`."""
    host, port = parse_endpoint(app.settings.smtp.listen)
    limits = SmtpLimits(
        message_size=app.settings.limits.largest_message_bytes,
        idle_seconds=app.settings.smtp.timeout_seconds,
        sessions=app.settings.smtp.max_sessions,
        sessions_per_source=app.settings.smtp.max_connections_per_address,
        spool_folder=app.data_dir / "tmp",
    )
    try:
        login = SmtpLogin(certificate.context, handler.authenticate)
        server = await serve(host, port, handler, limits, hostname=app.settings.server.name, login=login)
    except OSError as error:
        raise port_failure(SMTP, host, port, error) from error
    server.on_session = partial(handler.metrics.count_smtp_session, "inbound")
    server.on_session_end = handler.forget
    return server
