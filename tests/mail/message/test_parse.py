"""Parsing messages: text, attachments, limits."""

from __future__ import annotations

from email.message import EmailMessage
from email.policy import SMTP

import pytest
from hypothesis import given, settings, strategies as st

from mailkeep.mail.message.parse import ParsedAttachment, UnparsableMessage, parse

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
    assert parsed.attachments == [ParsedAttachment("Übersicht.pdf", "application/pdf", 2, b"\x00\x01")]


@pytest.mark.parametrize(
    "content, text, html, names",
    [
        (b"", "", None, []),
        (b"\r\nno head", "no head", None, []),
        (HEAD + b"\r\nplain", "plain", None, []),
        (HEAD + b"Content-Type: text/html\r\n\r\n<b>", None, "<b>", []),
        (HEAD + b"Content-Type: application/pdf; name=a.pdf\r\n\r\nx", None, None, ["a.pdf"]),
        (HEAD + b"Content-Type: text/plain; charset=nonsense\r\n\r\n\xff\x00", "ÿ\x00", None, []),
        (MIXED + b"--b\r\n\r\none\r\n--b\r\n\r\ntwo\r\n--b--\r\n", "one\ntwo", None, []),
        (MIXED + b"--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: in\r\n\r\nx\r\n--b--\r\n", None, None, [""]),
        (
            MIXED + b"--b\r\nContent-Disposition: attachment; filename*0*=utf-8''%C3%A4; filename*1=b.txt\r\n\r\nx\r\n",
            None,
            None,
            ["äb.txt"],
        ),
        (
            MIXED + b"--b\r\nContent-Disposition: attachment; filename*=utf-8''%E2%80%AEfdp.exe\r\n\r\nx\r\n",
            None,
            None,
            ["fdp.exe"],
        ),
        (
            MIXED + b'--b\r\nContent-Disposition: attachment; filename="C:\\\\x\\\\e.exe"\r\n\r\nx\r\n',
            None,
            None,
            ["e.exe"],
        ),
    ],
)
def test_messages_of_many_forms(content: bytes, text: str | None, html: str | None, names: list[str]):
    parsed = parse(content)
    assert (parsed.text and parsed.text.rstrip("\r\n"), parsed.html) == (text, html)
    assert [each.filename for each in parsed.attachments] == names


@pytest.mark.parametrize(
    "charset, content, text",
    [
        ("", "Grüße – 日本".encode(), "Grüße – 日本"),
        ("; charset=us-ascii", "Grüße".encode(), "Grüße"),
        ('; charset="US-ASCII"', b"\x93Hi\x94", "“Hi”"),
        ("; format=flowed", b"Gr\xfc\xdfe", "Grüße"),
        ("; charset=unknown-8bit", "Grüße".encode(), "Grüße"),
        ("; charset=", "Grüße".encode(), "Grüße"),
        ("; charset=", b"Gr\xfc\xdfe", "Grüße"),
        ("; charset*=utf-8'en'iso-8859-2", b"\xb1", "ą"),
        ('; name="; charset=koi8-r"; charset=iso-8859-2', b"\xb1", "ą"),
        ("; charset=iso-8859-1", b"It\x92s \x80 5", "It’s € 5"),
        ("; charset=utf-8", b"\xef\xbb\xbfGr\xc3\xbc\xff", "Grü\ufffd"),
        ("; charset=gb2312", "朱镕基".encode("gbk"), "朱镕基"),
        ("; charset=iso-2022-jp", "日本".encode("iso-2022-jp"), "日本"),
    ],
)
def test_text_without_a_charset_is_utf8_or_windows_1252(charset: str, content: bytes, text: str):
    for kind in ("plain", "html"):
        parsed = parse(HEAD + f"Content-Type: text/{kind}{charset}\r\n\r\n".encode() + content)
        assert (parsed.text if kind == "plain" else parsed.html) == text


BASE64 = b"Content-Transfer-Encoding: Base64\r\n\r\n"


@pytest.mark.parametrize(
    "encoded, content",
    [
        (b"aGVsbG8", b"hello"),  # no padding
        (b"aGVsbG8=\r\n-- \r\nA list's footer", b"hello"),
        (b"aGVs\r\n*!bG8=\r\n", b"hello"),
        (b"aGVsbG8hI", b"hello!"),  # cut short
        (b"!!!!", None),
    ],
)
def test_invalid_base64_is_decoded_as_far_as_possible(encoded: bytes, content: bytes | None):
    parsed = parse(
        MIXED
        + b"--b\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=3Cb>\r\n"
        + b"--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n"
        + BASE64.join((b"Content-Type: text/plain; charset=utf-8\r\n", encoded + b"\r\n--c--\r\n--b\r\n"))
        + BASE64.join((b"Content-Type: image/png\r\n", encoded + b"\r\n--b\r\n"))
        + BASE64.join((b"Content-Type: image/gif\r\n", b"AAAA\r\n--b--\r\n"))
    )
    assert (parsed.text, parsed.html) == (content and content.decode(), "<b>")
    assert [each.content for each in parsed.attachments] == [content, b"\0\0\0"]


