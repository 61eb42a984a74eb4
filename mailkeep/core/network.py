"""Networks in CIDR form, whether an address lies within, and what rate limits count as one source."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from functools import lru_cache

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def parse_network(text: str) -> str | None:
    """A network (a bare address is one of a single host) in its shortest form; None for anything else.

    Bits behind the prefix and zones (`fe80::%eth0`) are refused.
    """
    if "%" in text:
        return None
    try:
        return str(ipaddress.ip_network(text))
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def source_of(address: str) -> str:
    """What limits count as one source: an IPv4 address, or the /64 network of an IPv6 address. Other text unchanged."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address):
        return str(ip.ipv4_mapped or ipaddress.ip_network((int(ip) >> 64 << 64, 64)))
    return address


def is_within(address: str, networks: Sequence[str]) -> bool:
    """Whether the address lies in one of the networks; what is no address lies in none."""
    return _is_within(address, tuple(networks))


@lru_cache(maxsize=4096)
def _is_within(address: str, networks: tuple[str, ...]) -> bool:
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(ip in _network(network) for network in networks)


def covers(wide: Sequence[str], narrow: str) -> bool:
    """Whether a network lies wholly in one of the others."""
    inner = _network(narrow)
    return any(_is_subnet(inner, _network(outer)) for outer in wide)


@lru_cache(maxsize=4096)
def _network(text: str) -> Network:
    return ipaddress.ip_network(text)


def _is_subnet(inner: Network, outer: Network) -> bool:
    if isinstance(inner, ipaddress.IPv4Network) and isinstance(outer, ipaddress.IPv4Network):
        return inner.subnet_of(outer)
    if isinstance(inner, ipaddress.IPv6Network) and isinstance(outer, ipaddress.IPv6Network):
        return inner.subnet_of(outer)
    return False
