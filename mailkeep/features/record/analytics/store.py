"""The SQL of counters."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

import msgspec
from psycopg.sql import SQL, Composed, Identifier
from psycopg.types.json import Jsonb

from mailkeep.db.pool import Conn
from mailkeep.features.record.analytics.model import (
    ALL_DOMAINS,
    DELAYS,
    FIGURES,
    STEPS,
    BounceCounter,
    BounceSum,
    Counter,
    CounterKey,
    Figures,
    MailEvent,
    Scope,
    TimeRange,
)

_SUMS = SQL(", ").join([SQL("coalesce(sum(c.{0}), 0)::bigint AS {0}").format(SQL(name)) for name in FIGURES])
_DELAY_SUMS = SQL("ARRAY[{}] AS delays").format(
    SQL(", ").join([SQL("coalesce(sum(c.delays[{}]), 0)::bigint").format(n + 1) for n in range(len(DELAYS))])
)


async def list_events(conn: Conn, tx: str, event_id: UUID, limit: int) -> list[MailEvent]:
    """The next visible events of the feed, with what is known of their messages."""
    cursor = await conn.execute(
        """
        SELECT e.tx::text AS tx, e.id, e.kind, e.domain_id, e.message_id, coalesce(a.at, e.created_at) AS at,
               m.api_key_id, m.accepted_at,
               CASE WHEN e.kind IN ('mail.sent', 'mail.spam') THEN (
                   SELECT count(*) FROM message_recipients r
                   WHERE r.message_id = e.message_id AND r.suppression IS NULL) ELSE 0 END AS recipients,
               coalesce(m.tags, '{}') AS tags,
               coalesce((e.data->>'attempts')::integer, 1) AS attempts,
               coalesce(e.data->>'bounce_type' = 'temporary', false) AS is_temporary,
               coalesce(e.data->>'source' = 'system', false) AS is_forwarded,
               coalesce(e.data->>'spam_action' = 'reject', false) AS is_refused,
               e.data->>'class' AS bounce_class, e.data->>'provider' AS provider,
               e.data->>'remote_host' AS remote_host,
               concat_ws(' ', e.data->>'smtp_code', e.data->>'diagnostic') AS reply
        FROM (
            SELECT * FROM events e
            WHERE (e.tx, e.id) > (%(tx)s::xid8, %(id)s) AND e.tx < pg_snapshot_xmin(pg_current_snapshot())
            ORDER BY e.tx, e.id LIMIT %(limit)s
        ) e
        LEFT JOIN messages m ON m.id = e.message_id
        LEFT JOIN LATERAL (
            SELECT a.at FROM message_attempts a
            WHERE a.message_id = e.message_id AND a.recipient = e.data->>'to'
              AND a.kind = CASE WHEN e.kind = 'mail.delivered' THEN 'delivered'
                                WHEN e.kind = 'mail.failed' THEN 'failed'
                                WHEN e.data->>'bounce_type' = 'temporary' THEN 'deferred' ELSE 'bounced' END
            ORDER BY a.id LIMIT 1
        ) a ON e.kind IN ('mail.delivered', 'mail.bounced', 'mail.failed')
        ORDER BY e.tx, e.id
        """,
        {"tx": tx, "id": event_id, "limit": limit},
    )
    return [MailEvent(**row) for row in await cursor.fetchall()]


async def find_tags(conn: Conn, days: Collection[tuple[UUID, datetime]]) -> dict[tuple[UUID, datetime], set[str]]:
    """The tags that have counters of their own, of these domains and UTC days."""
    cursor = await conn.execute(
        """
        SELECT d.domain_id, d.day, array_agg(c.value) AS tags
        FROM unnest(%(domains)s::uuid[], %(days)s::timestamptz[]) d (domain_id, day)
        JOIN analytics_counters c ON c.domain_id = d.domain_id AND c.dimension = 'tag' AND c.value <> ''
         AND c.step = %(step)s AND c.slot = d.day
        GROUP BY d.domain_id, d.day
        """,
        {"domains": [domain_id for domain_id, _ in days], "days": [day for _, day in days], "step": STEPS[-1]},
    )
    return {(row["domain_id"], row["day"]): set(row["tags"]) for row in await cursor.fetchall()}


async def add(conn: Conn, counters: Mapping[CounterKey, Counter]) -> None:
    """Add to counters, in one order: transactions that lock the same rows in different orders would deadlock."""
    rows = [_key_row(key) | counter.figures | {"delays": _delays(counter.delays)} for key, counter in counters.items()]
    await conn.execute(_ADD, {"rows": Jsonb(rows, dumps=msgspec.json.encode)})


def _delays(delays: Mapping[int, int]) -> list[int] | None:
    return [delays.get(n, 0) for n in range(len(DELAYS))] if delays else None


def _key_row(key: CounterKey) -> dict[str, Any]:
    return {
        "domain_id": key.domain_id,
        "dimension": key.dimension,
        "value": key.value,
        "provider": key.provider,
        "step": key.step,
        "slot": key.slot,
    }


_ADD = SQL(
    """
    INSERT INTO analytics_counters AS c (domain_id, dimension, value, provider, step, slot, {columns}, delays)
    SELECT r.domain_id, r.dimension, r.value, r.provider, r.step, r.slot, {values}, r.delays
    FROM jsonb_to_recordset(%(rows)s) AS r(
        domain_id uuid, dimension text, value text, provider text, step smallint, slot timestamptz, {types},
        delays bigint[])
    ORDER BY r.domain_id, r.dimension, r.value, r.provider, r.step, r.slot
    ON CONFLICT ON CONSTRAINT analytics_counters_pkey DO UPDATE
    SET {sums},
        delays = CASE WHEN excluded.delays IS NULL THEN c.delays WHEN c.delays IS NULL THEN excluded.delays ELSE (
            SELECT array_agg(d.a + d.b ORDER BY d.n)
            FROM unnest(c.delays, excluded.delays) WITH ORDINALITY d (a, b, n)) END
    """
).format(
    columns=SQL(", ").join(map(SQL, FIGURES)),
    values=SQL(", ").join([SQL("coalesce(r.{}, 0)").format(SQL(name)) for name in FIGURES]),
    types=SQL(", ").join([SQL("{} bigint").format(SQL(name)) for name in FIGURES]),
    sums=SQL(", ").join([SQL("{0} = c.{0} + excluded.{0}").format(SQL(name)) for name in FIGURES]),
)


async def add_bounces(conn: Conn, bounces: Mapping[tuple[CounterKey, str], BounceCounter]) -> None:
    """Add to the counters of classes of replies, in one order; the latest reply stays."""
    rows = [
        _key_row(key)
        | {
            "class": bounce_class,
            "deferred": each.figures.get("deferred", 0),
            "bounced": each.figures.get("bounced", 0),
            "failed": each.figures.get("failed", 0),
            "reply": each.reply,
            "reply_at": each.reply_at,
            "message_id": each.message_id,
        }
        for (key, bounce_class), each in bounces.items()
    ]
    await conn.execute(
        """
        INSERT INTO analytics_bounces AS b (domain_id, dimension, value, provider, step, slot, class, deferred,
                                            bounced, failed, reply, reply_at, message_id)
        SELECT r.* FROM jsonb_to_recordset(%(rows)s) AS r(
            domain_id uuid, dimension text, value text, provider text, step smallint, slot timestamptz, class text,
            deferred bigint, bounced bigint, failed bigint, reply text, reply_at timestamptz, message_id uuid)
        ORDER BY r.domain_id, r.dimension, r.value, r.provider, r.step, r.slot, r.class
        ON CONFLICT ON CONSTRAINT analytics_bounces_pkey DO UPDATE
        SET deferred = b.deferred + excluded.deferred, bounced = b.bounced + excluded.bounced,
            failed = b.failed + excluded.failed, reply = coalesce(excluded.reply, b.reply),
            reply_at = coalesce(excluded.reply_at, b.reply_at), message_id = coalesce(excluded.message_id, b.message_id)
        """,
        {"rows": Jsonb(rows, dumps=msgspec.json.encode)},
    )


async def delete_before(conn: Conn, before: datetime) -> None:
    """Delete the counters of slots before `before`."""
    await conn.execute("DELETE FROM analytics_counters WHERE slot < %(before)s", {"before": before})
    await conn.execute("DELETE FROM analytics_bounces WHERE slot < %(before)s", {"before": before})


def _of_domains(scope: Scope) -> LiteralString:
    return " AND c.domain_id = %(all)s" if scope.domains is None else " AND c.domain_id = ANY(%(domains)s)"


def _in_ranges(table: LiteralString, where: LiteralString) -> Composed:
    """FROM the counters of time ranges. OFFSET keeps the planner from joining all counters with the ranges: each range
    is one look into an index.
    """
    return SQL(
        """
        FROM unnest(%(steps)s::smallint[], %(sinces)s::timestamptz[], %(untils)s::timestamptz[]) r (step, since, until)
        CROSS JOIN LATERAL (
            SELECT * FROM {} c
            WHERE c.step = r.step AND c.slot >= r.since AND c.slot < r.until AND c.dimension = %(dimension)s {}
            OFFSET 0) c
        """
    ).format(SQL(table), SQL(where))


def _of_scope(table: LiteralString, scope: Scope) -> Composed:
    return _in_ranges(table, _of_domains(scope) + " AND c.value = %(value)s AND c.provider = %(provider)s")


def _values(scope: Scope, ranges: Sequence[TimeRange]) -> dict[str, Any]:
    return {
        "all": ALL_DOMAINS,
        "domains": scope.domains,
        "dimension": scope.dimension,
        "value": scope.value,
        "provider": scope.provider,
        "steps": [each.step for each in ranges],
        "sinces": [each.since for each in ranges],
        "untils": [each.until for each in ranges],
    }


def _figures(row: Mapping[str, Any]) -> Figures:
    return Figures({name: row[name] for name in FIGURES}, row["delays"])


async def read_total(conn: Conn, scope: Scope, ranges: Sequence[TimeRange]) -> Figures:
    """The sum over time ranges."""
    cursor = await conn.execute(
        SQL("SELECT {}, {} {}").format(_SUMS, _DELAY_SUMS, _of_scope("analytics_counters", scope)),
        _values(scope, ranges),
    )
    row = await cursor.fetchone()
    assert row is not None
    return _figures(row)


async def read_series(
    conn: Conn, scope: Scope, edges: Sequence[datetime], ranges: Sequence[TimeRange]
) -> dict[int, Figures]:
    """The sums between edges, by the index of the edge; those without counters are missing."""
    cursor = await conn.execute(
        SQL("SELECT width_bucket(c.slot, %(edges)s::timestamptz[]) - 1 AS number, {}, {} {} GROUP BY number").format(
            _SUMS, _DELAY_SUMS, _of_scope("analytics_counters", scope)
        ),
        _values(scope, ranges) | {"edges": list(edges)},
    )
    return {row["number"]: _figures(row) for row in await cursor.fetchall()}


async def read_groups(
    conn: Conn, scope: Scope, ranges: Sequence[TimeRange], by: LiteralString, limit: int
) -> list[tuple[str, Figures]]:
    """The sums by `domain_id`, `value` or `provider`, the largest first."""
    where: Mapping[str, LiteralString] = {
        "domain_id": " AND c.value = %(value)s AND c.provider = %(provider)s AND c.domain_id <> %(all)s"
        " AND (%(domains)s::uuid[] IS NULL OR c.domain_id = ANY(%(domains)s))",
        "value": _of_domains(scope) + " AND c.provider = %(provider)s",
        "provider": _of_domains(scope) + " AND c.value = %(value)s AND c.provider <> ''",
    }
    cursor = await conn.execute(
        SQL(
            "SELECT c.{by}::text AS key, {sums}, {delays} {counters} "
            "GROUP BY c.{by} ORDER BY sum(c.accepted + c.delivered + c.bounced + c.failed + c.received) DESC, c.{by} "
            "LIMIT %(limit)s"
        ).format(by=SQL(by), sums=_SUMS, delays=_DELAY_SUMS, counters=_in_ranges("analytics_counters", where[by])),
        _values(scope, ranges) | {"limit": limit},
    )
    return [(row["key"], _figures(row)) for row in await cursor.fetchall()]


async def read_bounces(conn: Conn, scope: Scope, ranges: Sequence[TimeRange]) -> list[BounceSum]:
    """The sums by class, the largest first, each with its latest reply."""
    cursor = await conn.execute(
        SQL(
            """
            SELECT c.class AS bounce_class, sum(c.deferred)::bigint AS deferred, sum(c.bounced)::bigint AS bounced,
                   sum(c.failed)::bigint AS failed,
                   (array_agg(c.reply ORDER BY c.reply_at DESC NULLS LAST))[1] AS reply, max(c.reply_at) AS reply_at,
                   (array_agg(c.message_id ORDER BY c.reply_at DESC NULLS LAST))[1] AS message_id
            {} GROUP BY c.class ORDER BY sum(c.bounced + c.failed) DESC, c.class
            """
        ).format(_of_scope("analytics_bounces", scope)),
        _values(scope, ranges),
    )
    return [BounceSum(**row) for row in await cursor.fetchall()]


async def find_domain_names(conn: Conn, ids: Sequence[str]) -> dict[str, str]:
    """The names of domains that exist, by ID."""
    cursor = await conn.execute(
        "SELECT d.id::text AS id, d.name FROM domains d WHERE d.id = ANY(%(ids)s::uuid[])", {"ids": list(ids)}
    )
    return {row["id"]: row["name"] for row in await cursor.fetchall()}


async def find_key_names(conn: Conn, ids: Sequence[str], owner: UUID | None) -> dict[str, str]:
    """The names of API keys that exist, of this administrator (None: of all), by ID."""
    cursor = await conn.execute(
        """
        SELECT k.id::text AS id, k.name FROM api_keys k
        WHERE k.id = ANY(%(ids)s::uuid[]) AND (%(owner)s::uuid IS NULL OR k.admin_id = %(owner)s)
        """,
        {"ids": list(ids), "owner": owner},
    )
    return {row["id"]: row["name"] for row in await cursor.fetchall()}


async def sum_spans(
    conn: Conn, figure: str, spans: Sequence[tuple[datetime, datetime]], domains: Sequence[UUID] | None
) -> list[tuple[UUID, int, int]]:
    """The sums of a figure of domains (None: of each, and of all together) in each span, where there are counters."""
    cursor = await conn.execute(
        SQL(
            """
            SELECT c.domain_id, s.number - 1 AS number, sum(c.{})::bigint AS total
            FROM unnest(%(since)s::timestamptz[], %(until)s::timestamptz[]) WITH ORDINALITY s (since, until, number)
            JOIN analytics_counters c ON c.slot >= s.since AND c.slot < s.until
            WHERE c.dimension = '' AND c.value = '' AND c.provider = '' AND c.step = %(step)s
              AND (%(domains)s::uuid[] IS NULL OR c.domain_id = ANY(%(domains)s))
            GROUP BY c.domain_id, s.number
            """
        ).format(Identifier(figure)),
        {
            "since": [since for since, _ in spans],
            "until": [until for _, until in spans],
            "domains": None if domains is None else list(domains),
            "step": STEPS[0],
        },
    )
    return [(row["domain_id"], row["number"], row["total"]) for row in await cursor.fetchall()]


async def first_slots(conn: Conn, domains: Sequence[UUID]) -> dict[UUID, datetime]:
    """Since when domains have counters."""
    cursor = await conn.execute(
        """
        SELECT d.id, (SELECT min(c.slot) FROM analytics_counters c
                      WHERE c.domain_id = d.id AND c.dimension = '' AND c.value = '' AND c.provider = ''
                        AND c.step = %(step)s) AS slot
        FROM unnest(%(domains)s::uuid[]) d (id)
        """,
        {"domains": list(domains), "step": STEPS[0]},
    )
    return {row["id"]: row["slot"] for row in await cursor.fetchall() if row["slot"]}
