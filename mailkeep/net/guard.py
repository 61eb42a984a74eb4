"""SSRF guard: which addresses outbound requests may reach (default deny), and parsing of hosts.

The table follows the IANA registries of IPv4 and IPv6 special-purpose addresses (RFC 6890 and its updates) and of the
IPv6 address space. `ipaddress` has gaps, which depend on the Python version (it considers NAT64 of 127.0.0.1 global).
Only 2000::/3 of IPv6 is allocated as global unicast; all other addresses are rejected.

An IPv6 address that embeds an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo, ISATAP) is rejected. If the
operator allows its network, the embedded address is checked too: NAT64 does not open internal IPv4 addresses.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mailkeep.core.address import AddressError, normalize_domain
from mailkeep.core.network import Network

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_V4 = {
    "0.0.0.0/8": "this host (RFC 1122)",
    "10.0.0.0/8": "private (RFC 1918)",
    "100.64.0.0/10": "shared, carrier-grade NAT (RFC 6598)",
    "127.0.0.0/8": "loopback",
    "168.63.129.16/32": "a cloud's metadata service",
    "169.254.0.0/16": "link-local, metadata services (RFC 3927)",
    "172.16.0.0/12": "private (RFC 1918)",
    "192.0.0.0/24": "protocol assignments (RFC 6890)",
    "192.0.2.0/24": "documentation (RFC 5737)",
    "192.31.196.0/24": "AS112 (RFC 7535)",
    "192.52.193.0/24": "AMT (RFC 7450)",
    "192.88.99.0/24": "6to4 relays (RFC 7526)",
    "192.168.0.0/16": "private (RFC 1918)",
    "192.175.48.0/24": "AS112 (RFC 7534)",
    "198.18.0.0/15": "benchmarking (RFC 2544)",
    "198.51.100.0/24": "documentation (RFC 5737)",
    "203.0.113.0/24": "documentation (RFC 5737)",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved, broadcast (RFC 1112)",
}

# Narrower networks come before the wider ones that contain them.
_V6 = {
    "::/128": "unspecified",
    "::1/128": "loopback",
    "::ffff:0:0/96": "IPv4-mapped",
    "::ffff:0:0:0/96": "IPv4-translated (RFC 2765)",
    "::/96": "IPv4-compatible (RFC 4291 §2.5.5.1)",
    "64:ff9b::/96": "NAT64 (RFC 6052)",
    "64:ff9b:1::/48": "NAT64 (RFC 8215)",
    "100::/64": "discard-only (RFC 6666)",
    "100:0:0:1::/64": "dummy prefix (RFC 9780)",
    "2001::/32": "Teredo (RFC 4380)",
    "2001::/23": "protocol assignments (RFC 2928)",
    "2001:db8::/32": "documentation (RFC 3849)",
    "2002::/16": "6to4 (RFC 3056)",
    "2620:4f:8000::/48": "AS112 (RFC 7534)",
    "3ffe::/16": "6bone (RFC 3701)",
    "3fff::/20": "documentation (RFC 9637)",
    "5f00::/16": "segment routing (RFC 9602)",
    "fc00::/7": "unique local (RFC 4193)",
    "fe80::/10": "link-local",
    "fec0::/10": "site-local (RFC 3879)",
    "ff00::/8": "multicast",
}

_V4_TABLE = tuple((ipaddress.IPv4Network(network), name) for network, name in _V4.items())
_V6_TABLE = tuple((ipaddress.IPv6Network(network), name) for network, name in _V6.items())
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_ISATAP = (0x00005EFE, 0x02005EFE)  # RFC 5214 §6.1, in the upper half of the interface identifier
_LOW_32 = 0xFFFFFFFF

_TAIL_EMBEDDED = tuple(
    ipaddress.IPv6Network(text) for text in ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")
)
_NAT64_LOCAL = ipaddress.IPv6Network("64:ff9b:1::/48")
_6TO4 = ipaddress.IPv6Network("2002::/16")
_TEREDO = ipaddress.IPv6Network("2001::/32")


@dataclass(frozen=True, slots=True)
class Host:
    """A URL's host: an address, or a canonical name (IDNA2008, lower case, no trailing dot)."""

    text: str
    address: Address | None = None


class MalformedHost(ValueError):
    """A host that some software reads differently; the message is a clause about it."""


