"""Keyset pages in SQL: a literal SELECT, the filters that are given, the key to go on from, one row more than asked.

Only the filters that have a value stand in the statement, so that PostgreSQL plans for what is asked and page
20,000 costs what page 1 costs.
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
    """One page of `select` (which ends before WHERE and answers a column `id`).

    `columns` names for each sort field the SQL expression to sort by; it must be selected under the field's name,
    be NOT NULL, and stand in an index together with the id. The expression of the id itself sorts by age.
    """
    column, id_column = columns[page.sort], columns["id"]
    given = [(condition, name, value) for condition, name, value in filters if value is not None]
    named: dict[str, Any] = {name: value for _, name, value in given}
    for index, part in enumerate(page.after or ()):
        named[f"after_{index}"] = part
    named["page_rows"] = page.limit + 1
    conditions = tuple(condition for condition, _, _ in given)
    order = (column, id_column, page.order == "desc")
    cursor = await conn.execute(_statement(select, conditions, order, goes_on=page.after is not None), named)
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
    goes_on: bool,
) -> bytes:
    """The statement; made once for each combination of filters and order, of which a list has a few dozen."""
    column, id_column, down = order
    by_id = column == id_column
    clauses: list[SQL | Composed] = [SQL(condition) for condition in conditions]
    if goes_on:
        clauses.append(_after_key(column, id_column, by_id, down))
    where = SQL(" WHERE ") + SQL(" AND ").join(clauses) if clauses else SQL("")
    direction = SQL("DESC") if down else SQL("ASC")
    ending = SQL(" ORDER BY {} {}").format(SQL(column), direction)
    if not by_id:
        ending += SQL(", {} {}").format(SQL(id_column), direction)
    return (SQL(select) + where + ending + SQL(" LIMIT %(page_rows)s")).as_bytes(None)


def _after_key(column: LiteralString, id_column: LiteralString, by_id: bool, down: bool) -> Composed:
    than = SQL("<") if down else SQL(">")
    if by_id:
        return SQL("{} {} %(after_0)s").format(SQL(column), than)
    return SQL("({}, {}) {} (%(after_0)s, %(after_1)s)").format(SQL(column), SQL(id_column), than)
