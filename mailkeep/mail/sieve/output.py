"""Parses what Pigeonhole's programs print (0.5.19). No I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

ActionKind = Literal["keep", "fileinto", "redirect", "discard", "reject", "vacation", "other"]

_MESSAGE = re.compile(r"\d+: (?:line (?P<line>\d+): )?(?P<level>error|warning): (?P<text>.*)")
_DOVEADM = re.compile(r"doveadm\([^)]*\): (?P<level>Error|Warning): sieve: (?P<rest>.*)")
_LINE = re.compile(r"(?:line (?P<line>\d+): )?(?P<text>.*)", re.DOTALL)
# They follow the errors that say why.
_SUMMARIES = re.compile(r"(?:parse|validation|code generation) failed\.?")
# Of Dovecot, which finds no mail in this configuration.
_NOISE = ("file storage: sync: ",)
_STORE, _REDIRECT, _REJECT = "store message in folder: ", "redirect message to: ", "reject message with reason: "
_CREATE, _FLAGS, _SUBJECT = "create mailbox if it does not exist", "add IMAP flags: ", "subject"
_KEPT = "implicit keep"


@dataclass(frozen=True, slots=True)
class ScriptMessage:
    """An error or warning of the compiler or of a test; `line` None: it concerns no line."""

    line: int | None
    message: str


@dataclass(frozen=True, slots=True)
class ScriptMessages:
    """What the compiler says about a script."""

    errors: Sequence[ScriptMessage] = ()
    warnings: Sequence[ScriptMessage] = ()


@dataclass(frozen=True, slots=True)
class ScriptAction:
    """What a script does with a message. `text`: the reason or text of a reply; `description`: Pigeonhole's line."""

    kind: ActionKind
    description: str
    folder: str | None = None
    create: bool = False
    flags: Sequence[str] = ()
    address: str | None = None
    subject: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class ScriptActions:
    """What a script does; `implicit_keep`: the message also stays in the inbox, because no action replaces that."""

    actions: Sequence[ScriptAction]
    implicit_keep: bool


def parse_messages(errors: str) -> ScriptMessages:
    """The messages of sievec or sieve-test about a script, whose name is a number."""
    return _sort(
        (match["level"], match["line"], match["text"]) for match in map(_MESSAGE.match, errors.splitlines()) if match
    )


def parse_doveadm(errors: str, name: str) -> ScriptMessages:
    """The messages of `doveadm sieve put` about the script with this name."""
    found: list[tuple[str, str | None, str]] = []
    for match in map(_DOVEADM.match, errors.splitlines()):
        if match is None or match["rest"].startswith(_NOISE):
            continue
        line = _LINE.match(match["rest"].removeprefix(f"{name}: "))
        assert line is not None
        found.append((match["level"].lower(), line["line"], line["text"]))
    return _sort(found)


def _sort(found: Iterator[tuple[str, str | None, str]] | list[tuple[str, str | None, str]]) -> ScriptMessages:
    errors: list[ScriptMessage] = []
    warnings: list[ScriptMessage] = []
    summary: list[ScriptMessage] = []
    for level, line, text in found:
        message = ScriptMessage(int(line) if line else None, text.rstrip("."))
        into = warnings if level == "warning" else summary if _SUMMARIES.fullmatch(text) else errors
        into.append(message)
    return ScriptMessages(errors or summary, warnings)


def parse_actions(output: str, errors: str) -> ScriptActions:
    """The actions that sieve-test prints. If the script failed, `errors` says whether the message is in the inbox."""
    performed, _, kept = output.partition("\nImplicit keep:\n")
    actions = [_parse_action(block) for block in _split(performed)]
    has_failed = "final result: failed" in errors
    return ScriptActions(actions, _KEPT in errors if has_failed else any(_split(kept)))


def _split(section: str) -> Iterator[list[str]]:
    """The actions of a section, each with the lines that follow it."""
    block: list[str] = []
    for line in section.splitlines():
        if line.startswith(" * "):
            if block:
                yield block
            block = [line[3:]]
        elif block:
            block.append(line)
    if block:
        yield block


def _parse_action(block: Sequence[str]) -> ScriptAction:
    first, *more = block
    details = [line.strip() for line in more if line.strip()]
    effects = [line.removeprefix("+ ") for line in details if line.startswith("+ ")]
    flags = [flag for line in effects if line.startswith(_FLAGS) for flag in line.removeprefix(_FLAGS).split()]
    if first.startswith(_STORE):
        folder = first.removeprefix(_STORE)
        kind: ActionKind = "keep" if folder == "INBOX" else "fileinto"
        return ScriptAction(kind, first, folder=folder, create=_CREATE in effects, flags=flags)
    if first.startswith(_REDIRECT):
        return ScriptAction("redirect", first, address=first.removeprefix(_REDIRECT).strip("<>"))
    if first.startswith(_REJECT):
        return ScriptAction("reject", first, text=first.removeprefix(_REJECT))
    if first == "discard":
        return ScriptAction("discard", first)
    if first.startswith("send vacation message"):
        return ScriptAction("vacation", "send vacation message", subject=_find_subject(details), text=_find_text(more))
    return ScriptAction("other", first)


def _find_subject(details: Sequence[str]) -> str | None:
    for line in details:
        name, colon, value = line.removeprefix("=> ").partition(":")
        if colon and name.strip() == _SUBJECT and line.startswith("=> "):
            return value.strip()
    return None


def _find_text(lines: Sequence[str]) -> str | None:
    text = "\n".join(lines)
    _, start, rest = text.partition("START MESSAGE\n")
    return rest.rpartition("\nEND MESSAGE")[0] if start else None
