"""The SQL of webhooks and their deliveries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
import psycopg
from psycopg.types.json import Jsonb

from mailkeep.core.errors import DomainNotFound
from mailkeep.core.ids import uuid7_floor, uuid7_time
from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn, constraint_of
from mailkeep.features.mailflow.webhooks.model import (
    DeliveryJob,
    EventContent,
    ReplayPeriod,
    ReplayResult,
    State,
    Webhook,
    WebhookAttempt,
    WebhookDelivery,
    WebhookOutcome,
    WebhookSecrets,
)

_SELECT = """
    SELECT w.id, w.url, w.events, w.domain_id, (SELECT d.name FROM domains d WHERE d.id = w.domain_id) AS domain_name,
           w.active, w.previous_secret_until AS rotating_until, w.failing_since, w.disabled_at, w.created_by,
           w.created_at, w.updated_at
    FROM webhooks w
"""
_DELIVERY = """
    SELECT d.id, d.webhook_id, d.event_id, d.kind, d.state, d.claimed_at, d.next_attempt_at, d.attempts, d.created_at
    FROM webhook_deliveries d
"""


async def insert(conn: Conn, webhook: Webhook, secret: bytes) -> None:
    """A new webhook with its sealed secret; DOMAIN_NOT_FOUND where its domain has just gone."""
    try:
        await conn.execute(
            """
            INSERT INTO webhooks (id, url, events, domain_id, active, secret, created_by, created_at, updated_at)
            VALUES (%(id)s, %(url)s, %(events)s, %(domain_id)s, %(active)s, %(secret)s, %(created_by)s,
                    %(created_at)s, %(updated_at)s)
            """,
            _columns(webhook) | {"secret": secret},
        )
    except psycopg.errors.ForeignKeyViolation as error:
        if constraint_of(error) == "webhooks_domain_id_fkey":
            raise DomainNotFound from None
        raise


async def update(conn: Conn, webhook: Webhook) -> None:
    """What may change of a webhook, as it is in `webhook`."""
    await conn.execute(
        """
        UPDATE webhooks
        SET url = %(url)s, events = %(events)s, active = %(active)s, failing_since = %(failing_since)s,
            disabled_at = %(disabled_at)s, updated_at = %(updated_at)s
        WHERE id = %(id)s
        """,
        _columns(webhook),
    )


async def rotate(conn: Conn, webhook_id: UUID, secret: bytes, until: datetime, at: datetime) -> None:
    """A new secret; the present one signs too until `until`, the one before it no more."""
    await conn.execute(
        """
        UPDATE webhooks
        SET previous_secret = secret, previous_secret_until = %(until)s, secret = %(secret)s, updated_at = %(at)s
        WHERE id = %(id)s
        """,
        {"id": webhook_id, "secret": secret, "until": until, "at": at},
    )


async def delete(conn: Conn, webhook_id: UUID) -> None:
    """End a webhook; its deliveries go with the house-keeping."""
    await conn.execute("DELETE FROM webhooks WHERE id = %(id)s", {"id": webhook_id})


async def find(conn: Conn, webhook_id: UUID) -> Webhook | None:
    """The webhook with this id."""
    cursor = await conn.execute(_SELECT + " WHERE w.id = %(id)s", {"id": webhook_id})
    row = await cursor.fetchone()
    return _webhook(row) if row else None


async def find_for_update(conn: Conn, webhook_id: UUID) -> Webhook | None:
    """The same, held until the transaction ends."""
    cursor = await conn.execute(_SELECT + " WHERE w.id = %(id)s FOR UPDATE OF w", {"id": webhook_id})
    row = await cursor.fetchone()
    return _webhook(row) if row else None


async def secrets(conn: Conn, webhook_id: UUID, at: datetime) -> WebhookSecrets:
    """The secrets that sign at `at`."""
    cursor = await conn.execute(
        """
        SELECT w.secret, CASE WHEN w.previous_secret_until > %(at)s THEN w.previous_secret END AS previous
        FROM webhooks w WHERE w.id = %(id)s
        """,
        {"id": webhook_id, "at": at},
    )
    row = await cursor.fetchone()
    assert row is not None
    return WebhookSecrets(**row)


async def list_visible(conn: Conn, domains: list[UUID] | None) -> list[Webhook]:
    """The webhooks of these domains, or all with the global ones; the newest first."""
    cursor = await conn.execute(
        _SELECT + " WHERE %(domains)s::uuid[] IS NULL OR w.domain_id = ANY(%(domains)s) ORDER BY w.id DESC",
        {"domains": domains},
    )
    return [_webhook(row) for row in await cursor.fetchall()]


def _webhook(row: dict[str, Any]) -> Webhook:
    row["events"] = tuple(row["events"])
    return Webhook(**row)


def _columns(webhook: Webhook) -> dict[str, Any]:
    return {name: getattr(webhook, name) for name in Webhook.__slots__} | {"events": list(webhook.events)}


# Deliveries, as they are shown and begun anew


async def page(
    conn: Conn, webhook_id: UUID, state: State | None, kind: str | None, asked: PageRequest
) -> Page[WebhookDelivery]:
    """A page of a webhook's deliveries."""
    found = await fetch_page(
        conn,
        _DELIVERY,
        [
            ("d.webhook_id = %(webhook_id)s", "webhook_id", webhook_id),
            ("d.state = %(state)s", "state", state),
            ("d.kind = %(kind)s", "kind", kind),
        ],
        asked,
        {"created_at": "d.id", "id": "d.id"},
    )
    return Page([WebhookDelivery(**row) for row in found.rows], found.next_key)


