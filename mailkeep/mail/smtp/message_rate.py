"""The number of messages per minute from one client (`smtp.client_message_rate`), as Postfix counts them."""

from __future__ import annotations

import ipaddress
from datetime import datetime

from mailkeep.core.network import source_of
from mailkeep.mail.smtp.reply import SmtpReply

_MINUTE = 60
_MAX_SOURCES = 100_000


class MessageRate:
    """Counts MAIL commands of each client, an IPv4 address or an IPv6 network (`source_of`), for a minute after the
    first. Clients on this machine have no limit, nor has the 100,001st client of a minute.
    """

    def __init__(self) -> None:
        self._windows: dict[str, tuple[float, int]] = {}
        self._cleaned_at = 0.0

    def count(self, client: str, limit: int, at: datetime) -> SmtpReply | None:
        """Count a message; the refusal if the client has sent more than `limit` (0: no limit) in this minute."""
        if not limit or ipaddress.ip_address(client.partition("%")[0]).is_loopback:
            return None
        now, source = at.timestamp(), source_of(client)
        if now - self._cleaned_at >= _MINUTE:
            self._windows = {name: window for name, window in self._windows.items() if now - window[0] < _MINUTE}
            self._cleaned_at = now
        start, messages = self._windows.get(source, (now, 0))
        if now - start >= _MINUTE:
            start, messages = now, 0
        if source in self._windows or len(self._windows) < _MAX_SOURCES:
            self._windows[source] = start, messages + 1
        if messages < limit:
            return None
        return SmtpReply(450, "4.7.1", "Too many messages from this address in a minute: try again later")
