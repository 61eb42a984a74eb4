"""The fields X-Mailkeep-Tags and Idempotency-Key, and the digest of a submission."""

from __future__ import annotations

import pytest

from mailkeep.mail.message.submission_fields import (
    SubmissionDigest,
    SubmissionFieldError,
    SubmissionFields,
    is_submission_field,
    read_submission_fields,
)


def test_tags_and_key_are_read_in_any_case_and_folding() -> None:
    fields = [
        ("x-mailkeep-TAGS", " welcome,\r\n\torder"),
        ("Subject", "X-Mailkeep-Tags: no"),
        ("X-Mailkeep-Tags", "=?utf-8?q?gr=C3=BC=C3=9Fe?="),
        ("IDEMPOTENCY-key", " order-1 "),
    ]
    assert read_submission_fields(fields) == SubmissionFields(["welcome", "order", "grüße"], "order-1")
    assert [is_submission_field(name) for name, _ in fields] == [True, False, True, True]
    assert read_submission_fields([]) == SubmissionFields([], None)


@pytest.mark.parametrize(
    "name, value, said",
    [
        ("X-Mailkeep-Tags", "", "1 to 100"),
        ("X-Mailkeep-Tags", "a,,b", "1 to 100"),
        ("X-Mailkeep-Tags", "a" * 101, "1 to 100"),
        ("X-Mailkeep-Tags", ",".join("abcdefghijk"), "at most 10"),
        ("X-Mailkeep-Tags", "\x01", "1 to 100"),
        ("Idempotency-Key", "", "visible ASCII"),
        ("Idempotency-Key", "a b", "visible ASCII"),
        ("Idempotency-Key", "ü", "visible ASCII"),
        ("Idempotency-Key", "a" * 256, "visible ASCII"),
        ("Idempotency-Key", "a\nb", "visible ASCII"),
    ],
)
def test_what_the_api_does_not_take_is_refused(name: str, value: str, said: str) -> None:
    with pytest.raises(SubmissionFieldError, match=said):
        read_submission_fields([(name, value)])


def test_a_repeated_key_is_refused() -> None:
    with pytest.raises(SubmissionFieldError, match="repeated"):
        read_submission_fields([("Idempotency-Key", "a"), ("idempotency-key", "a")])


def _digest(sender: str, to: list[str], fields: list[tuple[str, bytes]], body: bytes) -> bytes:
    digest = SubmissionDigest()
    for name, value in fields:
        digest.add_field(name, value)
    digest.add_body(body)
    digest.add_envelope(sender, to)
    return digest.digest()


def test_the_digest_is_that_of_what_is_asked_for() -> None:
    subject = [("Subject", b" Hello\n there")]
    first = _digest("a@x.test", ["b@x.test", "c@x.test"], [*subject, ("Date", b"1"), ("Message-ID", b"<1>")], b"x\r\n")
    again = [("SUBJECT", b"Hello there"), ("date", b"2"), ("Received", b"from x"), ("Idempotency-Key", b"k")]
    assert _digest("a@x.test", ["c@x.test", "b@x.test", "b@x.test"], again, b"x\r\n") == first
    others = [
        ("z@x.test", ["b@x.test", "c@x.test"], subject, b"x\r\n"),
        ("a@x.test", ["b@x.test"], subject, b"x\r\n"),
        ("a@x.test", ["b@x.test", "c@x.test"], [("Subject", b"Bye")], b"x\r\n"),
        ("a@x.test", ["b@x.test", "c@x.test"], subject, b"y\r\n"),
    ]
    assert len({first, *(_digest(*each) for each in others)}) == 5
