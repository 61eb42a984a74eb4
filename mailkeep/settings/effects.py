"""What a change of a stored setting needs, before all services use it: nothing, a reload or a restart of some of them.

`effects.toml` says what the daemons do; it is generated (`make generate`) by rendering their configuration with
different values. What our own processes read only at their start is declared with the setting (`read_at_start`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from mailkeep.settings.fields import FIELDS

Effect = Literal["none", "reload", "restart"]
"""What a change needs: nothing, because running processes use the new value, or a reload or restart of services."""
EFFECTS_FILE = Path(__file__).parent / "effects.toml"
WHOLE = "mailkeep"
"""The name for all of Mailkeep: in the embedded profile, its one process."""


@dataclass(frozen=True, slots=True)
class SettingEffect:
    """The strongest of what the `services` must do."""

    effect: Effect
    services: tuple[str, ...] = ()


@cache
def find_effect(key: str, *, is_full_profile: bool) -> SettingEffect:
    """What a change of this setting needs in a profile: the daemons are part of the full one only."""
    field = FIELDS[key]
    if not is_full_profile:
        is_read = bool(field.read_at_start) if field.embedded is None else field.embedded
        return SettingEffect("restart", (WHOLE,)) if is_read else SettingEffect("none")
    if field.applies_with:
        return find_effect(field.applies_with, is_full_profile=True)
    daemons = _load_table().get(key, {})
    is_restart = field.read_at_start or "restart" in daemons.values()
    effect: Effect = "restart" if is_restart else "reload" if daemons else "none"
    return SettingEffect(effect, (*daemons, *field.read_at_start))


@cache
def _load_table() -> Mapping[str, Mapping[str, Literal["reload", "restart"]]]:
    return msgspec.toml.decode(EFFECTS_FILE.read_bytes(), type=dict[str, dict[str, Literal["reload", "restart"]]])
