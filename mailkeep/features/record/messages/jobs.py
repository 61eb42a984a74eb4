"""Deletes old messages, events and contents."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import structlog

from mailkeep.app import App
from mailkeep.db.partitions import confirm_prune_time, drop_partitions
from mailkeep.features.record.messages import store
from mailkeep.features.record.messages.content import prune_content

log = structlog.get_logger("mailkeep.messages")

_CLAIM_LIFETIME = timedelta(days=7)


async def prune(app: App) -> None:
    """Delete what is older than its retention: months of messages and events, days of content, and claims
    (`store.record_inbound`).

    `confirm_prune_time` protects messages, events and contents from a wrong clock.
    """
    at, retention = app.clock(), app.settings.retention
    async with app.db.tx() as conn:
        await store.delete_claims(conn, at - _CLAIM_LIFETIME)
    async with app.db.tx() as conn:
        messages_at = await confirm_prune_time(conn, "messages", at)
        events_at = await confirm_prune_time(conn, "events", at)
    messages_before = messages_at and messages_at - timedelta(days=retention.history_days)
    events_before = events_at and events_at - timedelta(days=retention.event_days)
    partitions = days = 0
    if messages_before or events_before:
        async with app.db.tx() as conn:
            partitions = await drop_partitions(conn, at, messages_before=messages_before, events_before=events_before)
    if messages_at:
        content_before = messages_at - timedelta(days=retention.content_days)
        days = await asyncio.to_thread(prune_content, app.data_dir, content_before)
    if partitions or days:
        log.info("history pruned", partitions=partitions, days_of_content=days)