async def find_delivery(conn: Conn, webhook_id: UUID, delivery_id: UUID) -> WebhookDelivery | None:
    """A webhook's delivery with this id."""
    cursor = await conn.execute(
        _DELIVERY + " WHERE d.id = %(id)s AND d.webhook_id = %(webhook_id)s",
        {"id": delivery_id, "webhook_id": webhook_id},
    )
    row = await cursor.fetchone()
    return WebhookDelivery(**row) if row else None


async def replay(conn: Conn, delivery_id: UUID, at: datetime) -> None:
    """Begin a delivery anew; one whose attempt is under way goes on as it is."""
    await conn.execute(
        """
        WITH begun AS (
            UPDATE webhook_deliveries SET state = 'pending', failures = 0, next_attempt_at = %(at)s
            WHERE id = %(id)s AND claimed_at IS NULL
        )
        SELECT wake_workers('webhooks')
        """,
        {"id": delivery_id, "at": at},
    )


async def replay_failures(conn: Conn, webhook_id: UUID, span: ReplayPeriod, at: datetime, most: int) -> ReplayResult:
    """Begin anew what was given up of the events of a span, the oldest `most` of them."""
    cursor = await conn.execute(
        """
        WITH found AS (
            SELECT d.id FROM webhook_deliveries d
            WHERE d.webhook_id = %(webhook_id)s AND d.state = 'abandoned'
              AND d.id >= %(first)s AND d.id < %(beyond)s
            ORDER BY d.id LIMIT %(most)s + 1
        ), begun AS (
            UPDATE webhook_deliveries d SET state = 'pending', failures = 0, next_attempt_at = %(at)s
            FROM (SELECT found.id FROM found ORDER BY found.id LIMIT %(most)s) f
            WHERE d.id = f.id AND d.state = 'abandoned'
        )
        SELECT count(*) AS found, (SELECT f.id FROM found f ORDER BY f.id DESC LIMIT 1) AS last,
               wake_workers('webhooks')
        FROM found
        """,
        _bounds(span) | {"webhook_id": webhook_id, "at": at, "most": most},
    )
    return _replay_result(await cursor.fetchone(), most)


