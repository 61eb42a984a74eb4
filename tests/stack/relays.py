"""External relays with TLS and login; accepted messages are kept in memory."""

from __future__ import annotations

import ssl
import threading
from dataclasses import dataclass, field

import trustme
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from tests.support.ports import free_port


@dataclass
class Peer:
    """A relay on an address of loopback, whose certificate is valid for its name.

    `logins` are those that were tried, `taken` (sender, recipients, content) of what it accepted. Local parts `bounce`
    are refused at RCPT.
    """

    authority: trustme.CA
    name: str
    address: str
    password: str = "right"
    tls: bool = True
    logins: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    taken: list[tuple[str, list[str], bytes]] = field(default_factory=list[tuple[str, list[str], bytes]])
    lock: threading.Lock = field(default_factory=threading.Lock)
    port: int = 0

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self, _server: SMTP, session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        if self.tls and not session.authenticated:
            return "530 5.7.0 Authentication required"
        if address.startswith("bounce"):
            return "550 5.1.1 nobody of this name"
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 Ok"

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802
        assert isinstance(envelope.original_content, bytes)
        with self.lock:
            self.taken.append((envelope.mail_from or "", list(envelope.rcpt_tos), envelope.original_content))
        return f"250 2.0.0 Ok: queued as {self.name}-{len(self.taken)}"

    def authenticate(
        self, _server: SMTP, _session: Session, _envelope: Envelope, _mechanism: str, data: LoginPassword
    ) -> AuthResult:
        given = (data.login.decode(), data.password.decode())
        with self.lock:
            self.logins.append(given)
        return AuthResult(success=given[1] == self.password, handled=False)

    def start(self) -> Controller:
        """Serve; the controller ends it."""
        self.port = free_port(self.address)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.authority.issue_cert(self.name).configure_cert(context)
        controller = Controller(
            self,
            hostname=self.address,
            port=self.port,
            tls_context=context if self.tls else None,
            authenticator=self.authenticate,
            auth_required=False,
            auth_require_tls=self.tls,
            server_hostname=self.name,
        )
        controller.start()
        return controller
