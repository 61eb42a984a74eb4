"""Validation of keys, who may see and who may revoke them."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from mailkeep.core.clock import iso
from mailkeep.core.errors import FieldError, Forbidden, InvalidField, invalid_field
from mailkeep.core.network import covers, parse_network
from mailkeep.core.principal import Principal, Role
from mailkeep.features.access.api_keys.model import DEFAULT_RATE_LIMIT, KEY_PREFIX, ApiKey, NewApiKey

_RAW_KEY = re.compile(re.escape(KEY_PREFIX) + r"[A-Za-z0-9_-]{43}")


def is_raw_key(text: str) -> bool:
    """Whether the text has the form of a key."""
    return _RAW_KEY.fullmatch(text) is not None


def apply_parent_limits(new_key: NewApiKey, parent: ApiKey | None) -> NewApiKey:
    """The new key with defaults: the usual ones, or the values of `parent`, the key that creates it, if they are lower.

    FORBIDDEN if it exceeds its parent (`details.reason` longer_lived, faster, more_networks).
    """
    if parent is None:
        return replace(new_key, rate_limit=DEFAULT_RATE_LIMIT if new_key.rate_limit is None else new_key.rate_limit)
    expires_at = new_key.expires_at or parent.expires_at
    if parent.expires_at is not None and expires_at is not None and expires_at > parent.expires_at:
        expiry = iso(parent.expires_at)
        raise Forbidden(f"A key can't create a key that expires later than itself ({expiry}).", reason="longer_lived")
    rate_limit = new_key.rate_limit
    if rate_limit is None:
        rate_limit = min(DEFAULT_RATE_LIMIT, parent.rate_limit or DEFAULT_RATE_LIMIT)
    if _is_faster(rate_limit, parent.rate_limit):
        raise Forbidden(f"A key can't create a key with a higher rate limit ({parent.rate_limit}).", reason="faster")
    networks = new_key.allowed_networks or parent.allowed_networks
    if parent.allowed_networks and not all(covers(parent.allowed_networks, network) for network in networks):
        own = ", ".join(parent.allowed_networks)
        raise Forbidden(f"A key can't create a key for other networks than its own ({own}).", reason="more_networks")
    return replace(new_key, expires_at=expires_at, rate_limit=rate_limit, allowed_networks=networks)


def expiry(at: datetime, days: int, expires_at: datetime | None) -> datetime | None:
    """When a key expires that is created at `at`: in `days` (0: never), or at an exact time. INVALID_FIELD for both, or
    for a time that has passed.
    """
    if expires_at is None:
        return at + timedelta(days=days) if days else None
    if days:
        raise invalid_field("expires_at", "can't be combined with expires_in_days")
    if expires_at <= at:
        raise invalid_field("expires_at", f"must be in the future (got {iso(expires_at)})")
    return expires_at


def parse_networks(texts: Sequence[str]) -> tuple[str, ...]:
    """Networks and single addresses as networks in their shortest form, without duplicates. INVALID_FIELD names all
    faulty ones.
    """
    parsed = [parse_network(text) for text in texts]
    faults: list[FieldError] = [
        {
            "field": f"allowed_networks[{index}]",
            "reason": f"must be an IP address or a network in CIDR form such as 192.0.2.0/24 (got {text!r:.60})",
        }
        for index, (text, network) in enumerate(zip(texts, parsed, strict=True))
        if network is None
    ]
    if faults:
        raise InvalidField(faults)
    return tuple(dict.fromkeys(network for network in parsed if network is not None))


def strip_zone(address: str) -> str | None:
    """An IP address without its zone (`fe80::1%eth0`); None if it is invalid."""
    try:
        return str(ipaddress.ip_address(address.partition("%")[0]))
    except ValueError:
        return None


def _is_faster(rate_limit: int, parent_limit: int) -> bool:
    """Whether the rate limit is higher than its parent's; 0 is unlimited, higher than any other."""
    return parent_limit != 0 and (rate_limit == 0 or rate_limit > parent_limit)


def visible_owner(who: Principal) -> UUID | None:
    """The owner whose keys the caller may list; None: all."""
    return None if who.role is Role.SUPER_ADMIN else who.admin_id


def visible_key(who: Principal) -> UUID | None:
    """The caller's own key if it is scoped: the only one that it may list. None: no restriction."""
    return who.key_id if who.scope is not None else None


def refuse_other_owner(who: Principal, key: ApiKey) -> None:
    """FORBIDDEN unless the key is the caller's own, or the caller a super_admin."""
    if who.role is not Role.SUPER_ADMIN and key.admin_id != who.admin_id:
        raise Forbidden
