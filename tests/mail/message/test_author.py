"""The author of a submitted message is the same for every reader, or the message is refused."""

from __future__ import annotations

import pytest

from mailkeep.mail.message.author import AuthorError, read_author

REST = b"\r\nTo: a@far.test\r\n\r\n"


@pytest.mark.parametrize(
    "value",
    [
        b"me@own.test",
        b" The Shop <me@own.test> ",
        b'"Doe, John <ceo@other.test>" <me@own.test>',
        b"Doe, John <me@own.test>",
        b"me@own.test <me@own.test>",
        b"=?utf-8?q?ceo=40other.test=2C?= <me@own.test>",
        b"me@own.test (The Shop)",
        b"The\r\n Shop\r\n\t<me@own.test>",
        "Bücher <me@own.test>".encode(),
    ],
)
def test_one_address_with_or_without_a_name(value: bytes) -> None:
    author, sender = read_author(b"Subject: x\r\nFROM :" + value + REST)
    assert (str(author), sender) == ("me@own.test", None)
    assert str(read_author(b"From: a@own.test\r\nsender:" + value + REST)[1]) == "me@own.test"


@pytest.mark.parametrize(
    "head",
    [
        b"Subject: x",
        b"From: me@own.test\r\nfrom : ceo@other.test",
        b"From: me@own.test\r\n" + b"a:\r\n" * 3000 + b"From: ceo@other.test",
        b"From: me@own.test\r\nX: y\rFrom: ceo@other.test",
        b"From: me@own.test," + b"\r\n " * 3000 + b" ceo@other.test",
        b"From: me@own.test\r\n , ceo@other.test",
        b"From: " + b"x" * 330 + b"@other.test, me@own.test",
        b"From: ceo@other.test: me@own.test;",
        b"From: ceo@other.test, The Shop <me@own.test>",
        b"From: <ceo@other.test> <me@own.test>",
        b"From: <me@own.test> ceo@other.test",
        b"From: me@own.test ceo@other.test",
        b"From: (<ceo@other.test> me@own.test",
        b'From: "<ceo@other.test> <me@own.test>',
        b"From: <@other.test:me@own.test>",
        b"From: me@own.test\0, ceo@other.test",
        b"From: me@own",
        b"From: \xff <me@own.test>",
        b"From: ",
        b"From: me@own.test\r\nSender: me@own.test\r\nSender: me@own.test",
        b"From: me@own.test\r\nSender: me@own.test, ceo@other.test",
    ],
)
def test_what_readers_understand_differently_is_refused(head: bytes) -> None:
    with pytest.raises(AuthorError):
        read_author(head + REST)
