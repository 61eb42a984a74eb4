"""Rules for aliases, without a database."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from mailkeep.core.address import parse_address
from mailkeep.core.errors import Conflict, InvalidField, MissingFields
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.features.directory.aliases import rules


def texts_of(destination: str) -> list[str]:
    return [address.text for address in rules.parse_destinations(destination)]


@pytest.mark.parametrize(
    "destination, addresses",
    [
        ("bob@example.test", ["bob@example.test"]),
        (" bob@example.test ,\tcarol@Else.TEST", ["bob@example.test", "carol@else.test"]),
        ("Bob@example.test,bob@EXAMPLE.test,bob@example.test", ["Bob@example.test"]),
        ("straße@example.test,STRASSE@example.test", ["straße@example.test"]),
        ("bob@bücher.example", ["bob@xn--bcher-kva.example"]),
        ("bob+tag@example.test", ["bob+tag@example.test"]),
        (",".join(f"u{n}@example.test" for n in range(10)), [f"u{n}@example.test" for n in range(10)]),
        (",".join([f"u{n}@example.test" for n in range(10)] * 3), [f"u{n}@example.test" for n in range(10)]),
    ],
)
def test_destinations_are_trimmed_and_unique(destination: str, addresses: list[str]) -> None:
    assert texts_of(destination) == addresses


@pytest.mark.parametrize(
    "destination",
    [
        "",
        " ",
        ",",
        "bob",
        "bob@",
        "@example.test",
        "bob@example.test,",
        "bob@example.test,,carol@example.test",
        "bob@example.test carol@example.test",
        "bob@example.test;carol@example.test",
        "Bob <bob@example.test>",
        '"bob"@example.test',
        "bob@@example.test",
        "bob@[127.0.0.1]",
        "bob@exam\u00adple.test",
        "bob@example.test\nBcc: x@y.test",
        ",".join(f"u{n}@example.test" for n in range(11)),
    ],
)
def test_other_destinations_are_refused(destination: str) -> None:
    with pytest.raises(InvalidField):
        rules.parse_destinations(destination)


@pytest.mark.parametrize("source", ["info", "INFO", "info+x", "über", "a.b", "", "postmaster", "u\u0308ber"])
def test_a_source_is_a_local_part_or_nothing(source: str) -> None:
    parsed, _ = rules.parse_new(source, "bob@example.test")
    assert parsed == ("über" if source == "u\u0308ber" else source)


@pytest.mark.parametrize("source", ["a@b", "@", ".a", "a..b", "a b", " ", '"a"', "a,b", "x" * 65, "a\u200db", "<a>"])
def test_other_sources_are_refused(source: str) -> None:
    with pytest.raises(InvalidField):
        rules.parse_new(source, "bob@example.test")


def test_all_faults_are_reported_together() -> None:
    with pytest.raises(InvalidField) as refused:
        rules.parse_new("a b", "bob,carol@,dora@example.test")
    assert refused.value.details
    fields = [fault["field"] for fault in refused.value.details["fields"]]
    assert fields == ["source_local_part", "destination", "destination"]


def test_a_source_must_fit_into_an_address_of_its_domain() -> None:
    rules.check_length("", "d" * 250)
    rules.check_length("x" * 64, "example.test")
    with pytest.raises(InvalidField):
        rules.check_length("x" * 64, ".".join(["d" * 60] * 3) + ".example")


CHAIN_BEHIND = "and an alias can't lead to another alias of its domain. Change the existing destinations first."


@pytest.mark.parametrize(
    "refuse, found, message",
    [
        (
            rules.refuse_loop,
            ["bob@a.test"],
            "Mail for bob@a.test leads back to this alias. Remove it from the destinations.",
        ),
        (
            rules.refuse_loop,
            [f"{name}@a.test" for name in "edcba"],
            (
                "Mail for a@a.test, b@a.test, c@a.test and 2 more leads back to this alias. Remove them from the "
                "destinations."
            ),
        ),
        (
            lambda found: rules.refuse_chain_ahead(found, "a.test"),
            ["sales"],
            "sales@a.test is itself an alias of this domain. Enter its destinations instead.",
        ),
        (
            lambda found: rules.refuse_chain_ahead(found, "a.test"),
            ["sales", ""],
            (
                "@a.test (the catch-all), sales@a.test are themselves aliases of this domain. Enter their "
                "destinations instead."
            ),
        ),
        (
            lambda found: rules.refuse_chain_behind(found, "sales", "a.test"),
            ["info"],
            f"info@a.test already forwards to this address, {CHAIN_BEHIND}",
        ),
        (
            lambda found: rules.refuse_chain_behind(found, "", "a.test"),
            ["info", "help"],
            (
                "help@a.test, info@a.test already forward to an address that this catch-all would receive mail for, "
                f"{CHAIN_BEHIND}"
            ),
        ),
    ],
)
def test_loops_and_chains_are_refused_with_the_addresses_concerned(
    refuse: Callable[[list[str]], None], found: list[str], message: str
) -> None:
    refuse([])
    with pytest.raises(Conflict) as refused:
        refuse(found)
    assert refused.value.message == message


def test_only_a_domain_admin_must_name_the_domain() -> None:
    def caller(role: Role) -> Principal:
        return Principal(None, "somebody", role, ActorType.SESSION)

    rules.require_domain(caller(Role.ADMIN))
    rules.require_domain(caller(Role.SUPER_ADMIN))
    with pytest.raises(MissingFields):
        rules.require_domain(caller(Role.DOMAIN_ADMIN))


@given(st.text(max_size=60), st.text(alphabet='ab@.,+ \t\n\x00ßÜ\u200d"<>()', max_size=60))
def test_any_text_is_parsed_or_refused(source: str, destination: str) -> None:
    try:
        parsed, destinations = rules.parse_new(source, destination)
    except InvalidField:
        return
    assert rules.parse_new(parsed, ",".join(address.text for address in destinations)) == (parsed, destinations)
    assert all(parse_address(address.text) == address for address in destinations)
