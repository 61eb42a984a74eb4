"""An administrator's own lines in the daemons' files: merged into the rendered ones, and taken over from edits by hand.

`mailkeep/settings/overlays.py` decides which lines the settings may have; files of root may have any
(`run/runtime/overlay_files.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from mailkeep.settings import OverlaysSettings, check_overlay

Files = Mapping[str, str]

MAIN_CF, DOVECOT_CONF = "main.cf", "dovecot.conf"
OF_ROOT = "# Lines of an administrator, from the folder `overlays`:"
OF_SETTINGS = "# Lines of an administrator, from the settings `overlays.*`:"
"""Both are the start of the lines in the rendered file, these last."""


def of_settings(overlays: OverlaysSettings) -> dict[str, Files]:
    """The lines in the settings, by daemon and file."""
    return {
        "postfix": {MAIN_CF: overlays.postfix} if overlays.postfix.strip() else {},
        "dovecot": {DOVECOT_CONF: overlays.dovecot} if overlays.dovecot.strip() else {},
        "rspamd": {f"local.d/{name}": text for name, text in overlays.rspamd.items() if text.strip()},
    }


def merge(files: Files, overlay: Files, heading: str) -> Files:
    """The rendered files of a daemon with an administrator's lines at the end of theirs, where they win. In main.cf the
    lines that they replace are removed, because Postfix warns about each parameter that is set twice.

    ValueError if lines for main.cf start with a space: they would continue a line of ours.
    """
    merged = dict(files)
    for path, text in overlay.items():
        rendered = merged.get(path, "")
        if path == MAIN_CF:
            rendered = _without(rendered, {name for name, _ in _read_main_cf(text)})
        merged[path] = f"{rendered}{heading}\n{text.rstrip()}\n"
    return merged


def adopt(service: str, path: str, original: str, edited: str) -> tuple[str, list[str]]:
    """The lines for the settings that have the effect of an edit by hand, and what of it can't be taken over, each with
    the reason. `original`: the file as it was rendered; the lines of the settings in it are kept or changed likewise.

    Comments outside of these lines are not taken over.
    """
    before, _, _ = original.partition(f"{OF_SETTINGS}\n")
    after, _, own = edited.partition(f"{OF_SETTINGS}\n")
    leftover: list[str] = []
    match service:
        case "postfix" if path == MAIN_CF:
            added, removed = _compare_main_cf(before, after)
            own = _without(own, added.keys())
            lines = [f"{name} = {value}" for name, value in added.items()]
        case "dovecot" if path == DOVECOT_CONF:
            lines, removed = _compare_dovecot(before, after)
        case _:
            lines, removed = _compare_lines(before, after)
    leftover += [f"removed: {line}" for line in removed]
    accepted: list[str] = []
    for line in [*([own.rstrip()] if own.strip() else []), *lines]:
        if errors := check_overlay(service, path, line):
            leftover += [f"{line}: {re.sub('^line [0-9]+: ', '', error)}" for error in errors]
        else:
            accepted.append(line)
    text = "".join(f"{line}\n" for line in accepted)
    if not leftover:
        leftover = check_overlay(service, path, text)
    return text, leftover


def _read_main_cf(text: str) -> Iterator[tuple[str, list[int]]]:
    """Each parameter with the numbers of its lines. A line that starts with a space continues the one before."""
    name: str | None = None
    numbers: list[int] = []
    for number, line in enumerate(text.split("\n")):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line[0].isspace():
            if name is None:
                raise ValueError("the first line must not start with a space")
            numbers.append(number)
            continue
        if name is not None:
            yield name, numbers
        name, numbers = line.partition("=")[0].strip(), [number]
    if name is not None:
        yield name, numbers


def _without(main_cf: str, names: Iterable[str]) -> str:
    """main.cf without these parameters."""
    unwanted = set(names)
    dropped = {number for name, numbers in _read_main_cf(main_cf) if name in unwanted for number in numbers}
    return "\n".join(line for number, line in enumerate(main_cf.split("\n")) if number not in dropped)


def _values(main_cf: str) -> dict[str, str]:
    lines = main_cf.split("\n")
    values: dict[str, str] = {}
    for name, numbers in _read_main_cf(main_cf):
        value = " ".join(lines[number] for number in numbers).partition("=")[2]
        values[name] = " ".join(value.split())
    return values


def _compare_main_cf(before: str, after: str) -> tuple[dict[str, str], list[str]]:
    old, new = _values(before), _values(after)
    added = {name: value for name, value in new.items() if old.get(name) != value}
    return added, [name for name in old if name not in new]


def _read_dovecot(text: str) -> list[tuple[tuple[str, ...], str, str]]:
    """Each setting: the headers of its blocks, its name, and its line."""
    blocks: list[str] = []
    found: list[tuple[tuple[str, ...], str, str]] = []
    for line in text.split("\n"):
        stripped = " ".join(line.split())
        if not stripped or stripped.startswith("#"):
            continue
        if stripped.endswith("{"):
            blocks.append(stripped)
        elif stripped == "}":
            del blocks[-1:]
        else:
            found.append((tuple(blocks), stripped.partition("=")[0].strip(), stripped))
    return found


def _compare_dovecot(before: str, after: str) -> tuple[list[str], list[str]]:
    old, new = _read_dovecot(before), _read_dovecot(after)
    lines: list[str] = []
    for blocks, name, line in new:
        if (blocks, name, line) not in old:
            closing = "\n}" * len(blocks)
            lines.append("\n".join([*blocks, line]) + closing)
    kept = {(blocks, name) for blocks, name, _ in new}
    return lines, [" ".join((*blocks, line)) for blocks, name, line in old if (blocks, name) not in kept]


def _compare_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """The added lines, each run of them as one text, and the removed ones."""
    old, new = before.split("\n"), after.split("\n")
    added: list[str] = []
    removed: list[str] = []
    for kind, start, end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            removed += _content(old[start:end])
            if content := _content(new[new_start:new_end]):
                added.append("\n".join(content))
    return added, removed


def _content(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
