"""Which hosts may be reached: at least sixty that may not, in every spelling, and those that may."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given, strategies as st

from mailkeep.net.guard import Host, MalformedHost, parse_host, refuse_address
from mailkeep.net.url import MalformedUrl, parse_url

# As they stand in a URL. None of them is reached: either no host, or an address that is refused.
HOSTILE = [
    # Loopback, and what resolvers and browsers take for it
    "127.0.0.1", "127.0.0.1.", "127.1", "127.0.1", "127.255.255.254", "0.0.0.0", "0", "0.", "2130706433",
    "017700000001", "0x7f000001", "0x7f.1", "0x7f.0x0.0x0.0x1", "0177.0.0.1", "0177.0.0.01", "127.0.0.0x1",
    "00000127.0.0.1", "127.0.0.01", "127.0.0.1.1", "256.0.0.1", "4294967297", "0x", "[::1]", "[::]",
    "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[::7f00:1]",
    "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]",
    "[2001:0:7f00:1::]", "[2001::80ff:fffe]", "[2606:4700::5efe:127.0.0.1]", "[2606:4700::200:5efe:7f00:1]",
    # Link-local, metadata services
    "169.254.169.254", "169.254.0.1", "[fe80::1]", "[fe80::1%25eth0]", "[fe80::1%eth0]", "[::ffff:169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518", "100.100.100.200",
    "168.63.129.16", "[fd00:ec2::254]", "[fd20:ce::254]", "192.0.0.192",
    # Private
    "10.0.0.1", "10.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.257", "100.64.0.1", "[fc00::1]",
    "[fd12:3456::1]", "[fec0::1]", "[::ffff:10.0.0.1]", "[::ffff:192.168.0.1]", "[2002:c0a8:1::]",
    # Special
    "192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "192.88.99.1", "192.31.196.1", "192.52.193.1",
    "192.175.48.1", "192.0.0.8", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "[ff02::1]",
    "[ff0e::1]", "[2001:db8::1]", "[3fff::1]", "[3ffe::1]", "[100::1]", "[100:0:0:1::1]", "[2001:2::1]",
    "[2001:10::1]", "[2001:20::1]", "[5f00::1]", "[4000::1]", "[1::1]", "[2620:4f:8000::1]", "[e000::1]",
    # What normalization turns into something else
    "①②⑦.⓪.⓪.①", "１２７.０.０.１", "127。0。0。1", "127．0．0．1", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "loc\u00adalhost", "locαlhost\u200b",
    "LOCALHOST\u3002", "127\u00ad.0.0.1", "[\u2170\u2170\u2170::1]", "xn--127-0-0-1", "faß..de", "xn--a",
    # No hosts at all
    "", ".", "..", "[]", "[", "]", "[::1", "::1", "[::1]x", "[v1.x]", "[1.2.3.4]", "[::1]%25", "a..b", "-a.test",
    "a-.test", "a_b.test", "a b.test", "a\tb.test", "a\nb.test", "a\x00b.test", "a%2eb.test", "*.test", "a,b", "'",
    "a" * 64 + ".test", ".".join(["a" * 60] * 5),
]  # fmt: skip

REACHABLE = {
    "example.com": "example.com",
    "EXAMPLE.com.": "example.com",
    "a.b-c.example": "a.b-c.example",
    "faß.de": "xn--fa-hia.de",
    "xn--fa-hia.de": "xn--fa-hia.de",
    "1.2.3.4": "1.2.3.4",
    "8.8.8.8.": "8.8.8.8",
    "100.128.0.1": "100.128.0.1",
    "172.15.255.255": "172.15.255.255",
    "172.32.0.1": "172.32.0.1",
    "223.255.255.255": "223.255.255.255",
    "[2606:4700::1111]": "2606:4700::1111",
    "[2A00:1450::8A]": "2a00:1450::8a",
    "4.example": "4.example",
    "0x7f.example": "0x7f.example",
}


def reached(host: str) -> str | None:
    """What a request to this host would go to: a name to be looked up, or an address; None where it is refused."""
    try:
        found = parse_host(host)
    except MalformedHost:
        return None
    if found.address is not None and refuse_address(found.address):
        return None
    return found.text


def test_there_are_sixty_at_least():
    assert len(set(HOSTILE)) == len(HOSTILE) >= 60


@pytest.mark.parametrize("host", HOSTILE, ids=ascii)
def test_a_hostile_host_is_refused(host: str):
    assert reached(host) is None


@pytest.mark.parametrize("host, text", REACHABLE.items())
def test_other_hosts_are_reached_by_their_canonical_form(host: str, text: str):
    assert reached(host) == text


def test_names_of_this_machine_are_names_and_judged_by_their_addresses():
    assert parse_host("localhost") == Host("localhost")


URLS_REFUSED = [
    "", "https://", "https:///x", "example.com", "//example.com/", "ftp://example.com/", "file:///etc/passwd",
    "gopher://127.0.0.1/", "javascript:alert(1)", "https:example.com", "https:/example.com", "https:\\\\example.com",
    "https://example.com\\@127.0.0.1/", "https://example.com@127.0.0.1/", "https://user:secret@example.com/",
    "https://@example.com/", "https://example.com#@127.0.0.1/", "https://example.com/#fragment",
    "https://example.com/#", "https://example.com:0/", "https://example.com:65536/",
    "https://example.com:99999999999/", "https://example.com:+1/", "https://example.com:１/", "https://example.com:/",
    "https://example.com: 1/", " https://example.com/", "https://example.com/ ", "https://exam\tple.com/",
    "https://example.com/\r\nX: y", "https://example.com/a\tb", "https://example.com/\x00",
    "\x00https://example.com/", "https://example.com/é", "https://example.com/%zz", "https://example.com/%",
    "https://example.com?x={}", 'https://example.com/"', "https://example.com/<", "https://exa mple/",
    "https://example.com%2f@127.0.0.1/", "https://127.0.0.1%2523@example.com/", "https://[::1%25lo]/",
    "https://[::1]]/", "http://example.com/", "https://2130706433/", f"https://example.com/{'x' * 2048}",
]  # fmt: skip


@pytest.mark.parametrize("url", URLS_REFUSED, ids=ascii)
def test_a_url_with_two_readings_or_none_is_refused(url: str):
    with pytest.raises(MalformedUrl):
        parse_url(url)


@pytest.mark.parametrize(
    "url, canonical",
    [
        ("https://example.com", "https://example.com/"),
        ("HTTPS://Example.COM:443/A%20b?c=d&e[]=f/?", "https://example.com/A%20b?c=d&e[]=f/?"),
        ("https://example.com:8443?x", "https://example.com:8443/?x"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://[2606:4700::1111]:8443/", "https://[2606:4700::1111]:8443/"),
        ("https://example.com//a/../b", "https://example.com//a/../b"),
    ],
)
def test_a_url_is_taken_as_it_is(url: str, canonical: str):
    assert parse_url(url).url == canonical


def test_http_only_where_it_is_allowed():
    assert parse_url("http://example.com:8080/x", allow_http=True).url == "http://example.com:8080/x"
    assert parse_url("http://example.com:80/", allow_http=True).authority == "example.com"


# What an operator allows

LAB = tuple(ipaddress.ip_network(text) for text in ("127.0.0.0/8", "10.1.0.0/16", "fd00::/8"))


@pytest.mark.parametrize(
    "address, allowed",
    [
        ("127.0.0.1", True), ("10.1.2.3", True), ("fd00::1", True), ("8.8.8.8", True),
        ("10.2.0.1", False), ("::1", False), ("169.254.169.254", False), ("fe80::1", False),
        # What carries an allowed address is not allowed by that.
        ("::ffff:127.0.0.1", False), ("64:ff9b::7f00:1", False), ("2002:7f00:1::", False),
    ],
)  # fmt: skip
def test_an_allowed_network_opens_itself_and_nothing_else(address: str, allowed: bool):
    assert (refuse_address(ipaddress.ip_address(address), LAB) is None) is allowed


@pytest.mark.parametrize(
    "address, allowed",
    [
        ("64:ff9b::808:808", True),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b::a9fe:a9fe", False),
        ("64:ff9b:1::808:808", False),
    ],
)
def test_allowed_nat64_does_not_open_what_lies_behind(address: str, allowed: bool):
    nat64 = (ipaddress.ip_network("64:ff9b::/96"),)
    assert (refuse_address(ipaddress.ip_address(address), nat64) is None) is allowed


def test_everything_allowed_still_asks_what_an_address_carries():
    everything = tuple(ipaddress.ip_network(text) for text in ("0.0.0.0/0", "::/0"))
    assert refuse_address(ipaddress.ip_address("::1"), everything) is None
    assert refuse_address(ipaddress.ip_address("64:ff9b::7f00:1"), everything) is None
    only_v6 = everything[1:]
    assert refuse_address(ipaddress.ip_address("64:ff9b::7f00:1"), only_v6) is not None


@given(st.ip_addresses(v=4))
def test_no_special_ipv4_address_passes(address: ipaddress.IPv4Address):
    if not address.is_global or address.is_multicast or address.is_reserved:
        assert refuse_address(address) is not None


@given(st.ip_addresses(v=6))
def test_no_special_ipv6_address_passes(address: ipaddress.IPv6Address):
    if not address.is_global or address.is_multicast or address.is_reserved or address not in GLOBAL:
        assert refuse_address(address) is not None


GLOBAL = ipaddress.ip_network("2000::/3")


@given(st.ip_addresses(v=4), st.sampled_from(["::ffff:{}", "64:ff9b::{}", "::{}", "::ffff:0:{}", "2a00::5efe:{}"]))
def test_no_form_that_carries_an_ipv4_address_passes(address: ipaddress.IPv4Address, form: str):
    assert refuse_address(ipaddress.ip_address(form.format(address))) is not None


@given(st.text(max_size=60))
def test_any_text_is_a_host_or_refused(text: str):
    try:
        found = parse_host(text)
    except MalformedHost:
        return
    again = f"[{found.text}]" if ":" in found.text else found.text
    assert parse_host(again) == found
    assert found.text.isascii()


@given(st.text(max_size=80), st.booleans())
def test_any_text_is_a_url_or_refused(text: str, prefixed: bool):
    try:
        target = parse_url(f"https://{text}" if prefixed else text)
    except MalformedUrl:
        return
    assert parse_url(target.url) == target
    assert target.url.isascii()
    assert target.url.isprintable()
