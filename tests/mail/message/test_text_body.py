"""Text bodies: the simplest 7-bit encoding, and lossless."""

from __future__ import annotations

import base64
import quopri
import re

import pytest
from hypothesis import given, strategies as st

from mailkeep.core.errors import InvalidField
from mailkeep.mail.message.base64_content import Base64
from mailkeep.mail.message.text_body import MimeEntity, text_entity


def wire(entity: MimeEntity) -> bytes:
    return b"".join(b"".join(piece.chunks()) if isinstance(piece, Base64) else piece for piece in entity.body)


def decoded(entity: MimeEntity) -> bytes:
    data = wire(entity)
    if "base64" in entity.head:
        return base64.b64decode(data)
    data = data.removesuffix(b"\r\n")
    return quopri.decodestring(data) if "quoted-printable" in entity.head else data


@pytest.mark.parametrize(
    "text, encoding, charset",
    [
        ("Hello\n", "7bit", "us-ascii"),
        ("", "7bit", "us-ascii"),
        ("x" * 998, "7bit", "us-ascii"),
        (("x" * 998 + "\n") * 3, "7bit", "us-ascii"),
        ("x" * 999, "quoted-printable", "utf-8"),
        ("x\n" * 2000 + "x" * 999, "quoted-printable", "utf-8"),
        ("null \x00", "quoted-printable", "utf-8"),
        ("form\ffeed and more", "quoted-printable", "utf-8"),
        ("Grüße aus Wien an Bob", "quoted-printable", "utf-8"),
        ("Привет, мир", "base64", "utf-8"),
        ("你好", "base64", "utf-8"),
    ],
)
def test_the_plainest_encoding_is_chosen(text: str, encoding: str, charset: str) -> None:
    assert text_entity("text_body", "plain", text, exact=True).head == (
        f"Content-Type: text/plain; charset={charset}\r\nContent-Transfer-Encoding: {encoding}\r\n"
    )


@pytest.mark.parametrize("text", ["a\rb", "a\r\nb", "a\nb"])
def test_every_line_ending_becomes_crlf(text: str) -> None:
    assert wire(text_entity("text_body", "plain", text, exact=False)) == b"a\r\nb\r\n"
    assert wire(text_entity("text_body", "plain", text + "\n", exact=False)) == b"a\r\nb\r\n"
    assert wire(text_entity("text_body", "plain", text + "\n", exact=True)) == b"a\r\nb\r\n\r\n"


@pytest.mark.parametrize("length", range(70, 80))
@pytest.mark.parametrize("end", [" ", "\t", "ä ", " ä", "=", ".", ""])
def test_quoted_printable_lines_have_76_columns_at_most(length: int, end: str) -> None:
    text = "ä\n" + "x" * length + end + "\n." + end
    entity = text_entity("text_body", "plain", text, exact=True)
    assert "quoted-printable" in entity.head
    assert max(map(len, wire(entity).split(b"\r\n"))) <= 76
    assert decoded(entity).decode() == text.replace("\n", "\r\n")


def test_a_lone_surrogate_is_rejected() -> None:
    with pytest.raises(InvalidField, match="html_body"):
        text_entity("html_body", "html", "a\ud800", exact=False)


text = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(list("ab .=\t\r\n\x00ä猫"))),
    max_size=300,
)


@given(st.one_of(text, text.map(lambda text: text * 8), text.map(lambda text: f"{'plain ' * 200}{text}")))
def test_any_text_reads_back(text: str) -> None:
    entity = text_entity("text_body", "plain", text, exact=True)
    data = wire(entity)
    assert not re.search(rb"[^\t\r\n -~]|\r(?!\n)|(?<!\r)\n", data)
    assert data.endswith(b"\r\n")
    assert max(map(len, data.split(b"\r\n"))) <= 998
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    assert decoded(entity).decode() == lines.replace("\n", "\r\n")
