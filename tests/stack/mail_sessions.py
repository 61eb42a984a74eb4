"""Sessions of mail clients with the instance of the full profile, one of each protocol."""

from __future__ import annotations

import contextlib
import poplib
import smtplib
import socket
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass

from tests.stack.harness import ADDRESS, PASSWORD, Stack, trusting

PROTOCOLS = ("imap", "pop3", "sieve", "smtp")
_SECONDS = 30.0


@dataclass
class Sessions:
    """A session of each protocol for a mailbox."""

    address: str
    imap: socket.socket
    pop3: socket.socket
    sieve: socket.socket
    smtp: smtplib.SMTP

    def works(self, protocol: str) -> bool:
        """Whether the session can still be used."""
        if protocol == "smtp":
            return self.begin_message()[0] == 250
        command, answer = {"imap": (b"a NOOP", b"a OK"), "pop3": (b"NOOP", b"+OK"), "sieve": (b"NOOP", b"OK")}[protocol]
        connection = self._connection(protocol)
        try:
            connection.sendall(command + b"\r\n")
            return answer in connection.recv(4096)
        except OSError:
            return False

    def begin_message(self) -> tuple[int, bytes]:
        """The reply to a recipient in a new transaction."""
        try:
            self.smtp.rset()
            self.smtp.mail(self.address)
            return self.smtp.rcpt("friend@remote.test")
        except smtplib.SMTPServerDisconnected:
            return 0, b""

    def wait_for_end(self, protocol: str) -> None:
        """Wait until the server has closed the session."""
        connection = self._connection(protocol)
        while connection.recv(4096):
            pass

    def _connection(self, protocol: str) -> socket.socket:
        return {"imap": self.imap, "pop3": self.pop3, "sieve": self.sieve}[protocol]


@contextlib.contextmanager
def open_sessions(stack: Stack, address: str, password: str = PASSWORD) -> Iterator[Sessions]:
    """Open a session of each protocol."""
    with contextlib.ExitStack() as held:
        imap = stack.imap(address, password)
        held.callback(imap.shutdown)
        pop3 = poplib.POP3_SSL(ADDRESS, stack.ports["pop3s"], context=trusting(), timeout=_SECONDS)
        held.callback(pop3.close)
        pop3.user(address)
        pop3.pass_(password)
        sieve = held.enter_context(open_managesieve(stack, address, password))
        smtp = stack.login(address, password)
        held.callback(smtp.close)
        imap.sock.settimeout(_SECONDS)
        found = Sessions(address, imap.sock, pop3.sock, sieve, smtp)
        assert all(found.works(protocol) for protocol in PROTOCOLS)
        yield found


def open_managesieve(stack: Stack, address: str, password: str = PASSWORD) -> socket.socket:
    """A ManageSieve session (RFC 5804). ConnectionRefusedError with the answer if the password is refused."""
    connection = socket.create_connection((ADDRESS, stack.ports["sieve"]), timeout=_SECONDS)

    def read_response() -> None:
        text = b""
        while not text.startswith(b"OK") and b"\r\nOK" not in text:
            received = connection.recv(4096)
            assert received, text
            text += received
            if text.startswith(b"NO"):
                raise ConnectionRefusedError(text.decode())

    read_response()
    connection.sendall(b"STARTTLS\r\n")
    read_response()
    connection = trusting().wrap_socket(connection)
    read_response()
    credentials = b64encode(f"\0{address}\0{password}".encode()).decode()
    connection.sendall(f'AUTHENTICATE "PLAIN" "{credentials}"\r\n'.encode())
    try:
        read_response()
    except BaseException:
        connection.close()
        raise
    return connection
