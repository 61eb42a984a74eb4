import pytest
from hypothesis import given, strategies as st

from mailkeep.core.network import covers, is_within, parse_network, source_of


@pytest.mark.parametrize(
    "text, network",
    [
        ("10.0.0.0/8", "10.0.0.0/8"),
        ("192.0.2.1", "192.0.2.1/32"),
        ("2001:DB8::/32", "2001:db8::/32"),
        ("::1", "::1/128"),
        ("0.0.0.0/0", "0.0.0.0/0"),
        ("10.0.0.1/8", None),
        ("10.0.0.0/33", None),
        ("10.0.0.0/-1", None),
        ("010.0.0.0/8", None),
        ("0x0a.0.0.0/8", None),
        ("10/8", None),
        ("167772160", None),
        ("fe80::%eth0/64", None),
        ("fe80::1%1", None),
        ("１０.0.0.0/8", None),
        (" 10.0.0.0/8", None),
        ("10.0.0.0/8\n", None),
        ("example.test", None),
        ("", None),
    ],
)
def test_what_is_a_network(text: str, network: str | None):
    assert parse_network(text) == network


@given(st.text())
def test_any_other_text_is_none(text: str):
    found = parse_network(text)
    assert found is None or parse_network(found) == found


@pytest.mark.parametrize(
    "address, networks, lies",
    [
        ("10.1.2.3", ["10.0.0.0/8"], True),
        ("11.1.2.3", ["10.0.0.0/8"], False),
        ("11.1.2.3", ["10.0.0.0/8", "11.1.2.3/32"], True),
        ("2001:db8::1", ["10.0.0.0/8", "2001:db8::/32"], True),
        ("::ffff:10.1.2.3", ["10.0.0.0/8"], False),
        ("10.1.2.3", [], False),
        ("", ["0.0.0.0/0"], False),
        ("unix", ["0.0.0.0/0"], False),
    ],
)
def test_what_lies_within(address: str, networks: list[str], lies: bool):
    assert is_within(address, networks) is lies


@pytest.mark.parametrize(
    "wide, narrow, covered",
    [
        (["10.0.0.0/8"], "10.1.0.0/16", True),
        (["10.0.0.0/8"], "10.0.0.0/8", True),
        (["10.0.0.0/8"], "10.0.0.0/7", False),
        (["10.0.0.0/8"], "0.0.0.0/0", False),
        (["0.0.0.0/0"], "::/0", False),
        (["::/0", "0.0.0.0/0"], "10.1.0.0/16", True),
        ([], "10.1.0.0/16", False),
    ],
)
def test_what_is_covered(wide: list[str], narrow: str, covered: bool):
    assert covers(wide, narrow) is covered


@pytest.mark.parametrize(
    "address, source",
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("nonsense", "nonsense"),
    ],
)
def test_a_source_is_an_ipv4_address_or_an_ipv6_network(address: str, source: str):
    assert source_of(address) == source
