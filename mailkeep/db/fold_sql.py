"""Writes `migrations/0002_fold.sql`: `mailkeep_fold`, the SQL twin of `core.address.fold_local`.

PostgreSQL has no full case folding before 18, and there only of its own Unicode version; so the table comes
from Python's. Assigned code points never change their folding (Unicode stability policy), hence a database
and a Python of different versions agree on all that both know. Run `python -m mailkeep.db.fold_sql > FILE`
for a migration of a later Unicode version; an applied migration is never rewritten.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable

_WIDTH = 18  # code points a line

_TEMPLATE = """\
-- NFC(casefold(NFC(x))), equal to mailkeep.core.address.fold_local for every code point assigned in Unicode
-- {version}. Written by mailkeep/db/fold_sql.py. Full case folding (CaseFolding.txt, statuses C and F):
-- translate() for the {singles} code points that become another, a loop for the {multiples} that become more.

CREATE FUNCTION mailkeep_fold(p_text text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    folded text;
    source text[];
    target text[];
BEGIN
    IF octet_length(p_text) = length(p_text) THEN
        RETURN lower(p_text COLLATE "C");
    END IF;
    folded := translate(normalize(p_text, NFC),
        {single_sources},
        {single_targets});
    IF length(translate(folded, {multiple_sources}, '')) < length(folded) THEN
        source := string_to_array({multiple_sources}, NULL);
        target := string_to_array({multiple_targets}, ' ');
        FOR i IN 1..cardinality(source) LOOP
            folded := replace(folded, source[i], target[i]);
        END LOOP;
    END IF;
    RETURN normalize(folded, NFC);
END
$$;
"""


def _escape(char: str) -> str:
    return char if char == " " else f"\\{ord(char):04X}" if ord(char) < 0x10000 else f"\\+{ord(char):06X}"


def _literal(chars: Iterable[str], indent: int = 8) -> str:
    """An SQL literal in escapes, broken over lines (adjacent literals on lines of their own are one)."""
    escaped = [_escape(char) for char in chars]
    lines = ["".join(escaped[start : start + _WIDTH]) for start in range(0, len(escaped), _WIDTH)]
    return "U&'" + ("'\n" + " " * indent + "'").join(lines) + "'"


def fold_migration() -> str:
    """The text of the migration, made from the Unicode tables of the Python that runs."""
    singles: dict[str, str] = {}
    multiples: dict[str, str] = {}
    for char in map(chr, range(sys.maxunicode + 1)):
        folded = char.casefold()
        if folded != char:
            (singles if len(folded) == 1 else multiples)[char] = folded
    return _TEMPLATE.format(
        version=unicodedata.unidata_version,
        singles=len(singles),
        multiples=len(multiples),
        single_sources=_literal(singles),
        single_targets=_literal(singles.values()),
        multiple_sources=_literal(multiples, 12),
        multiple_targets=_literal(" ".join(multiples.values()), 12),
    )


if __name__ == "__main__":
    sys.stdout.write(fold_migration())
