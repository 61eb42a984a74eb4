"""The SQL of lists, searches and timelines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, LiteralString
from uuid import UUID

from psycopg.sql import SQL, Composed, Placeholder

from mailkeep.core.ids import uuid7_floor
from mailkeep.db.pool import Conn
from mailkeep.features.record.history import rules
from mailkeep.features.record.history.model import (
    HistoryFilter,
    SearchTerm,
    Slice,
    WalkResult,
)
from mailkeep.features.record.messages.model import DeliveryAttempt, ServerReply

_TERM_CONDITIONS = {
    "subject": SQL("s.subject LIKE {pattern}"),
    "sender": SQL("s.sender LIKE {pattern}"),
    "recipients": SQL("s.recipients LIKE {pattern}"),
    "any": SQL("(s.subject LIKE {pattern} OR s.sender LIKE {pattern} OR s.recipients LIKE {pattern})"),
}
# Each domain needs a separate index scan; above this number it is cheaper to read the rows of all domains.
_DOMAINS_IN_INDEX = 10


async def walk(conn: Conn, filters: HistoryFilter, window: Slice, rows: int, terms: Sequence[SearchTerm]) -> WalkResult:
    """Read `rows` rows of the history in order, and return the search hits among them."""
    text, text_arguments = _term_conditions(rules.search_terms(filters), "text")
    count_conditions, count_arguments = _term_conditions(terms, "term")
    cursor = await conn.execute(
        SQL(
            """
            WITH walk AS MATERIALIZED ({rows}), s AS MATERIALIZED (
                SELECT walk.id, s.subject, s.sender, s.recipients
                FROM walk JOIN message_search s ON s.message_id = walk.id
            )
            SELECT (SELECT count(*) FROM walk) AS rows_read,
                   (SELECT id FROM walk ORDER BY id {reverse} LIMIT 1) AS last,
                   ARRAY(SELECT id FROM s WHERE {text} ORDER BY id {order} LIMIT %(limit)s) AS hits,
                   (SELECT ARRAY[count(*){counts}] FROM s) AS counts
            """
        ).format(
            rows=_in_order(filters, window.after, descending=window.descending),
            text=_and(text),
            counts=SQL("").join(SQL(", count(*) FILTER (WHERE {})").format(each) for each in count_conditions),
            order=_order(window.descending),
            reverse=_order(not window.descending),
        ),
        _arguments(filters, window.after) | text_arguments | count_arguments | {"rows": rows, "limit": window.limit},
    )
    row = await cursor.fetchone()
    assert row is not None
    return WalkResult(row["rows_read"], row["last"], row["hits"], row["counts"][1:])


async def list_in_order(
    conn: Conn, filters: HistoryFilter, after: UUID | None, rows: int, *, descending: bool
) -> list[UUID]:
    """The first messages of a list without search terms."""
    cursor = await conn.execute(
        _in_order(filters, after, descending=descending), _arguments(filters, after) | {"rows": rows}
    )
    return [row["id"] for row in await cursor.fetchall()]


async def search_index(conn: Conn, filters: HistoryFilter, window: Slice, terms: Sequence[SearchTerm]) -> list[UUID]:
    """The hits of a search by these terms in the trigram index; reads all rows that contain them."""
    text, text_arguments = _term_conditions(rules.search_terms(filters), "text")
    rows, index_arguments = _index_rows(filters, window, terms)
    cursor = await conn.execute(
        SQL(
            """
            WITH s AS MATERIALIZED ({rows})
            SELECT m.id FROM s JOIN messages m ON m.id = s.message_id
            WHERE {text} AND {conditions} ORDER BY m.id {order} LIMIT %(limit)s
            """
        ).format(rows=rows, text=_and(text), conditions=_all(_conditions(filters)), order=_order(window.descending)),
        _arguments(filters, window.after) | text_arguments | index_arguments | {"limit": window.limit},
    )
    return [row["id"] for row in await cursor.fetchall()]


async def estimate_rows(
    conn: Conn, filters: HistoryFilter, window: Slice, terms: Sequence[SearchTerm]
) -> tuple[int, int]:
    """The planner's estimates: rows of a walk of the whole list, and rows of the index for these terms."""
    rows, index_arguments = _index_rows(filters, window, terms)
    conditions: list[LiteralString] = [
        *_conditions(filters),
        *_bounds(filters, window.after, "m.id", descending=window.descending),
    ]
    walked = SQL("SELECT m.id FROM messages m WHERE {}").format(_all(conditions))
    estimates: list[int] = []
    for query in (walked, rows):
        cursor = await conn.execute(
            SQL("EXPLAIN (FORMAT JSON) ") + query, _arguments(filters, window.after) | index_arguments
        )
        row = await cursor.fetchone()
        assert row is not None
        estimates.append(row["QUERY PLAN"][0]["Plan"]["Plan Rows"])
    return estimates[0], estimates[1]


