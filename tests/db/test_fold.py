"""Case folding in the database equals Python's for all assigned code points."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterator

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from mailkeep.core.address import fold_local
from mailkeep.db.fold_sql import fold_function
from mailkeep.db.migrate import FOLDER
from mailkeep.db.postgres import Urls

Fold = Callable[[list[str]], list[str]]

ASSIGNED = [
    char for char in map(chr, range(1, sys.maxunicode + 1)) if unicodedata.category(char) not in ("Cn", "Cs", "Co")
]
CHANGING = [
    char
    for char in ASSIGNED
    if fold_local(char) != char or unicodedata.combining(char) or unicodedata.normalize("NFD", char) != char
]


@pytest.fixture(scope="module")
def fold(module_database_urls: Urls) -> Iterator[Fold]:
    with psycopg.connect(module_database_urls.owner, autocommit=True) as conn:

        def folded(texts: list[str]) -> list[str]:
            rows = conn.execute(
                "SELECT mailkeep_fold(t.text) FROM unnest(%s::text[]) WITH ORDINALITY t (text, n) ORDER BY n",
                (texts,),
            )
            return [row[0] for row in rows]

        yield folded


@pytest.mark.parametrize(
    "text, key",
    [
        ("Alice.Smith", "alice.smith"),
        ("straße", "strasse"),
        ("STRASSE", "strasse"),
        ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
        ("u\u0308ber", "über"),
        ("\u212aelvin", "kelvin"),
        ("İ", "i\u0307"),
        ("ﬃ", "ffi"),
        ("", ""),
    ],
)
def test_a_local_part_folds_as_in_python(fold: Fold, text: str, key: str) -> None:
    assert fold([text]) == [key] == [fold_local(text)]


def test_every_assigned_code_point_folds_as_in_python(fold: Fold) -> None:
    assert fold(ASSIGNED) == [fold_local(char) for char in ASSIGNED]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.sampled_from(CHANGING) | st.sampled_from(ASSIGNED), max_size=30), max_size=30))
@example(["ᾳ\u0345", "ǰ\u030c", "ΐ\u0301", "\u0130\u0307", "\u1e9e\u0301"])
def test_any_text_folds_as_in_python(fold: Fold, texts: list[str]) -> None:
    assert fold(texts) == [fold_local(text) for text in texts]


def test_the_file_is_what_the_script_writes() -> None:
    written = (FOLDER / "functions/folding.sql").read_text(encoding="utf-8")
    # Another Python may have another Unicode version. The test of every code point finds differences.
    assert unicodedata.unidata_version != "14.0.0" or written == fold_function()
