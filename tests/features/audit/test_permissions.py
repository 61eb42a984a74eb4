"""What the application's role may do with the log: add to it and read it, on the tables and on each month of them."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import errors, sql

from mailkeep.db.postgres import Urls
from tests.client import START

FORBIDDEN = [
    "UPDATE {} SET action = 'x'",
    "DELETE FROM {}",
    "TRUNCATE {}",
    "DROP TABLE {}",
    "ALTER TABLE {} DISABLE TRIGGER ALL",
]


def test_entries_and_seals_are_not_changed_by_the_application(module_database_urls: Urls):
    with psycopg.connect(module_database_urls.app, autocommit=True) as conn:
        conn.execute("SELECT ensure_partitions(%s)", (START,))
        months = conn.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'audit_entries'::regclass"
        )
        tables = [name for (name,) in months]
        assert {"audit_entries_default", "audit_entries_2026_03", "audit_entries_2026_04"} <= set(tables)
        for table in ["audit_entries", "audit_seals", *tables]:
            for statement in FORBIDDEN:
                changed = statement.replace("action = 'x'", "sequence = 1") if table == "audit_seals" else statement
                with pytest.raises(errors.InsufficientPrivilege):
                    conn.execute(sql.SQL(changed).format(sql.Identifier(table)))  # type: ignore[arg-type]
        for table in tables:
            with pytest.raises(errors.InsufficientPrivilege):
                conn.execute(sql.SQL("INSERT INTO {} SELECT FROM audit_entries").format(sql.Identifier(table)))
            with pytest.raises(errors.InsufficientPrivilege):
                conn.execute(sql.SQL("SELECT FROM {}").format(sql.Identifier(table)))


def test_the_application_does_not_say_in_which_transaction_it_writes(module_database_urls: Urls):
    statement = """
        INSERT INTO audit_entries (id, created_at, actor_type, actor_label, action, resource_type, outcome, details, tx)
        VALUES ('01890000-0000-7000-8000-000000000000', %s, 'cli', 'x', 'x', 'x', 'success', '{}', '1')
        """
    with (
        psycopg.connect(module_database_urls.app, autocommit=True) as conn,
        pytest.raises(errors.InsufficientPrivilege),
    ):
        conn.execute(statement, (START,))


def test_the_application_drops_no_month_that_no_seal_lets_go(module_database_urls: Urls):
    with psycopg.connect(module_database_urls.app, autocommit=True) as conn:
        assert conn.execute("SELECT drop_audit_months()").fetchone() == (0,)
        with pytest.raises(errors.InsufficientPrivilege):
            conn.execute("SELECT drop_months('audit_entries', %s)", (START,))
