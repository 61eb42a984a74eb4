"""The SQL of webhook deliveries: list, replay, claim, write outcomes, delete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from psycopg.types.json import Jsonb

from mailkeep.core.ids import uuid7_floor, uuid7_time
from mailkeep.core.page import Page, PageRequest
from mailkeep.db.listing import fetch_page
from mailkeep.db.pool import Conn
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
from mailkeep.jobs.run import ClaimLimits

_SELECT = """
    SELECT d.id, d.webhook_id, d.event_id, d.kind, d.state, d.claimed_at, d.next_attempt_at, d.attempts, d.created_at
    FROM webhook_deliveries d
"""


async def page(
    conn: Conn, webhook_id: UUID, state: State | None, kind: str | None, page_request: PageRequest
) -> Page[WebhookDelivery]:
    """A page of a webhook's deliveries; `state` and `kind` filter."""
    result = await fetch_page(
        conn,
        _SELECT,
        [
            ("d.webhook_id = %(webhook_id)s", "webhook_id", webhook_id),
            ("d.state = %(state)s", "state", state),
            ("d.kind = %(kind)s", "kind", kind),
        ],
        page_request,
        {"created_at": "d.id", "id": "d.id"},
    )
    return Page([WebhookDelivery(**row) for row in result.rows], result.next_key)


async def find(conn: Conn, webhook_id: UUID, delivery_id: UUID) -> WebhookDelivery | None:
    """The delivery of a webhook with this ID."""
    cursor = await conn.execute(
        _SELECT + " WHERE d.id = %(id)s AND d.webhook_id = %(webhook_id)s",
        {"id": delivery_id, "webhook_id": webhook_id},
    )
    row = await cursor.fetchone()
    return WebhookDelivery(**row) if row else None


async def replay(conn: Conn, delivery_id: UUID, at: datetime) -> None:
    """Start a delivery again, unless an attempt is in progress."""
    await conn.execute(
        """
        WITH restarted AS (
            UPDATE webhook_deliveries SET state = 'pending', failures = 0, next_attempt_at = %(at)s, held = false
            WHERE id = %(id)s AND claimed_at IS NULL
        )
        SELECT wake_workers('webhooks')
        """,
        {"id": delivery_id, "at": at},
    )


async def replay_failures(conn: Conn, webhook_id: UUID, period: ReplayPeriod, at: datetime, limit: int) -> ReplayResult:
    """Start the abandoned deliveries of events in a period again, the oldest `limit` of them."""
    cursor = await conn.execute(
        """
        WITH matching AS (
            SELECT d.id FROM webhook_deliveries d
            WHERE d.webhook_id = %(webhook_id)s AND d.state = 'abandoned'
              AND d.id >= %(start)s AND d.id < %(end)s
            ORDER BY d.id LIMIT %(limit)s + 1
        ), restarted AS (
            UPDATE webhook_deliveries d SET state = 'pending', failures = 0, next_attempt_at = %(at)s, held = false
            FROM (SELECT matching.id FROM matching ORDER BY matching.id LIMIT %(limit)s) m
            WHERE d.id = m.id AND d.state = 'abandoned'
        )
        SELECT count(*) AS total, (SELECT m.id FROM matching m ORDER BY m.id DESC LIMIT 1) AS last,
               wake_workers('webhooks')
        FROM matching
        """,
        _bounds(period) | {"webhook_id": webhook_id, "at": at, "limit": limit},
    )
    return _replay_result(await cursor.fetchone(), limit)


async def replay_all(conn: Conn, webhook: Webhook, period: ReplayPeriod, at: datetime, limit: int) -> ReplayResult:
    """Deliver the events of a period to which a webhook subscribes, the oldest `limit`, whether delivered before or
    not.
    """
    cursor = await conn.execute(
        """
        WITH matching AS (
            SELECT e.id, e.kind, e.created_at FROM events e
            WHERE e.id >= %(start)s AND e.id < %(end)s AND webhook_subscribes(%(events)s, e.kind)
              AND (%(domain_id)s::uuid IS NULL OR e.domain_id = %(domain_id)s)
            ORDER BY e.id LIMIT %(limit)s + 1
        ), restarted AS (
            INSERT INTO webhook_deliveries AS d (id, webhook_id, event_id, kind, state, next_attempt_at, created_at)
            SELECT webhook_delivery_id(m.id, %(webhook_id)s), %(webhook_id)s, m.id, m.kind, 'pending', %(at)s,
                   m.created_at
            FROM (SELECT * FROM matching ORDER BY matching.id LIMIT %(limit)s) m
            ON CONFLICT (id) DO UPDATE
            SET state = 'pending', failures = 0, next_attempt_at = excluded.next_attempt_at, held = false
            WHERE d.claimed_at IS NULL
        )
        SELECT count(*) AS total, (SELECT m.id FROM matching m ORDER BY m.id DESC LIMIT 1) AS last,
               wake_workers('webhooks')
        FROM matching
        """,
        _bounds(period)
        | {
            "webhook_id": webhook.id,
            "domain_id": webhook.domain_id,
            "events": list(webhook.events),
            "at": at,
            "limit": limit,
        },
    )
    return _replay_result(await cursor.fetchone(), limit)


def _bounds(period: ReplayPeriod) -> dict[str, UUID]:
    return {"start": uuid7_floor(period.since), "end": uuid7_floor(period.until)}


