"""Which policy is safe, and the sentences that say so."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from mailkeep.features.mailflow.reports import rules
from mailkeep.features.mailflow.reports.model import DayCounts, OtherSender, Policy, TlsPolicyCount

FIRST = date(2026, 1, 1)


def day(
    number: int, aligned: int = 10, ours: int = 0, forwarded: int = 0, other: int = 0, unknown: int = 0
) -> DayCounts:
    return DayCounts(
        FIRST + timedelta(days=number), aligned + ours + forwarded + other + unknown, aligned, ours, forwarded, other,
        unknown, 0, 0,
    )  # fmt: skip


def days(count: int, **counts: int) -> list[DayCounts]:
    return [day(number, **counts) for number in range(count)]


@pytest.mark.parametrize(
    "reports, safe, after",
    [
        (days(13), "none", None),
        (days(14), "quarantine", 13),
        (days(29), "quarantine", 13),
        (days(30), "reject", 29),
        (days(60, aligned=0, unknown=100), "none", None),
        (days(60, unknown=1000, forwarded=5), "reject", 29),
        (days(60, aligned=990, ours=10), "reject", 29),
        (days(60, aligned=980, ours=20), "none", None),
        (days(60, aligned=100, other=2), "none", None),
        (days(60, aligned=1), "reject", 49),
        ([day(0), *(day(n) for n in range(10, 40, 10))], "none", None),
        ([*days(40), day(40, ours=10)], "none", None),
        ([day(0, ours=10), *(day(n) for n in range(1, 20))], "quarantine", 14),
    ],
    ids=[
        "13 days", "14 days", "29 days", "30 days", "only forgeries", "forgeries and forwarders do not count",
        "one percent", "two percent", "another sender", "few messages", "few reports", "a bad day at the end",
        "a bad day at the start",
    ],
)  # fmt: skip
def test_a_policy_is_safe_after_enough_good_days(reports: list[DayCounts], safe: Policy, after: int | None) -> None:
    since = None if after is None else FIRST + timedelta(days=after)
    assert rules.find_safe_policy(reports) == (safe, since)


@pytest.mark.parametrize(
    "published, count, code, level",
    [
        (None, 5, "stay_at_none", "info"),
        ("none", 20, "raise_policy", "ok"),
        ("none", 40, "raise_policy", "ok"),
        ("quarantine", 20, "policy_fits", "ok"),
        ("reject", 20, "policy_too_strict", "warning"),
        ("reject", 5, "policy_too_strict", "warning"),
        ("reject", 40, "policy_fits", "ok"),
    ],
)
def test_the_first_sentence_compares_the_published_policy(
    published: Policy | None, count: int, code: str, level: str
) -> None:
    item = rules.advise(days(count), [], published).items[0]
    assert (item.code, item.level) == (code, level)


def test_senders_that_lack_spf_or_dkim_are_named_if_they_send_regularly() -> None:
    others = [OtherSender("crm.test", 50, 5), OtherSender("once.test", 50, 1), OtherSender("rare.test", 3, 3)]
    advice = rules.advise(days(20, aligned=100, other=3, unknown=2), others, "none")
    assert [each.code for each in advice.items] == ["stay_at_none", "other_sender", "unknown_senders"]
    assert "authenticated for crm.test only" in advice.items[1].text


def test_without_reports_it_says_how_to_get_them() -> None:
    assert [each.code for each in rules.advise([], [], None).items] == ["no_reports"]


def test_tls_advice_mentions_a_missing_policy() -> None:
    found = [each.code for each in rules.advise_tls([TlsPolicyCount("no-policy-found", 5, 0)], [])]
    assert found == ["all_encrypted", "no_policy"]


@pytest.mark.parametrize(
    "name, organisation",
    [
        ("a.b.google.com", "google.com"),
        ("mx.shop.co.uk", "shop.co.uk"),
        ("a.b.de", "b.de"),
        ("localhost", "localhost"),
        ("", ""),
    ],
)
def test_the_organisation_is_the_registered_domain(name: str, organisation: str) -> None:
    assert rules.organisation_of(name) == organisation