async def replay_all(conn: Conn, webhook: Webhook, span: ReplayPeriod, at: datetime, most: int) -> ReplayResult:
    """Deliver the events of a span that a webhook wants, the oldest `most` of them: anew, or for the first time."""
    cursor = await conn.execute(
        """
        WITH found AS (
            SELECT e.id, e.kind, e.created_at FROM events e
            WHERE e.id >= %(first)s AND e.id < %(beyond)s AND webhook_subscribes(%(events)s, e.kind)
              AND (%(domain_id)s::uuid IS NULL OR e.domain_id = %(domain_id)s)
            ORDER BY e.id LIMIT %(most)s + 1
        ), begun AS (
            INSERT INTO webhook_deliveries AS d (id, webhook_id, event_id, kind, state, next_attempt_at, created_at)
            SELECT webhook_delivery_id(f.id, %(webhook_id)s), %(webhook_id)s, f.id, f.kind, 'pending', %(at)s,
                   f.created_at
            FROM (SELECT * FROM found ORDER BY found.id LIMIT %(most)s) f
            ON CONFLICT (id) DO UPDATE SET state = 'pending', failures = 0, next_attempt_at = excluded.next_attempt_at
            WHERE d.claimed_at IS NULL
        )
        SELECT count(*) AS found, (SELECT f.id FROM found f ORDER BY f.id DESC LIMIT 1) AS last,
               wake_workers('webhooks')
        FROM found
        """,
        _bounds(span)
        | {
            "webhook_id": webhook.id,
            "domain_id": webhook.domain_id,
            "events": list(webhook.events),
            "at": at,
            "most": most,
        },
    )
    return _replay_result(await cursor.fetchone(), most)


def _bounds(span: ReplayPeriod) -> dict[str, UUID]:
    return {"first": uuid7_floor(span.since), "beyond": uuid7_floor(span.until)}


def _replay_result(row: Mapping[str, Any] | None, most: int) -> ReplayResult:
    assert row is not None
    return ReplayResult(min(row["found"], most), uuid7_time(row["last"]) if row["found"] > most else None)


# Deliveries, as they are made


async def claim(
    conn: Conn, at: datetime, until: datetime, after: UUID, room: tuple[int, int, Mapping[UUID, int]]
) -> list[DeliveryJob]:
    """Up to `room` (in all, of each webhook, of these webhooks) deliveries that are due, begun after `after`'s turn."""
    most, each, webhooks = room
    cursor = await conn.execute(
        """
        SELECT c.id, c.webhook_id, c.event_id, c.lease, c.failures, w.url, w.secret,
               CASE WHEN w.previous_secret_until > %(at)s THEN w.previous_secret END AS previous
        FROM claim_webhook_deliveries(%(at)s, %(until)s, %(after)s, %(most)s, %(each)s, %(webhooks)s)
             WITH ORDINALITY c
        JOIN webhooks w ON w.id = c.webhook_id
        ORDER BY c.ordinality
        """,
        {
            "at": at,
            "until": until,
            "after": after,
            "most": most,
            "each": each,
            "webhooks": Jsonb({str(webhook_id): left for webhook_id, left in webhooks.items()}),
        },
    )
    rows = await cursor.fetchall()
    contents = await _contents(conn, list({row["event_id"] for row in rows})) if rows else {}
    return [
        DeliveryJob(
            id=row["id"],
            webhook_id=row["webhook_id"],
            lease=row["lease"],
            until=until,
            failures=row["failures"],
            url=row["url"],
            sealed=WebhookSecrets(row["secret"], row["previous"]),
            content=contents.get(row["event_id"]),
        )
        for row in rows
    ]


async def _contents(conn: Conn, event_ids: list[UUID]) -> dict[UUID, EventContent]:
    cursor = await conn.execute(
        """
        SELECT e.id AS event_id, e.kind, e.message_id, e.data::text AS data, e.created_at
        FROM events e WHERE e.id = ANY(%(ids)s)
        """,
        {"ids": event_ids},
    )
    return {row["event_id"]: EventContent(**row) for row in await cursor.fetchall()}


