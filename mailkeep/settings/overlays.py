"""An administrator's own lines for the daemons' configuration: which ones may be in the settings (`overlays.toml`).

Everything else is refused: parameters that can make a daemon read a file, run a program, load a library or use another
server, all syntax beyond plain lines, all values but words and numbers, and those outside of a parameter's bounds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from mailkeep.settings.overlay_values import check_value

MAX_BYTES = 64 << 10
"""The size of the lines for one daemon."""


class _Allowed(msgspec.Struct, frozen=True):
    """The type of each parameter's value, with its bounds, in the form of `overlay_values`."""

    postfix: dict[str, str]
    dovecot: dict[str, str]
    dovecot_blocks: dict[str, frozenset[str]]
    rspamd: dict[str, dict[str, str]]

    @property
    def rspamd_files(self) -> dict[str, dict[str, str]]:
        """By one file each."""
        return {name: types for names, types in self.rspamd.items() for name in names.split(", ")}


ALLOWED = msgspec.toml.decode((Path(__file__).parent / "overlays.toml").read_bytes(), type=_Allowed)
"""The parameters that overlays in the settings may set."""

_RSPAMD = ALLOWED.rspamd_files
_NAME = r"[A-Za-z][A-Za-z0-9_]*"
_WORD = r"[A-Za-z0-9_.+-]+"
_LINE = re.compile(rf"({_NAME})[ \t]*=[ \t]*(|{_WORD}(?:(?:,? +){_WORD})*)[ \t]*")
_BLOCK = re.compile(rf"({_NAME})[ \t]+([A-Za-z-]+)[ \t]*\{{[ \t]*")
_UCL_NAME = re.compile(r'"?[A-Za-z0-9_][A-Za-z0-9_.+, -]*"?')  # with a dot at its start it would be a macro
_UCL_TOKEN = re.compile(rf'(?P<text>"[A-Za-z0-9_.+, -]*")|(?P<word>{_WORD})|(?P<sign>[={{}};])|[ \t]+')
_VALUES = "a value may only have words and numbers, no paths, tables, variables or quotes"


@dataclass(eq=False)
class _Fault(Exception):
    line: int
    reason: str


def check(service: str, path: str, text: str) -> list[str]:
    """What is wrong with lines for a file of a daemon (`main.cf`, `dovecot.conf`, `local.d/NAME`), each with the number
    of its line. Empty if all are allowed.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        return [f"line 1: there are more than {MAX_BYTES >> 10} KiB"]
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.replace("\t", " ").isprintable():
            return [f"line {number}: there is a control character"]
        if line.rstrip().endswith("\\"):
            return [f"line {number}: a line must not continue in the next one"]
    match service:
        case "postfix" if path == "main.cf":
            found = _check_postfix(lines)
        case "dovecot" if path == "dovecot.conf":
            found = _check_dovecot(lines)
        case "rspamd" if path.removeprefix("local.d/") in _RSPAMD:
            found = _check_rspamd(lines, _RSPAMD[path.removeprefix("local.d/")])
        case "rspamd":
            names = ", ".join(sorted(_RSPAMD))
            return [f"line 1: {path.removeprefix('local.d/')} is none of the possible files: {names}"]
        case _:
            return [f"line 1: {service} has no overlays for {path}"]
    return [f"line {fault.line}: {fault.reason}" for fault in found]


def is_allowed(service: str, parameter: str) -> bool:
    """Whether an overlay in the settings may set this parameter of main.cf or dovecot.conf."""
    match service:
        case "postfix":
            return parameter in ALLOWED.postfix
        case "dovecot":
            return parameter in ALLOWED.dovecot
        case _:
            return False


def check_main_cf(text: str) -> None:
    """Check lines for main.cf; ValueError with all errors."""
    _require_none(check("postfix", "main.cf", text))


def check_dovecot_conf(text: str) -> None:
    """Check lines for dovecot.conf; ValueError with all errors."""
    _require_none(check("dovecot", "dovecot.conf", text))


def check_local_files(files: Mapping[str, str]) -> None:
    """Check lines for files in Rspamd's local.d, by name; ValueError with all errors."""
    _require_none([f"{name}, {error}" for name, text in files.items() for error in check("rspamd", name, text)])


def _require_none(errors: Sequence[str]) -> None:
    if errors:
        raise ValueError("; ".join(errors))


