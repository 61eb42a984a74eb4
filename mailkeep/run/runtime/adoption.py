"""Edits by hand that become an administrator's own lines in the settings (`overlays.*`), as far as those allow it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mailkeep.features.operations.orchestrator.model import Adoption
from mailkeep.mail.daemons import overlays
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import generations
from mailkeep.run.runtime.generations import Drift
from mailkeep.settings import LoadedSettings

_FIXED_BY = {"file": "mailkeep.toml", "env": "the environment", "option": "the command line"}


def propose(paths: InstancePaths, n: int, drift: Drift, newest: LoadedSettings) -> Adoption:
    """What adopting an edit of a file of generation `n` means with the newest settings. Blocks."""
    setting = f"overlays.{drift.service}" if drift.service in ("postfix", "dovecot", "rspamd") else None
    if setting is None:
        return Adoption(None, "", [f"{drift.service} has no lines in the settings"])
    if drift.kind == "deleted":
        return Adoption(setting, "", ["the file was deleted"])
    edited = generations.read_files(paths, [drift]).get(drift.service, {}).get(drift.path)
    if edited is None:
        return Adoption(setting, "", ["the file is not UTF-8, or is a symbolic link"])
    if fixed_by := _FIXED_BY.get(newest.sources.get(setting, "")):
        return Adoption(setting, "", [f"{setting} is set by {fixed_by}: change it there"])
    original = generations.read_original(paths, n, drift.service, drift.path) or ""
    in_use = original.partition(f"{overlays.OF_SETTINGS}\n")[2]
    stored = overlays.of_settings(newest.settings.overlays)[drift.service].get(drift.path, "")
    if in_use.strip() != stored.strip():
        return Adoption(setting, "", [f"{setting} was changed and not applied yet: apply it first, or undo the change"])
    try:
        lines, refused = overlays.adopt(drift.service, drift.path, original, edited)
    except ValueError as error:
        return Adoption(setting, "", [str(error)])
    return Adoption(setting, lines, refused)


def change_settings(adopted: Sequence[tuple[Drift, Adoption]], newest: LoadedSettings) -> dict[str, Any]:
    """The changed settings, by key, with the lines of these edits; None: no longer stored."""
    current = newest.settings.overlays
    rspamd = dict(current.rspamd)
    changes: dict[str, Any] = {}
    for drift, adoption in adopted:
        if drift.service == "rspamd":
            name = drift.path.removeprefix("local.d/")
            rspamd[name] = adoption.lines
            changes["overlays.rspamd"] = {key: text for key, text in rspamd.items() if text} or None
        else:
            changes[f"overlays.{drift.service}"] = adoption.lines or None
    before = {
        "overlays.postfix": current.postfix,
        "overlays.dovecot": current.dovecot,
        "overlays.rspamd": current.rspamd,
    }
    return {key: value for key, value in changes.items() if (value or None) != (before[key] or None)}
