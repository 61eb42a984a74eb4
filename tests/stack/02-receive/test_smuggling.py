"""Only <CR><LF>.<CR><LF> ends a message, also from this machine."""

from __future__ import annotations

import contextlib

import pytest

from tests.stack.harness import Stack


@pytest.mark.parametrize("number, end", list(enumerate([b"\n.\n", b"\r\n.\n", b"\n.\r\n", b"\r.\r"])))
def test_a_client_on_loopback_smuggles_no_second_message(stack: Stack, number: int, end: bytes) -> None:
    """Clients on loopback, such as a proxy, could end a message with a bare LF."""
    domain = stack.make_domain(f"smuggled{number}.test")
    address = stack.make_mailbox(domain, "alice")["address"]
    second = f"MAIL FROM:<x@remote.test>\r\nRCPT TO:<{address}>\r\nDATA\r\n".encode()
    with contextlib.closing(stack.smtp()) as client:
        client.mail("someone@remote.test")
        client.rcpt(address)
        assert client.docmd("DATA")[0] == 354
        client.send(b"Subject: first\r\n\r\nHello." + end + second + b"Subject: second\r\n\r\nHello.\r\n.\r\n")
        assert client.getreply()[0] == 250
        # The next reply is for NOOP: nothing of the message was read as a command.
        assert client.docmd("NOOP") == (250, b"2.0.0 Ok")
