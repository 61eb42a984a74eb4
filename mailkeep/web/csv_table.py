"""Tables in CSV (RFC 4180, UTF-8): request bodies, and exports that spreadsheets open safely.

A spreadsheet evaluates a cell that begins like a formula. An export puts an apostrophe before it, which a reader of
tables takes off again: a table that is exported and imported has the same values.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO

from mailkeep.core.errors import BatchTooLarge, InvalidField

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""How a cell begins that a spreadsheet would evaluate."""
_NEEDS_APOSTROPHE = re.compile(rf"'*[{re.escape(''.join(FORMULA_STARTS))}]")
_HAS_APOSTROPHE = re.compile(rf"'+[{re.escape(''.join(FORMULA_STARTS))}]")
_MAX_COLUMNS = 100
_MAX_CELL = 400_000  # characters; the longest value is a list of 1,000 destinations
_MAX_DELIMITERS = 2_000_000  # bounds the cells, and so the memory, before anything is parsed
_MAX_LINES = 1_100_000  # more than the rows of a spreadsheet; each takes time, also if it is blank
_DELIMITERS = (",", ";", "\t")
_QUOTED = re.compile(r'"[^"]*"')
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A table: the names of its columns, and its rows, which may have more or fewer cells.

    `numbers`: those of the rows in a spreadsheet, where the names of the columns are row 1 and blank rows count.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[int]


def parse_csv(content: bytes, max_rows: int) -> CsvTable:
    """The table in a file whose first line names the columns; blank lines are skipped. Takes up to 0.3 s for 16 MB.

    The delimiter is the one of comma, semicolon and tab that the first line has most of.
    INVALID_FIELD for what is not a table: another encoding, NUL, a quote without its end, cells of more than 400,000
    characters, a column that is named twice, more than 1,100,000 lines. BATCH_TOO_LARGE for more than `max_rows` rows.
    """
    if max(content.count(b"\n"), content.count(b"\r")) > _MAX_LINES:
        raise _refuse(f"must have at most {_MAX_LINES:,} lines")
    try:
        text = content.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _refuse(f"must be UTF-8 (line {line} is not); save the file as “CSV UTF-8”") from None
    if (nul := text.find("\0")) >= 0:
        raise _refuse(f"must not contain NUL characters (line {text.count(chr(10), 0, nul) + 1})")
    delimiter = _find_delimiter(text)
    if text.count(delimiter) > _MAX_DELIMITERS:
        raise _refuse(f"must have at most {_MAX_DELIMITERS:,} cells")
    csv.field_size_limit(_MAX_CELL)
    lines = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows, numbers = list[list[str]](), list[int]()
    try:
        for number, row in enumerate(lines, 1):
            if any(row):
                rows.append(row)
                numbers.append(number)
            if len(rows) > max_rows + 1:
                raise BatchTooLarge(f"A table has at most {max_rows:,} rows.", limit=max_rows)
    except csv.Error as error:
        raise _refuse(f"is not valid CSV: line {lines.line_num}: {error}") from None
    if not rows:
        raise _refuse("must have a first line with the names of the columns")
    columns = [name.strip().lower() for name in rows[0]]
    if len(columns) > _MAX_COLUMNS or len(set(columns)) < len(columns):
        raise _refuse(f"must have at most {_MAX_COLUMNS} columns, each named once")
    return CsvTable(columns, [[_restore_cell(cell) for cell in row] for row in rows[1:]], numbers[1:])


def _find_delimiter(text: str) -> str:
    first = _QUOTED.sub("", text.lstrip("\r\n").partition("\n")[0])
    return max(_DELIMITERS, key=first.count)


def write_csv(rows: Iterable[Sequence[str]]) -> bytes:
    """Lines of CSV, with every cell quoted, and an apostrophe before what a spreadsheet would evaluate."""
    text = StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([_protect_cell(cell) for cell in row] for row in rows)
    return text.getvalue().encode()


def _protect_cell(text: str) -> str:
    return "'" + text if _NEEDS_APOSTROPHE.match(text) else text


def _restore_cell(text: str) -> str:
    return text[1:] if _HAS_APOSTROPHE.match(text) else text


def _refuse(reason: str) -> InvalidField:
    return InvalidField([{"field": "", "reason": reason}])