def _index_rows(filters: HistoryFilter, window: Slice, terms: Sequence[SearchTerm]) -> tuple[Composed, dict[str, str]]:
    conditions, arguments = _term_conditions(terms, "term")
    domains = _domains(filters)
    if domains is not None and len(domains) <= _DOMAINS_IN_INDEX:
        conditions.append(SQL("s.domain_id = ANY(%(domains)s)").format())
    return SQL(
        "SELECT s.message_id, s.subject, s.sender, s.recipients FROM message_search s WHERE {terms} AND {bounds}"
    ).format(
        terms=_and(conditions),
        bounds=_all(_bounds(filters, window.after, "s.message_id", descending=window.descending)),
    ), arguments


async def count_by_status(conn: Conn, filters: HistoryFilter, statuses: Sequence[str], most: int) -> dict[str, int]:
    """The number of messages in each status, at most `most`. A `partial` message is counted with the statuses of its
    recipients. Of the filters, `domains`, `domain_id` and `since` apply. Reads only indexes, and at most `most` rows
    for each status and table.
    """
    conditions: list[LiteralString] = ["m.status = s.status", *_bounds(filters, None, "m.id", descending=True)]
    if _domains(filters) is not None:
        conditions.append("m.domain_id = ANY(%(domains)s)")
    cursor = await conn.execute(
        SQL(
            """
            SELECT s.status, (SELECT count(*) FROM (
                (SELECT m.id FROM messages m WHERE {conditions} LIMIT %(most)s)
                UNION ALL
                (SELECT m.id FROM (SELECT p.message_id AS id, p.status, p.domain_id FROM message_statuses p) m
                 WHERE {conditions} LIMIT %(most)s)
                LIMIT %(most)s) counted) AS messages
            FROM unnest(%(counted)s::text[]) AS s (status)
            """
        ).format(conditions=_all(conditions)),
        {**_arguments(filters, None), "counted": list(statuses), "most": most},
    )
    return {row["status"]: row["messages"] for row in await cursor.fetchall()}


async def list_attempts(
    conn: Conn, message_id: UUID, after: UUID | None, limit: int, *, descending: bool
) -> list[DeliveryAttempt]:
    """The delivery attempts of a message, in order, after `after`."""
    bound = SQL("TRUE") if after is None else SQL("a.id < %(after)s" if descending else "a.id > %(after)s")
    cursor = await conn.execute(
        SQL(
            """
            SELECT a.id, a.message_id, a.at, a.kind, a.recipient, a.attempt, a.smtp_code, a.enhanced_code, a.diagnostic,
                   a.remote_host, a.next_attempt_at
            FROM message_attempts a
            WHERE a.message_id = %(message_id)s AND {bound} ORDER BY a.id {order} LIMIT %(limit)s
            """
        ).format(bound=bound, order=_order(descending)),
        {"message_id": message_id, "after": after, "limit": limit},
    )
    return [_attempt(row) for row in await cursor.fetchall()]


def _attempt(row: dict[str, Any]) -> DeliveryAttempt:
    reply = ServerReply(*(row.pop(name) for name in ("smtp_code", "enhanced_code", "diagnostic", "remote_host")))
    return DeliveryAttempt(number=row.pop("attempt"), reply=reply, **row)


def _bounds(
    filters: HistoryFilter, after: UUID | None, column: LiteralString, *, descending: bool
) -> list[LiteralString]:
    """Conditions on the IDs, from the page and the time filters."""
    bounds: list[LiteralString] = []
    if after is not None:
        bounds.append(column + (" < %(after)s" if descending else " > %(after)s"))
    if filters.since is not None:
        bounds.append(column + " >= %(since)s")
    if filters.until is not None:
        bounds.append(column + " < %(until)s")
    return bounds


