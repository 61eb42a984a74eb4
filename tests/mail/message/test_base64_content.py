"""Base64 content: strict validation, and wrapping at 76 columns."""

from __future__ import annotations

import base64
import os

import pytest
from hypothesis import given, strategies as st

from mailkeep.mail.message.base64_content import Base64, Base64Error

BIG = os.urandom(76 * 400 * 9 * 2 + 12345)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 56, 57, 58, 114, 205_199, 205_200, 205_201, len(BIG)])
def test_content_is_sent_byte_for_byte_in_lines_of_76(size: int) -> None:
    content = Base64.parse(base64.b64encode(BIG[:size]))
    chunks = list(content.chunks())
    wire = b"".join(chunks)
    assert base64.b64decode(wire.replace(b"\r\n", b""), validate=True) == BIG[:size]
    assert content.wire_size == len(wire)
    assert content.decoded_size == size
    assert max(map(len, chunks), default=0) < 300_000
    lines = wire.split(b"\r\n")
    assert lines.pop() == b""
    assert {len(line) for line in lines[:-1]} <= {76}
    assert 0 < len(lines[-1] if lines else b"x") <= 76


@pytest.mark.parametrize("size", [0, 1, 2, 3, 57, 410_400, len(BIG)])
@pytest.mark.parametrize("columns", [1, 63, 64, 76, 300_000])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
def test_line_breaks_are_ignored(size: int, columns: int, ending: bytes) -> None:
    text = base64.b64encode(BIG[:size])
    broken = ending.join([text[at : at + columns] for at in range(0, len(text), columns)]) + ending
    plain, content = Base64.parse(text), Base64.parse(broken)
    assert b"".join(content.chunks()) == b"".join(plain.chunks())
    assert content.wire_size == plain.wire_size
    assert content.decoded_size == size


@pytest.mark.parametrize(
    "text",
    [
        b"A",
        b"AA",
        b"AAA",
        b"AAAAA",
        b"QQ=",
        b"QQ===",
        b"=",
        b"====",
        b"A===",
        b"QQ==QQ==",
        b"QQ==AAAA",
        b"Q=Q=",
        b"=QQQ",
        b"AAAAQQ==\nAAAA",
        b"QR==",  # non-zero trailing bits
        b"QUJ=",
        b"QUI=\x00",
        b"QU I",
        b"QUJD ",
        b"QUJD\t",
        b"QUJ-",
        b"QUJ_",
        b"QUJD\xc3\xa4==",
        b"QUJDQUJD\\n",
        b"A" * 300_000 + b"=" + b"A" * 299_999,
        b"A" * 600_000 + b"*AAA",
    ],
)
def test_anything_else_is_refused(text: bytes) -> None:
    with pytest.raises(Base64Error) as refused:
        Base64.parse(memoryview(text))
    assert refused.value.reason


def test_content_is_not_copied() -> None:
    body = b'{"content":"QUJD"}'
    content = Base64.parse(memoryview(body)[12:16])
    assert isinstance(content.text, memoryview)
    assert content.text.obj is body


@given(st.text("ABQgw0+/=\r\n- ", max_size=24).map(str.encode))
def test_it_accepts_what_a_strict_decoder_accepts(text: bytes) -> None:
    joined = text.translate(None, b"\r\n")
    try:
        decoded = base64.b64decode(joined, validate=True)
        canonical = base64.b64encode(decoded) == joined
    except ValueError:
        canonical = False
    if canonical:
        content = Base64.parse(text)
        assert b"".join(content.chunks()).replace(b"\r\n", b"") == joined
    else:
        with pytest.raises(Base64Error):
            Base64.parse(text)