async def settle(conn: Conn, outcomes: Sequence[WebhookOutcome], at: datetime, failing_before: datetime) -> list[UUID]:
    """Write what attempts have come to, where the delivery is still theirs; what webhooks learn of it, too.

    Answers the webhooks that gave a delivery up and have failed since before `failing_before`.
    """
    cursor = await conn.execute(
        """
        WITH told AS (
            SELECT o.id, o.lease, o.state, o.failures, o.next_attempt_at, o.attempt
            FROM jsonb_to_recordset(%(outcomes)s) AS o(
                id uuid, lease bigint, state text, failures integer, next_attempt_at timestamptz, attempt jsonb)
        ), done AS (
            UPDATE webhook_deliveries d
            SET state = t.state, failures = t.failures, next_attempt_at = t.next_attempt_at, claimed_at = NULL,
                attempts = append_webhook_attempt(d.attempts, t.attempt)
            FROM told t WHERE d.id = t.id AND d.lease = t.lease AND d.claimed_at IS NOT NULL
            RETURNING d.webhook_id, d.state
        ), learnt AS (
            SELECT done.webhook_id, bool_or(done.state = 'delivered') AS well,
                   bool_or(done.state = 'abandoned') AS gave_up
            FROM done GROUP BY done.webhook_id
        ), noted AS (
            UPDATE webhooks w SET failing_since = CASE WHEN l.well THEN NULL ELSE %(at)s::timestamptz END
            FROM learnt l WHERE w.id = l.webhook_id AND (w.failing_since IS NOT NULL) = l.well
        )
        SELECT w.id FROM learnt l JOIN webhooks w ON w.id = l.webhook_id
        WHERE l.gave_up AND NOT l.well AND w.active AND w.failing_since <= %(failing_before)s
        """,
        {
            "outcomes": Jsonb([_outcome(each) for each in outcomes], dumps=msgspec.json.encode),
            "at": at,
            "failing_before": failing_before,
        },
    )
    return [row["id"] for row in await cursor.fetchall()]


def _outcome(outcome: WebhookOutcome) -> dict[str, Any]:
    return {
        "id": outcome.delivery_id,
        "lease": outcome.lease,
        "state": outcome.state,
        "failures": outcome.failures,
        "next_attempt_at": outcome.next_attempt_at,
        "attempt": outcome.attempt,
    }


async def release(conn: Conn, job: DeliveryJob, at: datetime, broken_off: WebhookAttempt | None) -> None:
    """End a claim without an attempt that counts, perhaps with one that was broken off: it is due at once."""
    await conn.execute(
        """
        UPDATE webhook_deliveries
        SET claimed_at = NULL, next_attempt_at = %(at)s,
            attempts = CASE WHEN %(broken_off)s::jsonb IS NULL THEN attempts
                            ELSE append_webhook_attempt(attempts, %(broken_off)s) END
        WHERE id = %(id)s AND lease = %(lease)s AND claimed_at IS NOT NULL
        """,
        {
            "id": job.id,
            "lease": job.lease,
            "at": at,
            "broken_off": broken_off and Jsonb(broken_off, dumps=msgspec.json.encode),
        },
    )


# House-keeping


async def delete_before(conn: Conn, before: datetime, most: int) -> int:
    """Remove up to `most` deliveries of events from before an instant; how many."""
    cursor = await conn.execute(
        """
        DELETE FROM webhook_deliveries WHERE id = ANY(ARRAY(
            SELECT d.id FROM webhook_deliveries d WHERE d.id < %(before)s ORDER BY d.id LIMIT %(most)s))
        """,
        {"before": uuid7_floor(before), "most": most},
    )
    return cursor.rowcount


async def delete_orphans(conn: Conn, most: int) -> int:
    """Remove up to `most` deliveries of webhooks that are gone; how many."""
    cursor = await conn.execute("SELECT delete_orphaned_deliveries(%(most)s) AS gone", {"most": most})
    row = await cursor.fetchone()
    return row["gone"] if row else 0


async def delete_old_secrets(conn: Conn, at: datetime) -> None:
    """Remove secrets that sign no more."""
    await conn.execute(
        """
        UPDATE webhooks SET previous_secret = NULL, previous_secret_until = NULL WHERE previous_secret_until <= %(at)s
        """,
        {"at": at},
    )