def _conditions(filters: HistoryFilter, *, attempts: bool = True) -> list[LiteralString]:
    """Conditions on messages `m`, except bounds of IDs and search terms; `attempts`: also those on their attempts."""
    conditions: list[tuple[object, LiteralString]] = [
        (filters.message_id, "m.message_id = %(message_id)s"),
        (filters.queue_id, "m.queue_id = %(queue_id)s"),
        (filters.tag, "m.tags @> ARRAY[%(tag)s]"),
        (filters.mailbox_id, "m.mailbox_id = %(mailbox_id)s"),
        (filters.api_key_id, "m.api_key_id = %(api_key_id)s"),
        (_domains(filters), "m.domain_id = ANY(%(domains)s)"),
    ]
    found: list[LiteralString] = [condition for value, condition in conditions if value is not None]
    if rules.attempt_kinds(filters) is not None:
        wanted: LiteralString = " AND ".join(["a.kind = ANY(%(kinds)s)", *_attempt_conditions(filters)])
        exists: LiteralString = "EXISTS (SELECT FROM message_attempts a WHERE a.message_id = m.id AND " + wanted + ")"
        return [*found, exists] if attempts else found
    if filters.status is not None:
        found.append(
            """(m.status = ANY(%(statuses)s) OR m.status = 'partial' AND EXISTS (
                SELECT FROM message_recipients r WHERE r.message_id = m.id AND r.status = ANY(%(statuses)s)))"""
        )
    elif filters.direction is not None:
        found.append("m.status = ANY(%(statuses)s)")
    return found


def _attempt_conditions(filters: HistoryFilter) -> list[LiteralString]:
    """Conditions on the provider and class of attempts `a`."""
    conditions: list[tuple[object, LiteralString]] = [
        (filters.provider, "a.provider = %(provider)s"),
        (filters.bounce_class, "a.bounce_class = %(bounce_class)s"),
    ]
    return [condition for value, condition in conditions if value is not None]


def _in_order(filters: HistoryFilter, after: UUID | None, *, descending: bool) -> Composed:
    """The first %(rows)s IDs of a list in order, from the index with the fewest rows in that order."""
    conditions, bounds = _conditions(filters), _bounds(filters, after, "m.id", descending=descending)
    order = _order(descending)
    if filters.message_id is not None or filters.queue_id is not None:
        # Find these few rows first; otherwise the planner may scan by age, hoping for an early hit.
        return SQL(
            """
            SELECT m.id FROM (SELECT m.id FROM messages m WHERE {conditions} OFFSET 0) m
            WHERE {bounds} ORDER BY m.id {order} LIMIT %(rows)s
            """
        ).format(conditions=_all(conditions), bounds=_all(bounds), order=order)
    if filters.tag is not None:
        index = SQL(
            "SELECT t.message_id AS id FROM message_tags t WHERE t.tag = %(tag)s AND {} ORDER BY t.message_id {}"
        ).format(_all(_bounds(filters, after, "t.message_id", descending=descending)), order)
        return _in_order_of(index, conditions)
    is_of_one = filters.mailbox_id is not None or filters.api_key_id is not None
    if filters.bounce_class is not None or (filters.provider is not None and not is_of_one):
        return _by_attempts(filters, _bounds(filters, after, "a.message_id", descending=descending), order)
    if filters.mailbox_id is not None or filters.api_key_id is not None:
        return SQL("SELECT m.id FROM messages m WHERE {} AND {} ORDER BY m.id {} LIMIT %(rows)s").format(
            _all(conditions), _all(bounds), order
        )
    return _merge_lists(filters, bounds, order)


def _in_order_of(index: Composed, conditions: list[LiteralString]) -> Composed:
    """Those of the IDs from an index, in its order, that fulfil the conditions."""
    return SQL(
        """
        SELECT m.id FROM ({index}) i
        CROSS JOIN LATERAL (SELECT m.id FROM messages m WHERE m.id = i.id AND {conditions} OFFSET 0) m
        LIMIT %(rows)s
        """
    ).format(index=index, conditions=_all(conditions))


