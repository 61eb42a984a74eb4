"""Our own fields are removed from messages of others, anywhere in the header."""

from __future__ import annotations

import pytest

from mailkeep.mail.message.own_fields import first_octets, own_field_octets, without_own_fields

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
    assert own_field_octets(chunks) == len(before) - len(after)


def test_at_most_the_first_octets_are_returned():
    assert first_octets([b"abc", b"def", b"ghi"], 5) == b"abcde"
    assert first_octets([b"abc"], 5) == b"abc"
