"""ARC sets, verified with dkimpy over several hops."""

from __future__ import annotations

import re

import dkim
import pytest

from mailkeep.mail.message import arc
from mailkeep.mail.message.dkim import sign
from tests.mail.message.test_dkim import AT, ED25519_KEY, MAIL, RSA, RSA_KEY, records
from tests.support.arc import signs_itself_alone, statuses


def hop(message: bytes, results: str, host: str = "mx.example.test") -> bytes:
    """The message after another server has written its results and sealed it."""
    received = f"Authentication-Results: {host}{results}\r\n".encode() + message
    return arc.seal([received[:300], received[300:]], host, "example.test", RSA_KEY, AT) + received


def verify(message: bytes) -> bytes | None:
    return dkim.arc_verify(message, dnsfunc=records)[0]  # pyright: ignore[reportArgumentType]


def test_a_chain_of_three_hops_verifies_with_a_dkim_signature():
    first = hop(sign([MAIL], "example.test", [RSA_KEY, ED25519_KEY], AT) + MAIL, "; dkim=pass header.d=example.test")
    second = hop(first, ";\r\n\tspf=fail;\r\n\tarc=pass (i=1)", "mx.second.test")
    third = hop(second, "; arc=pass", "mx.third.test")
    assert [verify(each) for each in (first, second, third)] == [b"pass"] * 3
    assert [cv for _, _, cv in statuses(third)] == ["pass", "pass", "none"]
    assert b"ARC-Authentication-Results: i=1; mx.example.test; dkim=pass" in first
    assert dkim.verify(third, dnsfunc=records)


def test_a_changed_message_no_longer_verifies():
    changed = hop(MAIL, "; spf=pass").replace(b"Hello", b"Hullo")
    assert verify(changed) == b"fail"


def test_a_broken_chain_is_sealed_once_by_its_new_set_alone():
    broken = hop(MAIL, "; spf=pass").replace(b"Hello", b"Hullo")
    failed = hop(broken, "; arc=fail", "mx.second.test")
    assert [cv for _, _, cv in statuses(failed)] == ["fail", "none"]
    assert signs_itself_alone(failed, RSA.public_key())
    assert not signs_itself_alone(hop(hop(MAIL, "; spf=pass"), "; arc=pass"), RSA.public_key())
    assert hop(failed, "; arc=fail", "mx.third.test").count(b"ARC-Seal") == 2


@pytest.mark.parametrize(
    "results",
    ["Authentication-Results: other.test; spf=pass\r\n", "", "Authentication-Results: mx.example.test.other; a\r\n"],
)
def test_without_results_of_this_server_nothing_is_sealed(results: str):
    assert arc.seal([results.encode() + MAIL], "mx.example.test", "example.test", RSA_KEY, AT) == b""


@pytest.mark.parametrize("results", ["; spf=pass", "; arc=none", "; arc=temperror"])
def test_a_chain_of_unknown_validity_is_not_continued(results: str):
    assert hop(hop(MAIL, "; spf=pass"), results).count(b"ARC-Seal") == 1


def test_the_chain_ends_at_fifty_sets():
    long = re.sub(rb"(ARC-[A-Za-z-]+: )i=1;", rb"\1i=50;", hop(MAIL, "; spf=pass"))
    assert hop(long, "; arc=pass").count(b"ARC-Seal") == 1
