"""The tests' DNS server answers like a resolver, over UDP and TCP."""

from __future__ import annotations

import dns.flags
import dns.message
import dns.query
import dns.rcode
import pytest

from tests.stack.harness import Stack

LONG = "x" * 250


def asked(stack: Stack, name: str, kind: str, *, edns: bool = False) -> dns.message.Message:
    """The response by UDP, or by TCP if it was truncated."""
    assert stack.names
    query = dns.message.make_query(name, kind, use_edns=0 if edns else -1, payload=4096)
    answer, by_tcp = dns.query.udp_with_fallback(query, stack.names, timeout=30)
    assert by_tcp == (kind == "TXT" and not edns)
    assert answer.flags & dns.flags.RA
    return answer


def test_a_long_record_comes_whole_with_edns_or_by_tcp(stack: Stack) -> None:
    stack.publish("long.names.test", f'@ TXT "{LONG}" "{LONG}" "{LONG}"')
    for edns in (True, False):
        (found,) = asked(stack, "long.names.test", "TXT", edns=edns).answer
        assert LONG * 3 in found.to_text().replace('" "', "")


def test_a_change_applies_to_the_next_query(stack: Stack) -> None:
    for address in ("192.0.2.1", "192.0.2.2"):
        stack.publish("change.names.test", f"@ A {address}")
        (found,) = asked(stack, "change.names.test", "A").answer
        assert [each.to_text() for each in found] == [address]


@pytest.mark.parametrize(
    "name, kind, code, answers",
    [
        ("www.kinds.names.test", "A", dns.rcode.NOERROR, ["kinds.names.test.", "192.0.2.1"]),
        ("www.kinds.names.test", "CNAME", dns.rcode.NOERROR, ["kinds.names.test."]),
        ("KINDS.names.test", "A", dns.rcode.NOERROR, ["192.0.2.1"]),
        ("kinds.names.test", "MX", dns.rcode.NOERROR, []),
        ("b.kinds.names.test", "A", dns.rcode.NOERROR, []),
        ("nobody.kinds.names.test", "A", dns.rcode.NXDOMAIN, []),
        ("nothing-of-the-kind.test", "A", dns.rcode.NXDOMAIN, []),
        ("lost.kinds.names.test", "A", dns.rcode.NXDOMAIN, ["nothing-of-the-kind.test."]),
    ],
)
def test_responses_for_existing_and_unknown_names(
    stack: Stack, name: str, kind: str, code: dns.rcode.Rcode, answers: list[str]
):
    records = ("@ A 192.0.2.1", "www CNAME @", "a.b A 192.0.2.3", "lost CNAME nothing-of-the-kind.test.")
    stack.publish("kinds.names.test", *records)
    answer = asked(stack, name, kind)
    assert (answer.rcode(), [each.to_text() for found in answer.answer for each in found]) == (code, answers)
