"""Recipients that were refused at SMTP, in the history."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from mailkeep.app import App
from mailkeep.core.network import source_of
from mailkeep.db.pool import Conn
from mailkeep.features.directory.domains import service as domains
from mailkeep.features.directory.domains.model import Domain
from mailkeep.features.mailflow.receiving.model import RejectedRecipient
from mailkeep.features.mailflow.receiving.rules import recipient_domain
from mailkeep.features.record.messages import service as messages
from mailkeep.features.record.messages.model import HeaderSummary, Message, MessageDomain, Recipient, ServerReply
from mailkeep.features.record.messages.rules import inbound_message

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


def _rejected_message(at: datetime, rejected: RejectedRecipient, domain: Domain | None) -> Message:
    reply = ServerReply(rejected.smtp_code, rejected.enhanced_code, rejected.text)
    header = HeaderSummary("", rejected.mail_from, [rejected.rcpt_to], [], "", 0)
    row_domain = MessageDomain(domain.id if domain else None, recipient_domain(rejected.rcpt_to))
    recipient = Recipient(rejected.rcpt_to, "rejected", 1, reply)
    return inbound_message(at, "smtp", row_domain, header, rejected.mail_from, [recipient])
