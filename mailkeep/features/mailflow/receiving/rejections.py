"""Recipients that were refused at SMTP, in the history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from msgspec import to_builtins

from mailkeep.app import App
from mailkeep.core.network import source_of
from mailkeep.db.pool import Conn
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.mailflow.receiving.model import InboundMail, RefusedCopy, RejectedRecipient, SpamVerdict
from mailkeep.features.mailflow.receiving.rules import REFUSED, client_of, header_summary, recipient_domain
from mailkeep.features.mailflow.receiving.wire import mail_spam
from mailkeep.features.record.analytics import service as analytics
from mailkeep.features.record.events import service as events
from mailkeep.features.record.events.model import Event
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.model import HeaderSummary, Message, MessageDomain, Recipient, ServerReply
from mailkeep.features.record.messages.rules import inbound_message

Unforwarded = Mapping[str, tuple[SpamVerdict, Sequence[str]]]
"""The verdict of domains that do not forward a message, with their recipients that would, by domain name."""

_MINUTE = 60
_ROWS_A_MINUTE = 60
_MAX_SOURCES = 10_000


class RejectionLimit:
    """At most 60 recorded rejections a minute for one client, and of 10,000 clients; the rest are only counted.

    A client is an IPv4 address or an IPv6 network (`source_of`).
    """

    def __init__(self) -> None:
        self._windows: dict[str, tuple[float, int]] = {}
        self._cleaned_at = 0.0

    def allow(self, client: str, at: datetime) -> bool:
        """Whether another rejection of this client may be recorded; if so, it is counted."""
        now, source = at.timestamp(), source_of(client)
        if now - self._cleaned_at >= _MINUTE:
            self._windows = {name: window for name, window in self._windows.items() if now - window[0] < _MINUTE}
            self._cleaned_at = now
        start, rows = self._windows.get(source, (now, 0))
        if now - start >= _MINUTE:
            start, rows = now, 0
        has_window = source in self._windows or len(self._windows) < _MAX_SOURCES
        if rows < _ROWS_A_MINUTE and has_window:
            self._windows[source] = (start, rows + 1)
            return True
        return False


async def record_rejection(app: App, rejected: RejectedRecipient) -> None:
    """Record a recipient refused at SMTP; the caller applies `RejectionLimit`."""
    at = app.clock()
    async with app.db.tx() as conn:
        await record_rejections(conn, [(at, rejected)])


async def record_rejections(conn: Conn, rejections: Sequence[tuple[datetime, RejectedRecipient]]) -> None:
    """Record recipients refused at SMTP, each with its time."""
    names = {recipient_domain(rejected.rcpt_to) for _, rejected in rejections}
    managed = {name: await domains.find_by_name(conn, name) for name in names}
    for at, rejected in rejections:
        domain = managed[recipient_domain(rejected.rcpt_to)]
        await messages.insert_messages(conn, [_rejected_message(at, rejected, domain)])
    counted = [(at, managed[recipient_domain(rejected.rcpt_to)]) for at, rejected in rejections]
    await analytics.count_rejected(conn, [(at, domain.id if domain else None) for at, domain in counted])


async def record_refused(conn: Conn, at: datetime, mail: InboundMail, copy: RefusedCopy) -> None:
    """Record a copy that a mailbox, or a domain that would forward it, refuses as spam, with its `mail.spam`."""
    reply = ServerReply(REFUSED.code, REFUSED.enhanced, REFUSED.text)
    rows = [Recipient(address, "rejected", 1, reply) for address in copy.recipients]
    verdict = replace(copy.verdict, action="reject")
    message = replace(
        inbound_message(at, mail.source, copy.domain, header_summary(mail), mail.mail_from, rows),
        status="rejected",
        queue_id=mail.queue_id,
        mailbox_id=copy.mailbox_id,
        client_address=client_of(mail),
        spam_score=verdict.score,
        spam_action=verdict.action,
        spam_symbols=list(verdict.symbols),
        spam_decided_by=to_builtins(verdict.decided_by),
    )
    await messages.insert_messages(conn, [message])
    await events.emit(conn, at, Event(message.domain_id, message.id, mail_spam(message, verdict)))


async def record_unforwarded(conn: Conn, at: datetime, mail: InboundMail, unforwarded: Unforwarded) -> None:
    """Record that domains, by name, do not forward a message to the destinations of their recipients."""
    for name, (verdict, originals) in unforwarded.items():
        domain = await domains.find_by_name(conn, name)
        row_domain = MessageDomain(domain.id if domain else None, name)
        await record_refused(conn, at, mail, RefusedCopy(row_domain, originals, verdict))


def _rejected_message(at: datetime, rejected: RejectedRecipient, domain: Domain | None) -> Message:
    reply = ServerReply(rejected.smtp_code, rejected.enhanced_code, rejected.text)
    header = HeaderSummary("", rejected.mail_from, [rejected.rcpt_to], [], "", 0)
    row_domain = MessageDomain(domain.id if domain else None, recipient_domain(rejected.rcpt_to))
    recipient = Recipient(rejected.rcpt_to, "rejected", 1, reply)
    message = replace(
        inbound_message(at, "smtp", row_domain, header, rejected.mail_from, [recipient]),
        client_address=rejected.client,
    )
    if denial := rejected.denial:
        decided_by = to_builtins(denial.decided_by)
        return replace(message, mailbox_id=denial.mailbox_id, spam_action="reject", spam_decided_by=decided_by)
    return message