def _replay_result(row: Mapping[str, Any] | None, limit: int) -> ReplayResult:
    assert row is not None
    return ReplayResult(min(row["total"], limit), uuid7_time(row["last"]) if row["total"] > limit else None)


async def claim(conn: Conn, at: datetime, until: datetime, limits: ClaimLimits) -> list[DeliveryJob]:
    """Claim due deliveries until `until`: at most `limits.total`, and per webhook `limits.by_key` or `limits.per_key`.

    The claim starts with the webhook after `limits.after`, so that all webhooks get their share.
    """
    cursor = await conn.execute(
        """
        SELECT c.id, c.webhook_id, c.event_id, c.lease, c.failures, w.url, w.secret,
               CASE WHEN w.previous_secret_until > %(at)s THEN w.previous_secret END AS previous
        FROM claim_webhook_deliveries(%(at)s, %(until)s, %(after)s, %(limit)s, %(per_webhook)s, %(webhook_limits)s)
             WITH ORDINALITY c
        JOIN webhooks w ON w.id = c.webhook_id
        ORDER BY c.ordinality
        """,
        {
            "at": at,
            "until": until,
            "after": limits.after,
            "limit": limits.total,
            "per_webhook": limits.per_key,
            "webhook_limits": Jsonb({str(webhook_id): limit for webhook_id, limit in limits.by_key.items()}),
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
            encrypted_secrets=WebhookSecrets(row["secret"], row["previous"]),
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


async def write_outcomes(
    conn: Conn, outcomes: Sequence[WebhookOutcome], at: datetime, failing_before: datetime
) -> list[UUID]:
    """Write the outcomes of attempts whose claim still holds, and `failing_since` of their webhooks.

    Returns the webhooks that abandoned a delivery and have been failing since before `failing_before`.
    """
    cursor = await conn.execute(
        """
        WITH outcome AS (
            SELECT o.delivery_id, o.lease, o.state, o.failures, o.next_attempt_at, o.attempt
            FROM jsonb_to_recordset(%(outcomes)s) AS o(
                delivery_id uuid, lease bigint, state text, failures integer, next_attempt_at timestamptz,
                attempt jsonb)
        ), written AS (
            UPDATE webhook_deliveries d
            SET state = o.state, failures = o.failures, next_attempt_at = o.next_attempt_at, claimed_at = NULL,
                attempts = append_webhook_attempt(d.attempts, o.attempt)
            FROM outcome o WHERE d.id = o.delivery_id AND d.lease = o.lease AND d.claimed_at IS NOT NULL
            RETURNING d.webhook_id, d.state
        ), webhook_result AS (
            SELECT written.webhook_id, bool_or(written.state = 'delivered') AS succeeded,
                   bool_or(written.state = 'abandoned') AS abandoned
            FROM written GROUP BY written.webhook_id
        ), updated AS (
            UPDATE webhooks w SET failing_since = CASE WHEN r.succeeded THEN NULL ELSE %(at)s::timestamptz END
            FROM webhook_result r WHERE w.id = r.webhook_id AND (w.failing_since IS NOT NULL) = r.succeeded
        )
        SELECT w.id FROM webhook_result r JOIN webhooks w ON w.id = r.webhook_id
        WHERE r.abandoned AND NOT r.succeeded AND w.active AND w.failing_since <= %(failing_before)s
        """,
        {
            "outcomes": Jsonb(list(outcomes), dumps=msgspec.json.encode),
            "at": at,
            "failing_before": failing_before,
        },
    )
    return [row["id"] for row in await cursor.fetchall()]


async def release(conn: Conn, job: DeliveryJob, at: datetime, interrupted: WebhookAttempt | None) -> None:
    """End a claim without an outcome: the delivery is due at once. An `interrupted` attempt is added to its list."""
    await conn.execute(
        """
        UPDATE webhook_deliveries
        SET claimed_at = NULL, next_attempt_at = %(at)s,
            attempts = CASE WHEN %(interrupted)s::jsonb IS NULL THEN attempts
                            ELSE append_webhook_attempt(attempts, %(interrupted)s) END
        WHERE id = %(id)s AND lease = %(lease)s AND claimed_at IS NOT NULL
        """,
        {
            "id": job.id,
            "lease": job.lease,
            "at": at,
            "interrupted": interrupted and Jsonb(interrupted, dumps=msgspec.json.encode),
        },
    )


async def delete_before(conn: Conn, before: datetime, limit: int) -> int:
    """Delete up to `limit` deliveries of events before `before`; returns how many."""
    cursor = await conn.execute(
        """
        DELETE FROM webhook_deliveries WHERE id = ANY(ARRAY(
            SELECT d.id FROM webhook_deliveries d WHERE d.id < %(before)s ORDER BY d.id LIMIT %(limit)s))
        """,
        {"before": uuid7_floor(before), "limit": limit},
    )
    return cursor.rowcount


async def delete_orphans(conn: Conn, limit: int) -> int:
    """Delete up to `limit` deliveries of deleted webhooks; returns how many."""
    cursor = await conn.execute("SELECT delete_orphaned_deliveries(%(limit)s) AS deleted", {"limit": limit})
    row = await cursor.fetchone()
    return row["deleted"] if row else 0
