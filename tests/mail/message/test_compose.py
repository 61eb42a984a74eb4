"""Composing: structure, sizes, dot-stuffing, SMTPUTF8, and one message byte for byte."""

from __future__ import annotations

import tracemalloc
from base64 import b64encode
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart
from typing import Any

import pytest

from mailkeep.core.address import parse_address
from mailkeep.core.errors import InvalidField, InvalidHeader
from mailkeep.mail.message.attachments import OutgoingAttachment
from mailkeep.mail.message.base64_content import Base64
from mailkeep.mail.message.compose import ComposedMessage, OutgoingMessage, compose
from mailkeep.mail.message.headers import MailboxAddress
from mailkeep.mail.message.unsubscribe import Unsubscribe

ALICE = MailboxAddress(parse_address("alice@example.com"), "Alice")
BOB = MailboxAddress(parse_address("bob@example.org"))
CHARLIE = MailboxAddress(parse_address("charlie@example.net"), "Charlie")
JOERG = MailboxAddress(parse_address("jörg@faß.de"))


def outgoing(**fields: Any) -> OutgoingMessage:
    return OutgoingMessage(
        **{
            "sender": ALICE,
            "to": (BOB,),
            "subject": "Hello",
            "message_id": "<0199@example.com>",
            "date": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
            "text_body": "Hi Bob.\n",
        }
        | fields
    )


def wire(composed: ComposedMessage) -> bytes:
    return b"".join(composed.chunks())


def read(**fields: Any) -> EmailMessage:
    return message_from_bytes(wire(compose(outgoing(**fields))), policy=policy.default)


def file(data: bytes = b"PNG", **more: Any) -> OutgoingAttachment:
    return OutgoingAttachment(
        **{"file_name": "a.png", "content_type": "image/png", "content": Base64.encode(data)} | more
    )


def shape(part: MIMEPart) -> Any:
    if part.is_multipart():
        return [part.get_content_type(), *map(shape, part.iter_parts())]
    return part.get_content_type()


def test_a_small_message_byte_for_byte() -> None:
    message = outgoing(
        cc=(CHARLIE,),
        bcc=(MailboxAddress(parse_address("secret@example.org"), "Hidden"),),
        reply_to=CHARLIE,
        headers={"X-Campaign": "spring", "x-empty": ""},
        in_reply_to="<1@b>",
        references=("<0@b>", "<1@b>"),
        list_unsubscribe=Unsubscribe("https://example.com/u", one_click=True),
    )
    assert wire(compose(message)).decode() == (
        "From: Alice <alice@example.com>\r\n"
        "To: bob@example.org\r\n"
        "Cc: Charlie <charlie@example.net>\r\n"
        "Reply-To: Charlie <charlie@example.net>\r\n"
        "Subject: Hello\r\n"
        "Date: Fri, 02 Jan 2026 03:04:05 +0000\r\n"
        "Message-ID: <0199@example.com>\r\n"
        "In-Reply-To: <1@b>\r\n"
        "References: <0@b> <1@b>\r\n"
        "List-Unsubscribe: <https://example.com/u>\r\n"
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"
        "X-Campaign: spring\r\n"
        "x-empty:\r\n"
        "MIME-Version: 1.0\r\n"
        "Content-Type: text/plain; charset=us-ascii\r\n"
        "Content-Transfer-Encoding: 7bit\r\n"
        "\r\n"
        "Hi Bob.\r\n"
    )


IMAGE = file(content_id="logo", inline=True)


@pytest.mark.parametrize(
    "fields, expected",
    [
        ({}, "text/plain"),
        ({"text_body": None, "html_body": "<p>"}, "text/html"),
        ({"html_body": "<p>"}, ["multipart/alternative", "text/plain", "text/html"]),
        ({"attachments": [file()]}, ["multipart/mixed", "text/plain", "image/png"]),
        (
            {"html_body": "<p>", "attachments": [file(), file()]},
            [
                "multipart/mixed",
                ["multipart/alternative", "text/plain", "text/html"],
                "image/png",
                "image/png",
            ],
        ),
        (
            {"html_body": "<p>", "attachments": [IMAGE]},
            ["multipart/alternative", "text/plain", ["multipart/related", "text/html", "image/png"]],
        ),
        (
            {"text_body": None, "html_body": "<p>", "attachments": [file(), IMAGE]},
            ["multipart/mixed", ["multipart/related", "text/html", "image/png"], "image/png"],
        ),
        ({"attachments": [IMAGE]}, ["multipart/mixed", "text/plain", "image/png"]),
        (
            {"html_body": "<p>", "attachments": [file(inline=True)]},
            ["multipart/mixed", ["multipart/alternative", "text/plain", "text/html"], "image/png"],
        ),
    ],
)
def test_the_structure_depends_on_the_fields(fields: dict[str, Any], expected: Any) -> None:
    message = read(**fields)
    assert shape(message) == expected
    assert not [part.defects for part in message.walk() if part.defects]


