"""The background task that delivers the sandbox's queue."""

from __future__ import annotations

import asyncio

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Unavailable
from mailkeep.features.mailflow.sandbox import service

log = structlog.get_logger("mailkeep.sandbox")


async def run_queue(app: App, wake: asyncio.Event, poll_seconds: float = 0.5) -> None:
    """Deliver to due recipients until cancelled; `wake` is set when a message has been accepted."""
    while True:
        try:
            busy = await service.deliver_due(app)
        except Unavailable:
            busy = 0
        except Exception:
            log.exception("sandbox delivery failed")
            busy = 0
        if not busy:
            wake.clear()
            try:
                async with asyncio.timeout(poll_seconds):
                    await wake.wait()
            except TimeoutError:
                continue