def _content(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The lines that are neither empty nor comments, with their numbers."""
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line


def _check_postfix(lines: Sequence[str]) -> Iterator[_Fault]:
    known: set[str] = set()
    for number, line in _content(lines):
        name = line.partition("=")[0].strip()
        if line[0] in " \t":
            yield _Fault(number, "a line must not start with a space, which would continue the line before")
        elif "=" not in line or not re.fullmatch(_NAME, name):
            yield _Fault(number, "expected a parameter and its value, as in name = value")
        elif name not in ALLOWED.postfix:
            yield _Fault(number, f"{name} can't be set here")
        elif not (match := _LINE.fullmatch(line)):
            yield _Fault(number, f"{name}: {_VALUES}")
        elif error := check_value("postfix", ALLOWED.postfix[name], match[2]):
            yield _Fault(number, f"{name}: {error}")
        elif name in known:
            yield _Fault(number, f"{name} is set twice")
        known.add(name)


def _check_dovecot(lines: Sequence[str]) -> Iterator[_Fault]:
    block, opened = "", 0
    for number, line in _content(lines):
        stripped = line.strip()
        name = stripped.partition("=")[0].strip()
        if match := _BLOCK.fullmatch(stripped):
            if block:
                yield _Fault(number, "a block must not contain another block")
            elif match[2] not in ALLOWED.dovecot_blocks.get(match[1], ()):
                yield _Fault(number, f"{match[1]} {match[2]} can't be set here")
            block, opened = match[1], number
        elif stripped == "}":
            if not block:
                yield _Fault(number, "there is no block to close")
            block = ""
        elif "=" not in stripped or not re.fullmatch(_NAME, name):
            yield _Fault(number, "expected a setting and its value, as in name = value, or a block")
        elif not is_allowed("dovecot", path := f"{block}/{name}" if block else name):
            yield _Fault(number, f"{path} can't be set here")
        elif not (match := _LINE.fullmatch(stripped)):
            yield _Fault(number, f"{name}: {_VALUES}")
        elif error := check_value("dovecot", ALLOWED.dovecot[path], match[2]):
            yield _Fault(number, f"{path}: {error}")
    if block:
        yield _Fault(opened, "the block is not closed")


def _check_rspamd(lines: Sequence[str], allowed: Mapping[str, str]) -> Iterator[_Fault]:
    """UCL with names, values and blocks: one statement at a time, which ends with its line or a semicolon."""
    patterns = {tuple(pattern.split("/")): spec for pattern, spec in allowed.items()}
    blocks: list[list[str]] = []  # the names of each open block: `group "x" {` has two
    words: list[str] = []
    last = 0
    try:
        for number, line in _content(lines):
            last = number
            for token in [*_read_tokens(number, line), ";"]:
                if token == "{":
                    _require_block(number, words)
                    blocks.append([_unquote(word) for word in words])
                    _require_allowed(number, blocks, "", patterns)
                    words = []
                elif token in (";", "}"):
                    if words:
                        _require_statement(number, words)
                        spec = _require_allowed(number, blocks, _unquote(words[0]), patterns)
                        _require_value(number, _unquote(words[0]), spec, words[2])
                        words = []
                    if token == "}" and not blocks:
                        raise _Fault(number, "there is no block to close")
                    if token == "}":
                        blocks.pop()
                else:
                    words.append(token)
        if blocks:
            raise _Fault(last, "a block is not closed")
    except _Fault as fault:
        yield fault


def _read_tokens(number: int, line: str) -> list[str]:
    tokens: list[str] = []
    position = 0
    while position < len(line):
        match = _UCL_TOKEN.match(line, position)
        if match is None:
            raise _Fault(number, f"{_VALUES}; {line[position]!r} has no place here")
        position = match.end()
        if token := match[0].strip(" \t"):
            tokens.append(token)
    return tokens


def _require_block(number: int, words: Sequence[str]) -> None:
    if not 1 <= len(words) <= 2 or not all(_UCL_NAME.fullmatch(word) for word in words):
        raise _Fault(number, 'expected a block, as in group "name" {')


def _require_statement(number: int, words: Sequence[str]) -> None:
    if len(words) != 3 or words[1] != "=" or words[2] == "=" or not _UCL_NAME.fullmatch(words[0]):
        raise _Fault(number, "expected a name and its value, as in name = value;")


def _require_allowed(
    number: int, blocks: Sequence[Sequence[str]], name: str, patterns: Mapping[tuple[str, ...], str]
) -> str:
    """The type of the value. Without a name: the open blocks must be the start of a possible one."""
    path = [*(word for block in blocks for word in block), *([name] if name else [])]
    for pattern, spec in patterns.items():
        is_possible = len(pattern) == len(path) if name else len(pattern) > len(path)
        if is_possible and all(each in ("*", part) for each, part in zip(pattern, path, strict=False)):
            return spec
    raise _Fault(number, f"{'/'.join(path)} can't be set here")


def _require_value(number: int, name: str, spec: str, value: str) -> None:
    """Only text may be in quotes: to Rspamd, a number in quotes is none."""
    is_text = spec.startswith(("words", "one of"))
    if error := check_value("rspamd", spec, _unquote(value) if is_text else value):
        raise _Fault(number, f"{name}: {error}")


def _unquote(word: str) -> str:
    return word.strip('"')
