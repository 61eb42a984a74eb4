"""Generates `schema.sql`: the tables, indexes, triggers, functions and grants that migrations and functions result in.

`make generate` writes the file and `make check` compares it. The text comes from the catalogue, in the order of names,
and not from pg_dump, whose output depends on its version. Function bodies are in `functions/`.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import LiteralString

import psycopg

from mailkeep.core.clock import utc_now
from mailkeep.db import postgres
from mailkeep.db.migrate import migrate

_HEAD = """\
-- Generated from migrations/ and functions/ by `make generate`; do not edit.
-- Not shown: function bodies (functions/*.sql), privileges of the owner, default partitions and their indexes.
"""

# Each query returns (object, line), sorted. `relation` is a table or sequence that is not a partition.
_TABLES = """
SELECT c.relname || CASE c.relpersistence WHEN 'u' THEN ' UNLOGGED' ELSE '' END
       || coalesce(' PARTITION BY ' || pg_get_partkeydef(c.oid), '')
       || coalesce(' WITH (' || array_to_string(c.reloptions, ', ') || ')', ''),
       format('%s %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
              CASE WHEN a.attnotnull THEN ' NOT NULL' END,
              coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), ''),
              CASE WHEN a.attstorage = 'e' AND t.typstorage <> 'e' THEN ' STORAGE EXTERNAL' END)
  FROM pg_class c
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_type t ON t.oid = a.atttypid
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition
 ORDER BY c.relname, a.attnum
"""
_CONSTRAINTS = """
SELECT c.relname, format('CONSTRAINT %s %s', o.conname, pg_get_constraintdef(o.oid))
  FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid
 WHERE o.connamespace = 'public'::regnamespace AND NOT c.relispartition AND o.contype <> 'n'
 ORDER BY c.relname, o.conname
"""
_INDEXES = """
SELECT c.relname, replace(pg_get_indexdef(i.indexrelid), 'public.', '')
  FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
 WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition
   AND NOT EXISTS (SELECT FROM pg_constraint o WHERE o.conindid = i.indexrelid AND o.conrelid = i.indrelid)
 ORDER BY c.relname, i.indexrelid::regclass::text
"""
_TRIGGERS = """
SELECT c.relname, replace(pg_get_triggerdef(t.oid), 'public.', '')
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
 WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition AND NOT t.tgisinternal
 ORDER BY c.relname, t.tgname
"""
_TABLE_GRANTS = """
SELECT relname, format('GRANT %s TO %s', string_agg(privilege, ', ' ORDER BY privilege), grantee)
  FROM (SELECT c.relname, x.privilege_type AS privilege, x.grantee::regrole::text AS grantee
          FROM pg_class c, aclexplode(c.relacl) x
         WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition AND x.grantee <> c.relowner
        UNION ALL
        SELECT c.relname,
               format('%s (%s)', x.privilege_type, string_agg(a.attname, ', ' ORDER BY a.attnum)),
               x.grantee::regrole::text
          FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid, aclexplode(a.attacl) x
         WHERE c.relnamespace = 'public'::regnamespace
         GROUP BY c.relname, x.privilege_type, x.grantee) privileges
 GROUP BY relname, grantee
 ORDER BY relname, grantee
"""
_FUNCTIONS = """
SELECT format('%s(%s) RETURNS %s%s', p.proname, pg_get_function_identity_arguments(p.oid),
              pg_get_function_result(p.oid), CASE WHEN p.prosecdef THEN ' SECURITY DEFINER' END),
       'EXECUTE TO ' || string_agg(CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE x.grantee::regrole::text END, ', '
                                   ORDER BY x.grantee::regrole::text)
  FROM pg_proc p
  LEFT JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) x ON x.grantee <> p.proowner
 WHERE p.pronamespace = 'public'::regnamespace
   AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
 GROUP BY p.oid, p.proname
 ORDER BY p.proname, 1
"""
_EXTENSIONS_AND_SEQUENCES = """
SELECT 'EXTENSION ' || e.extname FROM pg_extension e WHERE e.extname <> 'plpgsql'
UNION ALL
SELECT 'SEQUENCE ' || c.relname || coalesce((
           SELECT string_agg(format(', %s TO %s', x.privilege_type, x.grantee::regrole), '')
             FROM aclexplode(c.relacl) x WHERE x.grantee <> c.relowner), '')
  FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'S'
 ORDER BY 1
"""


def dump_schema(owner_url: str) -> str:
    """Return the schema of a database as text; `owner_url` is a connection as the owner."""
    with psycopg.connect(owner_url) as conn:

        def rows(query: LiteralString) -> list[tuple[str, str]]:
            return [(row[0], row[1]) for row in conn.execute(query)]

        kinds = [rows(query) for query in (_CONSTRAINTS, _INDEXES, _TRIGGERS, _TABLE_GRANTS)]
        lines = [_HEAD, *(row[0] for row in conn.execute(_EXTENSIONS_AND_SEQUENCES))]
        for head, columns in groupby(rows(_TABLES), lambda row: row[0]):
            table = head.partition(" ")[0]
            lines += ["", f"TABLE {head}", *_indent(line for _, line in columns)]
            lines += _indent(line for kind in kinds for name, line in kind if name == table)
        lines += ["", *(f"FUNCTION {head}; {grants or 'owner only'}" for head, grants in rows(_FUNCTIONS))]
    return "\n".join(lines) + "\n"


def generate() -> str:
    """Return the text of `schema.sql`, from a new database on a private server of its own."""
    return asyncio.run(_generate())


async def _generate() -> str:
    data_dir = Path(tempfile.mkdtemp(prefix="mailkeep-schema-"))
    data_dir.chmod(0o755)  # as root, the server's account must be able to enter it
    try:
        server = await postgres.start(data_dir, postgres.ServerOptions(settings={"fsync": "off"}))
        try:
            await migrate(server.urls.owner, utc_now)
            return dump_schema(server.urls.owner)
        finally:
            await server.stop()
    finally:
        shutil.rmtree(data_dir)


def _indent(lines: Iterable[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)
