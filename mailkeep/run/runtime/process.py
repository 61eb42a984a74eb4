"""One process of ours in a full instance, started and watched by `mailkeep up`.

Each has a module `mailkeep.run.processes.NAME` with `async def serve(app, process)`, which calls
`process.report_ready()` when it serves, until `process.stop_requested` is set. The supervisor holds the listening
sockets of the public ports, so that a restart refuses no connection: connections wait for the next process.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import uvloop

from mailkeep.core.shared_memory import SharedMemory
from mailkeep.db.instance import run_folder, write_atomically
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import logs, privileges, process_group, stored_settings
from mailkeep.run.runtime.context import InstanceContext, attach_context, read_context
from mailkeep.run.runtime.metrics_flush import flush_counters
from mailkeep.run.runtime.privileges import Credentials
from mailkeep.run.runtime.process_group import ProcessGroup
from mailkeep.web import metrics_files

MODULES = {
    "keys": "keys",
    "learner": "learner",
    "lmtp": "lmtp",
    "milter": "milter",
    "policy": "policy",
    "relay": "relay",
    "sendmail": "sendmail",
    "usage": "usage",
    "reinjection": "reinjection",
    "logs": "logs_agent",
    "node": "node",
    "backup": "backup",
    "worker": "worker",
    "api": "api",
    "webmail": "webmail",
}
"""Names of processes and their modules."""
SUPERVISOR_PIPE = "supervisor"
"""The name of the descriptor of a pipe that ends when the supervisor exits."""

# Only root's account may connect as the database role that seals the audit log.
_SEALING = ("node",)


@dataclass(frozen=True, slots=True)
class Process:
    """The paths of a process, its request to stop, and the sockets that it inherited, by name."""

    name: str
    paths: InstancePaths
    stop_requested: asyncio.Event
    sockets: Mapping[str, socket.socket]
    report_ready: Callable[[], None]
    """Report that this process serves."""


def ready_file(run: Path, name: str) -> Path:
    """The file with the ID of the ready process of this name."""
    return run / "ready" / name


def find_ready_pid(run: Path, name: str) -> int | None:
    """The ID of the ready process of this name, None if there is none.

    The file is written by a process that is not root, so opening it must not block or follow links.
    """
    try:
        descriptor = os.open(ready_file(run, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        text = os.read(descriptor, 32).decode("ascii", "replace").strip()
    finally:
        os.close(descriptor)
    return int(text) if text.isascii() and text.isdigit() else None


def find_service_pid(run: Path, name: str) -> int | None:
    """The ID of the process of a service, as the supervisor wrote it; None if it does not run."""
    try:
        return int((run / "pids" / f"{name}.pid").read_text("ascii").split()[0])
    except FileNotFoundError:
        return None


def run(name: str, data_dir: Path, descriptors: Mapping[str, int], credentials: Credentials | None) -> int:
    """Serve until SIGTERM or until the supervisor exits; the exit code. The API has several processes if
    `http.processes` says so (`process_group`).

    Reads the settings and the master secret as root, then switches to the account of `credentials`.
    """
    context = read_context(data_dir)
    paths = InstancePaths(data_dir, run_folder(data_dir))
    if credentials:
        privileges.switch_to(credentials)
    logs.configure(context.settings.log.level)
    supervisor_pipe = descriptors[SUPERVISOR_PIPE]
    sockets = {key: socket.socket(fileno=fd) for key, fd in descriptors.items() if key != SUPERVISOR_PIPE}

    def report_to_supervisor() -> None:
        write_atomically(ready_file(paths.run, name), f"{os.getpid()}\n", 0o600)

    count = process_group.count_processes(context.settings.http.processes) if name == "api" else 1
    memory = process_group.create_memory(context.settings.http.max_connections, count)
    if count > 1:
        serve = partial(_run, name, context, paths, supervisor_pipe, sockets, memory)
        group = ProcessGroup(
            memory,
            lambda: uvloop.run(serve(partial(process_group.report_ready, memory))),
            report_to_supervisor,
            partial(metrics_files.forget_gauges, paths.metrics),
        )
        metrics_files.clear(paths.metrics)
        return group.run(supervisor_pipe)
    uvloop.run(_run(name, context, paths, supervisor_pipe, sockets, memory, report_to_supervisor))
    return 0


async def _run(  # noqa: PLR0913 - what a process inherits
    name: str,
    context: InstanceContext,
    paths: InstancePaths,
    supervisor_pipe: int,
    sockets: Mapping[str, socket.socket],
    memory: SharedMemory,
    report_ready: Callable[[], None],
) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signal_number, stop.set)

    def stop_without_supervisor() -> None:
        loop.remove_reader(supervisor_pipe)
        stop.set()

    loop.add_reader(supervisor_pipe, stop_without_supervisor)
    module = importlib.import_module(f"mailkeep.run.processes.{MODULES[name]}")
    reopening = asyncio.create_task(logs.keep_open(paths.log / f"{name}.log"))
    async with attach_context(context, name, memory, seals_audit_log=name in _SEALING) as app, flush_counters(app):
        app.filter_controller = paths.controller_socket
        # Only a process of root can write to the data directory.
        taking_over = asyncio.create_task(stored_settings.keep_current(app, saves_copy=name in _SEALING))
        await module.serve(app, Process(name, paths, stop, sockets, report_ready))
        await cancel_all(taking_over)
    await cancel_all(reopening)


def list_names() -> list[str]:
    """The names of the processes in this release."""
    folder = Path(__file__).parents[1] / "processes"
    return [name for name, module in MODULES.items() if (folder / f"{module}.py").exists()]