def refuse_address(ip: Address, allowed_networks: Sequence[Network] = ()) -> str | None:
    """Why an address is forbidden; None if it is global unicast or in an allowed network.

    An address that embeds an IPv4 address is only allowed if that is allowed too.
    """
    if isinstance(ip, ipaddress.IPv6Address) and ip.scope_id is not None:
        return "has a zone"
    allowed = any(ip in network for network in allowed_networks)
    if isinstance(ip, ipaddress.IPv4Address):
        return None if allowed else _special_v4(ip)
    embedded = [reason for inner in _embedded_ipv4(ip) if (reason := refuse_address(inner, allowed_networks))]
    if embedded:
        return f"embeds an IPv4 address: {embedded[0]}"
    return None if allowed else _special_v6(ip)


@lru_cache(maxsize=4096)
def _special_v4(ip: ipaddress.IPv4Address) -> str | None:
    return next((name for network, name in _V4_TABLE if ip in network), None)


@lru_cache(maxsize=4096)
def _special_v6(ip: ipaddress.IPv6Address) -> str | None:
    name = next((name for network, name in _V6_TABLE if ip in network), None)
    if name is None and ip not in _GLOBAL_UNICAST:
        return "not allocated (RFC 4291)"
    if name is None and _is_isatap(ip):
        return "ISATAP (RFC 5214)"
    return name


def _is_isatap(ip: ipaddress.IPv6Address) -> bool:
    return int(ip) >> 32 & _LOW_32 in _ISATAP


def _embedded_ipv4(ip: ipaddress.IPv6Address) -> Iterator[ipaddress.IPv4Address]:
    """The IPv4 addresses that packets to this address may reach."""
    number = int(ip)
    if number <= 1:  # `::` and `::1` embed none
        return
    if any(ip in network for network in _TAIL_EMBEDDED) or _is_isatap(ip):
        yield ipaddress.IPv4Address(number & _LOW_32)
    if ip in _NAT64_LOCAL:  # /96 within it, or RFC 6052 §2.2 for a /48: 16 bits, an empty octet, 16 bits
        yield ipaddress.IPv4Address(number & _LOW_32)
        yield ipaddress.IPv4Address((number >> 64 & 0xFFFF) << 16 | number >> 40 & 0xFFFF)
    if ip in _6TO4:
        yield ipaddress.IPv4Address(number >> 80 & _LOW_32)
    if ip in _TEREDO:  # RFC 4380 §4: the server, and the client with inverted bits
        yield ipaddress.IPv4Address(number >> 64 & _LOW_32)
        yield ipaddress.IPv4Address(number & _LOW_32 ^ _LOW_32)


def parse_host(text: str) -> Host:
    """Parse the host of a URL, without a port; MalformedHost for anything that resolvers read in different ways.

    An IPv4 address is four decimal numbers without leading zeros; an IPv6 address is in brackets and has no zone.
    Anything else is a name, which must not end in a number (`2130706433`, `0x7f.1`, `127.1`). One trailing dot is
    removed first.
    """
    if text.startswith("[") or text.endswith("]"):
        return _parse_ipv6_literal(text)
    plain = text.removesuffix(".")
    try:
        address = ipaddress.IPv4Address(plain)
    except ValueError:
        pass
    else:
        return Host(str(address), address)
    try:
        name = normalize_domain(plain)
    except AddressError as error:
        raise MalformedHost(error.reason.replace("the domain", "the name")) from error
    if _ends_in_number(name):
        raise MalformedHost(f"the name {name!r} ends in a number")
    return Host(name)


def _parse_ipv6_literal(text: str) -> Host:
    inner = text[1:-1]
    if not (text.startswith("[") and text.endswith("]")) or "%" in inner:
        raise MalformedHost("it is not an IPv6 address in brackets")
    try:
        address = ipaddress.IPv6Address(inner)
    except ValueError as error:
        raise MalformedHost("it is not an IPv6 address in brackets") from error
    return Host(str(address), address)


def _ends_in_number(name: str) -> bool:
    """Whether inet_aton and browsers would read the name as an IPv4 address (WHATWG URL, "ends in a number")."""
    last = name.rpartition(".")[2]
    return last.isdigit() or (last.startswith("0x") and all(digit in "0123456789abcdef" for digit in last[2:]))
