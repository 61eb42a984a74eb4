"""Loads settings from file, environment and options; checks each value and reports all errors."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from mailkeep.settings.contradictions import list_contradictions
from mailkeep.settings.effects import Effect, find_effect
from mailkeep.settings.fields import FIELDS, SECTIONS, SettingField, is_storable
from mailkeep.settings.providers import SECRET_MEMBERS
from mailkeep.settings.shapes import explain
from mailkeep.settings.tree import Settings

FILE_NAME = "mailkeep.toml"
PREFIX = "MAILKEEP_"
MASK = "********"

Source = Literal["default", "file", "env", "database", "option"]


# Variables that are not settings (see `FirstStart`), with their documentation.
FIRST_START_VARIABLES = {
    "MAILKEEP_ADMIN_EMAIL": "The first administrator's email; default `admin@localhost`.",
    "MAILKEEP_ADMIN_PASSWORD": (
        "The first administrator's password. Default: generated, and written to `initial-admin` in the data directory "
        "until the first login."
    ),
    "MAILKEEP_ADMIN_PASSWORD_FILE": "A file with this password; takes precedence over the variable.",
    "MAILKEEP_SECRET_FILE": (
        "A file with the master secret, which encrypts secrets in the database: 32 bytes or more in base64, as from "
        "`openssl rand -base64 32`. Default: generated, and written to `secret` in the data directory."
    ),
}


@dataclass(frozen=True, slots=True)
class FirstStart:
    """Variables for the first start of a data directory (`secret_file`: for every start); None if not set."""

    secret_file: str | None
    admin_email: str | None
    admin_password: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class _RawSetting:
    """A key with its value from a source: a value as in TOML, or text."""

    key: str
    origin: str
    value: object = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """Settings, with the source of every key (`section.key`)."""

    settings: Settings
    sources: Mapping[str, Source]
    first_start: FirstStart
    layers: Sequence[tuple[Source, Sequence[_RawSetting]]] = field(default=(), repr=False)

    def with_stored(self, stored: Mapping[str, object]) -> LoadedSettings:
        """The same sources with these values of the database, which win over file and environment. SettingsError with
        all errors. Reads no file or environment again.
        """
        values = [_RawSetting(key, "stored", value) for key, value in stored.items()]
        layers: list[tuple[Source, Sequence[_RawSetting]]] = [each for each in self.layers if each[0] != "database"]
        position = next((index for index, (source, _) in enumerate(layers) if source == "option"), len(layers))
        layers.insert(position, ("database", values))
        return _resolve(layers, self.first_start, [])


def no_sources() -> LoadedSettings:
    """The defaults."""
    return LoadedSettings(Settings(), dict.fromkeys(FIELDS, "default"), FirstStart(None, None, None))


@dataclass(frozen=True, slots=True)
class SettingDescription:
    """One setting; `type` describes its values."""

    key: str
    type: str
    default: object
    doc: str
    secret: bool
    storable: bool


@dataclass(frozen=True, slots=True)
class SettingValue:
    """One setting with its value, as shown to administrators: secrets are masked. `effect`: what a stored change needs,
    of which `services`.
    """

    key: str
    value: object
    default: object
    source: Source
    doc: str
    effect: Effect
    services: Sequence[str]


class SettingsError(ValueError):
    """Invalid settings; `faults` has one line per error, with key, source and expected value. `by_key` has the errors
    of single settings.
    """

    def __init__(self, faults: Iterable[str], by_key: Mapping[str, str] | None = None) -> None:
        self.faults = tuple(faults)
        self.by_key = by_key or {}
        super().__init__("\n".join(self.faults))


def find_recovery_key() -> str | None:
    """The variable with a recovery key for a command; None if it is not set. No process keeps it."""
    return os.environ.get("MAILKEEP_RECOVERY_KEY") or None


def child_environment(options: Mapping[str, str]) -> dict[str, str]:
    """The environment of a child process: that of this process, and its options as variables."""
    return dict(os.environ) | {f"{PREFIX}{key.replace('.', '__').upper()}": text for key, text in options.items()}


def load_settings(
    data_dir: Path, environ: Mapping[str, str] | None = None, options: Mapping[str, str] | None = None
) -> LoadedSettings:
    """Load and check all sources. `environ` defaults to this process's; `options` maps keys to text.

    Raises SettingsError with all errors, also for a file that can't be read or is not TOML.
    """
    environ = os.environ if environ is None else environ
    faults: list[str] = []
    layers: list[tuple[Source, list[_RawSetting]]] = [
        ("file", _from_file(data_dir / FILE_NAME, faults)),
        ("env", _from_environ(environ, faults)),
        ("option", [_RawSetting(key, f"option {key}", text=text) for key, text in (options or {}).items()]),
    ]
    return _resolve(layers, _first_start(environ, faults), faults)


def _resolve(
    layers: Sequence[tuple[Source, Sequence[_RawSetting]]], first_start: FirstStart, faults: list[str]
) -> LoadedSettings:
    """The settings of all layers, the last of which wins. `faults` are the errors found so far."""
    by_key: dict[str, str] = {}
    values: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    sources: dict[str, Source] = dict.fromkeys(FIELDS, "default")
    for source, layer in layers:
        for raw in layer:
            try:
                section, _, name = raw.key.partition(".")
                values[section][name] = _parse(raw)
                sources[raw.key] = source
            except ValueError as fault:
                faults.append(f"{raw.key} ({raw.origin}): {fault}")
                by_key[raw.key] = str(fault)
    settings = Settings(**{name: section(**values[name]) for name, section in SECTIONS.items()})
    if not faults:
        faults += list_contradictions(settings)
    if faults:
        between = (fault.partition(": ") for fault in faults)
        raise SettingsError(faults, {key: text for key, _, text in between if key in FIELDS} | by_key)
    return LoadedSettings(settings, sources, first_start, layers)


def describe_settings() -> list[SettingDescription]:
    """All settings, in the order of the tree."""
    return [
        SettingDescription(key, f.expectation, f.default, f.doc, f.secret, is_storable(key))
        for key, f in FIELDS.items()
    ]


def list_settings(loaded: LoadedSettings, *, changed_only: bool = False) -> list[SettingValue]:
    """All settings with value and source, or only those that a source has set."""
    values: list[SettingValue] = []
    for key, setting in FIELDS.items():
        section, _, name = key.partition(".")
        value = getattr(getattr(loaded.settings, section), name)
        source = loaded.sources[key]
        effect = find_effect(key, is_full_profile=loaded.settings.is_full_profile)
        if not (changed_only and source == "default"):
            values.append(
                SettingValue(
                    key,
                    mask_secrets(value) if setting.secret else value,
                    setting.default,
                    source,
                    setting.doc,
                    effect.effect,
                    effect.services,
                )
            )
    return values


def mask_secrets(value: Any) -> object:
    """A secret, or the secrets in a list of tables, masked if they are set."""
    if not isinstance(value, tuple):
        return MASK if value else value
    tables = [msgspec.structs.asdict(table) for table in cast(tuple[msgspec.Struct, ...], value)]
    return [
        {name: MASK if name in SECRET_MEMBERS and member else member for name, member in table.items()}
        for table in tables
    ]


def _from_file(path: Path, faults: list[str]) -> list[_RawSetting]:
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as fault:
        faults.append(f"{path}: {fault}")
        return []
    raw_settings: list[_RawSetting] = []
    for section, table in tree.items():
        if not isinstance(table, dict) or section not in SECTIONS:
            fault = f"expected a table, [{section}]" if section in SECTIONS else _unknown(section, SECTIONS)
            faults.append(f"{section} ({path}): {fault}")
            continue
        raw_settings += [
            _RawSetting(f"{section}.{name}", str(path), value) for name, value in cast(dict[str, object], table).items()
        ]
    return raw_settings


def _from_environ(environ: Mapping[str, str], faults: list[str]) -> list[_RawSetting]:
    variables = {f"{PREFIX}{key.replace('.', '__').upper()}": key for key in FIELDS}
    files = {f"{variable}_FILE": key for variable, key in variables.items() if FIELDS[key].secret}
    raw_settings: list[_RawSetting] = []
    for variable in sorted(name for name in environ if name.startswith(PREFIX)):
        if variable in variables:
            raw_settings.append(_RawSetting(variables[variable], variable, text=environ[variable]))
        elif variable in files:
            if variable.removesuffix("_FILE") in environ:
                faults.append(f"{files[variable]}: both {variable.removesuffix('_FILE')} and {variable} are set")
                continue
            try:
                text = Path(environ[variable]).read_text(encoding="utf-8").rstrip("\r\n")
                raw_settings.append(_RawSetting(files[variable], variable, text=text))
            except (OSError, ValueError) as fault:
                faults.append(f"{files[variable]} ({variable}): {fault}")
        elif _looks_like_setting(variable):
            faults.append(f"{variable}: {_unknown(variable, [*variables, *files])}")
    return raw_settings


def _first_start(environ: Mapping[str, str], faults: list[str]) -> FirstStart:
    password = environ.get("MAILKEEP_ADMIN_PASSWORD") or None
    if file := environ.get("MAILKEEP_ADMIN_PASSWORD_FILE"):
        try:
            password = Path(file).read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, ValueError) as fault:
            faults.append(f"MAILKEEP_ADMIN_PASSWORD_FILE: {fault}")
    return FirstStart(
        environ.get("MAILKEEP_SECRET_FILE") or None, environ.get("MAILKEEP_ADMIN_EMAIL") or None, password
    )


def _looks_like_setting(variable: str) -> bool:
    """Whether the name has two underscores, or one after a section's name: MAILKEEP_HTTP_LISTEN must not be ignored."""
    name = variable.removeprefix(PREFIX).lower()
    return "__" in name or any(name.startswith(f"{section}_") for section in SECTIONS)


