"""A message contains only its fields: hostile text in every string field, read back by another parser.

A short run is part of the suite; MAILKEEP_FUZZ_SECONDS makes it longer, MAILKEEP_FUZZ_SEED repeats one.
`make prove-compose` runs it for an hour and keeps seeds and counts.
"""

from __future__ import annotations

import os
import random
import re
import time
from base64 import b64decode
from collections import Counter
from datetime import UTC, datetime
from email import message_from_string, policy
from email.message import EmailMessage
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st

from mailkeep.core.address import AddressError, parse_address
from mailkeep.core.errors import InvalidField, InvalidHeader
from mailkeep.mail.message.attachments import OutgoingAttachment, clean_file_name
from mailkeep.mail.message.base64_content import Base64
from mailkeep.mail.message.compose import ComposedMessage, OutgoingMessage, compose
from mailkeep.mail.message.headers import MailboxAddress
from mailkeep.mail.message.unsubscribe import Unsubscribe

SECONDS = int(os.environ.get("MAILKEEP_FUZZ_SECONDS", "0"))
SEED = int(os.environ.get("MAILKEEP_FUZZ_SEED") or random.SystemRandom().randrange(2**32))
ROUND = 250

ATTACKS = [
    "\r\nBcc: victim@x.test",
    "\nBcc: victim@x.test\n\n",
    "\r\n\r\nBODY",
    "\r\n.\r\nMAIL FROM:<evil@x.test>\r\n",
    "\n.\n",
    "\r.\r",
    ".",
    "=?utf-8?q?=0D=0ABcc:_x?=",
    "=?utf-8?b?DQpCY2M6IHg=?=",
    "=?",
    "?=",
    '"; filename="evil.exe',
    '"',
    "\\",
    "<evil@x.test>",
    ">, <evil@x.test",
    "(comment)",
    ",;:@",
    "a  b",
    "%0D%0A",
    "''",
    "--=_",
    "\x00",
    "\x0b\x0c\x1c\x1d\x1e\x85",
    "\u2028\u2029",
    "\u202e\u200d\ufeff",
    "\ud800",
    "Grüße 猫 😀",
    "e\u0301\u0308",
    "x" * 1000,
    "long words " * 12,
    "猫" * 90,
]
hostile = st.lists(
    st.one_of(st.sampled_from(ATTACKS), st.text(max_size=12), st.text("abc .", max_size=30)), max_size=4
).map("".join)
clean = hostile.map(lambda text: re.sub("[\x00-\x1f\x7f-\x9f\ud800-\udfff]", "", text))
safe_addresses = st.sampled_from(
    ["alice@example.com", "Bob.B+x@EXAMPLE.org", "jörg@faß.de", "a@faß.de", "'|`@b.example"]
)
safe_ids = st.sampled_from(["<a@b>", "<1.2$3@example.com>", "<" + "x" * 200 + ">"])
visible = st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters=":")
safe_names = st.one_of(
    st.sampled_from(["X-A", "x-b", "X-" + "c" * 73, "X-'\"<>@,"]),
    st.text(visible, min_size=1, max_size=73).map("X-!{}".format).map(lambda name: name[:75]),
)

SAFE: dict[str, st.SearchStrategy[Any]] = {
    "line": clean,
    "body": clean,
    "address": safe_addresses,
    "header": safe_names,
    "value": clean,
    "id": safe_ids,
    "file": clean.map(lambda text: ("f" + text.translate({47: None, 92: None}))[:60]),
    "type": st.sampled_from(["image/png", "text/plain", "application/x-a.b+c"]),
    "content_id": st.sampled_from(["", "logo", "a@b"]),
    "url": st.just("https://example.com/u?a=1"),
    "mailto": st.just("") | safe_addresses,
}
HOSTILE: dict[str, st.SearchStrategy[Any]] = {
    "line": hostile,
    "body": hostile,
    "address": hostile | st.builds("{}@{}".format, hostile, st.just("example.com") | hostile),
    "header": hostile | hostile.map("X-{}".format),
    "value": hostile,
    "id": hostile | hostile.map("<{}>".format),
    "file": hostile,
    "type": hostile | hostile.map("image/png{}".format) | st.just("message/rfc822"),
    "content_id": hostile,
    "url": hostile | hostile.map("https://example.com/{}".format),
    "mailto": hostile | hostile.map("mailto:a@b.c?subject={}".format),
}


