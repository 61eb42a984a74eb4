"""The prefork server: a process that imports all modules once and forks our own processes on request.

Otherwise each process would spend about a second of CPU time and fifty megabytes on its imports (docs/decisions/0040).
The server runs no event loop and no thread, so that forking is safe. Forked processes outlive it; the supervisor stops
them, and they notice the supervisor's death by a pipe whose other end it holds.
"""

from __future__ import annotations

import array
import asyncio
import ctypes
import gc
import importlib
import os
import select
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from mailkeep.core.errors import Failure
from mailkeep.db.logged_process import open_log
from mailkeep.run.runtime import child, process
from mailkeep.run.runtime.privileges import Credentials

_READY = b"ready"
_MESSAGE_BYTES = 1 << 16
_MAX_DESCRIPTORS = 16
_ANSWER_SECONDS = 30.0
_PR_SET_NAME = 15


class ForkRequest(msgspec.Struct, frozen=True):
    """A process to fork: its name in `process.MODULES`, data directory, log file, the names of its descriptors, and the
    account that it runs as (None: root).
    """

    name: str
    data_dir: str
    log: str
    descriptors: list[str]
    credentials: Credentials | None = None


class ForkedProcess:
    """A child of the prefork server, watched by a pidfd, so that a reused process ID is never taken for it."""

    __slots__ = ("_handle", "pid")

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._handle = os.pidfd_open(pid)

    def __del__(self) -> None:
        if hasattr(self, "_handle"):
            os.close(self._handle)

    def poll(self) -> int | None:
        """None while the process is running, else -1: its exit status is unknown."""
        return -1 if select.select([self._handle], [], [], 0)[0] else None

    def wait(self) -> int:
        """Wait until the process has exited; returns -1."""
        select.select([self._handle], [], [])
        return -1


class PreforkServer:
    """The supervisor's side: `launch` starts the prefork server, `fork` lets it fork a process."""

    def __init__(self, environ: Mapping[str, str], log: Path) -> None:
        self._environ, self._log = environ, log
        self._socket: socket.socket | None = None
        self._is_ready = False
        self._lock = asyncio.Lock()
        # Nothing is written to it: its end of file means that the supervisor is gone.
        self._supervisor_pipe = os.pipe2(os.O_CLOEXEC)

    async def launch(self) -> subprocess.Popen[bytes]:
        """Start the prefork server, also again after it has exited."""
        if self._socket:
            self._socket.close()
        self._socket, server_socket = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.setblocking(False)
        self._is_ready = False
        argv = [sys.executable, "-m", "mailkeep.run.runtime.prefork", str(server_socket.fileno())]
        with server_socket:
            return child.spawn(child.Command(argv, self._log, self._environ, (server_socket.fileno(),)))

    async def is_ready(self) -> bool:
        """Whether all modules are imported."""
        if not self._is_ready and self._socket:
            try:
                self._is_ready = self._socket.recv(_MESSAGE_BYTES) == _READY
            except BlockingIOError:
                return False
        return self._is_ready

    async def fork(self, request: ForkRequest, sockets: Sequence[socket.socket]) -> ForkedProcess:
        """Fork a process with these sockets, under the names in `request`. Failure if the server does not answer."""
        descriptors = array.array("i", [self._supervisor_pipe[0], *(each.fileno() for each in sockets)])
        loop = asyncio.get_running_loop()
        async with self._lock:
            if not self._socket or not self._is_ready:
                raise Failure("the prefork server is not ready yet")
            try:
                self._socket.sendmsg(
                    [msgspec.json.encode(request)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors.tobytes())]
                )
                async with asyncio.timeout(_ANSWER_SECONDS):
                    answer = await loop.sock_recv(self._socket, _MESSAGE_BYTES)
            except (OSError, TimeoutError) as error:
                raise Failure(f"the prefork server does not answer: {error}") from error
        if not answer:
            raise Failure("the prefork server has exited")
        try:
            return ForkedProcess(int(answer))
        except ProcessLookupError as error:
            raise Failure(f"{request.name} exited right after its start") from error

    def close(self) -> None:
        """Fork no more processes; the forked ones stop."""
        if self._socket:
            self._socket.close()
        for descriptor in self._supervisor_pipe:
            os.close(descriptor)


def main() -> None:
    """The prefork server itself: import, then fork what is requested, until the supervisor is gone."""
    gc.disable()  # of what is imported nothing is garbage; looking for it takes a tenth of the time
    for name in process.list_names():
        importlib.import_module(f"mailkeep.run.processes.{process.MODULES[name]}")
    # Memory is shared until it is written to: the garbage collector must leave the imported objects alone.
    gc.collect()
    gc.freeze()
    gc.enable()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps the children
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        connection.send(_READY)
        while True:
            request, ancillary, _, _ = connection.recvmsg(_MESSAGE_BYTES, socket.CMSG_LEN(_MAX_DESCRIPTORS * 4))
            if not request:
                return
            descriptors = array.array("i")
            for _, _, data in ancillary:
                descriptors.frombytes(data)
            pid = os.fork()
            if pid == 0:
                connection.close()
                _run_child(msgspec.json.decode(request, type=ForkRequest), list(descriptors))
            for descriptor in descriptors:
                os.close(descriptor)
            connection.send(str(pid).encode())


def _run_child(request: ForkRequest, descriptors: Sequence[int]) -> None:
    """Run the child; does not return."""
    code = 1
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        ctypes.CDLL(None).prctl(_PR_SET_NAME, f"mailkeep-{request.name}".encode(), 0, 0, 0)
        log = open_log(Path(request.log))
        if request.credentials:  # the process opens the log again after a rotation
            os.fchown(log, request.credentials.uid, request.credentials.gid)
        os.dup2(log, 1)
        os.dup2(log, 2)
        descriptors_by_name = dict(zip([process.SUPERVISOR_PIPE, *request.descriptors], descriptors, strict=True))
        code = process.run(request.name, Path(request.data_dir), descriptors_by_name, request.credentials)
    except Exception:  # noqa: BLE001 - logged; there is no caller above
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
