"""Header fields: validation of custom headers, folding, encoding."""

from __future__ import annotations

import re
from base64 import b64decode
from datetime import UTC, datetime, timedelta, timezone
from email import message_from_string, policy
from email.utils import parsedate_to_datetime

import pytest
from hypothesis import given, strategies as st

from mailkeep.core.address import Address, parse_address
from mailkeep.core.errors import InvalidField, InvalidHeader
from mailkeep.mail.message.headers import (
    MailboxAddress,
    address_field,
    check_header_name,
    check_header_value,
    check_message_id,
    check_text,
    date_text,
    fold,
    unstructured_field,
)

ALICE = parse_address("alice@example.com")


@pytest.mark.parametrize("name", ["X-A", "x-a", "X-Campaign-Id", "X-!", "X-" + "a" * 73, "X-Spa", "X-Svc", "X-a_b"])
def test_a_custom_header_name(name: str) -> None:
    check_header_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "X-",
        "A",
        "Subject",
        "Bcc",
        " X-A",
        "X-A ",
        "X A",
        "X-A:",
        "X-A: b",
        "X-A\r\nBcc",
        "X-A\r\n\r\nBODY",
        "X-A\n",
        "X-A\x00",
        "X-Ä",
        "Ｘ-A",
        "X-" + "a" * 74,
        "X-Svc-Signature",
        "x-svc-id",
        "X-Rspamd-Queue-Id",
        "X-Spam",
        "X-Spam-Flag",
        "X-SPAMD-Result",
    ],
)
def test_a_custom_header_may_not_be_named(name: str) -> None:
    with pytest.raises(InvalidHeader):
        check_header_name(name)


@pytest.mark.parametrize("char", ["\x00", "\t", "\n", "\r", "\x0b", "\x0c", "\x1c", "\x1f", "\x7f", "\x85", "\ud800"])
def test_one_line_text_has_no_control_characters(char: str) -> None:
    with pytest.raises(InvalidHeader):
        check_header_value("X-A", f"a{char}b")
    with pytest.raises(InvalidField) as refused:
        check_text("subject", f"a{char}b")
    reason = f"must not contain control characters (got U+{ord(char):04X})"
    assert refused.value.details == {"fields": [{"field": "subject", "reason": reason}]}


def test_a_header_that_the_mta_would_truncate_is_rejected() -> None:
    check_header_value("X-A", "a " * 40_000 + "a")
    with pytest.raises(InvalidHeader):
        check_header_value("X-A", "a " * 60_000 + "a")
    with pytest.raises(InvalidHeader):
        check_header_value("X-A", "ä" * 50_001)
    with pytest.raises(InvalidField):
        address_field("To", [MailboxAddress(ALICE, "A rather long name" * 3)] * 2_000)


@pytest.mark.parametrize("text", ["<a@b>", "<0199-1@example.com>", "<no-at-sign>", "<" + "a" * 900 + ">"])
def test_a_message_id_has_angle_brackets(text: str) -> None:
    check_message_id("in_reply_to", text)


@pytest.mark.parametrize("text", ["", "a@b", "<>", "<a b>", "<a><b>", "<a@b>\r\n", "<ä@b>", "<" + "a" * 901 + ">"])
def test_an_invalid_message_id_is_rejected(text: str) -> None:
    with pytest.raises(InvalidField):
        check_message_id("in_reply_to", text)


@pytest.mark.parametrize(
    "text, field",
    [
        ("Your invoice", "Subject: Your invoice\r\n"),
        ("", "Subject:\r\n"),
        ("two  spaces", "Subject: two  spaces\r\n"),
        ("Grüße", "Subject: =?utf-8?b?R3LDvMOfZQ==?=\r\n"),
        (" a", "Subject: =?utf-8?b?IGE=?=\r\n"),
        ("=?utf-8?b?R3LDvMOfZQ==?=", "Subject: =?utf-8?b?PT91dGYtOD9iP1IzTER2TU9mWlE9PT89?=\r\n"),
        ("x" * 900, f"Subject: {'x' * 900}\r\n"),
        ("word " * 15 + "end", f"Subject: {'word ' * 12}word\r\n word word end\r\n"),
    ],
)
def test_an_ascii_subject_is_not_encoded(text: str, field: str) -> None:
    assert unstructured_field("Subject", text) == field


