"""The supervisor: starts services in waves, each wave when the one before is ready, and restarts services that exit.

A service that exits is restarted after a pause that doubles from 0.1 to 5 seconds, and returns to 0.1 after a minute of
uptime. A service that runs but does not answer (`is_alive`) is stopped and restarted. Waves stop in reverse order.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Literal

import structlog

from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Failure
from mailkeep.db.postgres_leftovers import wait_readable
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.run.runtime import child
from mailkeep.run.runtime.child import Child

log = structlog.get_logger("mailkeep.supervisor")

_FIRST_PAUSE, _LONGEST_PAUSE, _STABLE_SECONDS = 0.1, 5.0, 60.0
_READY_SECONDS = 60.0
_ALIVE_CHECK_SECONDS = 5.0


async def prepare_nothing() -> None:
    """Prepare nothing."""


def tolerate(answers: Callable[[], Awaitable[bool]], seconds: float) -> Callable[[], Awaitable[bool]]:
    """A check (`Service.is_alive`) that fails when `answers` has failed for so long; then the time starts again."""
    silent_since: float | None = None

    async def is_alive() -> bool:
        nonlocal silent_since
        if await answers():
            silent_since = None
            return True
        silent_since = silent_since or monotonic()
        if monotonic() - silent_since < seconds:
            return True
        silent_since = None
        return False

    return is_alive


@dataclass(frozen=True, slots=True)
class Service:
    """A process to keep running. `launch` starts it; `log` is the file with its errors.

    `is_on` returns whether its configuration needs it: otherwise it is not started, and counts as stopped.
    `prepare` runs before each start, `is_ready` returns whether the service can be used, `is_alive` whether it still
    answers (None: not checked). The process has `stop_seconds` to exit after SIGTERM. Services of one
    `wave` start and stop at the same time.
    """

    name: str
    wave: int
    launch: Callable[[], Awaitable[Child]]
    log: Path
    is_ready: Callable[[], Awaitable[bool]]
    prepare: Callable[[], Awaitable[None]] = prepare_nothing
    is_alive: Callable[[], Awaitable[bool]] | None = None
    is_on: Callable[[], bool] = lambda: True
    stop_seconds: float = 4.0


@dataclass(slots=True)
class RunningService:
    """A service with its current process, and how often it was restarted. `since` is of `monotonic()`. `is_stopped`: an
    administrator stopped it, or it is off (`Service.is_on`).
    """

    service: Service
    process: Child
    since: float
    restarts: int = 0
    is_ready: bool = True
    is_stopped: bool = False
    watchers: list[asyncio.Task[None]] = field(default_factory=list["asyncio.Task[None]"])


@dataclass(frozen=True, slots=True)
class ServiceState:
    """The state of a service. `since`: when its process started, in seconds since 1970."""

    name: str
    state: Literal["running", "starting", "stopped"]
    pid: int | None
    since: float | None
    restarts: int


class Supervisor:
    """The running services in the order of their start. `folder` holds the pid files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: dict[str, RunningService] = {}
        self._stopping = False

    async def end_leftovers(self, names: Sequence[str]) -> None:
        """Stop processes that an earlier run left behind, in reverse order of `names`."""
        for name in reversed(names):
            pid = await child.end_leftover(self._pid_file(name), 5.0)
            if pid is not None:
                log.warning("stopped a process of an earlier run", service=name, pid=pid)

    async def start_all(self, services: Sequence[Service]) -> None:
        """Start services, wave by wave. Failure, with the end of its log, if one does not become ready."""
        for wave in sorted({service.wave for service in services}):
            starts = [asyncio.create_task(self.start(service)) for service in services if service.wave == wave]
            try:
                await asyncio.gather(*starts)
            finally:
                # After a failure, wait for the others of the wave: then they are in `running`, and can be stopped.
                await asyncio.gather(*starts, return_exceptions=True)

    async def start(self, service: Service) -> None:
        """Start a service and wait until it is ready; Failure, with the end of its log, if it does not become ready."""
        if not service.is_on():
            off = RunningService(service, _NO_CHILD, monotonic(), is_ready=False, is_stopped=True)
            self.running[service.name] = off
            return
        running = await self._launch(service)
        self.running[service.name] = running
        running.watchers = [asyncio.create_task(self._restart_on_exit(running))]
        if service.is_alive:
            running.watchers.append(asyncio.create_task(self._check_alive(running, service.is_alive)))

    async def restart(self, name: str) -> None:
        """Restart a service and wait until it is ready; Failure if it does not become ready in time. It is tried again
        then, until it does or is stopped.
        """
        running = self.running[name]
        if running.is_stopped:
            await self.start(running.service)
            return
        restarts = running.restarts
        if running.process.poll() is None:
            await child.end(running.process.pid, running.service.stop_seconds)
        deadline = monotonic() + _READY_SECONDS
        while running.restarts == restarts:
            if monotonic() > deadline:
                raise Failure(f"{name} did not restart: {_log_tail(running.service.log)} (see {running.service.log})")
            await asyncio.sleep(0.02)

    async def require_ready(self, name: str) -> None:
        """Failure unless a service runs and is ready."""
        running = self.running[name]
        if running.is_stopped or running.process.poll() is not None or not await running.service.is_ready():
            raise Failure(f"{name} is not ready: {_log_tail(running.service.log)} (see {running.service.log})")

    async def start_again(self, name: str) -> None:
        """Start a service that was stopped; Failure if it is off, or does not become ready. Nothing if it was not
        stopped.
        """
        if not self.running[name].service.is_on():
            raise Failure(f"{name} is off: the settings do not need it.")
        if self.running[name].is_stopped:
            await self.start(self.running[name].service)

    async def stop_one(self, name: str) -> None:
        """Stop a service until it is started again, or until the next start of the instance."""
        running = self.running[name]
        if not running.is_stopped:
            running.is_stopped, running.is_ready = True, False
            await self._stop_service(running)

    def describe(self) -> list[ServiceState]:
        """The state of each service."""
        offset = utc_now().timestamp() - monotonic()
        return [_describe(running, offset) for running in self.running.values()]

    def state(self) -> dict[str, bool | None]:
        """Whether each service runs and is ready, by name; None if an administrator stopped it. Without those that are
        off.
        """
        return {
            name: None if running.is_stopped else running.is_ready and running.process.poll() is None
            for name, running in self.running.items()
            if not (running.is_stopped and not running.service.is_on())
        }

    async def stop(self) -> None:
        """Stop all services, the last wave first."""
        self._stopping = True
        for wave in sorted({running.service.wave for running in self.running.values()}, reverse=True):
            wave_services = [running for running in self.running.values() if running.service.wave == wave]
            await asyncio.gather(*map(self._stop_service, wave_services))
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
        log.info("the service is ready", service=service.name, pid=process.pid, seconds=round(monotonic() - began, 2))
        return RunningService(service, process, monotonic())

    async def _wait_until_ready(self, service: Service, process: Child, deadline: float) -> None:
        while not await service.is_ready():
            if process.poll() is not None:
                raise Failure(f"{service.name} did not start: {_log_tail(service.log)} (see {service.log})")
            if monotonic() > deadline:
                raise Failure(f"{service.name} is not ready after {_READY_SECONDS:.0f} s (see {service.log})")
            await asyncio.sleep(0.02)

    async def _restart_on_exit(self, running: RunningService) -> None:
        """Restart the service whenever its process exits."""
        pause = _FIRST_PAUSE
        while not self._stopping:
            await _wait_for_exit(running.process)
            if self._stopping:
                return
            status = running.process.wait()
            running.is_ready = False
            log.error("the service exited; restarting", service=running.service.name, status=status)
            await child.end(running.process.pid, 1.0)
            pause = _FIRST_PAUSE if monotonic() - running.since > _STABLE_SECONDS else min(pause * 2, _LONGEST_PAUSE)
            await asyncio.sleep(pause)
            try:
                restarted = await self._launch(running.service)
            except (Failure, OSError) as failure:
                log.error("the service could not be restarted", service=running.service.name, reason=str(failure))
                continue
            running.process, running.since = restarted.process, restarted.since
            running.restarts += 1
            running.is_ready = True

    async def _check_alive(self, running: RunningService, is_alive: Callable[[], Awaitable[bool]]) -> None:
        """Stop the process if it hangs; `_restart_on_exit` restarts it."""
        while not self._stopping:
            await asyncio.sleep(_ALIVE_CHECK_SECONDS)
            process = running.process
            if await is_alive() or running.process is not process or self._stopping:
                continue
            log.error("the service does not answer; restarting", service=running.service.name, pid=process.pid)
            await child.end(process.pid, 2.0)

    async def _stop_service(self, running: RunningService) -> None:
        if running.process is _NO_CHILD:
            return
        began = monotonic()
        await cancel_all(*running.watchers)
        await child.end(running.process.pid, running.service.stop_seconds)
        running.process.wait()
        self._pid_file(running.service.name).unlink(missing_ok=True)
        log.debug("the service has stopped", service=running.service.name, seconds=round(monotonic() - began, 2))

    def _pid_file(self, name: str) -> Path:
        return self.folder / f"{name}.pid"


class _NoChild:
    """Of a service that is off."""

    pid = -1

    def poll(self) -> int | None:
        return 0

    def wait(self) -> int:
        return 0


_NO_CHILD: Child = _NoChild()


def _describe(running: RunningService, offset: float) -> ServiceState:
    name = running.service.name
    if running.is_stopped:
        return ServiceState(name, "stopped", None, None, running.restarts)
    if not running.is_ready or running.process.poll() is not None:
        return ServiceState(name, "starting", None, None, running.restarts)
    return ServiceState(name, "running", running.process.pid, running.since + offset, running.restarts)


async def _wait_for_exit(process: Child) -> None:
    if process.poll() is None:
        try:
            pidfd = os.pidfd_open(process.pid)
        except ProcessLookupError:
            return
        try:
            await wait_readable(pidfd, None)
        finally:
            os.close(pidfd)


def _log_tail(path: Path) -> str:
    if not path.exists():
        return "its log is empty"
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 4000))
        lines = [line for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return " / ".join(lines[-2:]) or "its log is empty"
