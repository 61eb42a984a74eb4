"""The SQL of lists, searches and timelines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, LiteralString
from uuid import UUID

from psycopg.sql import SQL, Composed, Placeholder

from mailkeep.core.ids import uuid7_floor
from mailkeep.db.pool import Conn
from mailkeep.features.record.history import rules
from mailkeep.features.record.history.model import HistoryFilter, SearchTerm
from mailkeep.features.record.messages.model import DeliveryAttempt, ServerReply

_TERM_CONDITIONS = {
    "subject": SQL("s.subject LIKE {pattern}"),
    "sender": SQL("s.sender LIKE {pattern}"),
    "recipients": SQL("s.recipients LIKE {pattern}"),
    "any": SQL("(s.subject LIKE {pattern} OR s.sender LIKE {pattern} OR s.recipients LIKE {pattern})"),
}
# Each is a scan of the index of its own: of more it is cheaper to look at what others have written too.
_DOMAINS_IN_INDEX = 10


@dataclass(frozen=True, slots=True)
class WalkResult:
    """What a walk came to: how many rows it saw, the last of them, the hits among them in order.

    `counts` tells for each piece that was asked for in how many of the rows it stands.
    """

    seen: int
    last: UUID | None
    hits: list[UUID]
    counts: list[int]


@dataclass(frozen=True, slots=True)
class Slice:
    """Which part of a list is meant: beyond `after`, at most `most` hits, in descending or ascending order."""

    after: UUID | None
    most: int
    down: bool


async def walk(conn: Conn, wanted: HistoryFilter, span: Slice, rows: int, pieces: Sequence[SearchTerm]) -> WalkResult:
    """Walk `rows` rows of the history in order, and take the hits of a search for text among them."""
    text, named = _term_conditions(rules.search_terms(wanted), "text")
    counted, counted_named = _term_conditions(pieces, "piece")
    cursor = await conn.execute(
        SQL(
            """
            WITH walk AS MATERIALIZED ({rows}), s AS MATERIALIZED (
                SELECT walk.id, s.subject, s.sender, s.recipients
                FROM walk JOIN message_search s ON s.message_id = walk.id
            )
            SELECT (SELECT count(*) FROM walk) AS seen, (SELECT id FROM walk ORDER BY id {back} LIMIT 1) AS last,
                   ARRAY(SELECT id FROM s WHERE {text} ORDER BY id {order} LIMIT %(most)s) AS hits,
                   (SELECT ARRAY[count(*){counts}] FROM s) AS counts
            """
        ).format(
            rows=_in_order(wanted, span.after, down=span.down),
            text=_and(text),
            counts=SQL("").join(SQL(", count(*) FILTER (WHERE {})").format(each) for each in counted),
            order=_order(span.down),
            back=_order(not span.down),
        ),
        _arguments(wanted, span.after) | named | counted_named | {"rows": rows, "most": span.most},
    )
    row = await cursor.fetchone()
    assert row is not None
    return WalkResult(row["seen"], row["last"], row["hits"], row["counts"][1:])


async def list_in_order(conn: Conn, wanted: HistoryFilter, after: UUID | None, rows: int, *, down: bool) -> list[UUID]:
    """The first messages of a list that looks for no text."""
    cursor = await conn.execute(_in_order(wanted, after, down=down), _arguments(wanted, after) | {"rows": rows})
    return [row["id"] for row in await cursor.fetchall()]


async def search_index(conn: Conn, wanted: HistoryFilter, span: Slice, pieces: Sequence[SearchTerm]) -> list[UUID]:
    """The hits of a search for text, by these pieces in the trigram index; reads all rows that have them."""
    text, named = _term_conditions(rules.search_terms(wanted), "text")
    rows, rows_named = _index_rows(wanted, span, pieces)
    cursor = await conn.execute(
        SQL(
            """
            WITH s AS MATERIALIZED ({rows})
            SELECT m.id FROM s JOIN messages m ON m.id = s.message_id
            WHERE {text} AND {conditions} ORDER BY m.id {order} LIMIT %(most)s
            """
        ).format(rows=rows, text=_and(text), conditions=_all(_conditions(wanted)), order=_order(span.down)),
        _arguments(wanted, span.after) | named | rows_named | {"most": span.most},
    )
    return [row["id"] for row in await cursor.fetchall()]


async def estimate_rows(
    conn: Conn, wanted: HistoryFilter, span: Slice, pieces: Sequence[SearchTerm]
) -> tuple[int, int]:
    """How many rows the planner expects a walk of the whole list to see, and the index to give for these pieces."""
    rows, rows_named = _index_rows(wanted, span, pieces)
    conditions: list[LiteralString] = [*_conditions(wanted), *_bounds(wanted, span.after, "m.id", down=span.down)]
    walked = SQL("SELECT m.id FROM messages m WHERE {}").format(_all(conditions))
    numbers: list[int] = []
    for query in (walked, rows):
        cursor = await conn.execute(SQL("EXPLAIN (FORMAT JSON) ") + query, _arguments(wanted, span.after) | rows_named)
        row = await cursor.fetchone()
        assert row is not None
        numbers.append(row["QUERY PLAN"][0]["Plan"]["Plan Rows"])
    return numbers[0], numbers[1]


def _index_rows(wanted: HistoryFilter, span: Slice, pieces: Sequence[SearchTerm]) -> tuple[Composed, dict[str, str]]:
    asked, named = _term_conditions(pieces, "piece")
    domains = _domains(wanted)
    if domains is not None and len(domains) <= _DOMAINS_IN_INDEX:
        asked.append(SQL("s.domain_id = ANY(%(domains)s)").format())
    return SQL(
        "SELECT s.message_id, s.subject, s.sender, s.recipients FROM message_search s WHERE {pieces} AND {bounds}"
    ).format(pieces=_and(asked), bounds=_all(_bounds(wanted, span.after, "s.message_id", down=span.down))), named


async def attempts(conn: Conn, message_id: UUID, after: UUID | None, most: int, *, down: bool) -> list[DeliveryAttempt]:
    """Tries to deliver a message, in order, beyond `after`."""
    beyond = SQL("TRUE") if after is None else SQL("a.id < %(after)s" if down else "a.id > %(after)s")
    cursor = await conn.execute(
        SQL(
            """
            SELECT a.id, a.message_id, a.at, a.kind, a.recipient, a.attempt, a.smtp_code, a.enhanced_code, a.diagnostic,
                   a.remote_host, a.next_attempt_at
            FROM message_attempts a
            WHERE a.message_id = %(message_id)s AND {beyond} ORDER BY a.id {order} LIMIT %(most)s
            """
        ).format(beyond=beyond, order=_order(down)),
        {"message_id": message_id, "after": after, "most": most},
    )
    return [_attempt(row) for row in await cursor.fetchall()]


def _attempt(row: dict[str, Any]) -> DeliveryAttempt:
    return DeliveryAttempt(
        id=row["id"],
        message_id=row["message_id"],
        at=row["at"],
        kind=row["kind"],
        recipient=row["recipient"],
        number=row["attempt"],
        reply=ServerReply(row["smtp_code"], row["enhanced_code"], row["diagnostic"], row["remote_host"]),
        next_attempt_at=row["next_attempt_at"],
    )


def _bounds(wanted: HistoryFilter, after: UUID | None, column: LiteralString, *, down: bool) -> list[LiteralString]:
    """The bounds of the ids, of the page and of the times asked for."""
    bounds: list[LiteralString] = []
    if after is not None:
        bounds.append(column + (" < %(after)s" if down else " > %(after)s"))
    if wanted.since is not None:
        bounds.append(column + " >= %(since)s")
    if wanted.until is not None:
        bounds.append(column + " < %(until)s")
    return bounds


def _conditions(wanted: HistoryFilter) -> list[LiteralString]:
    """What messages `m` must be, but for the bounds of their ids and what is looked for in texts."""
    given: list[tuple[object, LiteralString]] = [
        (wanted.message_id, "m.message_id = %(message_id)s"),
        (wanted.queue_id, "m.queue_id = %(queue_id)s"),
        (wanted.tag, "m.tags @> ARRAY[%(tag)s]"),
        (wanted.mailbox_id, "m.mailbox_id = %(mailbox_id)s"),
        (_domains(wanted), "m.domain_id = ANY(%(domains)s)"),
        (
            rules.statuses(wanted),
            """(m.status = ANY(%(statuses)s) OR m.status = 'partial' AND EXISTS (
                SELECT FROM message_recipients r WHERE r.message_id = m.id AND r.status = ANY(%(statuses)s)))"""
            if wanted.status
            else "m.status = ANY(%(statuses)s)",
        ),
    ]
    return [condition for value, condition in given if value is not None]


def _in_order(wanted: HistoryFilter, after: UUID | None, *, down: bool) -> Composed:
    """The ids of a list in order, %(rows)s of them, driven by the index that gives the fewest rows in that order."""
    conditions, bounds = _conditions(wanted), _bounds(wanted, after, "m.id", down=down)
    order = _order(down)
    if wanted.message_id is not None or wanted.queue_id is not None:
        # A few rows, found first: else the planner may walk by age in hope of an early hit.
        return SQL(
            """
            SELECT m.id FROM (SELECT m.id FROM messages m WHERE {conditions} OFFSET 0) m
            WHERE {bounds} ORDER BY m.id {order} LIMIT %(rows)s
            """
        ).format(conditions=_all(conditions), bounds=_all(bounds), order=order)
    if wanted.tag is not None:
        return SQL(
            """
            SELECT m.id FROM (
                SELECT t.message_id AS id FROM message_tags t
                WHERE t.tag = %(tag)s AND {bounds} ORDER BY t.message_id {order}
            ) t CROSS JOIN LATERAL (SELECT m.id FROM messages m WHERE m.id = t.id AND {conditions} OFFSET 0) m
            LIMIT %(rows)s
            """
        ).format(
            bounds=_all(_bounds(wanted, after, "t.message_id", down=down)), order=order, conditions=_all(conditions)
        )
    if wanted.mailbox_id is not None:
        return SQL("SELECT m.id FROM messages m WHERE {} AND {} ORDER BY m.id {} LIMIT %(rows)s").format(
            _all(conditions), _all(bounds), order
        )
    return _merge_lists(wanted, bounds, order)


def _merge_lists(wanted: HistoryFilter, bounds: list[LiteralString], order: SQL) -> Composed:
    """Each domain and status has an index of its own in this order: their heads are merged, no list is read whole.

    The list of one status has the messages whose recipients have different statuses, this among them.
    """
    lists: list[LiteralString] = ["(SELECT) AS one"]
    conditions = list(bounds)
    if _domains(wanted) is not None:
        lists.append("unnest(%(domains)s::uuid[]) AS d (id)")
        conditions.append("m.domain_id = d.id")
    if rules.statuses(wanted) is not None:
        lists.append("unnest(%(statuses)s::text[]) AS w (status)")
        conditions.append("m.status = w.status")
    named = {"lists": SQL(" CROSS JOIN ").join(map(SQL, lists)), "conditions": _all(conditions), "order": order}
    if wanted.status is None:
        return SQL(
            """
            SELECT m.id FROM {lists} CROSS JOIN LATERAL (
                SELECT m.id FROM messages m WHERE {conditions} ORDER BY m.id {order} LIMIT %(rows)s
            ) m ORDER BY m.id {order} LIMIT %(rows)s
            """
        ).format(**named)
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
    ).format(**named)


def _term_conditions(parts: Sequence[SearchTerm], prefix: str) -> tuple[list[Composed], dict[str, str]]:
    """Conditions on `s`, as the trigram index serves them, and the patterns in them."""
    named = {f"{prefix}_{number}": rules.like_pattern(part.text) for number, part in enumerate(parts)}
    return [
        _TERM_CONDITIONS[part.field].format(pattern=Placeholder(name)) for part, name in zip(parts, named, strict=True)
    ], named


def _domains(wanted: HistoryFilter) -> list[UUID] | None:
    return [wanted.domain_id] if wanted.domain_id is not None else wanted.domains


def _arguments(wanted: HistoryFilter, after: UUID | None) -> dict[str, Any]:
    return {
        "after": after,
        "since": wanted.since and uuid7_floor(wanted.since),
        "until": wanted.until and uuid7_floor(wanted.until),
        "domains": _domains(wanted),
        "statuses": rules.statuses(wanted),
        "mailbox_id": wanted.mailbox_id,
        "message_id": wanted.message_id and rules.header_id(wanted.message_id),
        "queue_id": wanted.queue_id,
        "tag": wanted.tag,
    }


def _and(conditions: Sequence[Composed]) -> Composed:
    return SQL(" AND ").join(conditions or [SQL("TRUE").format()])


def _all(conditions: Sequence[LiteralString]) -> Composed:
    return SQL(" AND ").join(map(SQL, conditions or ["TRUE"]))


def _order(down: bool) -> SQL:
    return SQL("DESC") if down else SQL("ASC")
