"""The mail daemons' role: it may execute what was made for it, and read nothing."""

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from mailkeep.db.mta_role import grant
from mailkeep.db.postgres import Urls
from mailkeep.db.postgres_cluster import MTA

FUNCTIONS = {
    "mta_domain(p_domain text)",
    "mta_mailbox(p_local text, p_domain text)",
    "mta_route(p_local text, p_domain text)",
    "mta_recipient(p_local text, p_domain text)",
    "mta_paused(p_local text, p_domain text)",
    "mta_senders(p_local text, p_domain text)",
    "mta_user(p_local text, p_domain text)",
    "mta_login(p_local text, p_domain text, p_protocol text)",
    "mta_users()",
}


async def test_it_may_execute_its_functions_and_no_other_that_lends_the_owners_rights(database_urls: Urls):
    await grant(database_urls.owner)
    await grant(database_urls.owner)  # as at every start
    async with await psycopg.AsyncConnection.connect(database_urls.owner) as conn:
        cursor = await conn.execute(
            """
            SELECT p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')'
            FROM pg_proc p
            WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef
              AND has_function_privilege(%(role)s, p.oid, 'EXECUTE')
            """,
            {"role": MTA},
        )
        assert {row[0] for row in await cursor.fetchall()} == FUNCTIONS


async def test_it_may_touch_no_table(database_urls: Urls):
    await grant(database_urls.owner)
    async with await psycopg.AsyncConnection.connect(database_urls.owner) as conn:
        cursor = await conn.execute(
            """
            SELECT c.oid::regclass::text, right_to
            FROM pg_class c, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) right_to
            WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
              AND has_table_privilege(%(role)s, c.oid, right_to)
            """,
            {"role": MTA},
        )
        assert await cursor.fetchall() == []


@pytest.mark.root
async def test_without_a_grant_it_does_not_even_connect(database_urls: Urls):
    # Peers of the tests' own server are not mapped to the role at all: who it is must be told by the server's map.
    assert conninfo_to_dict(database_urls.owner)["user"] != MTA
    with pytest.raises(psycopg.OperationalError):
        await psycopg.AsyncConnection.connect(make_conninfo(database_urls.owner, user=MTA))
