"""Networks in CIDR form, and the source of a request for limits."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from functools import lru_cache

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def parse_network(text: str) -> str | None:
    """The shortest form of a network or, with an address, of the network of that host; None for anything else.

    Host bits and zones (`fe80::%eth0`) are refused.
    """
    if "%" in text:
        return None
    try:
        return str(ipaddress.ip_network(text))
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def source_of(address: str) -> str:
    """The source that limits count: an IPv4 address, the /64 network of an IPv6 address, or other text unchanged."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv6Address):
        return str(ip.ipv4_mapped or ipaddress.ip_network((int(ip) >> 64 << 64, 64)))
    return address


def is_within(address: str, networks: Sequence[str]) -> bool:
    """Whether the address is in one of the networks; False if it is not an address."""
    return _is_within(address, tuple(networks))


@lru_cache(maxsize=4096)
def _is_within(address: str, networks: tuple[str, ...]) -> bool:
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(ip in _network(network) for network in networks)


def covers(networks: Sequence[str], subnet: str) -> bool:
    """Whether `subnet` is a subnet of one of the networks."""
    inner = _network(subnet)
    return any(_is_subnet(inner, _network(outer)) for outer in networks)


@lru_cache(maxsize=4096)
def _network(text: str) -> Network:
    return ipaddress.ip_network(text)


def _is_subnet(inner: Network, outer: Network) -> bool:
    if isinstance(inner, ipaddress.IPv4Network) and isinstance(outer, ipaddress.IPv4Network):
        return inner.subnet_of(outer)
    if isinstance(inner, ipaddress.IPv6Network) and isinstance(outer, ipaddress.IPv6Network):
        return inner.subnet_of(outer)
    return False
