"""What a daemon must do when its configuration changes: nothing, a reload or a restart (`actions.toml`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from mailkeep.settings import is_overlay_parameter

Action = Literal["none", "reload", "restart"]
_STRENGTH: tuple[Action, ...] = ("none", "reload", "restart")


class _Rows(msgspec.Struct, frozen=True):
    none: list[str] = []
    reload: list[str] = []
    restart: list[str] = []

    def by_name(self) -> dict[str, Action]:
        rows: dict[str, Action] = dict.fromkeys(self.none, "none")
        rows.update(dict.fromkeys(self.reload, "reload"))
        rows.update(dict.fromkeys(self.restart, "restart"))
        return rows


class _Table(msgspec.Struct, frozen=True):
    files: dict[str, _Rows]
    parameters: dict[str, dict[str, _Rows]]


_TABLE = msgspec.toml.decode((Path(__file__).parent / "actions.toml").read_bytes(), type=_Table)
_FILES: Mapping[str, Mapping[str, Action]] = {service: rows.by_name() for service, rows in _TABLE.files.items()}
_PARAMETERS: Mapping[tuple[str, str], Mapping[str, Action]] = {
    (service, path): rows.by_name() for service, files in _TABLE.parameters.items() for path, rows in files.items()
}


def find_row(service: str, path: str, parameter: str = "") -> Action | None:
    """The row for a parameter of a file, or for a file that has no parameters of its own; None without a row. A reload
    is enough for every parameter that overlays in the settings may set.
    """
    if rows := _PARAMETERS.get((service, path)):
        return rows.get(parameter) or ("reload" if is_overlay_parameter(service, parameter) else None)
    for name, action in _FILES.get(service, {}).items():
        if path == name or (name.endswith("/") and path.startswith(name)):
            return action
    return None


def list_changes(service: str, path: str, before: str | None, after: str | None) -> dict[str, Action]:
    """What changes between two texts of a file (None: it does not exist), each with its action: parameters as
    `main.cf: myhostname`, other files as a whole.
    """
    if before == after:
        return {}
    if (service, path) not in _PARAMETERS:
        return {path: find_row(service, path) or "restart"}
    old, new = list_parameters(service, before or ""), list_parameters(service, after or "")
    names = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    return {f"{path}: {name}": find_row(service, path, name) or "restart" for name in names}


def strongest(found: Iterable[Action]) -> Action:
    """The action that includes all others."""
    ordered = sorted(found, key=_STRENGTH.index)
    return ordered[-1] if ordered else "none"


def list_parameters(service: str, text: str) -> dict[str, list[str]]:
    """The parameters of main.cf, dovecot.conf or redis.conf with their values, in the order of the file."""
    read = {"postfix": _read_postfix, "dovecot": _read_dovecot, "redis": _read_redis}[service]
    found: dict[str, list[str]] = {}
    for name, value in read(text):
        found.setdefault(name, []).append(value)
    return found


def _read_postfix(text: str) -> Iterator[tuple[str, str]]:
    logical = re.sub(r"\n(?=[ \t]+[^# \t\n])", " ", re.sub(r"^[ \t]*#.*\n?", "", text, flags=re.MULTILINE))
    for line in logical.splitlines():
        name, equals, value = line.partition("=")
        if equals:
            yield name.strip(), " ".join(value.split())


def _read_dovecot(text: str) -> Iterator[tuple[str, str]]:
    """Settings, below the types of their blocks (`service/inet_listener/port`); the blocks' names are in the value."""
    blocks: list[list[str]] = []
    for line in text.splitlines():
        words = [] if line.lstrip().startswith("#") else line.split()
        if not words:
            continue
        if words[-1] == "{":
            blocks.append(words[:-1])
        elif words == ["}"]:
            blocks.pop()
        else:
            name, _, value = " ".join(words).partition(" " if words[0].startswith("!") else "=")
            path = "/".join([*(block[0] for block in blocks), name.strip()])
            yield path, f"{'/'.join(' '.join(block[1:]) for block in blocks)} {value.strip()}"


def _read_redis(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, _, value = line.partition(" ")
            yield name, value