def test_dots_are_stuffed_only_for_data() -> None:
    composed = compose(outgoing(text_body=".a\n..\n.\nb.\n", html_body=".", attachments=[file(b"x" * 20_000)]))
    plain, stuffed = wire(composed), b"".join(composed.data_chunks())
    assert b"\r\n\r\n.a\r\n..\r\n.\r\nb.\r\n" in plain
    assert b"\r\n\r\n..a\r\n...\r\n..\r\nb.\r\n" in stuffed
    assert stuffed.replace(b"\r\n..", b"\r\n.") == plain
    assert composed.size == len(plain)
    assert wire(composed) == plain


def test_sizes_are_exact() -> None:
    content = Base64.encode(b"x" * 1_000_000)
    composed = compose(outgoing(attachments=[file(content=content)], text_body="ä" * 300_000))
    assert composed.size == len(wire(composed))
    bare = b"".join(segment for segment in composed.segments if isinstance(segment, bytes))
    assert composed.counted_size == len(bare) + content.length + len(b64encode(b"\xc3\xa4" * 300_000))
    assert max(map(len, composed.data_chunks())) < 300_000


def test_smtputf8_is_set_only_if_an_address_needs_it() -> None:
    unicode_domain = MailboxAddress(parse_address("a@faß.de"), "Jörg")
    cases = [
        ({"to": (unicode_domain,), "subject": "Grüße"}, (False, False)),
        ({"to": (JOERG,)}, (True, True)),
        ({"cc": (JOERG,)}, (True, True)),
        ({"reply_to": JOERG}, (True, True)),
        ({"sender": JOERG}, (True, True)),
        ({"bcc": (JOERG,)}, (True, False)),
    ]
    for fields, expected in cases:
        composed = compose(outgoing(**fields))
        assert (composed.needs_smtputf8, composed.is_8bit) == expected
        assert wire(composed).isascii() is not composed.is_8bit
    assert "To: jörg@faß.de\r\n".encode() in wire(compose(outgoing(to=(JOERG,))))


@pytest.mark.parametrize("body", ["", "a", "a\n", "a\n\n", "ä", "ä\n", "你", "你\n", " \n", "\n"])
def test_bodies_before_a_boundary_are_exact(body: str) -> None:
    message = read(text_body=body, html_body=body)
    for part in message.iter_parts():
        assert part.get_payload(decode=True) == body.replace("\n", "\r\n").encode()


@pytest.mark.parametrize("size", [0, 1, 12_000, 20_000, 700_000])
def test_attachments_are_read_back_byte_for_byte(size: int) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    message = read(attachments=[file(data[:size]), file(b"second")])
    assert [part.get_content() for part in message.iter_attachments()] == [data[:size], b"second"]


@pytest.mark.parametrize(
    "fields, field",
    [
        ({"subject": "a\r\nBcc: x@y.z"}, "subject"),
        ({"subject": "a" * 100_000}, "subject"),
        ({"sender": MailboxAddress(ALICE.address, "a\nb")}, "from"),
        ({"to": [MailboxAddress(ALICE.address, "a\x00b")]}, "to"),
        ({"cc": [MailboxAddress(ALICE.address, "a\x0bb")]}, "cc"),
        ({"reply_to": MailboxAddress(ALICE.address, "a\tb")}, "reply_to"),
        ({"text_body": "\ud800"}, "text_body"),
        ({"html_body": "\ud800"}, "html_body"),
        ({"message_id": "x"}, "message_id"),
        ({"in_reply_to": "<a>\r\n"}, "in_reply_to"),
        ({"references": ["<a>", "b c"]}, "references[1]"),
        ({"references": ["<a@b>"] * 20_000}, "references"),
        ({"attachments": [file(), file(file_name="a\nb")]}, "attachments[1].filename"),
    ],
)
def test_an_error_names_its_field(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidField) as refused:
        compose(outgoing(**fields))
    assert refused.value.details
    assert [fault["field"] for fault in refused.value.details["fields"]] == [field]


@pytest.mark.parametrize(
    "headers",
    [
        {"X-A\r\nBcc": "x@y.z"},
        {"X-A\r\n\r\nBODY": ""},
        {"Subject": "x"},
        {"X-Spam": "no"},
        {"X-A": "b\r\nBcc: x"},
    ],
)
def test_the_composer_checks_custom_headers(headers: dict[str, str]) -> None:
    with pytest.raises(InvalidHeader):
        compose(outgoing(headers=headers))


def test_a_large_attachment_is_not_copied() -> None:
    body = memoryview(b'{"content":"' + b64encode(b"x" * 12_000_000) + b'"}')
    tracemalloc.start()
    try:
        composed = compose(outgoing(attachments=[file(content=Base64.parse(body[12:-2]))]))
        assert sum(map(len, composed.data_chunks())) == composed.size
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2_000_000
