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


@pytest.mark.parametrize("refuse", [rules.refuse_loop, rules.refuse_chain])
def test_no_loop_and_no_chain_is_not_refused(refuse: Callable[[list[str]], None]) -> None:
    refuse([])
    with pytest.raises(Conflict):
        refuse(["x"])


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
