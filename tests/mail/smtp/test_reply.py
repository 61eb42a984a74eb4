"""Replies: a safe wire form, and parsing within limits."""

from collections import deque

import pytest
from hypothesis import given, strategies as st

from mailkeep.mail.smtp.reply import MAX_LINE, MalformedReply, ReplyParser, SmtpReply


def parse(data: bytes, step: int = 1000) -> list[SmtpReply]:
    parser, replies = ReplyParser(), deque[SmtpReply]()
    for start in range(0, len(data), step):
        parser.feed(data[start : start + step], replies)
    return list(replies)


@pytest.mark.parametrize(
    "reply,wire",
    [
        (SmtpReply(250, "2.1.0", "Ok"), b"250 2.1.0 Ok\r\n"),
        (SmtpReply(354, "", "Go"), b"354 Go\r\n"),
        (SmtpReply(250, "", "host\nPIPELINING\nSIZE 5"), b"250-host\r\n250-PIPELINING\r\n250 SIZE 5\r\n"),
        (SmtpReply(550, "5.1.1", "no\r\n250 yes"), b"550-5.1.1 no\r\n550 5.1.1 250 yes\r\n"),
        (SmtpReply(550, "5.1.1", "n\rö\0"), b"550 5.1.1 n???\r\n"),
    ],
)
def test_the_wire_form_is_one_reply_for_any_text(reply: SmtpReply, wire: bytes) -> None:
    assert reply.wire() == wire
    assert len(parse(wire)) == 1


@pytest.mark.parametrize(
    "wire,replies",
    [
        (b"250 2.1.0 Ok\r\n354 go\r\n", [SmtpReply(250, "2.1.0", "Ok"), SmtpReply(354, "", "go")]),
        (b"250-a\r\n250-B c\r\n250 d\r\n", [SmtpReply(250, "", "a\nB c\nd")]),
        (b"550-5.1.1 no\r\n550 5.1.1 body\r\n", [SmtpReply(550, "5.1.1", "no\nbody")]),
        (b"250\r\n", [SmtpReply(250, "", "")]),
        (b"250 ok\n", [SmtpReply(250, "", "ok")]),
        (b"250 2.1 Ok\r\n", [SmtpReply(250, "", "2.1 Ok")]),
        (b"220 \xff\r\n", [SmtpReply(220, "", "\ufffd")]),
    ],
)
def test_a_stream_is_split_into_replies(wire: bytes, replies: list[SmtpReply]) -> None:
    assert parse(wire) == replies
    assert parse(wire, step=1) == replies


@pytest.mark.parametrize(
    "wire",
    [
        b"hello\r\n",
        b"\r\n",
        b"199 x\r\n",
        b"600 x\r\n",
        b"25 0\r\n",
        b"250x\r\n",
        b"250-a\r\n251 b\r\n",
        b"\xd9\xa3\xd9\xa3 x\r\n",
        b"250 " + b"x" * (MAX_LINE + 1),
        b"250-x\r\n" * 300,
    ],
)
def test_an_invalid_reply_is_rejected(wire: bytes) -> None:
    with pytest.raises(MalformedReply):
        parse(wire)


@given(st.binary(max_size=200), st.integers(1, 50))
def test_the_parser_raises_no_other_error(data: bytes, step: int) -> None:
    try:
        parse(data, step)
    except MalformedReply:
        pass


@given(st.integers(200, 599), st.text(max_size=60))
def test_a_written_reply_parses_as_one_reply(code: int, text: str) -> None:
    (reply,) = parse(SmtpReply(code, "", text).wire())
    assert reply.code == code
