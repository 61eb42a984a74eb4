"""Beside the requests: the one watcher for all event streams of a process."""

from __future__ import annotations

import asyncio

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Unavailable
from mailkeep.features.record.events import store
from mailkeep.jobs.wakeup import Wakeup

log = structlog.get_logger("mailkeep.events")

_POLL_SECONDS = 1.0  # whether it rings or not
_PENDING_SECONDS = 0.02  # while an event waits for an older transaction, doubled each time
# However fast events come: at most so often, longer with many streams, each of which looks when it is woken.
_PAUSE_SECONDS = 0.02
_PAUSE_SECONDS_A_STREAM = 0.002


async def watch(app: App) -> None:
    """Wake the streams whenever the feed has moved, until cancelled. Without streams the database is left alone."""
    bell = Wakeup(app.db, "events")
    try:
        while True:
            await app.streams.wait_for_stream()
            try:
                await _watch(app, bell)
            except Unavailable:
                log.info("waiting for the database", task="event streams")
                await asyncio.sleep(_POLL_SECONDS)
            except Exception:
                log.exception("a task stumbled", task="event streams")
                await asyncio.sleep(_POLL_SECONDS)
    finally:
        await bell.close()


async def _watch(app: App, bell: Wakeup) -> None:
    seen, ring, pause = None, asyncio.Event(), _POLL_SECONDS
    while len(app.streams):
        await bell.listen()
        async with app.db.autocommit() as conn:
            newest, pending = await store.newest(conn, None), await store.is_pending(conn)
        if newest != seen:
            app.streams.wake()
            seen, pause = newest, _PENDING_SECONDS
        pause = min(2 * pause, _POLL_SECONDS) if pending else _POLL_SECONDS
        ring.clear()
        await bell.wait(ring, pause)
        if ring.is_set():
            pause = _PENDING_SECONDS
        await asyncio.sleep(_PAUSE_SECONDS + _PAUSE_SECONDS_A_STREAM * len(app.streams))
    await bell.close()
