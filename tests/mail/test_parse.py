"""Messages taken apart: what is text, what is attached, and what is too much."""

from __future__ import annotations

from email.message import EmailMessage
from email.policy import SMTP

import pytest
from hypothesis import given, settings, strategies as st

from mailkeep.mail.parse import Attachment, Unparsable, parse

HEAD = b"From: a@b.test\r\nMIME-Version: 1.0\r\n"
MIXED = HEAD + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"


def nested(depth: int) -> bytes:
    heads = (
        b"Content-Type: multipart/mixed; boundary=_%03d\r\n\r\n--_%03d\r\n" % (level, level) for level in range(depth)
    )
    return HEAD + b"".join(heads) + b"\r\nx\r\n"


def test_text_html_and_attachments():
    mail = EmailMessage(policy=SMTP)
    mail["Subject"] = "s"
    mail.set_content("Grüße\n")
    mail.add_alternative("<p>Grüße</p>\n", subtype="html")
    mail.add_attachment(b"\x00\x01", maintype="application", subtype="pdf", filename="../../Übersicht.pdf")
    parsed = parse(mail.as_bytes())
    assert (parsed.text or "").strip() == "Grüße"
    assert (parsed.html or "").strip() == "<p>Grüße</p>"
    assert parsed.attachments == [Attachment("Übersicht.pdf", "application/pdf", 2, b"\x00\x01")]


@pytest.mark.parametrize(
    "content, text, html, names",
    [
        (b"", "", None, []),
        (b"\r\nno head", "no head", None, []),
        (HEAD + b"\r\nplain", "plain", None, []),
        (HEAD + b"Content-Type: text/html\r\n\r\n<b>", None, "<b>", []),
        (HEAD + b"Content-Type: application/pdf; name=a.pdf\r\n\r\nx", None, None, ["a.pdf"]),
        (HEAD + b"Content-Type: text/plain; charset=nonsense\r\n\r\n\xff\x00", "\ufffd\x00", None, []),
        (MIXED + b"--b\r\n\r\none\r\n--b\r\n\r\ntwo\r\n--b--\r\n", "one\ntwo", None, []),
        (MIXED + b"--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: in\r\n\r\nx\r\n--b--\r\n", None, None, [""]),
        (
            MIXED + b"--b\r\nContent-Disposition: attachment; filename*0*=utf-8''%C3%A4; filename*1=b.txt\r\n\r\nx\r\n",
            None,
            None,
            ["äb.txt"],
        ),
        (
            MIXED + b'--b\r\nContent-Disposition: attachment; filename="C:\\\\x\\\\e.exe"\r\n\r\nx\r\n',
            None,
            None,
            ["e.exe"],
        ),
    ],
)
def test_messages_as_they_come(content: bytes, text: str | None, html: str | None, names: list[str]):
    parsed = parse(content)
    assert (parsed.text and parsed.text.rstrip("\r\n"), parsed.html) == (text, html)
    assert [each.filename for each in parsed.attachments] == names


def test_an_attachment_whose_encoding_is_broken_is_there_without_content():
    parsed = parse(
        MIXED + b"--b\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!!\r\n--b--\r\n"
    )
    (image,) = parsed.attachments
    assert (image.content_type, image.content, image.size) == ("image/png", None, 4)


@pytest.mark.parametrize(
    "content, why",
    [
        (MIXED + b"--b\r\n\r\nx\r\n" * 1000, "more than 1000 parts"),
        (nested(20), "nested deeper than 20"),
        (nested(5000), "depth"),
        (HEAD + b"Content-Type: message/rfc822\r\n\r\n" * 2000, "depth"),
        (HEAD + b"Content-Type: text/plain" + b";\r\n a*0=b" * 10_000 + b"\r\n\r\nx", "more than 1000 parameters"),
        (b"A: b\r\n" * 50_000 + b"\r\nx", "the header is too long"),
        (HEAD + b"Content-Transfer-Encoding: base64\r\n\r\n!!!!", "Base64"),
    ],
)
def test_what_is_too_much_is_refused_and_says_why(content: bytes, why: str):
    with pytest.raises(Unparsable, match=why):
        parse(content)


def test_the_bounds_themselves_are_within_them():
    assert len((parse(MIXED + b"--b\r\n\r\nx\r\n" * 999 + b"--b--\r\n").text or "").split()) == 999
    assert (parse(nested(19)).text or "").strip() == "x"


def test_ten_thousand_parameters_of_a_part_do_no_harm():
    many = b"".join(b";\r\n name*%d*=x" % number for number in range(10_000))
    parsed = parse(MIXED + b"--b\r\nContent-Type: image/png" + many + b"\r\n\r\nx\r\n--b--\r\n")
    assert len(parsed.attachments[0].filename) <= 255


@given(st.text(max_size=300), st.binary(max_size=2000), st.text(min_size=1, max_size=40))
@settings(max_examples=150, deadline=None)
def test_what_the_standard_library_composes_is_read_back(text: str, content: bytes, name: str):
    name = "".join(letter for letter in name if letter.isalnum()) or "x"
    text = "\n".join(text.encode("utf-8", "replace").decode().replace("\0", "").splitlines()) or "x"
    mail = EmailMessage(policy=SMTP)
    mail.set_content(text, cte="base64")
    mail.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    parsed = parse(mail.as_bytes())
    ended = text if text.endswith("\n") else f"{text}\n"  # as the library ends it
    assert (parsed.text or "").splitlines() == ended.splitlines()
    assert [each.content for each in parsed.attachments] == [content]
