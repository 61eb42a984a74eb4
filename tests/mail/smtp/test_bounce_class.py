"""Sixty replies of real providers, as they or their senders have published them, and Postfix's own texts."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

from mailkeep.core.ids import uuid7
from mailkeep.features.mailflow.suppressions.rules import is_full, is_hard_bounce
from mailkeep.features.record.messages.model import DeliveryAttempt, ServerReply
from mailkeep.mail.smtp.bounce_class import classify, provider_of
from tests.support.client import START

# The columns: server, code, enhanced code (- if there is none), text, class. Sources:
# support.google.com/a/answer/3726730, learn.microsoft.com (NDRs in Exchange Online; Outlook.com postmaster),
# senders.yahooinc.com/smtp-error-codes, support.apple.com/102322, postmaster.gmx.net/en/error-messages,
# community.mimecast.com (SMTP error codes), the sources of Postfix.
Row = tuple[str | None, int | None, str | None, str, str]


def _read_row(line: str) -> Row:
    host, code, enhanced, text, expected = line.split("\t")
    return (
        None if host == "-" else host,
        int(code) if code != "-" else None,
        enhanced.strip("-") or None,
        text,
        expected,
    )


_TABLE = Path(__file__).with_name("bounce_replies.tsv")
REPLIES = [_read_row(line) for line in _TABLE.read_text().splitlines() if not line.startswith("#")]


def test_class_of_published_replies() -> None:
    found = [(*row[:4], classify(row[1], row[2], row[3], row[0])) for row in REPLIES]
    assert found == REPLIES
    assert len(REPLIES) >= 60


def test_only_dead_addresses_are_suppressed() -> None:
    """Of all these replies, given permanently: a class that says so, and never a code 5.7.x."""
    for host, code, enhanced, text, expected in REPLIES:
        reply = ServerReply(code, enhanced, text, host)
        attempt = DeliveryAttempt(uuid7(START), uuid4(), START, "bounced", "a@b.test", 1, reply)
        is_policy = (enhanced or "").split(".")[1:2] == ["7"]
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
