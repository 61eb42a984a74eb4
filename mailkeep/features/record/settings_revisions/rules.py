"""What a change of stored settings means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from mailkeep.features.record.settings_revisions.model import StoredSettings, Values
from mailkeep.settings import MASK, SETTING_FIELDS, find_effect, mask_secrets

_SENSITIVE = (
    *("auth.", "oidc.", "cors.", "dns.", "overlays.", "webhooks.allowed_networks", "filter.dns_servers"),
    *("mta.", "outbound.relay"),  # where all mail goes, also that with links to set a password
    "backup.",  # where copies of all mail and secrets go
)


def needs_recent_sign_in(changes: Iterable[str]) -> bool:
    """Whether one of these settings is sensitive."""
    return bool(list_sensitive(changes))


def list_sensitive(changes: Iterable[str]) -> list[str]:
    """Those of these settings that decide who may do what, or what the server connects to."""
    return sorted(key for key in changes if key.startswith(_SENSITIVE))


def list_pending(stored: StoredSettings) -> list[str]:
    """The settings whose newest value takes effect with the next apply or start."""
    return [key for key in _compare(stored.applied, stored.values) if _has_effect(key, stored.is_full_profile)]


def propose(stored: StoredSettings, values: Values | None) -> StoredSettings:
    """What would be stored with these values; None: what is stored."""
    if values is None or values == stored.values:
        return stored
    proposed = replace(stored, n=stored.n + 1, values=values)
    return proposed if list_pending(proposed) else replace(proposed, applied=values, applied_n=proposed.n)


def select_effective(stored: StoredSettings) -> Values:
    """The values that running processes use: those that need an apply or a start have the applied value."""
    pending = list_pending(stored)
    return {
        key: source[key]
        for key in stored.values.keys() | stored.applied.keys()
        if key in (source := stored.applied if key in pending else stored.values)
    }


def describe_changes(before: Values, after: Values) -> dict[str, Mapping[str, Any]]:
    """Each differing key with its value before and after, None if it is not stored; secrets are masked."""
    return {
        key: {"before": _mask(key, before.get(key)), "after": _mask(key, after.get(key))}
        for key in _compare(before, after)
    }


def merge(values: Values, changes: Values) -> Values:
    """The values after the changes; None: no longer stored."""
    return {key: value for key, value in {**values, **changes}.items() if value is not None}


def merge_keys(revisions: list[Mapping[str, Mapping[str, Any]]]) -> list[str]:
    """The keys that any of these changes names."""
    return sorted({key for changes in revisions for key in changes})


def _compare(before: Values, after: Values) -> list[str]:
    missing = object()
    return sorted(key for key in before.keys() | after.keys() if before.get(key, missing) != after.get(key, missing))


def _has_effect(key: str, is_full_profile: bool) -> bool:
    return key in SETTING_FIELDS and find_effect(key, is_full_profile=is_full_profile).effect != "none"


def _mask(key: str, value: Any) -> Any:
    is_secret = key not in SETTING_FIELDS or SETTING_FIELDS[key].secret
    if value is None or not is_secret:
        return value
    return MASK if isinstance(value, str | list) else mask_secrets(value)
