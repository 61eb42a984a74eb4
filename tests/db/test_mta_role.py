"""The mail daemons' roles: each executes the functions that its daemon queries, and reads no table but a view."""

import re

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from mailkeep.db.postgres import Urls
from mailkeep.db.postgres_cluster import DOVECOT, POSTFIX
from mailkeep.mail.daemons.render import MAPS, TEMPLATES

ROLES = (POSTFIX, DOVECOT)
_FUNCTION = re.compile(r"\bmta_[a-z_]+(?=\()")


def queried_by(role: str) -> set[str]:
    """The functions in the queries of a role's daemon."""
    files = [TEMPLATES / "dovecot" / name for name in ("sql.conf", "app-passwords.conf")]
    text = " ".join(MAPS.values() if role == POSTFIX else (file.read_text() for file in files))
    return set(_FUNCTION.findall(text))


async def test_postfix_and_dovecot_execute_only_the_functions_that_they_query(database_urls: Urls):
    async with await psycopg.AsyncConnection.connect(database_urls.owner) as conn:
        for role in ROLES:
            cursor = await conn.execute(
                """
                SELECT p.proname FROM pg_proc p
                WHERE p.pronamespace = 'public'::regnamespace AND (p.prosecdef OR p.proname LIKE 'mta%%')
                  AND has_function_privilege(%(role)s, p.oid, 'EXECUTE')
                  AND NOT (NOT p.prosecdef AND has_function_privilege('public', p.oid, 'EXECUTE'))
                """,
                {"role": role},
            )
            granted = {row[0] for row in await cursor.fetchall()}
            assert granted == {name for name in queried_by(role) if name not in ("mta_decode", "mta_encode")}, role
            for name in queried_by(role):
                cursor = await conn.execute(
                    "SELECT bool_and(has_function_privilege(%(role)s, p.oid, 'EXECUTE')) FROM pg_proc p "
                    "WHERE p.proname = %(name)s",
                    {"role": role, "name": name},
                )
                assert await cursor.fetchone() == (True,), name


async def test_dovecot_queries_no_routes_and_postfix_no_hash(database_urls: Urls):
    assert not queried_by(POSTFIX) & queried_by(DOVECOT)
    assert {"mta_app_login", "mta_key_login", "mta_login", "mta_user", "mta_users"} == queried_by(DOVECOT)


@pytest.mark.parametrize("role", ROLES)
async def test_it_reads_no_table_and_only_dovecot_a_view(database_urls: Urls, role: str):
    async with await psycopg.AsyncConnection.connect(database_urls.owner) as conn:
        cursor = await conn.execute(
            """
            SELECT c.oid::regclass::text, right_to
            FROM pg_class c, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) right_to
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
              AND has_table_privilege(%(role)s, c.oid, right_to)
            """,
            {"role": role},
        )
        views = {DOVECOT: [("mta_sieve_scripts", "SELECT")]}
        assert await cursor.fetchall() == views.get(role, [])
        assert "table = mta_sieve_scripts" in (TEMPLATES / "dovecot" / "sieve-dict.conf").read_text()


@pytest.mark.root
@pytest.mark.parametrize("role", ROLES)
async def test_no_other_account_connects_as_it(database_urls: Urls, role: str):
    # The tests' own server maps no account to the role.
    assert conninfo_to_dict(database_urls.owner)["user"] != role
    with pytest.raises(psycopg.OperationalError):
        await psycopg.AsyncConnection.connect(make_conninfo(database_urls.owner, user=role))
