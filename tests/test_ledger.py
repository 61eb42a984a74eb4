"""The ledger finds differences."""

from __future__ import annotations

import pytest

from tests.support.ledger import Discrepancies, Ledger, compare


def noted(*notes: str) -> Ledger:
    ledger = Ledger("things")
    for note in notes:
        word, _, token = note.partition(" ")
        if word in ("invoke", "keyed"):
            ledger.invoke(token, keyed=word == "keyed")
        else:
            getattr(ledger, word)(token)
    return ledger


@pytest.mark.parametrize(
    "notes, received, wrong",
    [
        (["invoke a", "ok a"], ["a"], {}),
        (["invoke a", "ok a"], [], {"lost": {"a"}}),
        ([], ["a"], {"unexpected": {"a"}}),
        (["invoke a", "fail a"], [], {}),
        (["invoke a", "fail a"], ["a"], {"phantom": {"a"}}),
        (["invoke a", "info a"], [], {}),
        (["invoke a", "info a"], ["a", "a"], {}),
        (["invoke a", "ok a"], ["a", "a"], {"duplicated": {"a"}}),
        (["keyed a", "info a", "keyed a", "ok a"], ["a"], {}),
        (["keyed a", "info a", "keyed a", "ok a"], ["a", "a"], {"duplicated": {"a"}}),
        (["keyed a", "info a", "keyed a", "fail a"], ["a"], {"phantom": {"a"}}),
        (["invoke a", "info a", "invoke a", "fail a"], ["a"], {}),
        (["invoke a", "info a", "invoke a", "ok a"], [], {"lost": {"a"}}),
    ],
)
def test_differences_are_shown(notes: list[str], received: list[str], wrong: dict[str, set[str]]):
    balance = noted(*notes).compare_with(received)
    assert {name: getattr(balance, name) for name in wrong} == wrong
    assert balance.empty == (not wrong)


def test_each_effect_has_one_record():
    assert compare("events", ["a", "b"], ["b", "a"]) == Discrepancies("events", set(), set(), (), set())
    balance = compare("events", ["a", "b"], ["b", "b", "c"])
    assert (balance.lost, balance.unexpected, balance.duplicated) == ({"a"}, {"c"}, {"b"})
    assert str(balance) == "events: lost 1: a; unexpected 1: c; duplicated 1: b"
