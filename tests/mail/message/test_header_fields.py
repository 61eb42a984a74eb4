"""Header parsing: decoded for display, bounded, never an exception."""

from __future__ import annotations

import json
import time
from base64 import b64encode
from email.header import Header
from email.utils import formataddr

import pytest
from hypothesis import example, given, settings, strategies as st

from mailkeep.mail.message.header_fields import MAX_HEAD, head_end, parse_head
from mailkeep.mail.message.header_text import NamedAddress, decode_words, parse_addresses


def test_a_header_has_its_fields_and_nothing_of_the_body():
    head = parse_head(
        b"Received: one\r\nFrom: =?utf-8?q?J=C3=BCrgen?= <j@e.test>\r\nTo: a@b.test,\r\n B <b@b.test>\r\n"
        b"Cc: c@b.test\r\nReply-To: r@b.test\r\nReceived: two\r\nSubject: =?utf-8?b?R3LDvA==?=\r\n =?utf-8?b?w59l?=\r\n"
        b"Message-ID: <1@e.test>\r\n\r\nSubject: another\r\n"
    )
    assert head.senders == [NamedAddress("Jürgen", "j@e.test")]
    assert (head.from_address, head.to_addresses, head.cc_addresses) == (
        "j@e.test",
        ["a@b.test", "b@b.test"],
        ["c@b.test"],
    )
    assert (head.reply_to[0].email, head.subject, head.message_id, head.hops) == ("r@b.test", "Grüße", "<1@e.test>", 2)
    assert head.headers() == {
        "Received": ["one", "two"],
        "From": "Jürgen <j@e.test>",
        "To": "a@b.test, B <b@b.test>",
        "Cc": "c@b.test",
        "Reply-To": "r@b.test",
        "Subject": "Grüße",
        "Message-ID": "<1@e.test>",
    }


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\r\n",
        b"\r\nSubject: body\r\n",
        b"no colon at all\r\n\r\n",
        b"\xff\xfe\x00",
        b"From someone\r\n",
        b": x\r\n",
    ],
)
def test_without_a_header_everything_is_empty(content: bytes):
    head = parse_head(content)
    assert (head.subject, head.message_id, head.senders, head.fields) == ("", "", [], [])


def test_the_first_of_repeated_single_fields_counts():
    head = parse_head(b"subject: first\r\nSubject: second\r\nFROM: a@b.test\r\nFrom: x@y.test\r\n\r\n")
    assert (head.subject, head.from_address) == ("first", "a@b.test")
    assert head.headers()["subject"] == ["first", "second"]


@pytest.mark.parametrize(
    "text, read",
    [
        ("a@b.test", [("", "a@b.test")]),
        ('"Doe, \\"J\\"" <j@e.test>', [('Doe, "J"', "j@e.test")]),
        ("j@e.test (Jane (of e))", [("Jane (of e)", "j@e.test")]),
        ("(it's 5\" wide) <a@b.test>", [("", "a@b.test")]),
        ("Team: a@b.test, C <c@d.test>;, e@f.test", [("", "a@b.test"), ("C", "c@d.test"), ("", "e@f.test")]),
        ("undisclosed-recipients:;", []),
        ("MAILER-DAEMON, <>, postmaster", []),
        ("x@[IPv6:::1]", [("", "x@[IPv6:::1]")]),
        ("=?utf-8?q?a=2C_b?= <a@b.test>", [("a, b", "a@b.test")]),
        ("<a@b.test>, <a@b.test", [("", "a@b.test"), ("", "a@b.test")]),
        ('"unended <a@b.test>', []),
        ("", []),
    ],
)
def test_address_lists(text: str, read: list[tuple[str, str]]):
    assert [(each.name, each.email) for each in parse_addresses(text)] == read


@pytest.mark.parametrize(
    "text, read",
    [
        ("plain", "plain"),
        ("=?iso-8859-1?Q?caf=E9?= au =?utf-8?B?bGFpdA?=", "café au lait"),
        ("=?utf-8?B?4oI=?= =?utf-8?B?rA==?=", "€"),  # one character over two words
        ("=?utf-8*en?q?x?=", "x"),
        ("=?nonsense?q?=C3=BC?=", "ü"),
        ("=?hex?q?41?= =?zlib?b?eJw=?=", "41xœ"),
        ("=?utf-7?q?+2AA-?=", ""),  # a lone surrogate
        ("=?unicode_escape?q?=5Cud800?=", "\\ud800"),
        ("=?utf-8?q?a=00=0D=0AX=3A?=", "a X:"),
        ("=?utf-8?q?open", "=?utf-8?q?open"),
        ("=?utf-8?b?!!!?=", ""),
        ("=?punycode?q?z9z9?=", "z9z9"),
    ],
)
def test_encoded_words(text: str, read: str):
    assert decode_words(text) == read