def _by_attempts(filters: HistoryFilter, bounds: list[LiteralString], order: SQL) -> Composed:
    """Merges the attempts of each domain with each result, which have an index in this order. A message may have
    several.
    """
    lists: list[LiteralString] = ["unnest(%(kinds)s::text[]) AS k (kind)"]
    wanted: list[LiteralString] = ["a.kind = k.kind", *_attempt_conditions(filters), *bounds]
    if _domains(filters) is not None:
        lists.append("unnest(%(domains)s::uuid[]) AS d (id)")
        wanted.append("a.domain_id = d.id")
    index = SQL("SELECT DISTINCT a.message_id AS id FROM message_attempts a WHERE {} ORDER BY id {}").format(
        _all(wanted), order
    )
    return SQL("SELECT DISTINCT m.id FROM {} CROSS JOIN LATERAL ({}) m ORDER BY m.id {} LIMIT %(rows)s").format(
        SQL(" CROSS JOIN ").join(map(SQL, lists)), _in_order_of(index, _conditions(filters, attempts=False)), order
    )


def _merge_lists(filters: HistoryFilter, bounds: list[LiteralString], order: SQL) -> Composed:
    """Each domain and status has an index in this order: the first rows of each are merged, and none is read
    completely.

    The list of one status includes `partial` messages with a recipient in this status.
    """
    lists: list[LiteralString] = ["(SELECT) AS single_row"]
    conditions = list(bounds)
    if _domains(filters) is not None:
        lists.append("unnest(%(domains)s::uuid[]) AS d (id)")
        conditions.append("m.domain_id = d.id")
    if rules.statuses(filters) is not None:
        lists.append("unnest(%(statuses)s::text[]) AS w (status)")
        conditions.append("m.status = w.status")
    fragments = {"lists": SQL(" CROSS JOIN ").join(map(SQL, lists)), "conditions": _all(conditions), "order": order}
    if filters.status is None:
        return SQL(
            """
            SELECT m.id FROM {lists} CROSS JOIN LATERAL (
                SELECT m.id FROM messages m WHERE {conditions} ORDER BY m.id {order} LIMIT %(rows)s
            ) m ORDER BY m.id {order} LIMIT %(rows)s
            """
        ).format(**fragments)
    return SQL(
        """
        SELECT m.id FROM (
            SELECT m.id FROM {lists} CROSS JOIN LATERAL (
                SELECT m.id FROM messages m WHERE {conditions} ORDER BY m.id {order} LIMIT %(rows)s
            ) m
            UNION ALL
            SELECT m.id FROM {lists} CROSS JOIN LATERAL (
                SELECT m.id FROM (
                    SELECT s.message_id AS id, s.status, s.domain_id FROM message_statuses s
                ) m WHERE {conditions} ORDER BY m.id {order} LIMIT %(rows)s
            ) m
        ) m ORDER BY m.id {order} LIMIT %(rows)s
        """
    ).format(**fragments)


def _term_conditions(terms: Sequence[SearchTerm], prefix: str) -> tuple[list[Composed], dict[str, str]]:
    """Conditions on `s` for which the trigram index can be used, and their arguments."""
    arguments = {f"{prefix}_{number}": rules.like_pattern(term.text) for number, term in enumerate(terms)}
    return [
        _TERM_CONDITIONS[term.field].format(pattern=Placeholder(name))
        for term, name in zip(terms, arguments, strict=True)
    ], arguments


def _domains(filters: HistoryFilter) -> list[UUID] | None:
    return [filters.domain_id] if filters.domain_id is not None else filters.domains


def _arguments(filters: HistoryFilter, after: UUID | None) -> dict[str, Any]:
    return {
        "after": after,
        "since": filters.since and uuid7_floor(filters.since),
        "until": filters.until and uuid7_floor(filters.until),
        "domains": _domains(filters),
        "statuses": rules.statuses(filters),
        "mailbox_id": filters.mailbox_id,
        "api_key_id": filters.api_key_id,
        "message_id": filters.message_id and rules.header_id(filters.message_id),
        "queue_id": filters.queue_id,
        "tag": filters.tag,
        "kinds": rules.attempt_kinds(filters),
        "provider": filters.provider,
        "bounce_class": filters.bounce_class,
    }


def _and(conditions: Sequence[Composed]) -> Composed:
    return SQL(" AND ").join(conditions or [SQL("TRUE").format()])


def _all(conditions: Sequence[LiteralString]) -> Composed:
    return SQL(" AND ").join(map(SQL, conditions or ["TRUE"]))


def _order(descending: bool) -> SQL:
    return SQL("DESC") if descending else SQL("ASC")
