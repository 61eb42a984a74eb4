"""Retries mail that was deferred because of our own services as soon as these work.

Postfix defers a message for minutes, whatever the reason. If the reason was the LMTP agent, Dovecot, the database or
the disk, the message can be retried as soon as that works again. This task checks the deferred queue every second and
makes messages that wait for one of our services due when all of them answer. Remote servers' deferrals are kept.

It looks only at the current state, so it also works if an outage was too short to be noticed or this process was
restarted meanwhile. Two limits prevent floods: at most `_MAX_MESSAGES` messages per check, and a pause for each
message, from `_FIRST_PAUSE` on, that doubles with each try. After `_TRIES` tries a message has Postfix's own schedule.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

from mailkeep.app import App
from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Failure, Unavailable
from mailkeep.features.mailflow.queue import service as queue
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.mail.postfix.queue import PostqueueEntry
from mailkeep.run.runtime import control
from mailkeep.run.runtime.services import sends_greeting

log = structlog.get_logger("mailkeep.recovery")

_CHECK_SECONDS = 1.0
_PAUSE_FACTOR = 10  # the pause after a check, as a multiple of the time that listing the queue took
_LONGEST_PAUSE = 30.0
_MAX_MESSAGES = 100
_FIRST_PAUSE, _TRIES = 1.0, 8
_IDLE_SECONDS = 3.0
_FORGET_SECONDS = 600.0
_WAKE_PAUSES = (0.2, 0.5, 1.0)
_MIN_FREE_BYTES, _MIN_FREE_INODES = 32 << 20, 100


@dataclass(frozen=True, slots=True)
class _LastRetry:
    """How often a message was made due, and when last."""

    tries: int
    at: float


class Recovery:
    """Watches the deferred queue. `services_work` says whether all services that deliveries need work."""

    def __init__(
        self, app: App, paths: InstancePaths, services_work: Callable[[], Awaitable[bool]] | None = None
    ) -> None:
        self._app, self._paths = app, paths
        self._services_work = services_work or self._services_answer
        self._due_times: dict[str, int] = {}
        self._waiting: list[str] = []
        self._last_retries: dict[str, _LastRetry] = {}
        self._listing_seconds = 0.0

    async def run(self) -> None:
        """Check every second, until cancelled."""
        while True:
            try:
                await self.flush_due(time.monotonic())
                await self._wake_idle_services()
            except (Unavailable, Failure):
                pass  # the database or Postfix is not available
            except Exception:
                log.exception("checking the deferred queue failed")
            # Waiting for the database or for a service does not count: mail would stay for a minute after an outage.
            await asyncio.sleep(min(max(_CHECK_SECONDS, self._listing_seconds * _PAUSE_FACTOR), _LONGEST_PAUSE))

    async def flush_due(self, now: float) -> Collection[str]:
        """Make messages due that wait for our services, if these work; returns their IDs. `now`: seconds of any clock.

        Raises `Unavailable`, and Failure if Postfix's tools do not answer.
        """
        began = time.monotonic()
        due_times = await asyncio.to_thread(postfix_queue.list_deferred, self._paths.postfix_queue)
        self._listing_seconds = time.monotonic() - began
        self._last_retries = {
            key: each for key, each in self._last_retries.items() if key in due_times or now - each.at < _FORGET_SECONDS
        }
        if any(self._due_times.get(key) != due for key, due in due_times.items()):
            listing = await postfix_queue.list_queue(self._paths.postfix_conf)
            self._listing_seconds = time.monotonic() - began
            self._waiting = await _list_local_deferrals(self._app, self._paths, listing)
            self._due_times = due_times
        due = [key for key in self._waiting if key in due_times and self._may_try(key, now)][:_MAX_MESSAGES]
        if not due:
            return ()
        if not await self._services_work():
            self._last_retries.clear()  # after an outage all its messages are retried at once
            return ()
        await _make_due(self._paths, due)
        for key in due:
            last = self._last_retries.get(key)
            self._last_retries[key] = _LastRetry(last.tries + 1 if last else 1, now)
        log.info("retrying deferred mail: the local services answer again", messages=len(due))
        return due

    def _may_try(self, key: str, now: float) -> bool:
        last = self._last_retries.get(key)
        if last is None:
            return True
        return last.tries < _TRIES and now - last.at >= _FIRST_PAUSE * 2**last.tries

    async def _wake_idle_services(self) -> None:
        """Wake Postfix services that left mail unprocessed, for example during a reload."""
        idle = await asyncio.to_thread(
            postfix_queue.find_idle_services, self._paths.postfix_queue, utc_now().timestamp() - _IDLE_SECONDS
        )
        for service in idle:
            await postfix_queue.wake_service(self._paths.postfix_conf, service, "I")

    async def _services_answer(self) -> bool:
        """Whether disk space and LMTP are available. The database is, since it has just answered."""
        paths = self._paths
        if not await asyncio.to_thread(_has_room, paths.postfix_queue, paths.mail_root):
            return False
        return all(
            await asyncio.gather(
                *map(sends_greeting, (paths.lmtp_socket, paths.dovecot_lmtp, paths.dovecot_lmtp_verified))
            )
        )


async def retry_deferred(app: App, paths: InstancePaths) -> Sequence[str]:
    """Retry all mail that was deferred because of our own services; call it when an operation on these has succeeded.
    Returns its queue IDs.

    Postfix also forgets which destinations did not answer: otherwise it would defer new mail for them without trying.
    Nothing is done if a service is not ready: `Recovery` retries the mail when it is. Errors are logged.
    """
    try:
        states = {each.name: each.state for each in await control.ask(paths.control_socket, "status")}
        if "starting" in states.values() or states.get("postfix") != "running":
            return ()
        listing = await postfix_queue.list_queue(paths.postfix_conf)
        found = await _list_local_deferrals(app, paths, listing)
        await _make_due(paths, found)
    except (Failure, Unavailable) as error:
        log.warning("deferred mail was not retried after an operation", why=str(error))
        return ()
    return found


async def _list_local_deferrals(app: App, paths: InstancePaths, listing: Sequence[PostqueueEntry]) -> list[str]:
    return await queue.list_local_deferrals(app, listing, paths.lmtp_socket, paths.relay_socket)


async def _make_due(paths: InstancePaths, queue_ids: Collection[str]) -> None:
    await asyncio.to_thread(postfix_queue.make_due, paths.postfix_queue, queue_ids, utc_now().timestamp())
    for pause in (*_WAKE_PAUSES, None):  # right after a reload the queue manager does not listen yet
        try:
            await postfix_queue.wake_service(paths.postfix_conf, "qmgr", "FD")
            return
        except Failure:
            if pause is None:
                raise
            await asyncio.sleep(pause)


def _has_room(*folders: Path) -> bool:
    """Whether the file systems of these folders have space for messages."""
    return all(
        usage.f_bavail * usage.f_frsize >= _MIN_FREE_BYTES and (not usage.f_files or usage.f_favail >= _MIN_FREE_INODES)
        for usage in map(os.statvfs, folders)
    )