NAMED = b"--b\r\nContent-Type: text/%b; name=%b\r\n\r\n%b\r\n"
ALTERNATIVE = HEAD + b"Content-Type: multipart/alternative; boundary=b\r\n\r\n"


@pytest.mark.parametrize(
    "content, text, html, names",
    [
        (MIXED + b"--b\r\n\r\nhi\r\n" + NAMED % (b"plain", b"log.txt", b"LOG"), "hi", None, ["log.txt"]),
        (MIXED + b"--b\r\n\r\nhi\r\n" + NAMED % (b"html", b"report.html", b"<b>"), "hi", None, ["report.html"]),
        (
            MIXED + b"--b\r\n\r\nhi\r\n--b\r\nContent-Disposition: inline; filename=log.txt\r\n\r\nLOG\r\n",
            "hi",
            None,
            ["log.txt"],
        ),
        (MIXED + NAMED % (b"plain", b"body.txt", b"hi"), "hi", None, []),
        (
            ALTERNATIVE + NAMED % (b"plain", b"body.txt", b"hi") + NAMED % (b"html", b"body.html", b"<b>"),
            "hi",
            "<b>",
            [],
        ),
    ],
)
def test_text_with_a_file_name_is_attached_unless_it_is_first(
    content: bytes, text: str | None, html: str | None, names: list[str]
):
    parsed = parse(content + b"--b--\r\n")
    assert (parsed.text, parsed.html, [each.filename for each in parsed.attachments]) == (text, html, names)


def test_an_attachment_with_an_invalid_encoding_has_no_content():
    parsed = parse(
        MIXED + b"--b\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!!\r\n--b--\r\n"
    )
    (image,) = parsed.attachments
    assert (image.content_type, image.content, image.size) == ("image/png", None, 4)


def test_metadata_of_an_attachment_is_printable():
    (image,) = parse(
        MIXED + b'--b\r\nContent-Type: Image/p\0ng; name="a\0b.png"\r\nContent-ID: <c\0d>\r\n\r\nx\r\n--b--\r\n'
    ).attachments
    assert (image.content_type, image.filename, image.content_id) == ("image/p ng", "a b.png", "c d")


@pytest.mark.parametrize(
    "content, why",
    [
        (MIXED + b"--b\r\n\r\nx\r\n" * 1000, "more than 1000 parts"),
        (nested(20), "nested deeper than 20"),
        (nested(5000), "depth"),
        (HEAD + b"Content-Type: message/rfc822\r\n\r\n" * 2000, "depth"),
        (HEAD + b"Content-Type: text/plain" + b";\r\n a*0=b" * 10_000 + b"\r\n\r\nx", "more than 1000 parameters"),
        (b"A: b\r\n" * 50_000 + b"\r\nx", "The header is larger than 256 KiB"),
        (HEAD + b"Content-Transfer-Encoding: base64\r\n\r\n!!!!", "base64"),
    ],
)
def test_a_message_above_a_limit_is_rejected_with_the_reason(content: bytes, why: str):
    with pytest.raises(UnparsableMessage, match=why):
        parse(content)


def test_a_message_at_the_limits_is_accepted():
    assert len((parse(MIXED + b"--b\r\n\r\nx\r\n" * 999 + b"--b--\r\n").text or "").split()) == 999
    assert (parse(nested(19)).text or "").strip() == "x"


def test_ten_thousand_parameters_of_a_part_are_parsed_quickly():
    many = b"".join(b";\r\n name*%d*=x" % number for number in range(10_000))
    parsed = parse(MIXED + b"--b\r\nContent-Type: image/png" + many + b"\r\n\r\nx\r\n--b--\r\n")
    assert len(parsed.attachments[0].filename) <= 255


@given(st.text(max_size=300), st.binary(max_size=2000), st.text(min_size=1, max_size=40))
@settings(max_examples=150)
def test_messages_of_the_standard_library_are_parsed(text: str, content: bytes, name: str):
    name = "".join(letter for letter in name if letter.isalnum()) or "x"
    text = "\n".join(text.encode("utf-8", "replace").decode().replace("\0", "").splitlines()) or "x"
    mail = EmailMessage(policy=SMTP)
    mail.set_content(text, cte="base64")
    mail.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    parsed = parse(mail.as_bytes())
    ended = text if text.endswith("\n") else f"{text}\n"  # the library adds it
    assert (parsed.text or "").splitlines() == ended.splitlines()
    assert [each.content for each in parsed.attachments] == [content]
