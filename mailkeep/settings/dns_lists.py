"""DNS lists in the settings (`filter.dnsbl`)."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

import msgspec

from mailkeep.core.address import AddressError, normalize_domain

_LOOPBACK = ipaddress.ip_network("127.0.0.0/8")
_REFUSALS = ipaddress.ip_network("127.255.255.0/24")
_MOST_LISTS, _MOST_CODES, _HIGHEST_SCORE = 20, 64, 100


class DnsList(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A DNS list of client addresses (RFC 5782): if it answers one of `codes`, a message gets `score`. A zone may have
    several entries, each with other codes.
    """

    zone: str
    codes: tuple[str, ...]
    score: float


def check_dns_lists(lists: Sequence[DnsList]) -> None:
    """Check all lists. Raises ValueError with the list and the problem."""
    if len(lists) > _MOST_LISTS:
        raise ValueError(f"more than {_MOST_LISTS} lists")
    used: set[tuple[str, str]] = set()
    for number, each in enumerate(lists):
        try:
            _check(each)
        except ValueError as error:
            raise ValueError(f"list {number + 1}: {error}") from error
        codes = {(each.zone, code) for code in each.codes}
        if len(codes) < len(each.codes) or codes & used:
            raise ValueError(f"list {number + 1}: {each.zone} has a code twice")
        used |= codes


def _check(dns_list: DnsList) -> None:
    try:
        is_canonical = normalize_domain(dns_list.zone, min_labels=2) == dns_list.zone
    except AddressError as error:
        raise ValueError(f"its zone {dns_list.zone!r} is not a domain name: {error.reason}") from error
    if not is_canonical:
        raise ValueError(f"its zone {dns_list.zone!r} must be a domain name in lower case")
    if not -_HIGHEST_SCORE <= dns_list.score <= _HIGHEST_SCORE:
        raise ValueError(f"its score must be from -{_HIGHEST_SCORE} to {_HIGHEST_SCORE}")
    if not 1 <= len(dns_list.codes) <= _MOST_CODES:
        raise ValueError(f"it needs 1 to {_MOST_CODES} codes, such as 127.0.0.2: without, any answer would count")
    for code in dns_list.codes:
        try:
            address = ipaddress.IPv4Address(code)
        except ValueError:
            raise ValueError(f"its code {code!r} is not an IPv4 address") from None
        if address not in _LOOPBACK or address in _REFUSALS:
            raise ValueError(f"its code {code} can't mean that an address is listed (RFC 5782 §2.1)")
