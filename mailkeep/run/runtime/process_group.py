"""Runs a process of ours several times: a parent that forks equal processes and replaces those that exit.

They share listening sockets, and the memory in which they count (`core/shared_memory`). The group is one service for
the supervisor: its process is the parent, which does nothing else, and its session has all of them. The parent is ready
when all of them are. If one fails before that, the group ends; later it is replaced, after a pause that doubles from
0.1 to 5 seconds and returns to 0.1 after a minute.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic

import structlog

from mailkeep.core.shared_memory import SharedMemory, key_of

log = structlog.get_logger("mailkeep.processes")

PID, READY = key_of("pid"), key_of("ready")
"""In the memory: the process ID of each process, and whether it serves."""
_FIRST_PAUSE, _LONGEST_PAUSE, _STABLE_SECONDS = 0.1, 5.0, 60.0
_READY_CHECK_SECONDS = 0.02
_DEFAULT_MOST = 4
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)


def count_processes(configured: int) -> int:
    """How many processes serve the API: as configured; 0: one for each core, at most four."""
    return configured or min(_DEFAULT_MOST, len(os.sched_getaffinity(0)))


def create_memory(max_connections: int, processes: int = 1) -> SharedMemory:
    """Memory with room for a number for each connection's address, each stream's caller, and a few more."""
    return SharedMemory(processes, rows=4 * max_connections + 4096)


def list_processes(parent: int) -> list[int]:
    """The IDs of a parent's processes; none if it has exited."""
    try:
        return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text("ascii").split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def report_ready(memory: SharedMemory) -> None:
    """Report to the parent that this process serves."""
    with memory:
        memory.write(READY, 1)


class ProcessGroup:
    """The processes that run `serve`, one for each slot of the memory.

    `on_end` is called when the process in a slot has ended, before it is replaced; `report_ready` once.
    """

    def __init__(
        self,
        memory: SharedMemory,
        serve: Callable[[], None],
        report_ready: Callable[[], None],
        on_end: Callable[[int], None],
    ) -> None:
        self._memory, self._serve, self._report_ready, self._on_end = memory, serve, report_ready, on_end
        self._pids: dict[int, int] = {}  # slots by process ID
        self._started = [0.0] * memory.processes
        self._pauses = [0.0] * memory.processes
        self._due = dict.fromkeys(range(memory.processes), 0.0)  # when to start the process of a slot
        self._is_ready = self._stopping = self._failed = False

    def run(self, supervisor_pipe: int) -> int:
        """Keep the processes running until SIGTERM or until the supervisor exits; the exit code."""
        wakeups, wakeup = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        os.set_blocking(wakeup, False)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        for number in _SIGNALS:
            signal.signal(number, self._on_signal)
        watched = [wakeups, supervisor_pipe]
        while not self._stopping or self._pids:
            if not self._stopping:
                self._start_due()
            readable = select.select(watched, [], [], self._timeout())[0]
            if wakeups in readable:
                os.read(wakeups, 4096)
            if supervisor_pipe in readable:
                watched = [wakeups]
                self._stop()
            self._reap()
            self._check_ready()
        return 1 if self._failed else 0

    def _on_signal(self, number: int, _: object) -> None:
        if number != signal.SIGCHLD:
            self._stop()

    def _timeout(self) -> float | None:
        if self._stopping:
            return None
        if not self._is_ready:
            return _READY_CHECK_SECONDS
        return max(0.0, min(self._due.values()) - monotonic()) if self._due else None

    def _start_due(self) -> None:
        now = monotonic()
        for slot in [slot for slot, at in self._due.items() if at <= now]:
            if self._stopping:
                return
            del self._due[slot]
            self._started[slot] = now
            # A signal between the fork and the change of its handler would otherwise be lost.
            signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
            pid = os.fork()
            if pid == 0:
                self._run_child(slot)
            self._pids[pid] = slot
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

    def _run_child(self, slot: int) -> None:
        """Run a process; does not return."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            for number in _SIGNALS:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            self._memory.slot = slot
            with self._memory:
                self._memory.write(PID, os.getpid())
            self._serve()
            code = 0
        except Exception:  # noqa: BLE001 - logged; there is no caller above
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            slot = self._pids.pop(pid, None)
            if slot is None:
                continue
            with self._memory:
                self._memory.clear(slot)
            self._on_end(slot)
            if self._stopping:
                continue
            log.error("a process exited", pid=pid, status=os.waitstatus_to_exitcode(status))
            if not self._is_ready:
                self._failed = True
                self._stop()
            lasted = monotonic() - self._started[slot]
            pause = 0.0 if lasted > _STABLE_SECONDS else self._pauses[slot]
            self._pauses[slot] = min(max(2 * pause, _FIRST_PAUSE), _LONGEST_PAUSE)
            self._due[slot] = monotonic() + self._pauses[slot]

    def _check_ready(self) -> None:
        if not self._is_ready and all(self._memory.read(READY)):
            self._is_ready = True
            self._report_ready()

    def _stop(self) -> None:
        self._stopping = True
        for pid in list(self._pids):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
