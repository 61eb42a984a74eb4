"""Which changes of settings are allowed."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, cast

from mailkeep.core.errors import FieldError, InvalidField, invalid_field
from mailkeep.core.network import is_within
from mailkeep.core.principal import Principal
from mailkeep.features.record.settings_revisions.model import StoredSettings, Values
from mailkeep.settings import MASK, NEVER_STORED, SETTING_FIELDS, LoadedSettings, SettingsError, is_storable

_CREDENTIALS = {
    "mta.password": ("mta.host", "mta.port", "mta.tls", "mta.username"),
    "outbound.relay_password": ("outbound.relay", "outbound.relay_tls", "outbound.relay_username"),
    "dns.tsig_secret": ("dns.update_server", "dns.tsig_key"),
    "acme.eab_key": ("acme.directory", "acme.eab_key_id"),
}
"""Secrets, and the settings that say where each is sent."""
_FIXED_BY = {"file": "mailkeep.toml", "env": "the environment", "option": "a command-line option"}


def edit(loaded: LoadedSettings, current: StoredSettings, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The stored values after the changes (None: no longer stored), checked with the other sources; INVALID_FIELD.

    A secret is removed if the place that it is sent to changes, unless it is among the changes.
    """
    faults = [fault for key in changes if (fault := _refuse_key(loaded, key, changes[key]))]
    if faults:
        raise InvalidField(faults)
    values = {key: value for key, value in (dict(current.values) | dict(changes)).items() if value is not None}
    for secret, destination in _CREDENTIALS.items():
        if secret not in changes and any(values.get(key) != current.values.get(key) for key in destination):
            values.pop(secret, None)
    check(loaded, values)
    return values


def edit_back(loaded: LoadedSettings, current: StoredSettings, old: Values) -> dict[str, Any]:
    """The stored values of an old revision, checked like a change to them; INVALID_FIELD."""
    removed = {key: None for key in current.values if key not in old}
    changed = {key: value for key, value in old.items() if current.values.get(key) != value}
    return edit(loaded, current, changed | removed)


def check(loaded: LoadedSettings, values: Values) -> LoadedSettings:
    """The settings with these stored values; INVALID_FIELD with all faults."""
    try:
        return loaded.with_stored(values)
    except SettingsError as error:
        by_key = error.by_key or {"": "; ".join(error.faults)}
        raise InvalidField([_fault(key, text) for key, text in by_key.items()]) from None


def refuse_lock_out(loaded: LoadedSettings, who: Principal) -> None:
    """INVALID_FIELD if the caller's own address would no longer be allowed."""
    networks = loaded.settings.auth.allowed_networks
    if networks and who.ip_address and not is_within(who.ip_address, networks):
        raise invalid_field(
            "changes.auth.allowed_networks",
            f"must include your own address, {who.ip_address}: otherwise you lock yourself out",
        )


def _refuse_key(loaded: LoadedSettings, key: str, value: Any) -> FieldError | None:
    if key not in SETTING_FIELDS:
        near = difflib.get_close_matches(key, SETTING_FIELDS, n=1, cutoff=0.7)
        return _fault(key, "is not a setting" + (f"; did you mean {near[0]}?" if near else ""))
    if not is_storable(key):
        why = "names a file" if key.partition(".")[0] not in NEVER_STORED else "could lock you out"
        return _fault(key, f"can't be stored, because it {why}: set it in mailkeep.toml or the environment")
    if value is not None and (source := loaded.sources.get(key)) in _FIXED_BY:
        return _fault(key, f"is set by {_FIXED_BY[source]}: change or remove it there")
    if SETTING_FIELDS[key].secret and _has_mask(value):
        return _fault(key, f"has {MASK} in place of a secret: give the secret itself, or leave the setting out")
    if (
        key == "oidc.providers"
        and isinstance(value, list)
        and any(_names_file(each) for each in cast(list[Any], value))
    ):
        return _fault(key, "must not have client_secret_file: give client_secret, which is stored encrypted")
    if key == "mta.mode" and value == "postfix":
        return _fault(key, "can't be postfix: that is the mode of the full profile (mailkeep up --profile full)")
    return None


def _has_mask(value: Any) -> bool:
    """Whether this is what is shown in place of a secret, or contains it."""
    match value:
        case list():
            return any(map(_has_mask, cast(list[Any], value)))
        case dict():
            return any(map(_has_mask, cast(dict[str, Any], value).values()))
        case _:
            return value == MASK


def _names_file(provider: Any) -> bool:
    return isinstance(provider, dict) and "client_secret_file" in provider


def _fault(key: str, reason: str) -> FieldError:
    return FieldError(field=f"changes.{key}" if key else "changes", reason=reason)