def _parse(raw: _RawSetting) -> object:
    setting = FIELDS.get(raw.key)
    if setting is None:
        raise ValueError(_unknown(raw.key, FIELDS))
    try:
        value = _decode(setting, raw)
        if setting.format and (value != "" or setting.default != ""):
            setting.format.check(value)
            value = setting.format.convert(value) if setting.format.convert else value
    except ValueError as fault:
        if setting.format and setting.format.reports_reason:
            raise ValueError(f"expected {setting.expectation}: {explain(fault)}") from fault
        value = raw.value if raw.text is None else raw.text
        raise ValueError(f"expected {setting.expectation}" + ("" if setting.secret else f", not {value!r}")) from fault
    return value


def _decode(setting: SettingField, raw: _RawSetting) -> object:
    value: Any = raw.value if raw.text is None else raw.text
    if setting.format and isinstance(value, str) and value in setting.format.keywords:
        return setting.format.keywords[value]
    if raw.text is None:
        value = msgspec.convert(raw.value, setting.base)
    elif setting.is_text:
        value = msgspec.convert(raw.text, setting.base)
    else:
        value = msgspec.json.decode(raw.text, type=setting.base)
    has_lines = setting.format is not None and setting.format.has_lines
    if isinstance(value, str) and not has_lines and not (value.isprintable() and value.strip() == value):
        raise ValueError("a control character, or a space at the start or end")
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and not (setting.low or 0) <= value <= (setting.high or 0):
        raise ValueError("out of bounds, or not a number")
    return value


def _unknown(name: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.7)
    return "unknown setting" + (f"; did you mean {near[0]}?" if near else "")