@st.composite
def messages(draw: st.DrawFn) -> dict[str, Any]:
    """Mostly valid fields, so that messages are composed; one kind of field is hostile."""
    kind = draw(st.sampled_from(["", *HOSTILE]))
    of = SAFE | ({kind: HOSTILE[kind]} if kind else {})
    mailboxes = st.tuples(of["address"], of["line"])
    files = st.tuples(of["file"], of["type"], st.binary(max_size=200), of["content_id"], st.booleans())
    return {
        "sender": draw(mailboxes),
        "to": draw(st.lists(mailboxes, min_size=1, max_size=3)),
        "cc": draw(st.lists(mailboxes, max_size=2)),
        "bcc": draw(st.lists(st.tuples(st.integers(0, 9), of["line"]), max_size=2)),
        "reply_to": draw(st.none() | mailboxes),
        "subject": draw(of["line"]),
        "text_body": draw(st.none() | of["body"]),
        "html_body": draw(st.none() | of["body"]),
        "attachments": draw(st.lists(files, max_size=3)),
        "headers": draw(st.dictionaries(of["header"], of["value"], max_size=3)),
        "in_reply_to": draw(st.just("") | of["id"]),
        "references": draw(st.lists(of["id"], max_size=3)),
        "list_unsubscribe": draw(st.none() | st.builds(Unsubscribe, of["url"], of["mailto"], st.booleans())),
    }


def mailbox(pair: tuple[str, str]) -> MailboxAddress:
    return MailboxAddress(parse_address(pair[0]), pair[1])


def outgoing(fields: dict[str, Any]) -> OutgoingMessage:
    return OutgoingMessage(
        sender=mailbox(fields["sender"]),
        to=[mailbox(pair) for pair in fields["to"]],
        cc=[mailbox(pair) for pair in fields["cc"]],
        bcc=[mailbox((f"bcc-{number}@hidden.test", name)) for number, name in fields["bcc"]],
        reply_to=fields["reply_to"] and mailbox(fields["reply_to"]),
        subject=fields["subject"],
        message_id="<0199@example.com>",
        date=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        text_body=fields["text_body"],
        html_body=fields["html_body"],
        attachments=[
            OutgoingAttachment(name, kind, Base64.encode(data), content_id, inline)
            for name, kind, data, content_id, inline in fields["attachments"]
        ],
        headers=fields["headers"],
        in_reply_to=fields["in_reply_to"],
        references=fields["references"],
        list_unsubscribe=fields["list_unsubscribe"],
    )


def check_fields(fields: dict[str, Any], counts: Counter[str]) -> None:
    """Compose a message and read it back. A refusal is a valid result, other exceptions are not."""
    try:
        mail = outgoing(fields)
        composed = compose(mail)
    except (AddressError, InvalidField, InvalidHeader):
        counts["refused"] += 1
        return
    counts["composed"] += 1
    wire = b"".join(composed.chunks())
    check_octets(mail, composed, wire)
    message = message_from_string(wire.decode(), policy=policy.default)
    assert isinstance(message, EmailMessage)
    check_header(mail, wire, message)
    check_parts(mail, message)


def check_octets(mail: OutgoingMessage, composed: ComposedMessage, wire: bytes) -> None:
    assert composed.size == len(wire)
    assert not re.search(rb"\r(?!\n)|(?<!\r)\n|\x00", wire)
    assert max(map(len, wire.split(b"\r\n"))) <= 998
    assert wire.endswith(b"\r\n")
    stuffed = b"".join(composed.data_chunks())
    assert b"\r\n.\r\n" not in stuffed
    assert re.sub(rb"(?<=\r\n)\.", b"", stuffed) == wire
    assert b"hidden.test" not in wire
    assert composed.is_8bit is not wire.isascii()


def expected_names(mail: OutgoingMessage) -> list[str]:
    optional = {
        "Cc": mail.cc,
        "Reply-To": mail.reply_to,
        "In-Reply-To": mail.in_reply_to,
        "References": mail.references,
        "List-Unsubscribe": mail.list_unsubscribe,
        "List-Unsubscribe-Post": mail.list_unsubscribe and mail.list_unsubscribe.one_click,
    }
    names = ["From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type"]
    names += [name for name, given in optional.items() if given]
    single = not mail.attachments and (mail.text_body is None or mail.html_body is None)
    return sorted([*names, *mail.headers, *(["Content-Transfer-Encoding"] if single else [])])