@pytest.mark.parametrize(
    "name, written",
    [
        ("", "alice@example.com"),
        ("Alice", "Alice <alice@example.com>"),
        ("Alice B", "Alice B <alice@example.com>"),
        ("Alice B.", '"Alice B." <alice@example.com>'),
        ('The "A"', '"The \\"A\\"" <alice@example.com>'),
        ("a\\b", '"a\\\\b" <alice@example.com>'),
        ("bob@example.com", '"bob@example.com" <alice@example.com>'),
        ("Bob <bob@example.com>,", '"Bob <bob@example.com>," <alice@example.com>'),
        ("=?utf-8?q?x?=", "=?utf-8?b?PT91dGYtOD9xP3g/PQ==?= <alice@example.com>"),
        ("Jörg", "=?utf-8?b?SsO2cmc=?= <alice@example.com>"),
    ],
)
def test_a_display_name_is_quoted_if_necessary(name: str, written: str) -> None:
    assert address_field("From", [MailboxAddress(ALICE, name)]) == f"From: {written}\r\n"


def test_an_address_is_written_as_parsed() -> None:
    boxes = [MailboxAddress(parse_address(text)) for text in ("A.b+C@faß.de", "Jörg@faß.de")]
    assert address_field("To", boxes) == "To: A.b+C@xn--fa-hia.de, Jörg@faß.de\r\n"
    assert address_field("Cc", []) == ""


def test_an_address_that_was_not_parsed_raises() -> None:
    with pytest.raises(ValueError, match="parse_address"):
        address_field("To", [MailboxAddress(Address("a\r\nBcc: x", "example.com"))])


def test_the_date_is_in_utc_and_english() -> None:
    at = datetime(2026, 11, 1, 1, 2, 3, tzinfo=timezone(timedelta(hours=2)))
    assert date_text(at) == "Sat, 31 Oct 2026 23:02:03 +0000"


@given(st.datetimes(datetime(1970, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC)))
def test_any_date_reads_back(at: datetime) -> None:
    assert parsedate_to_datetime(date_text(at)) == at.replace(microsecond=0)


@given(st.lists(st.text("abc", min_size=1, max_size=120), min_size=1), st.integers(3, 75))
def test_folding_keeps_the_tokens_and_the_width(tokens: list[str], width: int) -> None:
    field = fold("X" * width, tokens)
    assert field.replace("\r\n ", " ") == f"{'X' * width}: {' '.join(tokens)}\r\n"
    for line in field.split("\r\n"):
        assert line.strip() or not line
        assert len(line) <= 76 or line.count(" ") == 1


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=200), st.sampled_from(["Subject", "X-A"]))
def test_any_one_line_text_reads_back(text: str, name: str) -> None:
    field = unstructured_field(name, text)
    assert field.isascii()
    assert all(len(line) <= 76 for line in field.split("\r\n") if "=?" in line)
    assert message_from_string(field + "\r\n", policy=policy.default)[name] == text


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=120))
def test_any_display_name_reads_back(name: str) -> None:
    field = address_field("Reply-To", [MailboxAddress(ALICE, name), MailboxAddress(ALICE)])
    words = re.findall(r"=\?utf-8\?b\?([A-Za-z0-9+/=]*)\?=", field)
    assert not words or b"".join(map(b64decode, words)).decode() == name
    parsed = message_from_string(field + "\r\n", policy=policy.default)["reply-to"].addresses
    assert [box.addr_spec for box in parsed] == ["alice@example.com"] * 2
    # The oracle adds and drops white space between the encoded-words of a phrase (CPython 3.11).
    assert ["".join(box.display_name.split()) for box in parsed] == ["".join(name.split()), ""]
