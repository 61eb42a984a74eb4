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

_FIRST_PAUSE, _LONGEST_PAUSE, _STEADY_AFTER = 0.1, 5.0, 60.0
_READY_WITHIN = 60.0
_LOOK_EVERY = 5.0


async def _nothing() -> None:
    """Nothing is to be done before a start."""


@dataclass(frozen=True, slots=True)
class Part:
    """One process to keep running: `launch` starts it, what it says of its troubles goes to `log`.

    `ready` tells whether it serves, `prepare` clears the way before each start, `alive` whether it still answers
    (None: that it runs is enough); `patience` is what it gets to end by itself, in seconds. Parts of one `wave` start,
    and end, side by side.
    """

    name: str
    wave: int
    launch: Callable[[], Awaitable[Child]]
    log: Path
    ready: Callable[[], Awaitable[bool]]
    prepare: Callable[[], Awaitable[None]] = _nothing
    alive: Callable[[], Awaitable[bool]] | None = None
    patience: float = 4.0


@dataclass(slots=True)
class Running:
    """A part, its present process, and how often it was started again."""

    part: Part
    process: Child
    since: float
    restarts: int = 0
    serves: bool = True
    watchers: list[asyncio.Task[None]] = field(default_factory=list["asyncio.Task[None]"])


class Supervisor:
    """The running parts, in the order of their start. `folder` holds the pid files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: dict[str, Running] = {}
        self._stopping = False

    async def end_leftovers(self, names: Sequence[str]) -> None:
        """End what an earlier run has left, the last started first."""
        for name in reversed(names):
            pid = await child.end_leftover(self._pid_file(name), 5.0)
            if pid is not None:
                log.warning("ended a process that an earlier run had left", part=name, pid=pid)

    async def start_all(self, parts: Sequence[Part]) -> None:
        """Start the parts, wave by wave; Failure with the last words of the first that is not to be had."""
        for wave in sorted({part.wave for part in parts}):
            starts = [asyncio.create_task(self.start(part)) for part in parts if part.wave == wave]
            try:
                await asyncio.gather(*starts)
            finally:
                # One that failed must not leave others behind that nobody knows of yet.
                await asyncio.gather(*starts, return_exceptions=True)

    async def start(self, part: Part) -> None:
        """Start a part and wait until it is ready; Failure with its last words where it isn't."""
        running = await self._launch(part)
        self.running[part.name] = running
        running.watchers = [asyncio.create_task(self._keep(running))]
        if part.alive:
            running.watchers.append(asyncio.create_task(self._look_after(running, part.alive)))

    async def restart(self, name: str) -> None:
        """End a part; it is started again like any that ended."""
        running = self.running[name]
        await child.end(running.process.pid, running.part.patience)

    def state(self) -> dict[str, bool]:
        """Whether each part runs and was ready, by name."""
        return {name: one.serves and one.process.poll() is None for name, one in self.running.items()}

    async def stop(self) -> None:
        """End all parts, the last one first."""
        self._stopping = True
        for wave in sorted({running.part.wave for running in self.running.values()}, reverse=True):
            await asyncio.gather(*(self._end(one) for one in self.running.values() if one.part.wave == wave))
        self.running.clear()

    async def _launch(self, part: Part) -> Running:
        await part.prepare()
        began = monotonic()
        process = await part.launch()
        child.write_pid(self._pid_file(part.name), process.pid)
        try:
            await self._until_ready(part, process, began + _READY_WITHIN)
        except BaseException:
            await child.end(process.pid, part.patience)
            process.wait()
            raise
        log.info("ready", part=part.name, pid=process.pid, seconds=round(monotonic() - began, 2))
        return Running(part, process, monotonic())

    async def _until_ready(self, part: Part, process: Child, deadline: float) -> None:
        while not await part.ready():
            if process.poll() is not None:
                raise Failure(f"{part.name} did not start: {_last_words(part.log)} (see {part.log})")
            if monotonic() > deadline:
                raise Failure(f"{part.name} is not ready after {_READY_WITHIN:.0f} s (see {part.log})")
            await asyncio.sleep(0.02)

    async def _keep(self, running: Running) -> None:
        """Start it again whenever it ends."""
        pause = _FIRST_PAUSE
        while not self._stopping:
            await _ended(running.process)
            if self._stopping:
                return
            status = running.process.wait()
            part = running.part
            running.serves = False
            log.error("ended unasked; it is started again", part=part.name, status=status)
            await child.end(running.process.pid, 1.0)
            pause = _FIRST_PAUSE if monotonic() - running.since > _STEADY_AFTER else min(pause * 2, _LONGEST_PAUSE)
            await asyncio.sleep(pause)
            try:
                again = await self._launch(part)
            except (Failure, OSError) as failure:
                log.error("could not be started again", part=part.name, reason=str(failure))
                continue
            running.process, running.since = again.process, again.since
            running.restarts += 1
            running.serves = True

    async def _look_after(self, running: Running, alive: Callable[[], Awaitable[bool]]) -> None:
        """End it where it hangs; `_keep` then starts it again."""
        while not self._stopping:
            await asyncio.sleep(_LOOK_EVERY)
            watched = running.process
            if await alive() or running.process is not watched or self._stopping:
                continue
            log.error("does not answer; it is ended and started again", part=running.part.name, pid=watched.pid)
            await child.end(watched.pid, 2.0)

    async def _end(self, running: Running) -> None:
        began = monotonic()
        for watcher in running.watchers:
            watcher.cancel()
        await child.end(running.process.pid, running.part.patience)
        running.process.wait()
        self._pid_file(running.part.name).unlink(missing_ok=True)
        log.debug("ended", part=running.part.name, seconds=round(monotonic() - began, 2))

    def _pid_file(self, name: str) -> Path:
        return self.folder / f"{name}.pid"


async def _ended(process: Child) -> None:
    if process.poll() is None:
        try:
            handle = os.pidfd_open(process.pid)
        except ProcessLookupError:
            return
        try:
            await wait_readable(handle, None)
        finally:
            os.close(handle)


def _last_words(path: Path) -> str:
    if not path.exists():
        return "it said nothing"
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 4000))
        lines = [line for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return " / ".join(lines[-2:]) or "it said nothing"
