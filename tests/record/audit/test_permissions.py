"""Permissions of the application's role: insert and read, on the tables and on each partition."""

from __future__ import annotations

from datetime import UTC, datetime

import psycopg
import pytest
from psycopg import errors, sql

from mailkeep.db.postgres import Urls
from tests.support.client import START

FORGED_SEAL = """
    INSERT INTO audit_seals (sequence, sealed_at, entries, last_tx, last_id, leaves, first_sequence, dropped_before,
                             previous, hash, signature)
    VALUES (1000000, %(before)s, 0, '1', '01890000-0000-7000-8000-000000000000', '', 1000000, %(before)s, '', '', '')
"""
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


def test_the_application_can_not_set_the_transaction_of_an_entry(module_database_urls: Urls):
    statement = """
        INSERT INTO audit_entries (id, created_at, actor_type, actor_label, action, resource_type, outcome, details, tx)
        VALUES ('01890000-0000-7000-8000-000000000000', %s, 'cli', 'x', 'x', 'x', 'success', '{}', '1')
        """
    with (
        psycopg.connect(module_database_urls.app, autocommit=True) as conn,
        pytest.raises(errors.InsufficientPrivilege),
    ):
        conn.execute(statement, (START,))


def test_a_forged_seal_does_not_let_the_application_delete_entries(module_database_urls: Urls):
    with psycopg.connect(module_database_urls.app, autocommit=True) as conn:
        for statement in (
            FORGED_SEAL,
            "SELECT drop_audit_months()",
            "SELECT drop_months('audit_entries', '2100-01-01')",
            "SELECT ensure_partition('audit_entries', '2100-01-01')",
            "SET ROLE mailkeep_audit",
            "SET SESSION AUTHORIZATION mailkeep_audit",
        ):
            with pytest.raises(errors.InsufficientPrivilege):
                conn.execute(statement, {"before": datetime(2100, 1, 1, tzinfo=UTC)} if "%(" in statement else None)
        # Another function deletes the history; it does not touch the audit log.
        conn.execute("SELECT ensure_partitions(%s)", (START,))
        conn.execute("SELECT drop_partitions('2100-01-01', '2100-01-01', '2100-01-01')")
        assert conn.execute("SELECT to_regclass('audit_entries_2026_03') IS NOT NULL").fetchone() == (True,)


def test_the_last_31_days_of_the_audit_log_can_not_be_pruned(database_urls: Urls):
    """The sealing role can't either, whatever the seal says."""
    entry = """
        INSERT INTO audit_entries (id, created_at, actor_type, actor_label, action, resource_type, outcome, details)
        VALUES (uuid7_floor(%(at)s), %(at)s, 'cli', 'x', 'x', 'x', 'success', '{}')
    """
    with psycopg.connect(database_urls.audit, autocommit=True) as conn:
        # An entry from the future does not make others old.
        for at in (START, datetime(2100, 1, 1, tzinfo=UTC)):
            conn.execute(entry, {"at": at})
        conn.execute(FORGED_SEAL, {"before": datetime(2099, 1, 1, tzinfo=UTC)})
        with pytest.raises(errors.InsufficientPrivilege, match="31 days"):
            conn.execute("SELECT drop_audit_months()")
        assert conn.execute("SELECT count(*) FROM audit_entries").fetchone() == (2,)


def test_the_sealing_role_can_not_read_or_change_other_tables(module_database_urls: Urls):
    with psycopg.connect(module_database_urls.owner) as conn:
        rows = conn.execute(
            """
            SELECT c.oid::regclass::text, string_agg(right_to, ' ' ORDER BY right_to)
            FROM pg_class c, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) right_to
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
              AND has_table_privilege('mailkeep_audit', c.oid, right_to)
            GROUP BY 1
            """
        ).fetchall()
    assert dict(rows) == {
        "audit_entries": "SELECT",
        "audit_seals": "INSERT SELECT",
        "prune_checks": "DELETE INSERT SELECT UPDATE",
    }
