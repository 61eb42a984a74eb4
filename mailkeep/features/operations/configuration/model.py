"""The current settings, and changes of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mailkeep.features.operations.orchestrator.model import ConfigurationPlan
from mailkeep.settings import LoadedSettings


@dataclass(frozen=True, slots=True)
class CurrentSettings:
    """The settings of running processes, with the newest stored values, and the keys in which these differ."""

    n: int
    running: LoadedSettings
    newest: LoadedSettings
    pending: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """The newest revision after a change, with the changes (secrets masked) and the settings that apply with the next
    apply or, if `use_at_start`, start. `plan`: of a dry run, with these changes; None if the process `node` did not
    answer (`warnings`).
    """

    n: int
    changes: Mapping[str, Mapping[str, Any]]
    needs_restart: tuple[str, ...]
    plan: ConfigurationPlan | None = None
    warnings: tuple[str, ...] = ()
    use_at_start: bool = True
