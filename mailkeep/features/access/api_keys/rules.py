"""Validation of keys, who may see and who may revoke them."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from mailkeep.core.errors import FieldError, Forbidden, InvalidField
from mailkeep.core.network import covers, parse_network
from mailkeep.core.principal import Principal, Role
from mailkeep.features.access.api_keys.model import DEFAULT_RATE_LIMIT, KEY_PREFIX, ApiKey, NewApiKey

_RAW_KEY = re.compile(re.escape(KEY_PREFIX) + r"[A-Za-z0-9_-]{43}")


def is_raw_key(text: str) -> bool:
    """Whether the text has the form of a key."""
    return _RAW_KEY.fullmatch(text) is not None


def apply_parent_limits(new_key: NewApiKey, parent: ApiKey | None) -> NewApiKey:
    """The key with defaults: the usual values, or those of the key that creates it if they are lower.

    FORBIDDEN where it exceeds its parent (`details.reason` longer_lived, faster, more_networks).
    """
    if parent is None:
        return replace(new_key, rate_limit=DEFAULT_RATE_LIMIT if new_key.rate_limit is None else new_key.rate_limit)
    expires_at = new_key.expires_at or parent.expires_at
    if parent.expires_at is not None and expires_at is not None and expires_at > parent.expires_at:
        raise Forbidden("A key can't create a key that expires later than itself.", reason="longer_lived")
    rate_limit = new_key.rate_limit
    if rate_limit is None:
        rate_limit = min(DEFAULT_RATE_LIMIT, parent.rate_limit or DEFAULT_RATE_LIMIT)
    if _is_faster(rate_limit, parent.rate_limit):
        raise Forbidden("A key can't create a key with a higher rate limit.", reason="faster")
    networks = new_key.allowed_networks or parent.allowed_networks
    if parent.allowed_networks and not all(covers(parent.allowed_networks, network) for network in networks):
        raise Forbidden("A key can't create a key that is allowed in more networks.", reason="more_networks")
    return replace(new_key, expires_at=expires_at, rate_limit=rate_limit, allowed_networks=networks)


def parse_networks(texts: Sequence[str]) -> tuple[str, ...]:
    """Networks in CIDR form or single addresses, in their shortest form, without duplicates; INVALID_FIELD with all
    faults.
    """
    parsed = [parse_network(text) for text in texts]
    faults: list[FieldError] = [
        {"field": f"allowed_networks[{index}]", "reason": "must be a network in CIDR form, as 192.0.2.0/24"}
        for index, network in enumerate(parsed)
        if network is None
    ]
    if faults:
        raise InvalidField(faults)
    return tuple(dict.fromkeys(network for network in parsed if network is not None))


def strip_zone(address: str) -> str | None:
    """An address without its zone; None if it is invalid."""
    try:
        return str(ipaddress.ip_address(address.partition("%")[0]))
    except ValueError:
        return None


def _is_faster(rate_limit: int, than: int) -> bool:
    """0 is unlimited and faster than any other."""
    return than != 0 and (rate_limit == 0 or rate_limit > than)


def visible_owner(who: Principal) -> UUID | None:
    """The owner whose keys the caller may list; None: all."""
    return None if who.role is Role.SUPER_ADMIN else who.admin_id


def visible_key(who: Principal) -> UUID | None:
    """The only key that the caller may list, itself, for a scoped key; otherwise None."""
    return who.key_id if who.scope is not None else None


def refuse_other_owner(who: Principal, key: ApiKey) -> None:
    """FORBIDDEN unless the key is the caller's own, or the caller a super_admin."""
    if who.role is not Role.SUPER_ADMIN and key.admin_id != who.admin_id:
        raise Forbidden
