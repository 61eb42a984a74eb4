"""The supervisor: starts the parts in waves, each when the one before is ready, and starts again what ends unasked.

A part that ends is started again after a pause that doubles from 0.1 to 5 seconds, and is back at 0.1 once it has
lasted for a minute. A part that is there but does not answer (`alive`) is ended and started anew. The waves end in the
reverse order.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

import structlog

from mailkeep.core.errors import Failure
from mailkeep.db.postgres_leftovers import wait_readable
from mailkeep.run.runtime import child
from mailkeep.run.runtime.child import Child

log = structlog.get_logger("mailkeep.supervisor")

_FIRST_PAUSE, _LONGEST_PAUSE, _STABLE_SECONDS = 0.1, 5.0, 60.0
_READY_SECONDS = 60.0
_ALIVE_CHECK_SECONDS = 5.0


async def _nothing() -> None:
    """Nothing is to be done before a start."""


@dataclass(frozen=True, slots=True)
class Service:
    """One process to keep running: `launch` starts it, what it says of its troubles goes to `log`.

    `ready` tells whether it serves, `prepare` clears the way before each start, `alive` whether it still answers
    (None: that it runs is enough); `patience` is what it gets to end by itself, in seconds. Parts of one `wave` start,
    and end, side by side.
    """

    name: str
    wave: int
    launch: Callable[[], Awaitable[Child]]
    log: Path
    is_ready: Callable[[], Awaitable[bool]]
    prepare: Callable[[], Awaitable[None]] = _nothing
    is_alive: Callable[[], Awaitable[bool]] | None = None
    stop_seconds: float = 4.0


@dataclass(slots=True)
class RunningService:
    """A part, its present process, and how often it was started again."""

    service: Service
    process: Child
    since: float
    restarts: int = 0
    is_ready: bool = True
    watchers: list[asyncio.Task[None]] = field(default_factory=list["asyncio.Task[None]"])


class Supervisor:
    """The running parts, in the order of their start. `folder` holds the pid files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: dict[str, RunningService] = {}
        self._stopping = False

    async def end_leftovers(self, names: Sequence[str]) -> None:
        """End what an earlier run has left, the last started first."""
        for name in reversed(names):
            pid = await child.end_leftover(self._pid_file(name), 5.0)
            if pid is not None:
                log.warning("ended a process that an earlier run had left", part=name, pid=pid)

    async def start_all(self, services: Sequence[Service]) -> None:
        """Start the parts, wave by wave; Failure with the last words of the first that is not to be had."""
        for wave in sorted({part.wave for part in services}):
            starts = [asyncio.create_task(self.start(part)) for part in services if part.wave == wave]
            try:
                await asyncio.gather(*starts)
            finally:
                # One that failed must not leave others behind that nobody knows of yet.
                await asyncio.gather(*starts, return_exceptions=True)

    async def start(self, service: Service) -> None:
        """Start a part and wait until it is ready; Failure with its last words where it isn't."""
        running = await self._launch(service)
        self.running[service.name] = running
        running.watchers = [asyncio.create_task(self._restart_on_exit(running))]
        if service.is_alive:
            running.watchers.append(asyncio.create_task(self._check_alive(running, service.is_alive)))

    async def restart(self, name: str) -> None:
        """End a part; it is started again like any that ended."""
        running = self.running[name]
        await child.end(running.process.pid, running.service.stop_seconds)

    def state(self) -> dict[str, bool]:
        """Whether each part runs and was ready, by name."""
        return {name: one.is_ready and one.process.poll() is None for name, one in self.running.items()}

    async def stop(self) -> None:
        """End all parts, the last one first."""
        self._stopping = True
        for wave in sorted({running.service.wave for running in self.running.values()}, reverse=True):
            await asyncio.gather(*(self._end(one) for one in self.running.values() if one.service.wave == wave))
        self.running.clear()

    async def _launch(self, service: Service) -> RunningService:
        await service.prepare()
        began = monotonic()
        process = await service.launch()
        child.write_pid(self._pid_file(service.name), process.pid)
        try:
            await self._wait_until_ready(service, process, began + _READY_SECONDS)
        except BaseException:
            await child.end(process.pid, service.stop_seconds)
            process.wait()
            raise
        log.info("ready", part=service.name, pid=process.pid, seconds=round(monotonic() - began, 2))
        return RunningService(service, process, monotonic())

    async def _wait_until_ready(self, service: Service, process: Child, deadline: float) -> None:
        while not await service.is_ready():
            if process.poll() is not None:
                raise Failure(f"{service.name} did not start: {_log_tail(service.log)} (see {service.log})")
            if monotonic() > deadline:
                raise Failure(f"{service.name} is not ready after {_READY_SECONDS:.0f} s (see {service.log})")
            await asyncio.sleep(0.02)

    async def _restart_on_exit(self, running: RunningService) -> None:
        """Start it again whenever it ends."""
        pause = _FIRST_PAUSE
        while not self._stopping:
            await _wait_for_exit(running.process)
            if self._stopping:
                return
            status = running.process.wait()
            part = running.service
            running.is_ready = False
            log.error("ended unasked; it is started again", part=part.name, status=status)
            await child.end(running.process.pid, 1.0)
            pause = _FIRST_PAUSE if monotonic() - running.since > _STABLE_SECONDS else min(pause * 2, _LONGEST_PAUSE)
            await asyncio.sleep(pause)
            try:
                again = await self._launch(part)
            except (Failure, OSError) as failure:
                log.error("could not be started again", part=part.name, reason=str(failure))
                continue
            running.process, running.since = again.process, again.since
            running.restarts += 1
            running.is_ready = True

    async def _check_alive(self, running: RunningService, alive: Callable[[], Awaitable[bool]]) -> None:
        """End it where it hangs; `_keep` then starts it again."""
        while not self._stopping:
            await asyncio.sleep(_ALIVE_CHECK_SECONDS)
            watched = running.process
            if await alive() or running.process is not watched or self._stopping:
                continue
            log.error("does not answer; it is ended and started again", part=running.service.name, pid=watched.pid)
            await child.end(watched.pid, 2.0)

    async def _end(self, running: RunningService) -> None:
        began = monotonic()
        for watcher in running.watchers:
            watcher.cancel()
        await child.end(running.process.pid, running.service.stop_seconds)
        running.process.wait()
        self._pid_file(running.service.name).unlink(missing_ok=True)
        log.debug("ended", part=running.service.name, seconds=round(monotonic() - began, 2))

    def _pid_file(self, name: str) -> Path:
        return self.folder / f"{name}.pid"


async def _wait_for_exit(process: Child) -> None:
    if process.poll() is None:
        try:
            handle = os.pidfd_open(process.pid)
        except ProcessLookupError:
            return
        try:
            await wait_readable(handle, None)
        finally:
            os.close(handle)


def _log_tail(path: Path) -> str:
    if not path.exists():
        return "it said nothing"
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 4000))
        lines = [line for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return " / ".join(lines[-2:]) or "it said nothing"
