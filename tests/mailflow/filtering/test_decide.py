"""The decision as a pure function: thresholds, precedence, and what an allow entry must prove.

`CASES` are messages that a real Rspamd checked: forged authors, look-alikes, several authors, forwarding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from ipaddress import ip_network
from itertools import product
from typing import Any, get_args
from uuid import UUID

import pytest

from mailkeep.features.mailflow.filtering.model import (
    Action,
    DecidedBy,
    Entry,
    EntryKind,
    Facts,
    ListName,
    Policy,
    Rule,
    Scope,
    ScoreThreshold,
)
from mailkeep.features.mailflow.filtering.rules import combine, decide, explain, list_keys

ENTRY_ID = UUID(int=1)
OFF = 0.0
ANN, BO = "ann@good.test", "bo@nodmarc.test"
GOOD_ADDRESS, MAILER_ADDRESS = "203.0.113.10", "203.0.113.30"
PROVED = {"spf": "pass", "dkim": "pass", "dmarc": "pass", "from": "pass"}
FORGED = {"spf": "fail", "dkim": "none", "dmarc": "fail", "from": "fail"}
FORGED_WITH_OWN = {"spf": "pass", "dkim": "pass", "dmarc": "fail", "from": "fail"}


def entry(scope: Scope, list_name: ListName, kind: EntryKind, value: str, *, enforced: bool = False) -> Entry:
    return Entry(ENTRY_ID, scope, list_name, kind, value, enforced)


def policy(
    *entries: Entry, junk: float = 6, reject: float = 15, junk_of: Scope = "server", reject_of: Scope = "server"
) -> Policy:
    return Policy(ScoreThreshold(junk, junk_of), ScoreThreshold(reject, reject_of), entries)


def facts(
    author: str = ANN,
    score: float = 0,
    auth: Mapping[str, str] = PROVED,
    *,
    sender: str | None = None,
    client: str = "",
) -> Facts:
    return Facts(client or GOOD_ADDRESS, author if sender is None else sender, author, auth, score)


BASE = policy()
ALLOW_ANN = policy(entry("mailbox", "allow", "address", ANN))
ALLOW_BO = policy(entry("mailbox", "allow", "address", BO))
DENY_ANN = policy(entry("mailbox", "deny", "address", ANN))
DENY_GOOD = entry("domain", "deny", "domain", "good.test")
BOTH = policy(DENY_GOOD, entry("mailbox", "allow", "address", ANN))
NEITHER = policy(junk=OFF, reject=OFF, junk_of="mailbox", reject_of="mailbox")

INBOX: tuple[Action, Scope | None, Rule | None] = ("inbox", None, None)
JUNK = ("junk", "server", "junk_score")
REFUSED = ("refuse", "server", "reject_score")
ALLOWED = ("inbox", "mailbox", "allow_entry")
DENIED = ("refuse", "mailbox", "deny_entry")

CASES: Sequence[tuple[str, Facts, Sequence[tuple[Policy, Any]], str]] = [
    ("plain", facts(), [(BASE, INBOX)], "accept"),
    (
        "score 8, one with junk off, one with 20",
        facts(score=8),
        [(BASE, JUNK), (policy(junk=OFF, junk_of="mailbox"), INBOX), (policy(junk=20, junk_of="mailbox"), INBOX)],
        "accept",
    ),
    (
        "score 17, one with both off, one with reject off",
        facts(score=17),
        [(BASE, REFUSED), (NEITHER, INBOX), (policy(reject=OFF, reject_of="mailbox"), JUNK)],
        "accept",
    ),
    ("score 18 to one", facts(score=18), [(BASE, REFUSED)], "refuse"),
    ("reject off", facts(score=18), [(policy(reject=OFF, reject_of="mailbox"), JUNK)], "accept"),
    ("both off for the domain", facts(score=18), [(policy(junk=OFF, reject=OFF), INBOX)], "accept"),
    ("denied by one of two", facts(), [(DENY_ANN, DENIED), (BASE, INBOX)], "accept"),
    (
        "denied domain, from a sub-domain",
        facts("x@news.good.test"),
        [(policy(DENY_GOOD), ("refuse", "domain", "deny_entry"))],
        "refuse",
    ),
    (
        "denied network, enforced, in spite of an allow entry",
        facts(),
        [
            (
                policy(
                    entry("mailbox", "allow", "address", ANN),
                    entry("server", "deny", "network", "203.0.113.0/28", enforced=True),
                ),
                ("refuse", "server", "deny_entry"),
            )
        ],
        "refuse",
    ),
    ("denied author, another envelope", facts(sender="bounce@mailer.test"), [(DENY_ANN, DENIED)], "refuse"),
    (
        "denied author, another envelope, to two",
        facts(sender="bounce@mailer.test"),
        [(DENY_ANN, DENIED), (BASE, INBOX)],
        "accept",
    ),
    ("allowed and proved", facts(score=30), [(ALLOW_ANN, ALLOWED)], "accept"),
    ("allowed, forged", facts(score=30, auth=FORGED, client="198.51.100.66"), [(ALLOW_ANN, REFUSED)], "refuse"),
    ("allowed, forged, low score", facts(auth=FORGED, client="198.51.100.66"), [(ALLOW_ANN, INBOX)], "accept"),
    (
        "allowed, forged, with SPF and DKIM of the forger",
        facts(score=30, auth=FORGED_WITH_OWN, sender="evil@mailer.test", client=MAILER_ADDRESS),
        [(ALLOW_ANN, REFUSED)],
        "refuse",
    ),
    (
        "allowed, two addresses in From",
        facts("", 30, FORGED_WITH_OWN, sender="evil@mailer.test", client=MAILER_ADDRESS),
        [(ALLOW_ANN, REFUSED)],
        "refuse",
    ),
    (
        "allowed, forwarded: DKIM only",
        facts(score=30, sender="fwd@mailer.test", client=MAILER_ADDRESS),
        [(ALLOW_ANN, ALLOWED)],
        "accept",
    ),
    (
        "allowed, no DMARC, SPF",
        facts(BO, 30, {"spf": "pass", "dkim": "none", "dmarc": "none", "from": "pass"}),
        [(ALLOW_BO, ALLOWED)],
        "accept",
    ),
    (
        "allowed, no DMARC, DKIM only, null sender",
        facts(BO, 30, {"spf": "none", "dkim": "pass", "dmarc": "none", "from": "pass"}, sender=""),
        [(ALLOW_BO, ALLOWED)],
        "accept",
    ),
    (
        "allowed, no DMARC, forged",
        facts(BO, 30, {"spf": "fail", "dkim": "none", "dmarc": "none", "from": "fail"}),
        [(ALLOW_BO, REFUSED)],
        "refuse",
    ),
    (
        "allowed domain, sub-domain signed by the parent",
        facts("bo@x.nodmarc.test", 30, {"spf": "none", "dkim": "pass", "dmarc": "none", "from": "pass"}, sender=""),
        [(policy(entry("mailbox", "allow", "domain", "nodmarc.test")), ALLOWED)],
        "accept",
    ),
    (
        "allowed, the sender's DNS fails",
        facts("k@broken.test", 30, {"spf": "temperror", "dmarc": "temperror", "from": "temperror"}),
        [(policy(entry("mailbox", "allow", "domain", "broken.test")), ("defer", "server", "reject_score"))],
        "defer",
    ),
    (
        "allowed network",
        facts("z@nowhere.test", 30, FORGED, client="198.51.100.9"),
        [(policy(entry("mailbox", "allow", "network", "198.51.100.0/24")), ALLOWED)],
        "accept",
    ),
    ("allowed by one of two", facts(score=30), [(ALLOW_ANN, ALLOWED), (BASE, REFUSED)], "accept"),
    ("null sender", facts("mailer-daemon@good.test", 2, sender=""), [(BASE, INBOX)], "accept"),
    ("denied domain, allowed address", facts(), [(BOTH, ALLOWED)], "accept"),
    (
        "denied domain, allowed address, forged",
        facts(auth=FORGED, client="198.51.100.66"),
        [(BOTH, ("refuse", "domain", "deny_entry"))],
        "refuse",
    ),
    ("forged fields of the filter", facts(), [(BASE, INBOX)], "accept"),
    (
        "two From fields, the first one proved",
        facts("", 9, PROVED | {"from": "fail"}, sender=ANN),
        [(ALLOW_ANN, JUNK)],
        "accept",
    ),
    (
        "an allowed address as quoted display name",
        facts("evil@mailer.test", 9, client=MAILER_ADDRESS),
        [(ALLOW_ANN, JUNK)],
        "accept",
    ),
    (
        "an allowed address as display name",
        facts("", 9, FORGED_WITH_OWN, sender="evil@mailer.test", client=MAILER_ADDRESS),
        [(ALLOW_ANN, JUNK)],
        "accept",
    ),
]


@pytest.mark.parametrize("message, copies, reply", [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_cases(message: Facts, copies: Sequence[tuple[Policy, Any]], reply: str) -> None:
    decisions = [decide(each, message) for each, _ in copies]
    described = [(each.action, by and by.scope, by and by.rule) for each in decisions for by in [each.decided_by]]
    assert described == [expected for _, expected in copies]
    assert combine(decisions) == reply


def test_there_are_all_cases() -> None:
    assert len({name for name, *_ in CASES}) == 31


@pytest.mark.parametrize(
    "at_rcpt, expected",
    [
        (policy(DENY_GOOD), "refuse"),
        (policy(entry("server", "deny", "network", "203.0.113.0/24")), "refuse"),
        (policy(DENY_GOOD, entry("mailbox", "allow", "network", "203.0.113.10/32")), "inbox"),
        (BOTH, "inbox"),  # whether the allow entry applies is not known yet
        (policy(entry("mailbox", "deny", "domain", "mailer.test")), "inbox"),
        (policy(junk=1, reject=1), "inbox"),
    ],
)
def test_at_rcpt_only_deny_entries_decide(at_rcpt: Policy, expected: str) -> None:
    assert decide(at_rcpt, Facts(GOOD_ADDRESS, ANN, is_at_rcpt=True)).action == expected


def test_precedence_is_total() -> None:
    """Of any two entries that match, the one that comes first in this order decides."""
    values = {"address": ANN, "domain": "good.test", "network": "203.0.113.0/24"}
    scopes: tuple[Scope, ...] = ("mailbox", "domain", "server")
    kinds: tuple[EntryKind, ...] = ("address", "domain", "network")
    lists: tuple[ListName, ...] = ("deny", "allow")
    enforcing: tuple[Scope, ...] = ("domain", "server")
    order = [entry(scope, "deny", kind, values[kind], enforced=True) for scope, kind in product(enforcing, kinds)]
    order += [entry(scope, name, kind, values[kind]) for scope, kind, name in product(scopes, kinds, lists)]
    entries = [replace(each, id=UUID(int=number)) for number, each in enumerate(order)]
    for first, second in product(entries, entries):
        if first.id.int < second.id.int:
            decision = decide(policy(second, first), facts(score=30))
            assert decision == decide(policy(first), facts(score=30)), (first, second)


def test_an_enforced_allow_entry_has_no_priority() -> None:
    allowed = entry("server", "allow", "address", ANN, enforced=True)
    assert decide(policy(allowed, entry("mailbox", "deny", "address", ANN)), facts()).action == "refuse"


def test_only_deny_entries_match_authors_that_are_not_certain() -> None:
    """The author is empty, and one of several addresses in From is on a list."""
    unclear = Facts(
        GOOD_ADDRESS, "x@mailer.test", auth={"from": "pass", "spf": "pass"}, possible_authors=("a@b.test", ANN)
    )
    assert ANN in list_keys(unclear)
    assert decide(policy(entry("mailbox", "deny", "domain", "good.test")), unclear).action == "refuse"
    assert decide(policy(entry("mailbox", "allow", "address", ANN), junk=1), replace(unclear, score=2)).action == "junk"


@pytest.mark.parametrize(
    "proof, expected",
    [
        ({"spf": "pass", "dmarc": "pass"}, "inbox"),
        ({"spf": "pass", "dmarc": "none"}, "inbox"),
        ({"spf": "pass", "dmarc": "fail"}, "junk"),
        ({"spf": "softfail", "dmarc": "none"}, "junk"),
        ({"from": "pass"}, "junk"),
        ({}, "junk"),
    ],
)
def test_an_allowed_envelope_needs_spf_and_an_author_that_does_not_fail(
    proof: Mapping[str, str], expected: str
) -> None:
    allowed = policy(entry("mailbox", "allow", "domain", "mailer.test"))
    message = facts("ann@else.test", 8, proof, sender="b@mailer.test")
    assert decide(allowed, message).action == expected
    assert decide(allowed, facts("", 8, proof, sender="b@mailer.test")).action == "junk"


@pytest.mark.parametrize(
    "value, address, is_match",
    [
        ("good.test", "a@good.test", True),
        ("good.test", "a@mail.good.test", True),
        ("good.test", "a@notgood.test", False),
        ("good.test", "a@good.test.evil.test", False),
        ("good.test", "a@GOOD.test", True),
        ("good.test", "good.test", True),
        ("xn--bcher-kva.test", "a@bücher.test", True),
        ("xn--bcher-kva.test", "a@b\u0075\u0308cher.test", False),
        ("good.test", "a@go\u043ed.test", False),  # a Cyrillic o
    ],
)
def test_a_domain_includes_its_sub_domains_and_no_look_alikes(value: str, address: str, is_match: bool) -> None:
    denied = policy(entry("mailbox", "deny", "domain", value))
    assert (decide(denied, facts(address)).action == "refuse") is is_match
    assert (value in list_keys(facts(address))) is is_match


@pytest.mark.parametrize(
    "network, client, is_match",
    [
        ("192.0.2.0/24", "192.0.2.9", True),
        ("192.0.2.9/32", "::ffff:192.0.2.9", True),
        ("10.0.0.0/8", "10.1.2.3", True),
        ("2001:db8::/32", "2001:db8:1::1", True),
        ("2001:db8::1/128", "2001:db8::1", True),
        ("2001:db8::/32", "2001:db9::1", False),
        ("192.0.2.0/24", "192.0.3.9", False),
        ("192.0.2.0/24", "unknown", False),
    ],
)
def test_networks(network: str, client: str, is_match: bool) -> None:
    message = facts(client=client)
    assert (decide(policy(entry("mailbox", "deny", "network", network)), message).action == "refuse") is is_match
    assert (network in list_keys(message)) is is_match


@pytest.mark.parametrize("client", ["192.0.2.255", "2001:db8:0:1::25", "2001:0:0:1::1", "::1", "::c000:201", "ffff::"])
def test_networks_are_looked_up_as_they_are_stored(client: str) -> None:
    lengths = range(8, 33) if "." in client else (*range(16, 65), 128)
    assert list_keys(facts("", client=client)) == [
        str(ip_network(f"{client}/{length}", strict=False)) for length in lengths
    ]


def test_thresholds_are_inclusive_and_need_a_score() -> None:
    exact = policy(junk=6, reject=6)
    assert decide(exact, facts(score=6)).action == "refuse"
    assert decide(exact, facts(score=5.99)).action == "inbox"
    assert decide(policy(junk=0.1, reject=0.1), Facts()).action == "inbox"


def test_the_steps_end_with_the_one_that_decides() -> None:
    unproved = policy(entry("domain", "allow", "address", ANN), entry("server", "allow", "network", "192.0.2.0/24"))
    explained = explain(unproved, facts(score=8, auth=FORGED))
    assert explained.decision == decide(unproved, facts(score=8, auth=FORGED))
    assert [(step.rule, step.result) for step in explained.steps] == [
        ("allow_entry", "not_proved"),
        ("reject_score", "below"),
        ("junk_score", "applies"),
    ]
    assert explained.decision.decided_by == DecidedBy("server", "junk_score")
    assert [step.result for step in explain(NEITHER, facts(score=8)).steps] == ["off", "off", "none"]


def test_every_action_and_reply_occurs() -> None:
    actions = {decide(each, message).action for _, message, copies, _ in CASES for each, _ in copies}
    assert actions == set(get_args(Action))
    assert {reply for *_, reply in CASES} == {"accept", "refuse", "defer"}
    assert combine([]) == "accept"
