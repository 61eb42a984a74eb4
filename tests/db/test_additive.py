"""Which migrations an older program works with."""

from __future__ import annotations

import pytest

from mailkeep.db.additive import ANY, find_oldest_program, list_obstacles, works_with

ADDING = """
CREATE TABLE colours (name text PRIMARY KEY, domain_id uuid REFERENCES domains ON DELETE CASCADE);
CREATE UNIQUE INDEX colours_name ON colours (lower(name)); -- DROP TABLE domains;
ALTER TABLE colours ADD CONSTRAINT colours_names CHECK (name <> 'DROP TABLE x; --');
INSERT INTO colours SELECT 'red';
CREATE TABLE shades (colour text REFERENCES colours);
ALTER TABLE domains ADD COLUMN colour text NOT NULL DEFAULT E'it''s; \\' "red', ADD COLUMN weight numeric(3, 2);
UPDATE domains SET weight = length(name), colour = 'blue' WHERE active;
CREATE INDEX domains_colour ON domains (colour); /* DROP
TABLE x; */
ALTER TYPE message_status ADD VALUE 'painted';
COMMENT ON TABLE colours IS $x$ DROP TABLE; $x$;
"""


def test_what_only_adds() -> None:
    assert list_obstacles(ADDING) == []
    assert find_oldest_program(ADDING) == ANY


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE domains",
        "ALTER TABLE domains DROP COLUMN name",
        "ALTER TABLE domains ADD COLUMN a int, DROP COLUMN name",
        "ALTER TABLE domains ADD COLUMN a int NOT NULL",
        "ALTER TABLE domains ADD COLUMN a int UNIQUE",
        "ALTER TABLE domains ADD COLUMN a uuid REFERENCES aliases (id)",
        "ALTER TABLE domains RENAME TO zones",
        "ALTER TABLE domains ALTER COLUMN name TYPE bytea",
        "ALTER TABLE domains ADD CONSTRAINT c CHECK (name <> '')",
        "CREATE UNIQUE INDEX ON domains (name)",
        "CREATE TABLE colours (domain_id uuid REFERENCES domains)",
        "UPDATE domains SET name = 'x'",
        "ALTER TABLE domains ADD COLUMN a int; UPDATE domains SET a = 1, name = 'x'",
        "INSERT INTO domains DEFAULT VALUES",
        "DELETE FROM domains",
        "DO $$ BEGIN CREATE TABLE a (); END $$",
        "SELECT E'\\''; DROP TABLE domains; SELECT ''",
        "DROP FUNCTION f",
        "CREATE TABLE a (); ALTER TYPE message_status RENAME VALUE 'a' TO 'b'",
    ],
)
def test_what_may_stop_an_older_program(statement: str) -> None:
    assert list_obstacles(statement)
    assert find_oldest_program(statement) is None


def test_a_removal_says_since_which_version_nothing_uses_it() -> None:
    oldest = find_oldest_program("-- works with 1.4.0\nALTER TABLE domains DROP COLUMN colour;")
    assert oldest == "1.4.0"
    assert [works_with(oldest, version) for version in ("1.3.9", "1.4.0", "1.10.0")] == [False, True, True]
    assert not works_with(None, "9.9")
    assert works_with(ANY, "0.1.0")