def check_header(mail: OutgoingMessage, wire: bytes, message: EmailMessage) -> None:
    names = expected_names(mail)
    assert sorted(message.keys()) == names
    head = wire.split(b"\r\n\r\n")[0].decode()
    assert sorted(re.split("[: ]", line)[0] for line in head.split("\r\n") if line[0] != " ") == names
    assert message["subject"] == mail.subject
    for name, value in mail.headers.items():
        assert value in message.get_all(name, [])
    check_addresses(message, "from", [mail.sender])
    check_addresses(message, "to", mail.to)
    check_addresses(message, "cc", mail.cc)
    check_addresses(message, "reply-to", [mail.reply_to] if mail.reply_to else [])
    assert not message.defects


def check_addresses(message: EmailMessage, field: str, boxes: Any) -> None:
    parsed = message[field].addresses if field in message else ()
    assert [box.addr_spec for box in parsed] == [box.address.text for box in boxes]
    # The oracle adds and drops white space between the encoded-words of a phrase (CPython 3.11).
    assert ["".join(box.display_name.split()) for box in parsed] == ["".join(box.name.split()) for box in boxes]


def check_parts(mail: OutgoingMessage, message: EmailMessage) -> None:
    leaves = [part for part in message.walk() if not part.is_multipart()]
    texts = [leaf for leaf in leaves if leaf.get_content_disposition() is None]
    files = [leaf for leaf in leaves if leaf.get_content_disposition() is not None]
    bodies = [text for text in (mail.text_body, mail.html_body) if text is not None] or [""]
    assert [normal(leaf.get_payload(decode=True).decode()) for leaf in texts] == list(map(normal, bodies))  # type: ignore[union-attr]
    # Images of the HTML come before the other files.
    shown = [f for f in mail.attachments if mail.html_body is not None and f.inline and f.content_id]
    others = [file for file in mail.attachments if file not in shown]
    expected = [*shown, *others]
    assert [leaf["content-disposition"].params for leaf in files] == [
        {"filename": clean_file_name("f", file.file_name)} for file in expected
    ]
    assert [leaf.get_payload(decode=True) for leaf in files] == [
        b64decode(bytes(file.content.text)) for file in expected
    ]
    # The oracle returns types in lower case (RFC 2045 §5.1: case-insensitive).
    assert [leaf.get_content_type() for leaf in files] == [file.content_type.lower() for file in expected]
    for leaf in leaves[1:] if len(leaves) > 1 else []:
        assert set(leaf.keys()) <= {
            "Content-Type",
            "Content-Transfer-Encoding",
            "Content-Disposition",
            "Content-ID",
        }
    assert not [part.defects for part in message.walk() if part.defects]


def normal(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")


def run(start: int, count: int, counts: Counter[str]) -> None:
    """Test `count` messages from the seed `start`, and add the results to `counts`."""

    @seed(start)
    @settings(
        max_examples=count,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(messages())
    def one_round(fields: dict[str, Any]) -> None:
        check_fields(fields, counts)

    one_round()


def prove(first: int, seconds: float) -> str:
    """Run rounds from the seed `first` for `seconds`, at least one. Returns the counts of results."""
    counts: Counter[str] = Counter()
    end, rounds = time.monotonic() + seconds, 0
    while not rounds or time.monotonic() < end:
        run(first + rounds, ROUND, counts)
        rounds += 1
    assert counts["composed"] > counts["refused"] / 4
    return (
        f"seeds {first} to {first + rounds - 1}, "
        f"{counts['composed']} messages composed and read back, {counts['refused']} refused"
    )


@pytest.mark.timeout(SECONDS + 120)
def test_a_message_contains_only_its_fields() -> None:
    print(prove(SEED, SECONDS))


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("where", ["subject", "name", "header name", "header", "file", "id", "body", "address"])
def test_known_attacks_in_every_field(where: str, attack: str) -> None:
    fields: dict[str, Any] = {
        "sender": (attack if where == "address" else "alice@example.com", attack if where == "name" else ""),
        "to": [("bob@example.org", f"Bob {attack}" if where == "name" else "")],
        "cc": [],
        "bcc": [(1, "")],
        "reply_to": None,
        "subject": f"a{attack}b" if where == "subject" else "s",
        "text_body": attack if where == "body" else "t",
        "html_body": f"\n{attack}\n" if where == "body" else None,
        "attachments": [(f"a{attack}", "image/png", b"x", "", False)] if where == "file" else [],
        "headers": {f"X-{attack}" if where == "header name" else "X-A": attack if where == "header" else "v"},
        "in_reply_to": f"<{attack}>" if where == "id" else "",
        "references": [attack] if where == "id" else [],
        "list_unsubscribe": None,
    }
    check_fields(fields, Counter())
