"""The settings: one frozen tree, with default, bounds and meaning beside each field.

Later sources win: defaults < `mailkeep.toml` in the data directory < environment `MAILKEEP_SECTION__KEY` <
options of the command line. In the environment strings stand as they are, everything else as JSON
(`MAILKEEP_CORS__ORIGINS='["https://app.example"]'`); a secret may stand in a file that `…_FILE` names.

Nothing is guessed and nothing passed over: an unknown key or a wrong value is a fault that names the key, its
source and what was expected, and all faults are told at once. Only this package reads TOML or the
environment; everybody else is handed a `Settings`. `docs/reference/settings.md` is made from `describe()`.
"""

from __future__ import annotations

from mailkeep.core.identity_provider import OidcProvider
from mailkeep.settings.formats import parse_dns_servers, parse_endpoint, parse_networks
from mailkeep.settings.sources import (
    FILE_NAME,
    FIRST_START_VARIABLES,
    FirstStart,
    LoadedSettings,
    SettingDescription,
    SettingsError,
    SettingValue,
    Source,
    child_environment,
    describe_settings,
    list_settings,
    load_settings,
)
from mailkeep.settings.tree import Settings

__all__ = [
    "FILE_NAME",
    "FIRST_START_VARIABLES",
    "FirstStart",
    "LoadedSettings",
    "OidcProvider",
    "SettingDescription",
    "SettingValue",
    "Settings",
    "SettingsError",
    "Source",
    "child_environment",
    "describe_settings",
    "list_settings",
    "load_settings",
    "parse_dns_servers",
    "parse_endpoint",
    "parse_networks",
]