@pytest.mark.parametrize(
    "charset, content, text",
    [
        ("iso-8859-1", b"It\x92s \x80 5 \x81", "It’s € 5 \ufffd"),
        ("latin1", b"\x93Hi\x94", "“Hi”"),
        ("us-ascii", "März".encode(), "März"),
        ("ASCII", b"\x93M\xe4rz\x94", "“März”"),
        ("unknown-8bit", "März".encode(), "März"),
        ("unknown-8bit", b"M\xe4rz", "März"),
        ("utf-8", b"M\xe4rz", "M\ufffdrz"),
        ("iso-8859-9", b"\x80 \xfd", "€ ı"),
        ("gb2312", "朱镕基".encode("gbk"), "朱镕基"),
        ("gbk", "𠀀€".encode("gb18030"), "𠀀€"),
        ("big5", "裏".encode("cp950"), "裏"),
        ("euc-kr", "똠방각하".encode("cp949"), "똠방각하"),
        ("ks_c_5601-1987", "똠방각하".encode("cp949"), "똠방각하"),
        ("shift_jis", "①㈱髙橋".encode("cp932"), "①㈱髙橋"),
        ("Windows-31J", "①㈱髙橋".encode("cp932"), "①㈱髙橋"),
        ("x-sjis", "①㈱髙橋".encode("cp932"), "①㈱髙橋"),
        ("iso-8859-8-i", "שלום".encode("iso8859-8"), "שלום"),
        ("windows-874", "€ สวัสดี".encode("cp874"), "€ สวัสดี"),
        ("tis-620", "สวัสดี".encode("cp874"), "สวัสดี"),
    ],
)
def test_charset_names_follow_the_encoding_standard(charset: str, content: bytes, text: str):
    assert decode_words(f"=?{charset}?B?{b64encode(content).decode()}?=") == text


@example("0\u20280", "")
@given(st.text(), st.text(alphabet='abc.,;:<>()"\\@ ü'))
@settings(max_examples=150)
def test_fields_of_the_standard_library_are_parsed(subject: str, name: str):
    name = " ".join(name.split())
    if not name.isascii():
        name = "Jürgen"  # with specials and non-ASCII together it writes an invalid phrase
    (found,) = parse_addresses(formataddr((name, "a@b.test")))
    assert found == NamedAddress(decode_words(name), "a@b.test")
    # It encodes each line separately, so that the separator is lost.
    plain = " ".join(decode_words(subject).splitlines()) if "=?" not in subject else "x"
    encoded = Header(plain, "utf-8", maxlinelen=60).encode()
    head = parse_head(f"Subject: {encoded}\r\n\r\n".encode().replace(b"\n ", b"\r\n "))
    assert head.subject == plain.strip()[:2000]


@pytest.mark.parametrize(
    "unit",
    [b"(", b"()", b'"', b"<", b"<>", b"a.", b"a@[", b"a:", b"a;", b"\\", b'"\\', b"=?a?q?", b"=?utf-8?q?a?=", b"\r\n ",
     b"a@b,", b"[", b"\r", b"=?a?b?QQ?= "],
)  # fmt: skip
def test_no_header_takes_long(unit: bytes):
    started = time.process_time()
    whole = unit * (MAX_HEAD // len(unit))
    for content in (
        b"To: " + whole,
        b"Subject: " + whole,
        b"".join(b"Cc: " + unit * 500 + b"\r\n" for _ in range(500)),
    ):
        json.dumps(parse_head(content).headers()).encode()
    assert time.process_time() - started < 2


def test_the_limits_of_a_header():
    many = b"".join(b"X-%d: y\r\n" % number for number in range(5000))
    assert len(parse_head(many).fields) == 2000
    assert len(parse_head(b"To: " + b"a@b.test, " * 20_000 + b"\r\n\r\n").to) == 1000
    assert parse_head(b"X-Long: " + b"y" * 100_000 + b"\r\nSubject: s\r\n\r\n").subject == "s"
    assert parse_head(b"A: b\r\n" * MAX_HEAD + b"Subject: too far\r\n\r\n").subject == ""
    assert head_end(b"A: b\r\n\r\nx") == 8
    assert head_end(b"A: b\r\n" * MAX_HEAD) is None
