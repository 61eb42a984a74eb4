"""The watcher that wakes all event streams of a process."""

from __future__ import annotations

import asyncio

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Unavailable
from mailkeep.features.record.events import store
from mailkeep.jobs.wakeup import Wakeup

log = structlog.get_logger("mailkeep.events")

_POLL_SECONDS = 1.0
_PENDING_SECONDS = 0.02  # first pause while a committed event waits for an older transaction, doubled each time
# The least time between two wakeups. It grows with the number of streams, as each reads the feed when it is woken.
_PAUSE_SECONDS = 0.02
_PAUSE_SECONDS_PER_STREAM = 0.002


async def watch(app: App) -> None:
    """Wake the streams when the feed has new events, until cancelled. Without streams it runs no query."""
    wakeup = Wakeup(app.db, "events")
    try:
        while True:
            await app.streams.wait_for_stream()
            try:
                await _watch(app, wakeup)
            except Unavailable:
                log.info("waiting for the database", task="event streams")
                await asyncio.sleep(_POLL_SECONDS)
            except Exception:
                log.exception("task failed", task="event streams")
                await asyncio.sleep(_POLL_SECONDS)
    finally:
        await wakeup.close()


async def _watch(app: App, wakeup: Wakeup) -> None:
    """Wake the streams when the newest event changes, while there are streams."""
    previous, notified, pause = None, asyncio.Event(), _POLL_SECONDS
    while len(app.streams):
        await wakeup.listen()
        async with app.db.autocommit() as conn:
            newest, pending = await store.find_newest(conn, None), await store.is_pending(conn)
        if newest != previous:
            app.streams.wake()
            previous, pause = newest, _PENDING_SECONDS
        pause = min(2 * pause, _POLL_SECONDS) if pending else _POLL_SECONDS
        notified.clear()
        await wakeup.wait(notified, pause)
        if notified.is_set():
            pause = _PENDING_SECONDS
        await asyncio.sleep(_PAUSE_SECONDS + _PAUSE_SECONDS_PER_STREAM * len(app.streams))
    await wakeup.close()
