from __future__ import annotations

import pytest

from mailkeep.core.errors import InvalidField, MissingFields
from mailkeep.features.directory.mailboxes import rules
from mailkeep.features.directory.mailboxes.model import PasswordOrHash


def test_one_of_password_and_hash_is_needed_and_not_both():
    with pytest.raises(MissingFields):
        rules.check_secret(PasswordOrHash(), required=True)
    with pytest.raises(InvalidField):
        rules.check_secret(PasswordOrHash("long enough", "{SHA}x"), required=True)
    rules.check_secret(PasswordOrHash(), required=False)


@pytest.mark.parametrize("text", ["alice", "a.b", "a+b", "Ünal", "straße", "o'neil", "a" * 64])
def test_local_parts_are_accepted(text: str):
    assert rules.parse_local_part(text) == text


def test_a_local_part_is_stored_in_nfc():
    assert rules.parse_local_part("u\u0308nal") == "ünal"


@pytest.mark.parametrize(
    "text", ["", " ", "a b", ".a", "a.", "a..b", "a@b", "@", '"a"', "a\u200bb", "a" * 65, "ü" * 33, "<a>"]
)
def test_other_local_parts_are_refused(text: str):
    with pytest.raises(InvalidField):
        rules.parse_local_part(text)


def test_an_address_that_is_too_long_is_refused():
    domain = ".".join(["a" * 60] * 4)
    rules.address_in("a", domain)
    with pytest.raises(InvalidField):
        rules.address_in("a" * 64, domain)


def test_destinations_are_trimmed_and_counted_once():
    found = rules.parse_destinations([" Bob@Elsewhere.test ", "bob@elsewhere.test", "carol@x.test"])
    assert [address.text for address in found] == ["Bob@elsewhere.test", "carol@x.test"]


@pytest.mark.parametrize("texts", [["bob"], ["@x.test"], ["a@"], [""], ["a@x.test,b@x.test"], ["a@x.test\n"]])
def test_malformed_destinations_are_refused(texts: list[str]):
    with pytest.raises(InvalidField):
        rules.parse_destinations(texts)


def test_ten_destinations_are_accepted_and_eleven_not():
    texts = [f"{number}@x.test" for number in range(11)]
    assert len(rules.parse_destinations([*texts[:10], texts[0]])) == 10
    with pytest.raises(InvalidField):
        rules.parse_destinations(texts)
