"""Which older programs work with the schema after a migration: that is what lets a failed upgrade go back.

All of them do if the migration only adds: only the statements that are listed here count as adding. What no program
uses any more can be removed in a later release, whose migration then says since when, in a line of its own:

    -- works with 1.4.0

`migrate` records the answer with each migration, and an older program accepts a database with later migrations that it
works with.
"""

from __future__ import annotations

import re
from collections.abc import Generator

_NAME = r'(?:"[^"]+"|\w+)(?:\.(?:"[^"]+"|\w+))?'
_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?\*/|\b[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|(\$\w*\$).*?\1|[^-/'$eE]+|.",
    re.DOTALL,
)
_CREATED = re.compile(rf"create (?:unlogged )?(?:table|sequence|type|domain) (?:if not exists )?({_NAME})\b")
_CREATED_INDEX = re.compile(rf"create (unique )?index (?:if not exists )?(?:{_NAME} )?on (?:only )?({_NAME})")
_ALTERED_TABLE = re.compile(rf"alter table (?:if exists )?(?:only )?({_NAME}) (.+)")
_ADDED_COLUMN = re.compile(rf"add column (?:if not exists )?({_NAME}) (.+)")
_WRITTEN = re.compile(rf"(?:insert into|update(?: only)?) ({_NAME})\b")
_UPDATED = re.compile(rf"update (?:only )?({_NAME}) (?:as )?(?:\w+ )?set (.+?)(?: from | where |$)")
_HARMLESS = ("comment on ", "grant ", "create extension ", "create schema ", "create statistics ", "analyze")
_ADDED_VALUE = re.compile(rf"alter type {_NAME} add value ")
_REFERENCE = re.compile(rf" references ({_NAME})")
_KEEPS_DELETIONS = re.compile(r"on delete (cascade|set null|set default)")
_SHOWN = 100
_WORKS_WITH = re.compile(r"^-- works with ([0-9]+(?:\.[0-9]+){1,3})$", re.MULTILINE)
ANY = "0"
"""The oldest program that works with a migration that only adds."""


def find_oldest_program(sql: str) -> str | None:
    """The version of the oldest program that works with the schema after a migration, `ANY`, or None: none does."""
    if not list_obstacles(sql):
        return ANY
    match = _WORKS_WITH.search(sql)
    return match[1] if match else None


def works_with(oldest_program: str | None, version: str) -> bool:
    """Whether a program of this version works with a migration whose `find_oldest_program` is known."""
    return oldest_program is not None and _numbers(oldest_program) <= _numbers(version)


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"[0-9]+", version)]


def list_obstacles(sql: str) -> list[str]:
    """The statements of a migration because of which the program before it might not work with the result; empty if it
    only adds.
    """
    created: set[str] = set()
    added: set[tuple[str, str]] = set()
    return [statement[:_SHOWN] for statement in _split(sql) if not _only_adds(statement, created, added)]


def _split(sql: str) -> Generator[str]:
    """The statements in lower case, without comments and the content of quotes, with single spaces."""
    text = "".join(_without_content(match) for match in _TOKEN.finditer(sql))
    for statement in text.lower().split(";"):
        if words := statement.split():
            yield " ".join(words)


def _without_content(match: re.Match[str]) -> str:
    token = match[0]
    if token.startswith(("--", "/*")):
        return " "
    return "''" if len(token) > 1 and token.startswith(("'", "$", "e'", "E'")) else token


def _only_adds(statement: str, created: set[str], added: set[tuple[str, str]]) -> bool:
    if match := _CREATED.match(statement):
        created.add(match[1])
        return not _blocks_deletions(statement, created)
    if match := _CREATED_INDEX.match(statement):
        return not match[1] or match[2] in created
    if match := _ALTERED_TABLE.fullmatch(statement):
        return match[1] in created or all(
            _adds_column(match[1], action, created, added) for action in _split_at_commas(match[2])
        )
    if (match := _WRITTEN.match(statement)) and match[1] in created:
        return True
    if match := _UPDATED.match(statement):
        columns = {assignment.partition("=")[0].strip() for assignment in _split_at_commas(match[2])}
        return all((match[1], column) in added for column in columns)
    return statement.startswith(_HARMLESS) or _ADDED_VALUE.match(statement) is not None


def _adds_column(table: str, action: str, created: set[str], added: set[tuple[str, str]]) -> bool:
    """Whether rows that leave the column out are still accepted, and rows of other tables can still be deleted."""
    match = _ADDED_COLUMN.fullmatch(action)
    if match is None:
        return False
    added.add((table, match[1]))
    kind = match[2]
    needs_value = "not null" in kind and "default " not in kind and "generated " not in kind
    return not (needs_value or "unique" in kind or "primary key" in kind or _blocks_deletions(kind, created))


def _blocks_deletions(text: str, created: set[str]) -> bool:
    """Whether rows of an older table can't be deleted while others refer to them."""
    for match in _REFERENCE.finditer(text):
        rest = text[match.end() :].partition(" references ")[0]
        if match[1] not in created and not _KEEPS_DELETIONS.search(rest):
            return True
    return False


def _split_at_commas(text: str) -> list[str]:
    """The parts between commas outside parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]
