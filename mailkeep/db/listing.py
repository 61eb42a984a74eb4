"""Keyset pagination in SQL: a literal SELECT, the filters with a value, the key to continue after, and one extra row.

Filters without a value are left out of the statement, so that PostgreSQL plans only for the others. Page 20,000 costs
the same as page 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, LiteralString

from psycopg import AsyncConnection
from psycopg.sql import SQL, Composed

from mailkeep.core.page import Page, PageRequest

ListFilter = tuple[LiteralString, str, Any]
"""A condition, the named parameter in it, and its value; a filter whose value is None is left out."""


async def fetch_page(
    conn: AsyncConnection[dict[str, Any]],
    select: LiteralString,
    filters: Sequence[ListFilter],
    page: PageRequest,
    columns: Mapping[str, LiteralString],
) -> Page[dict[str, Any]]:
    """Return one page of `select`, which ends before WHERE and returns a column `id`.

    `columns` maps each sort field to its SQL expression. The expression must be selected under the field's name,
    be NOT NULL, and be in an index together with the ID. The expression of the ID itself sorts by age.
    """
    column, id_column = columns[page.sort], columns["id"]
    active = [(condition, name, value) for condition, name, value in filters if value is not None]
    parameters: dict[str, Any] = {name: value for _, name, value in active}
    for index, value in enumerate(page.after or ()):
        parameters[f"after_{index}"] = value
    parameters["page_rows"] = page.limit + 1
    conditions = tuple(condition for condition, _, _ in active)
    order = (column, id_column, page.order == "desc")
    cursor = await conn.execute(_statement(select, conditions, order, has_key=page.after is not None), parameters)
    rows = await cursor.fetchall()
    if len(rows) <= page.limit:
        return Page(rows, None)
    rows = rows[: page.limit]
    last = rows[-1]
    return Page(rows, (last["id"],) if column == id_column else (last[page.sort], last["id"]))


@lru_cache(maxsize=1024)
def _statement(
    select: LiteralString,
    conditions: tuple[LiteralString, ...],
    order: tuple[LiteralString, LiteralString, bool],
    *,
    has_key: bool,
) -> bytes:
    """Return the statement, cached for each combination of filters and order (a list has a few dozen)."""
    column, id_column, descending = order
    by_id = column == id_column
    clauses: list[SQL | Composed] = [SQL(condition) for condition in conditions]
    if has_key:
        clauses.append(_after_key(column, id_column, by_id, descending))
    where = SQL(" WHERE ") + SQL(" AND ").join(clauses) if clauses else SQL("")
    direction = SQL("DESC") if descending else SQL("ASC")
    ending = SQL(" ORDER BY {} {}").format(SQL(column), direction)
    if not by_id:
        ending += SQL(", {} {}").format(SQL(id_column), direction)
    return (SQL(select) + where + ending + SQL(" LIMIT %(page_rows)s")).as_bytes(None)


def _after_key(column: LiteralString, id_column: LiteralString, by_id: bool, descending: bool) -> Composed:
    comparison = SQL("<") if descending else SQL(">")
    if by_id:
        return SQL("{} {} %(after_0)s").format(SQL(column), comparison)
    return SQL("({}, {}) {} (%(after_0)s, %(after_1)s)").format(SQL(column), SQL(id_column), comparison)
