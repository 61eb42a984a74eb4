"""The decision about a sign-in, and the keys of accounts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from mailkeep.features.access.sign_in_protection import rules
from mailkeep.features.access.sign_in_protection.model import Attempt, NewBlock, SignInDecision, SignInHistory
from tests.support.client import START, VAULT

ALICE = Attempt("mailbox:alice@example.test", "192.0.2.1", "xy")
NOTHING = SignInHistory(
    known_source=False, blocked_until=None, repeated=False, account_failures=0, source_failures=0, source_accounts=1
)
KNOWN = replace(NOTHING, known_source=True)


def decide(history: SignInHistory, attempt: Attempt = ALICE) -> SignInDecision:
    return rules.decide(attempt, history, START)


@pytest.mark.parametrize("failures, delay", [(0, 0), (3, 0), (4, 1), (5, 2), (6, 4), (9, 4), (5000, 4)])
def test_the_delay_grows_with_the_failures(failures: int, delay: int):
    assert decide(replace(NOTHING, account_failures=failures)).delay == delay
    assert decide(replace(NOTHING, source_failures=failures)).delay == delay
    assert decide(replace(KNOWN, account_failures=failures)).delay == delay
    # Failures of others at a known source do not delay its owner.
    assert decide(replace(KNOWN, source_failures=failures)) == SignInDecision(counted=True)


@pytest.mark.parametrize(
    "failures, seconds", [(8, None), (9, 15), (10, 30), (14, 480), (15, 900), (16, 900), (5000, 900)]
)
def test_an_account_is_blocked_for_unknown_sources(failures: int, seconds: int | None):
    blocks = decide(replace(NOTHING, account_failures=failures)).blocks
    until = START + timedelta(seconds=seconds or 0)
    assert blocks == (() if seconds is None else (NewBlock(ALICE.account, None, failures + 1, until),))


@pytest.mark.parametrize(
    "failures, accounts, is_blocked", [(28, 9, False), (29, 2, False), (29, 3, True), (99, 3, True)]
)
def test_a_source_is_blocked_after_failures_of_several_accounts(failures: int, accounts: int, is_blocked: bool):
    history = replace(NOTHING, source_failures=failures, source_accounts=accounts)
    block = NewBlock(None, ALICE.source, failures + 1, START + timedelta(hours=1))
    assert decide(history).blocks == ((block,) if is_blocked else ())
    assert decide(replace(history, known_source=True)).blocks == ()


@pytest.mark.parametrize("failures, is_blocked", [(48, False), (49, True)])
def test_a_known_source_is_blocked_for_its_own_failures(failures: int, is_blocked: bool):
    block = NewBlock(ALICE.account, ALICE.source, 50, START + timedelta(minutes=15))
    assert decide(replace(KNOWN, account_failures=failures)).blocks == ((block,) if is_blocked else ())


def test_a_repeated_password_is_not_counted_and_a_refused_attempt_neither():
    assert decide(replace(NOTHING, repeated=True, account_failures=9)) == SignInDecision(delay=4)
    until = START + timedelta(seconds=15)
    refused = decide(replace(NOTHING, blocked_until=until, account_failures=20))
    assert refused == SignInDecision(refused_until=until)


def test_only_addresses_are_named():
    typed = rules.account_of("admin", "hunter2 hunter2", VAULT)
    assert rules.address_of(typed) is None
    assert "hunter2" not in typed
    assert typed != rules.account_of("admin", "hunter3", VAULT)
    attempt = Attempt(typed, "192.0.2.1", "xy")
    assert decide(replace(NOTHING, account_failures=20), attempt).blocks == ()
    mailbox = rules.account_of("mailbox", "Alice@bücher.test", VAULT)
    assert mailbox == "mailbox:alice@xn--bcher-kva.test"
    assert (rules.kind_of(mailbox), rules.address_of(mailbox)) == ("mailbox", "alice@xn--bcher-kva.test")


def test_tags_tell_passwords_apart_but_have_only_12_bits():
    tags = {rules.tag_of(ALICE.account, f"password {n}", VAULT) for n in range(200)}
    assert len(tags) > 150
    assert {len(tag) for tag in tags} == {2}
    assert rules.tag_of("mailbox:bob@example.test", "x", VAULT) != rules.tag_of(ALICE.account, "x", VAULT)
