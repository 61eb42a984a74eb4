"""The SQL of webhooks."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg

from mailkeep.core.errors import DomainNotFound
from mailkeep.db.pool import Conn, constraint_of
from mailkeep.features.mailflow.webhooks.model import Webhook, WebhookSecrets

_SELECT = """
    SELECT w.id, w.url, w.events, w.domain_id, (SELECT d.name FROM domains d WHERE d.id = w.domain_id) AS domain_name,
           w.active, w.previous_secret_until AS rotating_until, w.failing_since, w.disabled_at, w.created_by,
           w.created_at, w.updated_at
    FROM webhooks w
"""


async def insert(conn: Conn, webhook: Webhook, secret: bytes) -> None:
    """Insert a webhook with its encrypted secret; DOMAIN_NOT_FOUND if its domain has just been deleted."""
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
    """Update the fields of a webhook that can change."""
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
    """Store a new secret. The current one also signs until `until`; an older one no longer does."""
    await conn.execute(
        """
        UPDATE webhooks
        SET previous_secret = secret, previous_secret_until = %(until)s, secret = %(secret)s, updated_at = %(at)s
        WHERE id = %(id)s
        """,
        {"id": webhook_id, "secret": secret, "until": until, "at": at},
    )


async def delete(conn: Conn, webhook_id: UUID) -> None:
    """Delete a webhook. `delivery_store.delete_orphans` removes its deliveries later."""
    await conn.execute("DELETE FROM webhooks WHERE id = %(id)s", {"id": webhook_id})


async def find(conn: Conn, webhook_id: UUID) -> Webhook | None:
    """The webhook with this ID."""
    cursor = await conn.execute(_SELECT + " WHERE w.id = %(id)s", {"id": webhook_id})
    row = await cursor.fetchone()
    return _webhook(row) if row else None


async def find_for_update(conn: Conn, webhook_id: UUID) -> Webhook | None:
    """The webhook with this ID, locked until the transaction ends."""
    cursor = await conn.execute(_SELECT + " WHERE w.id = %(id)s FOR UPDATE OF w", {"id": webhook_id})
    row = await cursor.fetchone()
    return _webhook(row) if row else None


async def secrets(conn: Conn, webhook_id: UUID, at: datetime) -> WebhookSecrets:
    """The encrypted secrets that sign at `at`."""
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
    """The webhooks of these domains (None: all, with the global ones), newest first."""
    cursor = await conn.execute(
        _SELECT + " WHERE %(domains)s::uuid[] IS NULL OR w.domain_id = ANY(%(domains)s) ORDER BY w.id DESC",
        {"domains": domains},
    )
    return [_webhook(row) for row in await cursor.fetchall()]


async def delete_old_secrets(conn: Conn, at: datetime) -> None:
    """Remove replaced secrets that no longer sign."""
    await conn.execute(
        """
        UPDATE webhooks SET previous_secret = NULL, previous_secret_until = NULL WHERE previous_secret_until <= %(at)s
        """,
        {"at": at},
    )


def _webhook(row: dict[str, Any]) -> Webhook:
    row["events"] = tuple(row["events"])
    return Webhook(**row)


def _columns(webhook: Webhook) -> dict[str, Any]:
    return {name: getattr(webhook, name) for name in Webhook.__slots__} | {"events": list(webhook.events)}
