"""Our own fields are removed from messages of others, anywhere in the header."""

from __future__ import annotations

import pytest

from mailkeep.mail.message.own_fields import (
    first_octets,
    foreign_field_octets,
    without_foreign_fields,
    without_own_fields,
)

OWN = b"X-Mailkeep-Delivery: abc\r\n"
FOLDED = b"x-MAILKEEP-tags : a,\r\n b,\r\n\tc\r\n"
LONG = b"A: " + b"b" * 900 + b"\r\n"


@pytest.mark.parametrize(
    "before, after",
    [
        (OWN + b"Subject: x\r\n\r\nbody\r\n", b"Subject: x\r\n\r\nbody\r\n"),
        (b"Subject: x\r\n" + FOLDED + b"To: y\r\n\r\n" + OWN, b"Subject: x\r\nTo: y\r\n\r\n" + OWN),
        (LONG * 1000 + OWN + b"\r\nbody", LONG * 1000 + b"\r\nbody"),
        (b"no field\r\n" + OWN + b"\r\nbody", b"no field\r\n\r\nbody"),
        (b"Subject: x\r\n" + OWN, b"Subject: x\r\n"),
        (b"Subject: x\r\nX-Mailkeep-A: b", b"Subject: x\r\n"),
        (b"\r\n" + OWN, b"\r\n" + OWN),
        (b"X-Mailkeeper: x\r\nX-Mail: X-Mailkeep-A: b\r\n\r\n", b"X-Mailkeeper: x\r\nX-Mail: X-Mailkeep-A: b\r\n\r\n"),
        (b"", b""),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1 << 18])
def test_our_fields_are_removed_anywhere_in_the_header(before: bytes, after: bytes, size: int):
    chunks = [before[at : at + size] for at in range(0, len(before), size)]
    assert b"".join(without_own_fields(lambda: chunks)) == after


@pytest.mark.parametrize(
    "field, own, foreign",
    [
        (b"X-Spam: Yes\r\n", True, True),
        (b"x-spam-status: Yes,\r\n score=9\r\n", True, True),
        (b"X-Rspamd-Score: 9\r\n", True, True),
        (b"X-Mailkeep-Verdict : inbox\r\n", True, True),
        (b"X-Spamd-Result: default: False\r\n", False, True),
        (b"X-Mailkeeper: x\r\n", False, True),
        (b"Authentication-Results: mx.test;\r\n\tspf=pass\r\n", False, True),
        (b"ARC-Authentication-Results: i=1; a\r\n", False, False),
        (b"X-Span: x\r\n", False, False),
    ],
)
def test_verdicts_of_others_are_removed(field: bytes, own: bool, foreign: bool):
    content = b"Subject: x\r\n" + field + b"\r\n" + field
    without = b"Subject: x\r\n\r\n" + field
    assert b"".join(without_own_fields(lambda: [content])) == (without if own else content)
    assert b"".join(without_foreign_fields(lambda: [content])) == (without if foreign else content)
    assert foreign_field_octets([content]) == (len(field) if foreign else 0)


def test_at_most_the_first_octets_are_returned():
    assert first_octets([b"abc", b"def", b"ghi"], 5) == b"abcde"
    assert first_octets([b"abc"], 5) == b"abc"
