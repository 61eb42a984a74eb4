"""The settings: one frozen tree, with default, bounds and documentation beside each field.

Later sources win: defaults < `mailkeep.toml` in the data directory < environment `MAILKEEP_SECTION__KEY` < stored
in the database < command-line options. In the environment strings are plain text, all other values JSON
(`MAILKEEP_CORS__ORIGINS='["https://app.example"]'`); a secret can be in a file named by `…_FILE`.

Unknown keys and wrong values are errors, which name the key, its source and the expected value; all errors are reported
at once. Only this package reads TOML or the environment; other code receives a `Settings`.
`docs/reference/settings.md` is generated from `describe_settings()`.
"""

from __future__ import annotations

from mailkeep.core.identity_provider import OidcProvider
from mailkeep.settings.effects import EFFECTS_FILE, WHOLE, Effect, SettingEffect, find_effect
from mailkeep.settings.fields import FIELDS as SETTING_FIELDS, NEVER_STORED, is_storable
from mailkeep.settings.formats import parse_dns_servers, parse_endpoint, parse_networks
from mailkeep.settings.overlays import check as check_overlay, is_allowed as is_overlay_parameter
from mailkeep.settings.server import OverlaysSettings
from mailkeep.settings.sources import (
    FILE_NAME,
    FIRST_START_VARIABLES,
    MASK,
    FirstStart,
    LoadedSettings,
    SettingDescription,
    SettingsError,
    SettingValue,
    Source,
    child_environment,
    describe_settings,
    find_recovery_key,
    list_settings,
    load_settings,
    mask_secrets,
    no_sources,
)
from mailkeep.settings.tree import Settings

__all__ = [
    "EFFECTS_FILE",
    "FILE_NAME",
    "FIRST_START_VARIABLES",
    "MASK",
    "NEVER_STORED",
    "SETTING_FIELDS",
    "WHOLE",
    "Effect",
    "FirstStart",
    "LoadedSettings",
    "OidcProvider",
    "OverlaysSettings",
    "SettingDescription",
    "SettingEffect",
    "SettingValue",
    "Settings",
    "SettingsError",
    "Source",
    "check_overlay",
    "child_environment",
    "describe_settings",
    "find_effect",
    "find_recovery_key",
    "is_overlay_parameter",
    "is_storable",
    "list_settings",
    "load_settings",
    "mask_secrets",
    "no_sources",
    "parse_dns_servers",
    "parse_endpoint",
    "parse_networks",
]
