"""External mail servers with STARTTLS on port 25 of loopback addresses, whose certificate can be changed."""

from __future__ import annotations

import hashlib
import ssl
import threading
from dataclasses import dataclass, field

import trustme
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


@dataclass
class TlsPeer:
    """A server. `taken` has the recipient and whether TLS was used, of each message that it accepted."""

    authority: trustme.CA
    address: str
    taken: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    lock: threading.Lock = field(default_factory=threading.Lock)
    context: ssl.SSLContext = field(default_factory=lambda: ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))

    def use_certificate(self, name: str) -> str:
        """Use a new certificate for a name from now on; returns its TLSA record (RFC 6698, 3 1 1)."""
        certificate = self.authority.issue_cert(name)
        certificate.configure_cert(self.context)
        leaf = x509.load_pem_x509_certificate(certificate.cert_chain_pems[0].bytes())
        key = leaf.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return f"3 1 1 {hashlib.sha256(key).hexdigest()}"

    async def handle_DATA(self, _server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        with self.lock:
            self.taken += [(recipient, session.ssl is not None) for recipient in envelope.rcpt_tos]
        return "250 2.0.0 Ok"

    def start(self) -> Controller:
        """Serve; the controller ends it."""
        controller = Controller(self, hostname=self.address, port=25, tls_context=self.context)
        controller.start()
        return controller
