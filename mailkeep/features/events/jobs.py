"""Beside the requests: the one listener for all event streams of a process."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import timedelta

import psycopg
import structlog

from mailkeep.app import App
from mailkeep.core.errors import Unavailable
from mailkeep.core.ids import uuid7
from mailkeep.db.pool import Conn
from mailkeep.features.events import store

log = structlog.get_logger("mailkeep.events")

_CHANNEL = "events"
_POLL_SECONDS = 1.0  # whatever is notified or not
_PENDING_SECONDS = 0.02  # while an event waits for an older transaction, doubled each time
_SAY_SO_SECONDS = 20.0
_STALE = timedelta(minutes=1)
# However fast events come: at most so often, longer with many streams, each of which looks when it is woken.
_PAUSE_SECONDS = 0.02
_PAUSE_SECONDS_A_STREAM = 0.002


async def watch(app: App) -> None:
    """Wake the streams whenever the feed has moved, until cancelled. Without streams the database is left alone."""
    while True:
        await app.streams.wanted()
        try:
            async with app.db.listening(_CHANNEL) as conn:
                await _watch(app, conn)
        except Unavailable:
            log.info("waiting for the database", task="event streams")
            await asyncio.sleep(_POLL_SECONDS)
        except Exception:
            log.exception("a task stumbled", task="event streams")
            await asyncio.sleep(_POLL_SECONDS)


async def _watch(app: App, conn: Conn) -> None:
    clock = asyncio.get_running_loop().time
    listener, say_so_at = uuid7(app.clock()), clock()
    seen, pause = None, _POLL_SECONDS
    try:
        while len(app.streams):
            if clock() >= say_so_at:
                await store.listen(conn, listener, app.clock(), _STALE)
                say_so_at = clock() + _SAY_SO_SECONDS
            newest = await store.newest(conn, None)
            if newest != seen:
                app.streams.wake()
                seen, pause = newest, _PENDING_SECONDS
            pause = min(2 * pause, _POLL_SECONDS) if await store.is_pending(conn) else _POLL_SECONDS
            async for _ in conn.notifies(timeout=pause, stop_after=1):
                pause = _PENDING_SECONDS
            await asyncio.sleep(_PAUSE_SECONDS + _PAUSE_SECONDS_A_STREAM * len(app.streams))
            async for _ in conn.notifies(timeout=0):
                pass
    finally:
        with contextlib.suppress(psycopg.Error):
            await store.leave(conn, listener)
