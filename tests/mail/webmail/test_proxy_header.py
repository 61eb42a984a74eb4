"""The client's address in PROXY headers."""

from __future__ import annotations

import pytest

from mailkeep.mail.webmail.proxy_header import read_client, write_header


@pytest.mark.parametrize(
    "peer, client",
    [
        ("64:ff9b::cb00:7109", "203.0.113.9"),
        ("2001:db8::5", "2001:db8::5"),
        ("::1", "::1"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("fe80::1%lo", "fe80::1"),
    ],
)
def test_client_behind_a_source_address(peer: str, client: str) -> None:
    assert read_client(peer) == client


def test_header_of_an_ipv4_client() -> None:
    content = b"\xcb\x00\x71\x09\x7f\x00\x00\x01\x12\x67\x00\x00"
    assert write_header("203.0.113.9", 4711) == b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0c" + content


def test_header_with_a_mark_counts_as_protected() -> None:
    header = write_header("2001:db8::5", 4711, "m.example")
    assert header[12:16] == b"\x21\x21\x00\x38"
    assert header[16 + 36 :] == b"\x02\x00\x09m.example\x20\x00\x05\x01\x00\x00\x00\x01"
