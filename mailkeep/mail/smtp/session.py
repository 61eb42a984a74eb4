"""SMTP and LMTP sessions: the product's decisions (`SmtpHandler`), the session's data, and the limits.

`server.serve` runs a server; `dialogue` implements the protocol and calls the handler. An error on our side is never a
permanent rejection: if a handler raises, the reply is 451 4.3.0, and the exception is logged.
"""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.mail.smtp.spool import ReceivedMessage
from mailkeep.settings import Settings


@dataclass(frozen=True, slots=True)
class SmtpLimits:
    """Limits per client and in total. Sizes in bytes; 0 sessions means no limit."""

    message_size: int = 50 * 2**20
    drain_size: int = 200 * 2**20  # bytes of an oversized message that are read to find its end
    recipients: int = 1000
    errors: int = 20  # protocol errors since the last accepted message
    refused_recipients: int = 100  # since the last accepted message
    idle_commands: int = 200  # NOOP, RSET, VRFY, EHLO and MAIL since the last accepted message
    command_line: int = 512
    path_line: int = 1024  # MAIL and RCPT, which extensions make longer (RFC 5321 §4.5.3.1.4)
    header_line: int = 100 * 1024
    idle_seconds: float = 300.0
    session_seconds: float = 3600.0
    linger_seconds: float = 30.0
    sessions: int = 500
    sessions_per_source: int = 50
    memory: int = 256 * 1024  # of a message's content; larger messages go to a file
    spool_folder: Path | None = None
    mta_extensions: bool = False  # offers XFORWARD and DSN (ORCPT), which only our own MTA may use

    @classmethod
    def for_postfix(cls, settings: Settings, data_dir: Path, *, mta_extensions: bool = False) -> SmtpLimits:
        """Limits of a server that only our own Postfix connects to: Postfix has already limited the messages."""
        return cls(
            message_size=settings.limits.largest_queued_message_bytes,
            drain_size=settings.limits.message_size_bytes * 4,
            recipients=5000,
            refused_recipients=5000,
            errors=1000,
            idle_commands=1000,
            header_line=8 << 20,
            session_seconds=86_400.0,
            sessions=0,
            sessions_per_source=0,
            spool_folder=data_dir / "tmp",
            mta_extensions=mta_extensions,
        )


@dataclass(slots=True)
class SmtpEnvelope:
    """The open transaction. `mail_from` is empty for the null reverse path; recipients are those accepted."""

    mail_from: str
    size: int | None
    body: Literal["7BIT", "8BITMIME"] | None
    smtputf8: bool
    rcpt_to: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class SmtpSession:
    """The data of a session. `state` belongs to the handler and lives as long as the connection."""

    protocol: Literal["smtp", "lmtp"]
    peer: tuple[str, int]
    helo: str = ""
    extended: bool = False
    envelope: SmtpEnvelope | None = None
    forwarded: dict[str, str] = field(default_factory=dict[str, str])  # attributes of XFORWARD, by upper-case name
    original_recipient: str | None = None  # ORCPT of the current RCPT: the recipient before aliases
    is_encrypted: bool = False
    is_authenticated: bool = False
    failed_logins: int = 0
    end: Callable[[], None] = lambda: None  # ends the session with 421 as soon as it waits for the client
    state: dict[str, object] = field(default_factory=dict[str, object])


class SmtpHandler(Protocol):
    """Decides on senders, recipients and messages. Exceptions become 451 4.3.0; a 421 or 521 also ends the session."""

    async def mail(self, session: SmtpSession, envelope: SmtpEnvelope) -> SmtpReply | None:
        """The reply to MAIL; None means 250. If it is positive, the envelope becomes the session's."""
        ...

    async def rcpt(self, session: SmtpSession, address: str) -> SmtpReply:
        """The reply to RCPT. `address` is raw: `local@domain`, perhaps quoted, or postmaster."""
        ...

    async def data(self, session: SmtpSession, message: ReceivedMessage) -> SmtpReply | Sequence[SmtpReply]:
        """Accept the message. In LMTP one reply per recipient of `envelope.rcpt_to` in order, or one for all."""
        ...

    def note_rejection(self, session: SmtpSession, mail_from: str, rcpt_to: str | None, reply: SmtpReply) -> None:
        """Record a rejection of the sender (`rcpt_to` None), a recipient, or the message for a recipient."""
        ...


@dataclass(frozen=True, slots=True)
class SmtpLogin:
    """STARTTLS (RFC 3207) and, after it, AUTH PLAIN and LOGIN (RFC 4954) of a server.

    `context` returns the TLS context for a handshake. `authenticate` returns whether a user name and password are
    right, after the delay that it wants; it may raise, which is 454. After `attempts` failures a session ends.
    """

    context: Callable[[], ssl.SSLContext]
    authenticate: Callable[[SmtpSession, str, str], Awaitable[bool]]
    attempts: int = 3
    handshake_seconds: float = 30.0
