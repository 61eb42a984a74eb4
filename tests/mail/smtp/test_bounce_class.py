"""Replies of real servers, each as its source quotes it, and Postfix's own texts."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

from mailkeep.core.ids import uuid7
from mailkeep.features.mailflow.suppressions.rules import is_full, is_hard_bounce
from mailkeep.features.record.messages.model import DeliveryAttempt, ServerReply
from mailkeep.mail.smtp.bounce_class import classify, provider_of
from tests.support.client import START

# The columns: server, code, enhanced code (- if there is none), text, class, source. The text is that of the source
# without the codes before it, shortened at its end; real addresses are replaced. Where the source names only the
# provider, the server is one of the provider's. smtpfieldmanual.com (MIT) collects what servers have answered.
Row = tuple[str | None, int | None, str | None, str, str, str]


def _read_row(line: str) -> Row:
    host, code, enhanced, text, expected, source = line.split("\t")
    return (
        None if host == "-" else host,
        int(code) if code != "-" else None,
        enhanced.strip("-") or None,
        text,
        expected,
        source,
    )


_TABLE = Path(__file__).with_name("bounce_replies.tsv")
REPLIES = [_read_row(line) for line in _TABLE.read_text().splitlines() if not line.startswith("#")]


def test_class_of_published_replies() -> None:
    found = [(*row[:4], classify(row[1], row[2], row[3], row[0]), row[5]) for row in REPLIES]
    assert found == REPLIES
    assert len(REPLIES) >= 60
    assert all(row[5] for row in REPLIES)


def test_only_dead_addresses_are_suppressed() -> None:
    """Of all these replies, given permanently: a class that says so, and never a code 5.7.x."""
    for host, code, enhanced, text, expected, _ in REPLIES:
        reply = ServerReply(code, enhanced, text, host)
        attempt = DeliveryAttempt(uuid7(START), uuid4(), START, "bounced", "a@b.test", 1, reply)
        is_policy = ".7." in (enhanced or "") or "(#5.7.1)" in text
        dead = expected in ("invalid_recipient", "mailbox_disabled", "bad_domain")
        assert is_hard_bounce(attempt) == (dead and not is_policy), text
        assert is_full("bounced", reply) == (expected == "mailbox_full" and not is_policy), text
    assert sum((each[2] or "").startswith("5.7") for each in REPLIES) >= 15


def test_provider_by_the_suffix_of_the_host() -> None:
    hosts = {
        "gmail-smtp-in.l.google.com": "google",
        "aspmx.l.google.com.": "google",
        "contoso-com.mail.protection.outlook.com": "microsoft",
        "mta5.am0.yahoodns.net": "yahoo",
        "MX01.mail.icloud.com": "apple",
        "mx-ha.web.de": "united_internet",
        "notgoogle.com": "other",
        "google.com.evil.example": "other",
        "": None,
    }
    assert {host: provider_of(host) for host in hosts} == hosts


def test_basic_and_unknown_codes() -> None:
    assert classify(552, None, "", "mx.elsewhere.example") == "mailbox_full"
    assert classify(None, None, None, None) == "unknown"
    assert classify(550, "5.7.999999", "x", "mx.elsewhere.example") == "policy"
    assert classify(550, "5.9.9", "\0" * 5000, "mx.elsewhere.example") == "unknown"
    assert (
        classify(550, None, "5.1.1 nobody of that name", "mx.elsewhere.example") == "invalid_recipient"
    )  # the code is in the text
